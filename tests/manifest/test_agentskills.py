"""Skills of agentskills.io: `validate` agrees with the reference validator.

This validator is stricter in these points only: names with letters other than a-z, spaces around a name, control
characters in the description, structured text fields, `skill.md` in lower case, --- inside a line, line breaks that
only some readers know, a NUL in the body, links, and more than 1 MiB.
"""

import json
from pathlib import Path

import pytest
import skills_ref
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_skills.cli.app import program
from cortex_skills.manifest import ManifestError, load_manifest

FIELDS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools", "type", "version", "Name"]
NAMES = st.one_of(
    st.just("a-skill"), st.from_regex(r"\A[a-zA-Z0-9_. -]{1,8}\Z"), st.sampled_from(["a" * 64, "a" * 65, "-a", "a--b"])
)
TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cc", "Cs", "Zl", "Zp"]))
LENGTHS = st.sampled_from([0, 1, 499, 500, 501, 1023, 1024, 1025]).map("é".__mul__)
PLAIN = st.sampled_from(
    ["x", "1.0", "no", "2024-01-01", "~", "", "true", "010", "a b", "Read Bash(git:*)", "[a]", "{}"]
)


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


SCALARS = st.one_of(PLAIN, TEXT.filter(lambda text: "---" not in text).map(quoted), LENGTHS.map(quoted))
BLOCKS = st.sampled_from(
    ["|\n  one\n  two", ">-\n  one\n  two", "'it''s'", "&a b", "*a", "!!str x", "!x y", "a: b", "@x"]
)


@st.composite
def frontmatters(draw):
    lines = []
    name = draw(NAMES)
    for field in draw(st.lists(st.sampled_from(FIELDS), max_size=5)):
        if field == "metadata":
            keys = draw(st.lists(st.sampled_from(["a", "version", "1", "no"]), min_size=1, max_size=3))
            lines += ["metadata:", *(f"  {key}: {draw(SCALARS)}" for key in keys)]
        elif field != "name":
            lines.append(f"{field}: {draw(SCALARS | BLOCKS)}")
    if draw(st.integers(0, 9)):
        lines.insert(draw(st.integers(0, 1)) and len(lines), "description: says")
    if draw(st.integers(0, 9)):
        lines.insert(0, f"name: {quoted(name) if draw(st.booleans()) else name}")
    return name, "\n".join(lines)


def verdicts(folder: Path) -> tuple[list[str], list[str]]:
    try:
        # An unknown key is an error for the reference and a warning here.
        ours = [str(warning) for warning in load_manifest(folder, portable=True).warnings]
    except ManifestError as error:
        ours = [str(problem) for problem in error.errors]
    return ours, skills_ref.validate(folder)


def written(root: Path, name: str, text: str) -> Path:
    folder = root / name.strip()
    folder.mkdir(exist_ok=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


@settings(max_examples=400, deadline=None)
@given(frontmatters(), st.booleans())
@example(("a-skill", "name: a-skill\ndescription: b\nmetadata:\n  version: 1.0"), True)
@example(("a-skill", "name: a-skill\ndescription: b\nallowed-tools:\n  - Read\n  - Grep"), True)
@example(("a-skill", "name: a-skill\ndescription: b\nmetadata: {a: b}"), True)
@example(("a-skill", "name: a-skill\ndescription: b\nlicense:"), True)
def test_the_verdict_is_that_of_the_reference_validator(tmp_path_factory, made, same_name):
    name, frontmatter = made
    if name in (".", "..") or not name.strip() or name != name.strip():
        name = "other"
    folder = written(
        tmp_path_factory.getbasetemp(), name if same_name else "other", f"---\n{frontmatter}\n---\nBody.\n"
    )
    ours, theirs = verdicts(folder)
    assert bool(ours) == bool(theirs), (frontmatter, ours, theirs)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no frontmatter",
        "---\nname: a-skill\n",
        "\ufeff---\nname: a-skill\ndescription: b\n---\n",
        "---\n- a\n---\n",
        "---\n---\n",
        "---\nname: a-skill\n---\nbody",
        "---\nname: a-skill\ndescription: b\ntype: semantic\nsemantic:\n  version: 1\n---\n",
        "---\nname: a-skill\x85description: b\n---\n",
        "---\nname: a-skill\u2028description: b\n---\n",
        "---\nname: a-skill\u2029description: b\n---\n",
        "---\nname: a-skill\ndescription: b\n# a comment\u2028license: c\n---\n",
    ],
)
def test_a_skill_that_the_reference_rejects_is_rejected_or_semantic(tmp_path, text):
    ours, theirs = verdicts(written(tmp_path, "a-skill", text))
    assert theirs
    assert ours or "semantic" in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("été", "---\nname: été\ndescription: b\n---\n"),
        ("a-skill", "---\nname: ' a-skill '\ndescription: b\n---\n"),
        ("a-skill", '---\nname: a-skill\ndescription: "a\\x07"\n---\n'),
        ("a-skill", "---\nname: a-skill\ndescription: b\nmetadata: text\n---\n"),
        ("a-skill", "---\nname: a-skill\ndescription: b\nmetadata:\n  a:\n    b: c\n---\n"),
        ("a-skill", "---\nname: a-skill\ndescription: b --- c\n---\n"),
        ("a-skill", '---\nname: a-skill\ndescription: "a\u2028b"\n---\n'),
        ("a-skill", "---\rname: a-skill\rdescription: b\r---\r"),
        ("a-skill", "---\nname: a-skill\ndescription: b\n---\n\0"),
    ],
)
def test_the_points_in_which_this_validator_is_stricter(tmp_path, name, text):
    ours, theirs = verdicts(written(tmp_path, name, text))
    assert (bool(ours), theirs) == (True, [])


def test_a_semantic_skill_in_two_files_is_valid_for_both_validators(tmp_path):
    text = "---\nname: a-skill\ndescription: b\nmetadata:\n  semantic: semantic.yaml\n---\n"
    folder = written(tmp_path, "a-skill", text)
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\nqueries: [{predicate: p}]\n")
    assert verdicts(folder) == ([], [])
    assert load_manifest(folder).has_permission("graph:read")


def test_the_command_reports_syntax_that_other_readers_reject(tmp_path):
    folder = written(tmp_path, "a-skill", "---\nname: a-skill\ndescription: b\nmetadata: {a: b}\n---\n")
    answer = CliRunner().invoke(program, ["validate", str(folder)])
    assert answer.exit_code == 1
    assert "SKILL.md:4" in answer.stdout
    assert "agentskills.io does not read" in answer.stdout
    assert load_manifest(folder).metadata == {"a": "b"}
