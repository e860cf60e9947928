"""`validate`, `list` and `registry add` give one verdict on each SKILL.md, and so does the reference validator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import skills_ref
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.doors.cli.app import program
from cortex_skills.lifecycle import loader

LONG = "Explains things. " * 64

# The shapes of SKILL.md files in public collections: the front matter below name and description, and whether the
# skill loads. The name of the folder is `demo`.
SHAPES = {
    "a kind of skill": ("name: demo\ndescription: d\ntype: technique", True),
    "a kind of skill that is a list": ("name: demo\ndescription: d\ntype: [tool, domain]", True),
    "a semantic skill without its block": ("name: demo\ndescription: d\ntype: semantic", False),
    "a hint in brackets": ("name: demo\ndescription: d\nargument-hint: [path-or-url]", True),
    "a hint that is a mapping": ("name: demo\ndescription: d\nargument-hint: [optional: date]", True),
    "a list of tools": ("name: demo\ndescription: d\nallowed-tools:\n  - Read\n  - Bash(git status:*)\n  - Read", True),
    "tools with commas": ("name: demo\ndescription: d\nallowed-tools: Read, Bash(git add *), Read", True),
    "a tool that YAML reads as a mapping": ("name: demo\ndescription: d\nallowed-tools:\n  - Bash(a: b)", True),
    "a mapping of tools": ("name: demo\ndescription: d\nallowed-tools: {Read: true}", True),
    "model, effort and context": ("name: demo\ndescription: d\nmodel: large\neffort: low\ncontext: fork", True),
    "words with several readings": (
        "name: demo\ndescription: d\nupdated: 2024-01-01\non: [yes, 010]\nid: 12345678901234567890\nat: 1:30",
        True,
    ),
    "switches": ("name: demo\ndescription: d\ndisable-model-invocation: true\nuser-invocable: no", True),
    "triggers": ('name: demo\ndescription: d\ntriggers: ["pay ads", b]\nnot_for: x', True),
    "hooks": ("name: demo\ndescription: d\nhooks:\n  SessionStart:\n    - hooks: [{type: command, command: ls}]", True),
    "needs": ("name: demo\ndescription: d\nrequires:\n  mcp: [a]\ndependencies: none", True),
    "steps of another tool": ("name: demo\ndescription: d\nsteps:\n  - {run: make}\ndepends_on: {a: b}", True),
    "a namespace of another tool": ("name: demo\ndescription: d\nnamespace: acme/tools", True),
    "a version below and beside": ("name: demo\ndescription: d\nversion: 1.0\nmetadata:\n  version: 2.0.0", True),
    "numbers": ("name: demo\ndescription: d\nversion: 2.0\npriority: 1\nrevision: 1.10", True),
    "a date": ("name: demo\ndescription: d\nmetadata:\n  date: 2024-01-01\n  draft: no", True),
    "a licence with members": ("name: demo\ndescription: d\nlicense:\n  name: MIT\n  url: x", True),
    "an empty licence": ("name: demo\ndescription: d\nlicense:\ncompatibility: ''", True),
    "a list of environments": ("name: demo\ndescription: d\ncompatibility: [a, b]", True),
    "metadata with lists and mappings": ("name: demo\ndescription: d\nmetadata:\n  a: {b: [1, true]}\n  c: [d]", True),
    "metadata that is text": ("name: demo\ndescription: d\nmetadata: text", False),
    "a key of this registry in another form": ("name: demo\ndescription: d\nmetadata:\n  cortex: x", True),
    "capital keys": ("name: demo\ndescription: d\nName: x\nVersion: 2", True),
    "a folded description": ("name: demo\ndescription: >\n  One line\n  and more.\n\n", True),
    "a literal description": ("name: demo\ndescription: |\n  Use it: often.\n", True),
    "a colon in a plain description": ("name: demo\ndescription: Use it: often.", False),
    "a description of 1,024 characters": (f"name: demo\ndescription: {'d' * 1024}", True),
    "a long description": (f"name: demo\ndescription: {LONG}", False),
    "no description": ("name: demo\nsummary: d", False),
    "a description that is a list": ("name: demo\ndescription: [d]", False),
    "control characters in the description": ('name: demo\ndescription: "a\\x1b[31m"', False),
    "another name than the folder": ("name: other\ndescription: d", True),
    "another name with a semantic block": (
        "name: other\ndescription: d\ntype: semantic\nsemantic: {version: 1}",
        False,
    ),
    "a name in capital letters": ("name: Demo\ndescription: d", False),
    "a name with spaces": ("name: Demo Skill\ndescription: d", False),
    "a name with an underscore": ("name: my_demo\ndescription: d", True),
    "a name with a colon": ("name: acme:demo\ndescription: d", False),
    "a name that is a number": ("name: 5\ndescription: d", True),
    **{
        f"{key} without a value": (f"name: demo\ndescription: d\n{key}:", True)
        for key in ("license", "compatibility", "allowed-tools", "metadata")
    },
    "metadata that is an empty text": ('name: demo\ndescription: d\nmetadata: ""', True),
    "metadata that is a list": ("name: demo\ndescription: d\nmetadata: [a]", False),
    "tabs after colons": ("name:\tdemo\ndescription:\td", True),
    "a tab at the beginning of a line": ("name: demo\ndescription: d\nmetadata:\n\ta: b", False),
    "a misspelt permission": (
        "name: demo\ndescription: d\ntype: semantic\nsemantic: {permissions: {graph: [rite]}}",
        False,
    ),
    "a predicate that is no IRI": (
        "name: demo\ndescription: d\ntype: semantic\n"
        "semantic: {permissions: {graph: [read]}, queries: [{predicate: 'http://a b'}]}",
        False,
    ),
    "two keys of one name": ("name: demo\ndescription: d\ntags: [a]\ntags: [b]", False),
    "an anchor": ("name: demo\ndescription: d\ntags: &a [b]\nmore: *a", False),
    "a comment": ("# c\nname: demo # n\ndescription: d", True),
    "a dash line in a description": ("name: demo\ndescription: one --- two", True),
}  # fmt: skip
FRAMES = {
    "as written": "---\n{}\n---\nText.\n",
    "a byte-order mark": "\ufeff---\n{}\n---\nText.\n",
    "spaces after the dashes": "---  \n{}\n--- \nText.\n",
    "no body": "---\n{}\n---",
    "a blank line first": "\n---\n{}\n---\nText.\n",
    "no end": "---\n{}\nText.\n",
    "no front matter": "# Demo\n\n{}\n",
}
WHOLE = FRAMES["as written"].format("name: demo\ndescription: d")


@pytest.fixture(autouse=True)
def warned_before():
    """Warnings are logged once in a process."""
    loader._warn_once.cache_clear()


class Verdicts:
    """What the three commands make of the skills in a folder: the names that each takes."""

    def __init__(self, root: Path) -> None:
        run = CliRunner()
        validated = run.invoke(program, ["validate", "--no-types", "--json", str(root)])
        listed = run.invoke(program, ["list", "--json", "--skills", str(root)])
        self.added = run.invoke(program, ["registry", "add", str(root), "--store", "memory:", "--json"])
        self.reports = json.loads(validated.stdout)["skills"]
        assert all(report["valid"] == report["loads"] for report in self.reports)
        self.validate = {report["name"] for report in self.reports if report["loads"]}
        rows = json.loads(listed.stdout) if listed.exit_code == 0 else []  # it fails when no skill loads
        self.list = {row["name"] for row in rows if row["error"] is None}
        self.registry = {row["skill"].rpartition("/")[2] for row in json.loads(self.added.stdout)}
        self.refused = len(self.reports) - len(self.validate)
        assert (validated.exit_code, self.added.exit_code) == (int(self.refused > 0),) * 2
        assert len(rows) - len(self.list) == self.refused or not self.list


def write(root: Path, number: int, text: str, name: str = "demo") -> Path:
    folder = root / name if not number else root / f"{name}-{number}"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("shape", SHAPES)
def test_three_readers_agree_on_a_shape_of_public_skills(tmp_path, shape):
    front, loads = SHAPES[shape]
    folder = write(tmp_path, 0, FRAMES["as written"].format(front))
    verdicts = Verdicts(tmp_path)
    (report,) = verdicts.reports
    assert bool(verdicts.validate) == loads
    assert verdicts.validate == verdicts.list == verdicts.registry
    assert loads or "demo" in verdicts.added.stderr
    assert skills_ref.validate(folder) == [] or report["errors"] or report["warnings"]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_three_readers_agree_on_a_frame_of_public_skills(tmp_path, frame, end):
    write(tmp_path, 0, FRAMES[frame].format("name: demo\ndescription: d").replace("\n", end))
    verdicts = Verdicts(tmp_path)
    loads = frame not in ("a blank line first", "no end", "no front matter")
    assert verdicts.validate == verdicts.list == verdicts.registry == ({"demo"} if loads else set())


KEYS = ["license", "compatibility", "metadata", "allowed-tools", "allowed_tools", "type", "model", "hooks", "version",
        "argument-hint", "triggers", "steps", "namespace", "depends_on", "conflicts_with", "trigger_pattern",
        "composes_with_reflections", "Name", "on"]  # fmt: skip
VALUES = ["x", "", "1.0", "5", "no", "~", "[a]", "[a, a]", "{a: b}", "[{a: [1]}]", "[[a]]", "a: b", "'q'", '"\\x07"',
          "[", "é", "2024-01-01", "semantic", "semantic.yaml", "{semantic: s.yaml}", "{cortex: x}", "{version: 2}",
          "|\n  a\n  b", "a --- b", "[Bash(a b), Read]", "!!str x", "&a b", "Read, Write", "12345678901234567890",
          "{cortex: '{\"namespace\": \"n\", \"steps\": [{}]}'}"]  # fmt: skip
NAMES = st.sampled_from(["{folder}"] * 5 + ["other-{folder}", "Demo", "a_b", "-a", "é-{folder}", "[a]"])
DESCRIPTIONS = st.sampled_from(["d"] * 5 + ["", "'  '", "d" * 1025, ">\n  a\n", '"\\x1b"', '"\\x85"', "[d]", "a: b"])


@st.composite
def front_matter(draw):
    lines = [f"name: {draw(NAMES)}", f"description: {draw(DESCRIPTIONS)}"]
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=True)):
        # A name of another skill is right here, and the registry refuses it until that skill is registered.
        values = ["{a: b}", "5", "[A B]", "~"] if key in ("depends_on", "conflicts_with") else VALUES
        lines.append(f"{key}: {draw(st.sampled_from(values))}")
    return "\n".join(lines)


@settings(max_examples=30, deadline=None)
@given(st.lists(front_matter(), min_size=4, max_size=8))
def test_three_readers_agree_on_generated_front_matter(tmp_path_factory, fronts):
    root = tmp_path_factory.mktemp("skills")
    for number, front in enumerate(fronts, 1):
        write(root, number, FRAMES["as written"].format(front.replace("{folder}", f"demo-{number}")))
    verdicts = Verdicts(root)
    assert verdicts.validate == verdicts.list == verdicts.registry
