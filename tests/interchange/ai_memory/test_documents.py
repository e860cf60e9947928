"""Texts of ai-memory as the registry reads them: its tests of the parser and of digests, and what that returned."""

from __future__ import annotations

import pytest

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource, compat_digest
from cortex_skills.features.registry.documents.skill_md import read_skill_md
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.manifest import ManifestError
from tests.interchange.ai_memory.vectors import READ, REFUSED, Vector

HEAD = "---\nnamespace: skills\nname: composer\ndescription: A composing skill.\n"
CONTROLS = "escapes-of-json"  # control characters in the description
TAKEN_HERE = {"no-namespace": "mayros/ok", "an-underscore-in-the-name": "testns/my_skill"}


@pytest.fixture(scope="module")
def registry() -> SkillRegistry:
    registry = SkillRegistry(open_store("memory:"), Names("mayros"), lambda: None)
    needed = SkillDocument.checked(namespace="testns", name="other", description="Another one.")
    registry.register(needed, actor="ada", origin="human")
    return registry


@pytest.mark.parametrize("vector", [each for each in READ if str(each) != CONTROLS], ids=str)
def test_a_text_has_the_digest_of_the_original_and_its_members(registry: SkillRegistry, vector: Vector) -> None:
    files = tuple(SkillResource(f"resources/{path}", data) for path, data in vector.resources.items())
    document = read_skill_md(vector.text, namespace="mayros", resources=files)
    version = registry.register(document, actor="ada", origin="human").version
    assert version.compat_digest == vector.digest
    stored, wanted = registry.document(version), vector.fields
    for name in ("namespace", "name", "description", "license", "compatibility"):
        assert getattr(stored, name) == wanted[name], name
    assert list(stored.allowed_tools) == wanted["allowed_tools"]
    assert stored.body.lstrip("\r\n") == wanted["body"].lstrip("\r\n")
    own = {"trigger_pattern", "depends_on", "composes_with_reflections"}
    assert dict(stored.metadata) == {key: value for key, value in wanted["metadata"].items() if key not in own}


def test_refused_control_characters_in_a_description() -> None:
    (vector,) = (each for each in READ if str(each) == CONTROLS)
    with pytest.raises(ManifestError, match="description"):
        read_skill_md(vector.text, namespace="mayros")
    fields = {name: vector.fields[name] for name in ("namespace", "name", "description", "body")}
    assert compat_digest(SkillDocument(**fields)) == vector.digest  # as an earlier version may have registered it


@pytest.mark.parametrize("vector", [each for each in REFUSED if str(each) not in TAKEN_HERE], ids=str)
def test_what_the_original_refuses_is_refused(vector: Vector) -> None:
    with pytest.raises(ManifestError) as caught:
        read_skill_md(vector.text, namespace="mayros")
    assert caught.value.code == "manifest_invalid"


@pytest.mark.parametrize("case", TAKEN_HERE)
def test_a_text_that_only_this_registry_takes(case: str) -> None:
    """Without a namespace it is of the registry's own, and CortexPrism has names with underscores."""
    (text,) = (each.text for each in REFUSED if str(each) == case)
    document = read_skill_md(text, namespace="mayros")
    assert f"{document.namespace}/{document.name}" == TAKEN_HERE[case]


def test_the_order_of_files_does_not_change_the_digest() -> None:
    files = (SkillResource("a", b"1"), SkillResource("b", b"2"))
    document = read_skill_md(f"{HEAD}---\nB\n", namespace="mayros", resources=files)
    other = read_skill_md(f"{HEAD}---\nB\n", namespace="mayros", resources=(files[1], files[0]))
    moved = read_skill_md(f"{HEAD}---\nB\n", namespace="mayros", resources=(SkillResource("b", b"1"), files[0]))
    assert compat_digest(document) == compat_digest(other) != compat_digest(moved)


def test_reflections_are_declared_with_a_namespace_and_a_least_depth() -> None:
    declared = "composes_with_reflections:\n  - namespace: foo/observations\n    min_depth: 1\n  - namespace: a.b\n"
    text = f"{HEAD}{declared}---\n"
    document = read_skill_md(text, namespace="mayros")
    assert document.reflections == [{"namespace": "foo/observations", "min_depth": 1}, {"namespace": "a.b"}]


def test_a_text_without_a_declaration_has_none() -> None:
    assert read_skill_md(f"{HEAD}license: MIT\n---\nLegacy.\n", namespace="mayros").reflections is None


def test_further_keys_stay_beside_a_declaration() -> None:
    text = f"{HEAD}owner: alice\ncomposes_with_reflections: [{{namespace: foo}}]\n---\n"
    assert dict(read_skill_md(text, namespace="mayros").metadata) == {"owner": "alice"}


@pytest.mark.parametrize(
    ("declared", "place"),
    [
        ("[foo]", "composes_with_reflections[0]"),
        ("[{namespace: foo}, {min_depth: 1}]", "composes_with_reflections[1]"),
        ("[{namespace: ''}]", "composes_with_reflections[0]"),
        ("[{namespace: ../foo}]", "composes_with_reflections[0]"),
        ("[{namespace: foo, min_depth: -1}]", "composes_with_reflections[0].min_depth"),
        ("[{namespace: foo, min_depth: 1.5}]", "composes_with_reflections[0].min_depth"),
        ("[{namespace: foo, min_depth: true}]", "composes_with_reflections[0].min_depth"),
        ("foo", "composes_with_reflections"),
        (f"[{', '.join(['{namespace: a}'] * 101)}]", "composes_with_reflections"),
    ],
)
def test_a_malformed_declaration_is_refused_with_its_place(declared: str, place: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read_skill_md(f"{HEAD}composes_with_reflections: {declared}\n---\n", namespace="mayros")
    (problem,) = caught.value.errors
    assert place in str(problem)
    assert problem.line == 5


def test_refused_a_depth_that_no_reflection_has() -> None:
    """The original takes it, and composes with nothing."""
    with pytest.raises(ManifestError, match="from 0 to 3"):
        read_skill_md(f"{HEAD}composes_with_reflections: [{{namespace: a, min_depth: 99}}]\n---\n", namespace="mayros")
