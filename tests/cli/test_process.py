"""The command in a separate process: pipes, terminals, signals, locks."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_graph.stores.embedded import OxigraphStore
from cortex_skills import __version__
from tests import fork_server
from tests.graph.shared.processes import owner_of, stopped
from tests.signals import signals_delivered

SCRIPT = Path(sys.executable).with_name("cortex-skills")


@pytest.fixture
def environment(store):
    return {**os.environ, "CORTEX_STORE": str(store)}


@pytest.fixture
def many(store, tmp_path, run):
    """A store that exports more than the buffer of a pipe."""
    path = tmp_path / "many.nt"
    path.write_text("".join(f"<urn:a:{number}> <urn:p> <urn:b> .\n" for number in range(20_000)))
    assert run("graph", "import", path).exit_code == 0


def on_a_terminal(words, environment):
    """Run the command on a terminal: its exit code, and its output."""
    terminal = pytest.importorskip("tests.terminal", reason="this system has no pseudo-terminals", exc_type=ImportError)
    return terminal.sent_until_exit([fork_server.command(), *words], environment)


@pytest.mark.parametrize("command", [[SCRIPT], [sys.executable, "-m", "cortex_skills"]], ids=["script", "module"])
def test_the_command_and_the_module_start_the_program(command):
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"cortex-skills {__version__}\n", "")


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["call", "--help"]], ids=" ".join)
def test_help_and_version_import_no_large_modules(words):
    code = (
        "import sys\nfrom cortex_skills.doors.cli.app import program\n"
        f"try: program({words})\nexcept SystemExit: pass\n"
        "print(sorted({'rich', 'pyoxigraph', 'wasmtime', 'tree_sitter', 'yaml', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_store_open_in_another_process_is_shared(store, environment):
    held = open_store(store)
    try:
        for words in (["status", "--json"], ["doctor"]):
            done = subprocess.run(
                [fork_server.command(), *words], env=environment, capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, "")
    finally:
        held.close()


# The command with a shorter wait for a folder that another program has locked.
SHORT_WAIT = """
from cortex_graph.stores.shared import protocol_limits
from cortex_skills.doors.cli import main
protocol_limits.FOREIGN_S = 0.5
main()
"""


def test_a_store_locked_by_another_program_exits_with_2(store, environment):
    command = [fork_server.python(), "-c", SHORT_WAIT]
    held = OxigraphStore(store)
    try:
        done = subprocess.run(
            [*command, "status", "--json"], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert json.loads(done.stderr)["code"] == "store_locked"
        done = subprocess.run([*command, "doctor"], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "fail  store: " in done.stdout
        assert "hint: stop the other process" in done.stdout
    finally:
        held.close()


# The command with shorter waits for an owner that does not answer, and none that is limited by another time.
IMPATIENT = """
from cortex_graph.stores.shared import protocol_limits
from cortex_skills.doors.cli import main
protocol_limits.NOTICE_S, protocol_limits.GREETING_S, protocol_limits.SILENCE_S = 0.2, 0.5, 0.8
protocol_limits.FIND_S = 600
main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_a_command_reports_that_it_waits_for_a_stopped_process(store, environment):
    with owner_of(store) as owner, stopped(owner):
        command = [fork_server.python(), "-c", IMPATIENT, "status"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    problem = f"process {owner.pid}, which has the store in {store} open, does not answer"
    warning, error, hint = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert warning == f"warning: still waiting: {problem}"
    assert error == f"error[graph_busy]: {problem}"
    assert hint.startswith("hint: see whether it is stopped or overloaded; when it ends, another process takes over")


@pytest.mark.parametrize("words", [["graph", "export"], ["--help"]], ids=" ".join)
def test_a_closed_pipe_ends_the_command_without_an_error(words, many, environment):
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(
        [fork_server.command(), *words], env=environment, stdout=write, stderr=subprocess.PIPE
    ) as process:
        os.close(write)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (141, b"")


def test_a_closed_standard_input_is_named_where_it_is_read(environment):
    code = """
import sys
from cortex_skills.doors.cli.app import program
sys.stdin = None  # as Python has it when a command starts with a closed descriptor 0
for words in ("call skill_assert -", "graph import - --format turtle", "graph sparql -", "graph sparql --file -",
              "secrets set global/token", "proof commit", "proof verify -"):
    try: program(words.split())
    except SystemExit as end: print(words, end.code)
"""
    done = subprocess.run(
        [fork_server.python(), "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert [line.rpartition(" ")[2] for line in done.stdout.splitlines()] == ["2"] * 7
    reason = "standard input is closed, and this command reads it: connect it to a file or a pipe"
    errors = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert errors == [f"error[invalid_arguments]: {reason}"] * 7


def test_ctrl_c_exits_with_130_without_a_traceback(environment):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with signals_delivered(signal.SIGINT):
        process = subprocess.Popen([SCRIPT, "call", "skill_assert", "-"], env=environment, bufsize=0, **pipes)
    with process:
        # When the write returns, the command is reading: the text is longer than the buffer of a pipe.
        process.stdin.write(b" " * 200_000)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate()
    assert (process.returncode, out, errors) == (130, b"", b"")


def test_a_terminal_gets_colours_and_progress(environment, skill):
    code, sent = on_a_terminal(["list", "--skills", str(skill)], environment)
    assert code == 0
    assert "\x1b[1m" in sent
    assert "loading" in sent
    assert "greeter  1.2.0" in sent


def test_no_colour_is_written_to_a_terminal_without_colour(environment, write_skill):
    folder = write_skill(code="eval('1')")
    code, coloured = on_a_terminal(["scan", str(folder)], environment)
    assert (code, "\x1b[1;31mcritical" in coloured) == (1, True)
    code, plain = on_a_terminal(["scan", str(folder)], {**environment, "NO_COLOR": "1"})
    assert (code, "31m" in plain) == (1, False)
    assert "critical[dynamic-code]" in plain


def test_an_export_to_a_terminal_escapes_control_characters(environment, run):
    run("graph", "import", "-", "--format", "turtle", stdin='<urn:a> <urn:p> "\u202e\x9b31m" .'.encode())
    code, sent = on_a_terminal(["graph", "export"], environment)
    assert code == 0
    assert '<urn:a> <urn:p> "\\u202e\\u009b31m" .' in sent
    assert "\x1b" not in sent


def test_json_on_a_terminal_has_no_progress(environment, skill):
    code, sent = on_a_terminal(["list", "--skills", str(skill), "--json"], environment)
    assert code == 0
    assert json.loads(sent)[0]["name"] == "greeter"


def test_an_import_shows_progress_on_a_terminal_and_not_in_a_pipe(environment, run, tmp_path):
    file = tmp_path / "a.nt"
    file.write_text("".join(f"<urn:a{number}> <urn:p> <urn:b> .\n" for number in range(20_000)))
    assert run("graph", "import", file).stderr == ""
    code, sent = on_a_terminal(["graph", "import", str(file), "--store", str(tmp_path / "new")], environment)
    assert code == 0
    assert all(part in sent for part in ("importing", "loading", "20000 statements of "))


def test_a_full_disk_is_an_error(environment):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as output:
        done = subprocess.run(
            [fork_server.command(), "status"],
            env=environment,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_shell_completes_commands(environment):
    settings = {**environment, "_CORTEX_SKILLS_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    settings["COMP_WORDS"] = "cortex-skills graph ex"
    done = subprocess.run([fork_server.command()], env=settings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "plain,export\n")
