"""Skills of agentskills.io: `validate` agrees with the reference validator.

This validator is stricter in these points only: spaces around a name, control characters in the description,
structured text fields, `skill.md` in lower case, --- inside a line, line breaks that only some readers know, a NUL in
the body, links, and more than 1 MiB.
"""

import json
import unicodedata
from pathlib import Path

import pytest
import skills_ref
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_skills.doors.cli.app import program
from cortex_skills.manifest import ManifestError, load_manifest
from cortex_skills.manifest.skill_names import is_skill_name, normalized
from tests.docs.conformance_page import cases_in, counts_of

FIELDS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools", "type", "version", "Name"]
NAMES = st.one_of(
    st.text(st.characters(categories=["L", "M", "N"]) | st.just("-"), min_size=1, max_size=8).filter(str.isprintable),
    st.just("a-skill"),
    st.from_regex(r"\A[a-zA-Z0-9_. -]{1,8}\Z"),
    st.sampled_from(["a" * 64, "a" * 65, "-a", "a--b"]),
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


def write(root: Path, name: str, text: str) -> Path:
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
    folder = write(tmp_path_factory.getbasetemp(), name if same_name else "other", f"---\n{frontmatter}\n---\nBody.\n")
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
    ours, theirs = verdicts(write(tmp_path, "a-skill", text))
    assert theirs
    assert ours or "semantic" in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
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
    ours, theirs = verdicts(write(tmp_path, name, text))
    assert (bool(ours), theirs) == (True, [])


# Like the 21 tests of the reference validator (skills-ref/tests/test_validator.py): folder, frontmatter, and whether
# both accept it. An empty frontmatter means no SKILL.md, an empty folder one that does not exist.
FIXTURES = {
    "a plain skill": ("a-skill", "name: a-skill\ndescription: b", True),
    "no such folder": ("", "", False),
    "a file": ("file", "", False),
    "no SKILL.md": ("a-skill", "", False),
    "capital letters": ("ASkill", "name: ASkill\ndescription: b", False),
    "65 letters": ("a" * 65, f"name: {'a' * 65}\ndescription: b", False),
    "a hyphen first": ("-a", "name: -a\ndescription: b", False),
    "two hyphens": ("a--b", "name: a--b\ndescription: b", False),
    "an underscore": ("a_b", "name: a_b\ndescription: b", False),
    "another folder": ("other", "name: a-skill\ndescription: b", False),
    "an unknown field": ("a-skill", "name: a-skill\ndescription: b\nunknown: c", False),
    "all fields": ("a-skill", "name: a-skill\ndescription: b\nlicense: MIT\nmetadata:\n  author: c", True),
    "tools": ("a-skill", "name: a-skill\ndescription: b\nallowed-tools: Bash(git:*) Read", True),
    "Chinese": ("天气", "name: 天气\ndescription: b", True),
    "Russian with a hyphen": ("моя-погода", "name: моя-погода\ndescription: b", True),
    "Russian": ("погода", "name: погода\ndescription: b", True),
    "Russian capitals": ("ПОГОДА", "name: ПОГОДА\ndescription: b", False),
    "a long description": ("a-skill", f"name: a-skill\ndescription: {'b' * 1025}", False),
    "compatibility": ("a-skill", "name: a-skill\ndescription: b\ncompatibility: Needs Python 3.11", True),
    "long compatibility": ("a-skill", f"name: a-skill\ndescription: b\ncompatibility: {'c' * 501}", False),
    "a decomposed letter": ("m\u00fcsli", "name: mu\u0308sli\ndescription: b", True),
}


@pytest.mark.parametrize("case", FIXTURES)
def test_both_judge_the_cases_of_the_reference_validator_alike(tmp_path, case):
    name, frontmatter, accepted = FIXTURES[case]
    folder = tmp_path / (name or "missing")
    if case == "a file":
        folder.write_text("")
    elif name:
        folder.mkdir()
    if frontmatter:
        (folder / "SKILL.md").write_text(f"---\n{frontmatter}\n---\nBody.\n", encoding="utf-8")
    ours, theirs = verdicts(folder)
    assert (ours == [], theirs == []) == (accepted, accepted), (ours, theirs)


def test_both_accept_the_same_letters_in_names():
    """Each character that this version of Python knows, alone and in normal form."""
    known = filter(lambda char: unicodedata.category(char) not in ("Cn", "Co", "Cs"), map(chr, range(0x110000)))
    other = [
        char
        for char in known
        if is_skill_name(plain := normalized(char))
        != (plain != "" and plain == plain.lower() and all(each.isalnum() for each in plain))
    ]
    assert other == []


@pytest.mark.parametrize("written", ["mu\u0308sli", "m\u00fcsli"])
@pytest.mark.parametrize("folder", ["mu\u0308sli", "m\u00fcsli"])
def test_a_name_is_held_in_normal_form(tmp_path, folder, written):
    text = f"---\nname: {written}\ndescription: b\n---\n"
    assert load_manifest(write(tmp_path, folder, text)).name == "m\u00fcsli"


def test_a_semantic_skill_in_two_files_is_valid_for_both_validators(tmp_path):
    text = "---\nname: a-skill\ndescription: b\nmetadata:\n  semantic: semantic.yaml\n---\n"
    folder = write(tmp_path, "a-skill", text)
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\nqueries: [{predicate: p}]\n")
    assert verdicts(folder) == ([], [])
    assert load_manifest(folder).has_permission("graph:read")


def test_the_command_warns_of_syntax_that_other_readers_reject(tmp_path):
    folder = write(tmp_path, "a-skill", "---\nname: a-skill\ndescription: b\nmetadata: {a: b}\n---\n")
    answer = CliRunner().invoke(program, ["validate", "--no-types", str(folder)])
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert answer.stdout.splitlines() == [
        f"warning: {folder}/SKILL.md:4:document: is written in braces or brackets, which agentskills.io does not read "
        "(write each entry on a line of its own: key: value, or - item)",
        f"ok {folder}: a-skill, without a semantic block; loads here, with 1 warning",
    ]
    assert load_manifest(folder).metadata == {"a": "b"}
    assert CliRunner().invoke(program, ["validate", "--no-types", "--strict", str(folder)]).exit_code == 3
    (folder / "SKILL.md").write_text("---\nname: a-skill\ndescription: b\n---\n")
    assert CliRunner().invoke(program, ["validate", "--no-types", "--strict", str(folder)]).exit_code == 0


def test_the_page_of_conformance_counts_these():
    stricter = cases_in(globals(), "test_the_points_in_which_this_validator_is_stricter")
    assert counts_of("skills-ref") == (cases_in(globals()) - stricter - 1, stricter)
