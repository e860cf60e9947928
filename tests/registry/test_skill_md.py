"""The SKILL.md of a registered skill: both dialects are read, one is written, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from cortex_skills.features.registry.documents.document import SkillDocument, Step, compat_digest, digest
from cortex_skills.features.registry.documents.skill_md import read_skill_md, steps_of, write_skill_md
from cortex_skills.manifest import ManifestError
from cortex_skills.manifest.skill_names import hyphenated
from tests.registry.drawn import documents


def reread(document: SkillDocument) -> SkillDocument:
    files = write_skill_md(document)
    companion = files.get("semantic.yaml")
    return read_skill_md(files["SKILL.md"], namespace="other", resources=document.resources, companion=companion)


@settings(max_examples=150, deadline=None)
@given(documents())
def test_what_was_written_is_read_back_whole(document):
    again = reread(document)
    assert again == document
    assert (digest(again), compat_digest(again)) == (digest(document), compat_digest(document))


@settings(max_examples=25, deadline=None)
@given(documents())
def test_the_reference_validator_accepts_what_was_written(tmp_path_factory, document):
    from skills_ref import validate

    folder: Path = tmp_path_factory.mktemp("skills") / hyphenated(document.name)  # as an export is named
    folder.mkdir()
    for name, text in write_skill_md(document).items():
        (folder / name).write_bytes(text.encode())
    assert validate(folder) == []


def test_the_older_dialect_is_read():
    text = (
        "---\nname: fetch-data\nnamespace: skills\ndescription: Fetches data.\nallowed_tools: [memory_recall, x]\n"
        "trigger_pattern: fetch .*\ndepends_on: [base]\nconflicts_with: other\n"
        "composes_with_reflections: {namespaces: [a], min_depth: 1}\nlevel: 3\n---\nBody.\n"
    )
    document = read_skill_md(text, namespace="mayros")
    assert (document.namespace, document.allowed_tools) == ("skills", ("memory_recall", "x"))
    assert (document.depends_on, document.conflicts_with) == (("base",), ("other",))
    assert document.reflections == {"namespaces": ["a"], "min_depth": 1}
    assert document.metadata == {"level": 3}
    assert reread(document) == document


def test_allowed_tools_of_agentskills_are_one_text():
    text = "---\nname: a\ndescription: b\nallowed-tools: Bash(git:*) Read\n---\n"
    assert read_skill_md(text, namespace="n").allowed_tools == ("Bash(git:*)", "Read")


def test_numbered_steps_of_the_body_are_steps():
    body = "Intro\n\n1. **Look** — use fs_read\n2. **Think**\n3. no title\n4) **Act** use `shell_safe` twice\n"
    assert steps_of(body) == (Step("Look", "fs_read"), Step("Think"), Step("Act", "shell_safe", "twice"))


@pytest.mark.parametrize(
    ("front", "field"),
    [
        ("name: a\ndescription: b\nmetadata: 3", "metadata"),
        ("name: a\ndescription: b\nsemantic: text", "semantic"),
        ("name: a\ndescription: b\nmetadata:\n  semantic: semantic.yaml", "semantic"),
        ("name: a", "description"),
        ("name: a--B-\ndescription: b", "name"),
    ],
)
def test_each_problem_names_its_field(front, field):
    with pytest.raises(ManifestError) as caught:
        read_skill_md(f"---\n{front}\n---\n", namespace="mayros")
    assert field in [problem["field"] for problem in caught.value.details["errors"]]


NO_STEPS = '{"namespace": "n", "steps": 3}'


@pytest.mark.parametrize(
    ("front", "field", "kept"),
    [
        ("x: 1\nmetadata:\n  x: y", "x", {"x": "y"}),
        ("metadata:\n  cortex: nonsense", "metadata.cortex", {"cortex": "nonsense"}),
        (f"metadata:\n  cortex: '{NO_STEPS}'", "metadata.cortex", {"cortex": NO_STEPS}),
        ("steps: 3", "steps", {"steps": 3}),
        ("steps: [{run: echo}]", "steps", {"steps": [{"run": "echo"}]}),
        ("steps: ['']", "steps", {"steps": [""]}),
        ("depends_on: {a: b}", "depends_on", {"depends_on": {"a": "b"}}),
        ("depends_on: [a]", "depends_on", {"depends_on": ["a"]}),
        ("depends_on: [An Other]", "depends_on", {"depends_on": ["An Other"]}),
        ("conflicts_with: 5", "conflicts_with", {"conflicts_with": 5}),
        ("trigger_pattern: [a]", "trigger_pattern", {"trigger_pattern": ["a"]}),
        ("allowed_tools: 5", "allowed_tools", {"allowed_tools": 5}),
        ("namespace: a b", "namespace", {"namespace": "a b"}),
        ("type: technique", None, {"type": "technique"}),
        ("on: [no, 1:30, 7]\nid: 12345678901234567890", None, {"on": ["no", "1:30", 7], "id": "12345678901234567890"}),
    ],
)
def test_a_value_that_the_registry_cannot_use_is_kept_as_metadata_with_a_warning(front, field, kept):
    warnings = []
    text = f"---\nname: a\ndescription: b\n{front}\n---\n"
    document = read_skill_md(text, namespace="mayros", warnings=warnings)
    assert document.metadata == kept
    assert (document.depends_on, document.conflicts_with, document.steps) == ((), (), ())
    assert [warning.field for warning in warnings][:1] == ([] if field is None else [field])
    assert reread(document) == document


def test_tools_are_read_in_each_form_once():
    def tools(value):
        return read_skill_md(
            f"---\nname: a\ndescription: b\nallowed-tools: {value}\n---\n", namespace="n"
        ).allowed_tools

    assert tools("Read, Read Grep") == ("Read", "Grep")
    assert tools("[Read, '', Read, Bash(git add *)]") == ("Read", "Bash(git add *)")
    assert tools("['Bash(git: *)', {a: b}]") == ("Bash(git: *)", '{"a": "b"}')
    assert tools("{a: b}") == ('{"a": "b"}',)


def test_a_description_with_control_characters_is_refused_in_a_new_document_only():
    with pytest.raises(ManifestError, match="control characters"):
        SkillDocument.checked(namespace="n", name="a", description="a\x1b[31m")
    old = SkillDocument.checked(stored=True, namespace="n", name="a", description="a\x1b[31m")
    assert old.description == "a\x1b[31m"


def test_all_rules_of_a_name_are_reported():
    with pytest.raises(ManifestError) as caught:
        SkillDocument.checked(namespace="n", name="-A--b!" + "x" * 64, description="d")
    messages = [problem["message"] for problem in caught.value.details["errors"]]
    assert len(messages) == 5
