"""`validate` and `scan`."""

import json

from cortex_skills.lifecycle import loader

BROKEN = """\
---
name: broken
description: Greets.
type: semantic
semantic:
  version: 1
  permissions: {graph: [rite]}
  assertions: [{predicate: greets}]
---
"""

DEPENDENT = """\
---
name: three
description: Needs another.
type: semantic
semantic:
  version: 1
  dependencies: [{slug: elsewhere, version: "^1.0.0"}]
---
"""


def test_validate_accepts_a_valid_skill(run, skill):
    answer = run("validate", "--no-types", skill)
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, f"ok {skill}: greeter 1.2.0\n", "")


def test_shapes_that_cannot_be_applied_make_a_skill_invalid(run, skill):
    (skill / "shapes.ttl").write_text("<urn:s> <http://www.w3.org/ns/shacl#minCuont> 1 .")
    answer = run("validate", skill)
    assert answer.exit_code == 1
    assert "use sh:minCuont, which is not supported" in answer.stdout
    (skill / "shapes.ttl").write_text("<urn:s> <http://www.w3.org/ns/shacl#minCount> 1 .")
    assert run("validate", skill).exit_code == 0


def test_every_problem_of_every_skill_is_reported_with_file_line_field_and_hint(run, write_skill):
    good = write_skill()
    broken = write_skill("broken", BROKEN)
    empty = write_skill("empty", "nothing")
    answer = run("validate", "--no-types", good.parent)
    assert answer.exit_code == 1
    assert answer.stdout.splitlines() == [
        f"{broken}/SKILL.md:7:17: error[manifest_invalid]: semantic.permissions.graph[0]: "
        "'rite' is not one of read, write",
        "  7 |   permissions: {graph: [rite]}",
        "    |                 ^",
        "    hint: did you mean write?",
        f"{broken}/SKILL.md:8:3: error[manifest_invalid]: semantic.assertions: needs the permission graph:write",
        "  8 |   assertions: [{predicate: greets}]",
        "    |   ^",
        "    hint: add write to semantic.permissions.graph",
        f"not valid {broken}: does not load here",
        f"{empty}/SKILL.md: error[manifest_invalid]: document: does not begin with frontmatter",
        "    hint: make --- the first line",
        f"not valid {empty}: does not load here",
        f"ok {good}: greeter 1.2.0",
    ]
    assert answer.stderr == (
        "error[manifest_invalid]: 2 of 3 skills are not valid (3 problems)\nhint: correct the problems listed above\n"
    )


def test_json_output_holds_the_problems_and_one_error(run, write_skill):
    folder = write_skill("broken", BROKEN)
    answer = run("validate", folder, "--json")
    assert answer.exit_code == 1
    assert answer.json["valid"] is False
    (report,) = answer.json["skills"]
    assert (report["folder"], report["valid"], report["hooks"]) == (str(folder), False, None)
    assert report["errors"][0] == {
        "code": "manifest_invalid",
        "field": "semantic.permissions.graph[0]",
        "file": "SKILL.md",
        "line": 7,
        "column": 17,
        "message": "'rite' is not one of read, write",
        "hint": "did you mean write?",
    }
    assert answer.error["code"] == "manifest_invalid"


def test_a_folder_without_a_manifest_is_reported(run, write_skill):
    folder = write_skill("bare", None, None)
    answer = run("validate", folder)
    assert answer.exit_code == 1
    assert f"{folder} contains no SKILL.md" in answer.stdout


def test_a_missing_folder_is_a_usage_error(run, tmp_path):
    answer = run("validate", tmp_path / "nowhere")
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert "does not exist" in answer.stderr


def test_a_misspelt_folder_gets_a_suggestion(run, skill):
    for written in (skill.with_name("greter"), skill / "SKILL.md"):
        answer = run("validate", written)
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert answer.stderr.endswith(f"hint: did you mean {skill}?\n")


def test_a_missing_dependency_is_reported_at_its_manifest(run, write_skill):
    folder = write_skill("three", DEPENDENT)
    assert run("validate", "--load", folder).stdout.startswith(f"{folder}/SKILL.md:7:3: error[manifest_invalid]: ")


def test_a_plain_agentskills_skill_is_valid(run, write_skill):
    folder = write_skill("plain", "---\nname: plain\ndescription: Plain.\n---\n", None)
    answer = run("validate", folder)
    assert (answer.exit_code, answer.stdout) == (0, f"ok {folder}: plain, without a semantic block\n")


def test_validate_without_load_runs_no_code(run, write_skill):
    assert run("validate", write_skill(code="export default { name: 'other' };")).exit_code == 0


def test_load_reports_the_exports_and_does_not_touch_the_store(run, skill, store):
    answer = run("validate", "--load", skill)
    assert (answer.exit_code, answer.stdout) == (0, f"ok {skill}: greeter 1.2.0, exports onQuery\n")
    assert not list(store.iterdir())


def test_load_reports_why_a_skill_does_not_load(run, write_skill):
    wrong_name = write_skill("one", code="export default { name: 'other' };")
    syntax = write_skill("two", code="export default {\n  name: = 'two' };")
    dependent = write_skill("three", DEPENDENT)
    critical = write_skill("four", code="export default { name: 'four', onQuery() { eval('1'); } };")
    answer = run("validate", "--load", "--json", wrong_name, syntax, dependent, critical)
    assert answer.exit_code == 1
    reports = {report["folder"]: report["errors"][0] for report in answer.json["skills"]}
    assert reports[str(wrong_name)]["code"] == "skill_error"
    assert reports[str(syntax)]["code"] == "transpile_error"
    assert [reports[str(syntax)][key] for key in ("file", "line", "column")] == ["skill.ts", 2, 9]
    assert reports[str(dependent)]["field"] == "semantic.dependencies[0]"
    assert reports[str(critical)]["code"] == "scan_rejected"


def test_a_skill_that_loops_is_stopped_and_reported(run, write_skill, tmp_path):
    (tmp_path / "cortex.yaml").write_text("skillSandbox: {executionTimeoutMs: 200}\n")
    folder = write_skill(code="export default { name: 'greeter', onActivate() { for (;;) {} } };")
    answer = run("validate", "--load", folder, "--config", tmp_path / "cortex.yaml")
    assert answer.exit_code == 1
    assert "error[skill_timeout]" in answer.stdout


def test_control_characters_of_a_folder_name_are_escaped(run, tmp_path):
    folder = tmp_path / "\x1b[2Ja\nerror[x]: \u202eb"
    folder.mkdir()
    (folder / "SKILL.md").write_text("nothing")
    (folder / "skill.ts").write_text("eval('\x1b[31m')")
    for command in ("validate", "scan"):
        answer = run(command, folder)
        assert answer.exit_code == 1
        for text in (answer.stdout, answer.stderr):
            assert all(character.isprintable() for character in text.replace("\n", ""))
        assert not any(line.startswith("error[x]") for line in answer.stdout.splitlines())


def test_scan_prints_findings_with_source_lines(run, write_skill):
    folder = write_skill(code='const a = 1;\n  eval("1");\n')
    answer = run("scan", folder.parent)
    assert answer.exit_code == 1
    first, line, caret, hint = answer.stdout.splitlines()
    assert first.startswith(f"{folder}/skill.ts:2:3: critical[dynamic-code]: ")
    assert (line, caret) == ('  2 |   eval("1");', "    |   ^")
    assert hint.startswith("    hint: ")
    assert answer.stderr.startswith("error[scan_rejected]: 1 critical finding\n")


def test_scan_as_json_counts_and_names_the_folder(run, write_skill):
    folder = write_skill(code='eval("1");')
    answer = run("scan", folder, "--json")
    assert (answer.exit_code, answer.json["critical"], answer.json["warnings"]) == (1, 1, 0)
    assert answer.json["findings"][0] | {"message": "", "hint": ""} == {
        "folder": str(folder),
        "rule": "dynamic-code",
        "severity": "critical",
        "file": "skill.ts",
        "line": 1,
        "column": 1,
        "evidence": "eval",
        "message": "",
        "hint": "",
    }


def test_scan_of_clean_source_finds_nothing(run, skill):
    answer = run("scan", skill)
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "no findings\n", "")
    assert run("scan", skill, "--json").json == {"critical": 0, "warnings": 0, "findings": []}


def test_json_output_is_ascii_for_any_source(run, write_skill):
    folder = write_skill(code="eval('\u202e\x9b')")
    answer = run("scan", folder, "--json")
    assert answer.stdout.isascii()
    assert [finding["rule"] for finding in json.loads(answer.stdout)["findings"]] == [
        "dynamic-code",
        "hidden-characters",
    ]


def test_skills_that_are_not_read_are_named_by_validate_and_list(run, write_skill, monkeypatch):
    loader._warn_once.cache_clear()
    root = write_skill().parent
    write_skill("pack/deep", "---\nname: deep\ndescription: d\n---\n", None)
    lower = write_skill("lower", None, None, **{"skill.md": "---\nname: lower\ndescription: d\n---\n"})
    answer = run("validate", "--no-types", root)
    assert answer.exit_code == 0
    assert answer.stdout.splitlines() == [
        f"warning: {lower}/skill.md is skipped: it is not called SKILL.md (rename it)",
        f"warning: {root}/pack/deep/SKILL.md is skipped: it is more than one folder below {root} "
        f"(name {root}/pack/deep, or the folder around it)",
        f"ok {root}/greeter: greeter 1.2.0",
    ]
    assert run("validate", "--no-types", "--strict", root).exit_code == 3
    skipped = run("validate", "--no-types", "--json", root).json["skills"][0]["skipped"]
    assert skipped[0]["reason"] == "is not called SKILL.md"
    listed = run("list", "--skills", root, env={"CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "false"})
    assert f"{lower}/skill.md is skipped" in listed.stderr


def test_each_finding_states_whether_the_skill_loads(run, write_skill):
    plain = write_skill("plain", "---\nname: plain\ndescription: d\nargument-hint: [file]\n---\n", None)
    bad = write_skill("bad", "---\nname: Bad\ndescription: d\n---\n", None)
    answer = run("validate", "--no-types", "--json", plain.parent)
    assert [(report["name"], report["loads"], report["valid"]) for report in answer.json["skills"]] == [
        (None, False, False),
        ("plain", True, True),
    ]
    shown = run("validate", "--no-types", "--strict", plain.parent)
    assert shown.exit_code == 1
    assert f"not valid {bad}: does not load here" in shown.stdout
    assert f"ok {plain}: plain, without a semantic block; loads here, with 2 warnings" in shown.stdout


def test_shapes_of_a_skill_without_a_semantic_block_are_a_file_like_others(run, write_skill):
    folder = write_skill("plain", "---\nname: plain\ndescription: d\n---\n", None, **{"shapes.ttl": "no shapes"})
    assert run("validate", "--no-types", folder).exit_code == 0
    assert run("list", "--skills", folder).exit_code == 0


def test_without_running_code_what_the_scanner_refuses_is_reported(run, write_skill):
    good = write_skill()
    broken = write_skill("broken", BROKEN.replace("rite", "write"), 'fetch("http://x"); const a = [;')
    answer = run("validate", "--no-types", good, broken)
    assert (answer.exit_code, answer.stdout.splitlines()[-1]) == (1, f"not valid {broken}: does not load here")
    assert "[network-access]" in answer.stdout
    assert f"ok {good}: greeter 1.2.0" in answer.stdout
    off = {"CORTEX_VERIFICATION__AUTO_SCAN": "false"}
    assert run("validate", "--no-types", good, broken, env=off).exit_code == 0


def test_load_loads_each_path_also_beside_one_that_is_not_valid(run, write_skill):
    broken = write_skill("broken", BROKEN)
    other = write_skill(
        "other", BROKEN.replace("rite", "write").replace("broken", "other"), 'export default { name: "another" };'
    )
    answer = run("validate", "--no-types", "--load", broken, other, "--json")
    assert [each["errors"][0]["code"] for each in answer.json["skills"]] == ["manifest_invalid", "skill_error"]
