"""The SKILL.md of a registered skill: both dialects are read, one is written, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from cortex_skills.manifest import ManifestError
from cortex_skills.registry.digests import compat_digest, digest
from cortex_skills.registry.document import SkillDocument, Step
from cortex_skills.registry.skill_md import read_skill_md, steps_of, write_skill_md
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

    folder: Path = tmp_path_factory.mktemp("skills") / document.name
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
        ("name: a\ndescription: b\nx: 1\nmetadata:\n  x: y", "metadata.x"),
        ("name: a\ndescription: b\nmetadata: 3", "metadata"),
        ("name: a\ndescription: b\nmetadata:\n  cortex: nonsense", "metadata.cortex"),
        ("name: a\ndescription: b\nsteps: 3", "steps"),
        ("name: a\ndescription: b\ndepends_on: {a: b}", "depends_on"),
        ("name: a\ndescription: b\ndepends_on: [a]", "depends_on.0"),
        ("name: a\ndescription: b\nsemantic: text", "semantic"),
        ("name: a\ndescription: b\nmetadata:\n  semantic: semantic.yaml", "metadata.semantic"),
        ("name: a", "description"),
        ("name: a--B-\ndescription: b", "name"),
        ("name: a\ndescription: b\nnamespace: a b", "namespace"),
    ],
)
def test_each_problem_names_its_field(front, field):
    with pytest.raises(ManifestError) as caught:
        read_skill_md(f"---\n{front}\n---\n", namespace="mayros")
    assert field in [problem["field"] for problem in caught.value.details["errors"]]


def test_all_rules_of_a_name_are_reported():
    with pytest.raises(ManifestError) as caught:
        SkillDocument.checked(namespace="n", name="-A--b_" + "x" * 64, description="d")
    messages = [problem["message"] for problem in caught.value.details["errors"]]
    assert len(messages) == 5
