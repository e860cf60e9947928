"""`init`: the written skill is validated, loaded, called, tested and type-checked."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
import skills_ref
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortex_skills.manifest import load_manifest
from cortex_skills.skill_folder.builtin import EXAMPLES

ROOT = Path(__file__).parents[2]
COMPILER = ROOT / "tests" / "examples" / "typecheck" / "node_modules" / "typescript" / "bin" / "tsc"
FILES = {
    "SKILL.md",
    "skill.ts",
    "skill.test.ts",
    "skill.test.ttl",
    "tsconfig.json",
    ".vscode/settings.json",
    ".cortex/skill.schema.json",
    ".cortex/semantic.schema.json",
    ".cortex/cortex-skill.d.ts",
    ".cortex/cortex-test.d.ts",
}
KINDS = {
    "one file": (),
    "writing": ("--writes", "isChecked", "--reads", "hasStatus", "--reads", "rdfs:label", "--description", 'Says "é".'),
    "two files": ("--agentskills", "--writes", "isChecked"),
}


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def made(request, run, tmp_path):
    folder = tmp_path / "stock-watch"
    assert run("init", folder, "--yes", *request.param).exit_code == 0
    return folder


def test_a_new_skill_is_valid_loads_and_passes_its_own_tests(run, made):
    assert run("validate", "--load", made, "--json").json["skills"][0]["hooks"] == ["onQuery"]
    assert run("scan", made).exit_code == 0
    answer = run("test", made, "--json")
    assert answer.exit_code == 0, answer.stdout
    assert answer.json["skills"][0]["passed"] == 3
    assert "counts" in run("query", "--skills", made, "--predicate", "hasStatus", "--scope", "namespace").stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None or shutil.which("npm") is None, reason="Node.js is not installed")
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(KINDS["one file"], id="one file"),
        *(pytest.param(KINDS[kind], id=kind, marks=pytest.mark.extended) for kind in ("writing", "two files")),
    ],
    indirect=True,
)
def test_the_compiler_accepts_a_new_skill_and_rejects_misuse(made, request):
    if not COMPILER.is_file():
        subprocess.run(["npm", "ci", "--silent"], cwd=COMPILER.parents[3], check=True, timeout=100)
    command = ["node", str(COMPILER), "--noEmit", "--project", str(made)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (checked.stdout, checked.returncode) == ("", 0)
    if request.node.callspec.id != "one file":
        return  # the types and the settings of the compiler are the same for each kind
    (made / "skill.test.ts").write_text('test("x", async (t) => { t.equals(1, 1); await t.load(5); });\n')
    (made / "skill.ts").write_text('export default { name: "stock-watch", onQuery: 5 } satisfies Skill;\nsetTimeout;\n')
    checked = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert [line.partition("(")[0] for line in checked.stdout.splitlines() if "error" in line] == [
        "skill.test.ts" if Path.cwd() == made else os.path.relpath(made / name)
        for name in ("skill.test.ts", "skill.test.ts", "skill.ts", "skill.ts")
    ]


def test_the_editor_schemas_accept_a_new_skill_and_reject_a_wrong_value(made):
    schema = json.loads((made / ".cortex" / "skill.schema.json").read_text())
    front = yaml.safe_load((made / "SKILL.md").read_text().split("---")[1])
    assert jsonschema_rs.validator_for(schema).is_valid(front)
    assert not jsonschema_rs.validator_for(schema).is_valid({**front, "license": 5})
    block = json.loads((made / ".cortex" / "semantic.schema.json").read_text())
    companion = made / "semantic.yaml"
    semantic = yaml.safe_load(companion.read_text()) if companion.exists() else front["semantic"]
    assert jsonschema_rs.validator_for(block).is_valid(semantic)
    assert not jsonschema_rs.validator_for(block).is_valid({**semantic, "maxQuerys": 1})
    named = companion.read_text() if companion.exists() else (made / "SKILL.md").read_text()
    place = named.partition("$schema=")[2].split()[0]
    assert (made / place).is_file()


def test_both_manifest_forms_are_equal_and_one_passes_the_reference_validator(run, tmp_path):
    for parent, flags in (("one", ()), ("two", ("--agentskills",))):
        (tmp_path / parent).mkdir()
        assert run("init", tmp_path / parent / "a-skill", "-y", "--writes", "p", *flags).exit_code == 0
    one, two = (load_manifest(tmp_path / parent / "a-skill") for parent in ("one", "two"))
    assert one.semantic == two.semantic
    assert skills_ref.validate(tmp_path / "two" / "a-skill") == []
    assert run("validate", tmp_path / "two" / "a-skill").exit_code == 0


def test_init_reports_the_written_files(run, tmp_path):
    answer = run("init", tmp_path / "new" / "a-skill", "--json")
    assert set(answer.json["files"]) == FILES == files_below(tmp_path / "new" / "a-skill")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a-skill"]
    assert f"cortex-skills dev {tmp_path / 'b-skill'}" in run("init", tmp_path / "b-skill", "-y").stdout


def test_an_empty_current_folder_is_filled_in_place(run, tmp_path, monkeypatch):
    folder = tmp_path / "a-skill"
    folder.mkdir()
    inode = folder.stat().st_ino
    monkeypatch.chdir(folder)
    assert run("init", ".", "-y").exit_code == 0
    assert (folder.stat().st_ino, files_below(folder)) == (inode, FILES)
    assert [path.name for path in tmp_path.iterdir() if path.name != "store"] == ["a-skill"]


def test_an_empty_folder_stays_empty_when_writing_fails(run, tmp_path, monkeypatch):
    folder = tmp_path / "a-skill"
    folder.mkdir()
    rename = Path.rename

    def fail(path, target):
        if path.name == "skill.ts":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    assert run("init", folder, "-y").exit_code == 1
    assert list(folder.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name != "store"] == ["a-skill"]


def test_existing_files_are_not_overwritten(run, tmp_path):
    folder = tmp_path / "a-skill"
    folder.mkdir()
    assert run("init", folder, "-y").exit_code == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for place in (folder, tmp_path / "file", tmp_path / "link"):
        answer = run("init", place, "-y", "--json")
        assert (answer.exit_code, answer.error["code"]) == (1, "invalid_arguments")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("Stock Watch",), "did you mean stock-watch?"),
        (("a--b",), "did you mean a-b?"),
        (("!",), "name it in lower-case letters"),
        (("Müsli Bar",), "did you mean müsli-bar?"),
        (("a-skill", "--reads", "https://a b"), "https://a b"),
        (("a-skill", "--writes", "p\n"), "assertions"),
        (("a-skill", "--description", "x" * 1025), "description"),
        (("a-skill", "--description", " "), "description"),
        (("a-skill", "--agentskills", "--description", "a --- b"), "---"),
    ],
)
def test_an_invalid_option_leaves_no_files(run, tmp_path, words, message):
    name, *rest = words
    answer = run("init", tmp_path / "new" / name, "-y", *rest)
    assert answer.exit_code == 1
    assert message in answer.stderr
    assert not (tmp_path / "new").exists()


def test_a_disk_error_leaves_no_files(run, tmp_path, monkeypatch):
    write = Path.write_text

    def fail(path, *args, **settings):
        if path.name == "tsconfig.json":
            raise OSError(28, "No space left on device")
        return write(path, *args, **settings)

    monkeypatch.setattr(Path, "write_text", fail)
    answer = run("init", tmp_path / "new" / "a-skill", "-y")
    assert (answer.exit_code, "No space left on device" in answer.stderr) == (1, True)
    assert not (tmp_path / "new").exists()


def test_without_a_name_and_a_terminal_it_is_a_usage_error(run):
    answer = run("init", "--json")
    assert (answer.exit_code, answer.error["code"]) == (2, "invalid_arguments")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=30), st.booleans())
def test_any_answers_give_a_valid_skill_or_none(run, tmp_path_factory, description, predicate, two):
    folder = tmp_path_factory.mktemp("any") / "a-skill"
    flags = ("--agentskills",) if two else ()
    answer = run("init", folder, f"--description={description}", f"--reads={predicate}", *flags)
    if answer.exit_code == 0:
        manifest = load_manifest(folder, portable=True)
        reads = [each.predicate for each in manifest.semantic.queries]
        assert manifest.description == description.strip()
        assert reads == ([each for each in re.split(", ?", predicate) if each] or ["hasStatus"])
        assert "\n" not in manifest.name
    else:
        assert answer.exit_code == 1, answer.stderr
        assert not folder.exists()


def test_on_a_terminal_init_asks(tmp_path):
    """On a real terminal: the first name is refused, the other answers are accepted."""
    terminal = pytest.importorskip("tests.terminal", reason="this system has no pseudo-terminals", exc_type=ImportError)
    screen = terminal.Screen([sys.executable, "-m", "cortex_skills", "init"], os.environ, tmp_path)
    try:
        for shown, typed in (
            ("my-skill]", "My Skill\n"),
            ("did you mean", "my-tool\n"),
            ("when to use", "Counts.\n"),
            ("that it reads", "p, q\n"),
            ("that it writes", "\n"),
        ):
            screen.until(shown)
            screen.type(typed)
        screen.until("cortex-skills dev")
        assert screen.process.wait(terminal.WAIT_S) == 0
    finally:
        screen.close()
    manifest = load_manifest(tmp_path / "my-tool")
    assert manifest.description == "Counts."
    assert [query.predicate for query in manifest.semantic.queries] == ["p", "q"]


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("name", [None, "my-own"])
def test_a_skill_of_the_package_is_copied_and_works(run, tmp_path, monkeypatch, example, name):
    monkeypatch.chdir(tmp_path)
    answer = run("init", *([name] if name else []), "--from", example)
    assert answer.exit_code == 0, answer.stderr
    folder = tmp_path / (name or example)
    assert (folder / ".cortex/cortex-skill.d.ts").is_file()
    checked = run("validate", "--load", folder)
    assert checked.stdout.startswith(f"ok {folder}: {folder.name} 1.0.0, exports ")


def test_copying_a_skill_takes_no_other_answers(run, tmp_path):
    answer = run("init", tmp_path / "own", "--from", "verify-kyc", "--reads", "p")
    assert answer.exit_code == 2
    assert "--from copies a skill as it is" in answer.stderr
    assert "did you mean" in run("init", tmp_path / "own", "--from", "kyc").stderr.lower()
    assert not (tmp_path / "own").exists()


def test_several_predicates_of_one_option_are_separated_by_commas(run, tmp_path):
    assert run("init", tmp_path / "own", "--reads", "p, q", "--reads", "r", "--writes", "s,t").exit_code == 0
    manifest = (tmp_path / "own/SKILL.md").read_text()
    assert [line.split('"')[1] for line in manifest.splitlines() if "predicate:" in line] == ["p", "q", "r", "s", "t"]
