"""Options, help, errors and exit codes of all commands."""

import ast
import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cortex_graph.stores.shared import read_only
from cortex_skills import __version__
from cortex_skills.doors.cli import app, validate
from cortex_skills.doors.cli.app import PROGRAM, _usage, program
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.output import Output
from cortex_skills.errors import CortexError

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def leaves(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The commands below a group."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*words, name))
    else:
        yield words


def documented() -> set[tuple[str, ...]]:
    """The commands that begin the rows of the page, whole groups among them; a group is named once in a row."""
    found, known = set(), set(leaves(program))
    for row in re.findall(r"^\| (`.+?) \| ", PAGE.read_text(), re.MULTILINE):
        group = ""
        for span in re.findall(r"`([a-z][^`]*)`", row):
            first, *more = re.match(r"[a-z-]+(?: [a-z][a-z-]*)?", span)[0].split()
            if not more and (group, first) in known:
                found.add((group, first))
            else:
                group = first
                found.add((first, *more))
    return found


COMMANDS = [[name] for name in program.list_commands(click.Context(program))]
FAMILY = [["graph", "import"], ["graph", "export"], ["graph", "namespaces"], ["token", "create"], ["token", "revoke"]]
FAMILY += [["key", "create"], ["key", "list"], ["key", "export"], ["proof", "verify"], ["proof", "show"]]
COMMON = ["--config", "--store", "--namespace", "--agent", "--skills", "--json", "--verbose"]


def test_version_prints_the_version(run):
    assert run("--version").stdout == f"cortex-skills {__version__}\n"
    for words in (("--json", "--version"), ("--version", "--json")):
        assert run(*words).json == {"version": __version__}


def test_a_start_imports_the_command_that_is_run_and_nothing_for_others():
    code = (
        "import sys\nfrom cortex_skills.doors.cli.app import program\n"
        "try: program(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name in ('importlib.metadata', 'cortex_graph', 'orjson')\n"
        "  or name.startswith(('cortex_skills.doors.cli.', 'cortex_skills.features.'))))"
    )
    imported = []
    for words in (["--version"], ["key", "--help"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        imported.append(set(ast.literal_eval(done.stdout.splitlines()[-1])))
    own = {
        f"cortex_skills.doors.cli.{name}"
        for name in ("app", "command", "commands", "logs", "options", "output", "path_types")
    }
    assert imported[0] - {"orjson"} == own
    assert "cortex_skills.doors.cli.key" in imported[1]
    assert "cortex_skills.doors.cli.trust" not in imported[1]


def test_help_lists_every_command_by_group(run):
    answer = run("--help")
    assert (answer.exit_code, answer.stderr) == (0, "")
    for part in ("Write skills:", "Use skills:", "Keep the graph:", "Examples:", "Exit status:", "Shell completion"):
        assert part in answer.stdout
    for (name,) in COMMANDS:
        assert f"\n  {name} " in answer.stdout
    assert run().stdout == answer.stdout


def test_every_command_has_a_row_in_the_page_of_commands():
    rows = documented()
    assert [words for words in leaves(program) if not rows & {words[:1], words[:2]}] == []
    assert {row[0] for row in rows} == {name for (name,) in COMMANDS}


@pytest.mark.parametrize("words", COMMANDS + FAMILY, ids=" ".join)
def test_every_command_has_help_and_the_common_options(run, words):
    answer = run(*words, "--help")
    own, common = answer.stdout.split("Options of all commands:")
    assert answer.exit_code == 0
    assert own.startswith("Usage: cortex-skills " + " ".join(words))
    assert all(option in common for option in COMMON)


def test_no_help_text_is_truncated(run):
    for words in ([], ["graph"], ["proof"], ["trust"], ["token"], ["key"]):
        assert "..." not in run(*words, "--help").stdout.partition("\n")[2]


def test_the_help_of_serve_names_every_endpoint(run):
    text = " ".join(run("serve", "--help").stdout.split())
    assert all(f"at {path}" in text for path in ("/sparql", "/mcp", "/api/v1", "/openapi.json", "/explore"))


def test_a_full_disk_is_reported_with_a_hint(run, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "/somewhere")

    monkeypatch.setattr(Output, "answer", full)
    answer = run("doctor")
    assert answer.exit_code == 2
    assert answer.stderr.splitlines() == [
        "error[internal_error]: writing failed: No space left on device (/somewhere)",
        "hint: free disk space, or write to another folder",
    ]


def test_a_common_option_may_precede_or_follow_the_command(run, tmp_path):
    for words in (
        ("--namespace", "a", "status", "--json"),
        ("--json", "status", "--namespace", "a"),
        ("--namespace", "b", "--json", "status", "--namespace", "a"),
    ):
        assert run(*words).json["namespace"] == "a"


def test_skills_options_before_and_after_the_command_add_up(run, write_skill):
    one, two = write_skill("one"), write_skill("two")
    answer = run("--skills", one, "list", "--skills", two, "--json")
    assert [row["name"] for row in answer.json] == ["one", "two"]


def test_options_override_the_environment_which_overrides_the_file(run, tmp_path):
    path = tmp_path / "cortex.yaml"
    path.write_text("agentNamespace: file\n")
    words = ("status", "--json", "--config", path)
    assert run(*words).json["namespace"] == "file"
    assert run(*words, env={"CORTEX_AGENT_NAMESPACE": "env"}).json["namespace"] == "env"
    answer = run(*words, "--namespace", "option", env={"CORTEX_AGENT_NAMESPACE": "env"})
    assert answer.json["namespace"] == "option"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("validte",), "did you mean validate?"),
        (("graph", "exprot"), "did you mean export?"),
        (("status", "--namespce", "a"), "did you mean --namespace?"),
        (("query", "--predicate", "p", "--scope", "namespac"), "did you mean namespace?"),
        (("completion", "fisch"), "did you mean fish?"),
        (("query", "--scope", "x"), "see `cortex-skills query --help`"),
        (("x" * 10_000,), "see `cortex-skills --help`"),
        (("scan",), "see `cortex-skills scan --help`"),
        (("registry", "purge", "x", "--reason", "y"), "see `cortex-skills registry purge --help`"),
        (("registry", "list", "--stor", "y"), "did you mean --store?"),
        (("status", "--x"), "see `cortex-skills status --help`"),
    ],
)
def test_a_usage_error_has_a_hint(run, words, hint):
    answer = run(*words)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith("error[invalid_arguments]: ")
    assert answer.stderr.endswith(f"hint: {hint}\n")


def commands_of(group: click.Group, path: str = PROGRAM) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{path} {name}")


def hint_for(path: str, command: click.Command, option: str) -> str:
    with pytest.raises(click.NoSuchOption) as caught:
        command.make_context(path, [option], obj=Common())
    return _usage(caught.value).hint


def test_an_unknown_option_is_answered_with_the_nearest_by_name_or_with_the_help_by_every_command():
    for path, command in commands_of(program):
        names = [name for each in command.params if isinstance(each, click.Option) for name in each.opts]
        long = [name for name in names if len(name) > 5 and name.startswith("--")]
        assert "--store" in long, path
        for name in long:
            swapped = name[:-2] + name[-1] + name[-2]
            if swapped not in names:
                assert name in hint_for(path, command, swapped).rstrip("?").split(), (path, swapped)
        for unlike in ("--reasoning-effort", "--xyz"):
            assert hint_for(path, command, unlike) == f"see `{path} --help`"


def test_a_full_disk_is_not_remedied_by_a_restart_of_the_command_itself(run, monkeypatch, tmp_path):
    place = str(tmp_path / "store")
    data = tmp_path / "x.ttl"
    data.write_text("<urn:cortex:mayros:a> <urn:cortex:mayros:b> 1 .\n")
    assert run("graph", "import", data, "--store", place).exit_code == 0
    monkeypatch.setattr(read_only, "_is_full", lambda _: True)
    answer = run("graph", "import", data, "--store", place)
    assert (answer.exit_code, str(os.getpid()) in answer.stderr) == (2, False)
    assert answer.stderr.endswith("hint: free disk space, or write to another folder\n")


@pytest.mark.parametrize(
    ("error", "is_space"),
    [
        (CortexError("invalid_arguments", "x cannot be written: No space left on device", hint="choose another"), True),
        (CortexError("config_invalid", "x cannot be used: Disk quota exceeded", hint="check its owner"), True),
        (CortexError("graph_unavailable", "x: No space left", hint="restart 7", details={"process": "7"}), False),
        (CortexError("config_invalid", "x cannot be used: Permission denied", hint="check its owner"), False),
    ],
)
def test_the_remedy_for_a_full_disk_is_space(error, is_space, capsys):
    Output(as_json=True).error(error)
    written = json.loads(capsys.readouterr().err)
    assert (written["code"], written["message"]) == (error.code, error.message)
    assert written["hint"].startswith("free disk space") is is_space


def test_control_characters_of_an_argument_are_escaped(run):
    answer = run("\x1b[31mx\nerror[y]: z")
    assert answer.stderr.startswith("error[invalid_arguments]: no such command: \\u001b[31mx\n  error[y]: z\n")


def test_a_usage_error_is_json_with_the_json_option(run):
    for words in (("lst", "--json"), ("--json", "status", "--nope"), ("--json", "lst")):
        answer = run(*words)
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert answer.error["code"] == "invalid_arguments"
        assert len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--namespace", "a b"), "config_invalid"),
        (("--store", "s3://bucket"), "graph_unavailable"),
        (("--agent", ""), "invalid_arguments"),
        (("--agent", "x" * 300), "invalid_arguments"),
        (("--config", "/nowhere/cortex.yaml"), "invalid_arguments"),
    ],
)
def test_a_bad_configuration_exits_with_2(run, words, code):
    answer = run("status", *words, "--json")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.error["code"] == code


def test_status_reports_that_proofs_are_off(run):
    line = "proofs      off: an assertion that requires a proof is refused"
    assert line not in run("status").stdout
    assert line in run("status", env={"CORTEX_VERIFICATION__POL_VALIDATION": "false"}).stdout


def test_continuation_lines_of_an_error_are_indented(run, tmp_path):
    path = tmp_path / "cortex.yaml"
    path.write_text("stoer: x\nagentNamespace: 5\n")
    first, *problems, hint = run("status", "--config", path).stderr.splitlines()
    assert first == "error[config_invalid]: the configuration has 2 problems:"
    assert [problem.startswith(f"  {path}:") for problem in problems] == [True, True]
    assert hint == "hint: correct the settings above"


def test_verbose_writes_the_log(run, skill):
    words = ("query", "--skills", skill, "--scope", "namespace")
    assert run(*words).stderr == ""
    assert run("-v", *words).stderr.startswith("info: {")
    record = json.loads(run(*words, "--verbose", "--json").stderr)
    assert (record["level"], record["logger"]) == ("info", "cortex_skills.audit")


def test_warnings_are_written_without_verbose(run):
    answer = run("status", env={"CORTEX_STOER": "x"})
    assert answer.exit_code == 0
    assert answer.stderr == (
        "warning: configuration: the environment variable CORTEX_STOER is not a setting; did you mean CORTEX_STORE?\n"
    )


def test_the_log_of_a_skill_goes_to_standard_error_without_escapes(run, write_skill):
    code = "export default { name: 'greeter', onQuery() { logger.warn('\\x1b[31mred\\nerror[x]: y'); } };"
    answer = run("query", "--skills", write_skill(code=code))
    assert answer.exit_code == 0
    assert "[skill:greeter]" in answer.stderr
    assert "\x1b" not in answer.stderr
    assert not any(line.startswith("error[x]") for line in answer.stderr.splitlines())


def test_a_feature_adds_commands_to_a_group(run):
    answer = run("trust", "--help").stdout
    assert "Exchange:\n  import " in answer
    assert "\n  list " in answer
    assert run("trust", "import", "--help").stdout.startswith("Usage: cortex-skills trust import")
    assert "import" not in program.list_commands(click.Context(program))
    assert "did you mean export?" in run("trust", "exprt").stderr


def test_the_page_has_every_exit_code():
    codes = (app._DONE, app._BAD, app._USAGE, validate._WARNED, app._INTERRUPTED, app._OUTPUT_CLOSED)
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text(), re.MULTILINE)] == list(codes)
