"""Types are checked with the TypeScript compiler where it is installed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cortex_skills.skill_folder.type_check import find_compiler, switches

TYPECHECK = Path(__file__).parents[1] / "examples" / "typecheck"
BIN = TYPECHECK / "node_modules" / ".bin"

CODE = """\
import type { Contract } from "../../outside/contract.js";
export default {
  name: "greeter",
  onQuery({ results }) {
    const /* 😀 */ count: number = "none";
    return { additionalContext: { count } };
  },
} satisfies Skill;
"""
TEST = 'test("is typed", (t) => {\n  t.equal(1);\n});\n'


@pytest.fixture(scope="module")
def compiler():
    """The folder of the compiler, for the PATH."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node.js is not installed")
    if not BIN.is_dir():
        subprocess.run(["npm", "ci", "--silent"], cwd=TYPECHECK, check=True, timeout=100)
    return {"PATH": os.pathsep.join([str(BIN), os.environ["PATH"]])}


def test_type_errors_make_a_skill_invalid_and_have_their_place(run, write_skill, compiler):
    folder = write_skill(code=CODE, **{"skill.test.ts": TEST})
    answer = run("validate", folder, env=compiler)
    assert answer.exit_code == 1
    place = "skill.ts:5:19: error[transpile_error]: Type 'string' is not assignable to type 'number'. [TS2322]"
    assert answer.stdout.splitlines()[0] == f"{folder}/{place}"
    assert answer.stdout.splitlines()[2].index("^") == answer.stdout.splitlines()[1].index("count")
    assert answer.stdout.count("error[") == 1  # an import of types from outside the folder is none
    assert run("validate", folder, "--no-types", env=compiler).exit_code == 0


def test_type_errors_of_tests_fail_the_tests(run, write_skill, tmp_path, compiler):
    folder = write_skill(**{"skill.test.ts": TEST})
    answer = run("test", folder, "--json", "--junit", tmp_path / "junit.xml", env=compiler)
    types, typed = answer.json["skills"][0]["tests"]
    assert (answer.exit_code, types["name"], types["status"], typed["status"]) == (1, "types", "failed", "failed")
    (finding,) = types["error"]["details"]["findings"]
    assert (finding["file"], finding["line"], finding["column"], finding["rule"]) == ("skill.test.ts", 2, 5, "TS2554")
    assert "skill.test.ts:2:5: Expected 2-3 arguments" in (tmp_path / "junit.xml").read_text()


def test_without_a_compiler_one_note_states_that_types_are_not_checked(run, write_skill, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = write_skill(code=CODE)
    nothing = {"PATH": str(tmp_path)}
    write_skill("other")
    answer = run("validate", folder.parent, env=nothing)
    assert answer.exit_code == 0
    assert answer.stderr.count("types are not checked: found no tsc") == 1
    asked = run("validate", "--types", folder, "--json", env=nothing)
    assert (asked.error["code"], asked.error["hint"]) == ("invalid_arguments", "npm install --global typescript")
    assert run("validate", "--no-types", folder, env=nothing).stderr == ""


def test_a_compiler_inside_the_folder_of_a_skill_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    for folder in (tmp_path, tmp_path / "skill", tmp_path / "skill" / "src"):
        program = folder / "node_modules" / ".bin" / "tsc"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (tmp_path / "skill" / "SKILL.md").write_text("---\n")
    own = str(tmp_path / "node_modules" / ".bin" / "tsc")
    assert find_compiler(tmp_path / "skill" / "src") == own
    assert find_compiler(tmp_path / "skill") == own
    (tmp_path / "SKILL.md").write_text("---\n")
    assert find_compiler(tmp_path / "skill" / "src") is None


def test_only_switches_of_the_settings_of_a_skill_are_used(tmp_path):
    hostile = {"compilerOptions": {"strict": True, "noUnusedLocals": False, "noEmit": False, "outDir": "/"}}
    (tmp_path / "tsconfig.json").write_text(f'// "noImplicitAny": true\n{json.dumps(hostile)}/* "strict": false */')
    assert switches(tmp_path) == {"strict": True, "noUnusedLocals": False}
    (tmp_path / "tsconfig.json").unlink()
    (tmp_path / "tsconfig.json").symlink_to("/dev/zero")
    assert switches(tmp_path) == {}
