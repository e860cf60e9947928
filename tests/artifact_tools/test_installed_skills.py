"""A TypeScript skill in an artifact is loaded from its verified texts, and stops when its version does."""

from __future__ import annotations

import pytest

from cortex_skills import CortexError
from cortex_skills.features.artifacts.package import write_archive
from tests.artifacts.samples import MANIFEST, TOOL, payload, signed
from tests.installed.samples import install

SKILL_MD = """---
name: greet
description: Greets.
type: semantic
semantic:
  version: 1
  permissions: {graph: [read, write]}
  assertions: [{predicate: greets}]
  queries: [{predicate: greets, scope: namespace}]
---
# Greet
"""
CODE = """export default { name: "greet", onQuery({ results }: { results: unknown[] }) {
  return { additionalContext: { seen: results.length } };
} };
"""
ID = "acme.echo_http"


def add(plugin, code=CODE, manifest=SKILL_MD):
    text = MANIFEST.replace(TOOL, "\n[entrypoints]\ntools = []\n") + '\n[operator.plugin]\nkind = "semantic"\n'
    content = {"assets/skill/SKILL.md": manifest.encode(), "assets/skill/skill.ts": code.encode()}
    return install(plugin.installed, write_archive(signed(payload(text, content))))


@pytest.fixture
def strict(open_plugin):
    """A plugin that requires signatures."""
    return open_plugin(verification={"requireSignature": True})


def test_the_signature_of_the_artifact_is_that_of_its_skill(strict):
    add(strict)
    assert strict.load_installed(ID) == ["greet"]
    assert strict.skills["greet"].signed.keys() == {"SKILL.md", "skill.ts"}
    said = strict.call("skill_assert", {"subject": "a", "predicate": "greets", "object": "b"})
    assert not said.is_error, said.text
    found = strict.call("skill_graph_query", {"predicate": "greets", "scope": "namespace"})
    assert "seen" in found.text


def test_a_quarantined_skill_takes_no_further_call(strict):
    key = add(strict).key
    strict.load_installed(ID)
    installed = strict.installed
    installed.quarantine(ID, key.version, actor="ada", reason="it lies")
    assert strict.call("skill_graph_query", {"scope": "namespace"}).code == "artifact_quarantined"
    installed.enable(ID, key.version, actor="ada", override=True, reason="looked at")
    assert not strict.call("skill_graph_query", {"scope": "namespace"}).is_error
    installed.remove(ID, actor="ada")
    assert strict.call("skill_graph_query", {"scope": "namespace"}).code == "artifact_not_found"


@pytest.mark.parametrize("change", ["change", "add"])
def test_a_changed_or_added_text_is_not_loaded(strict, change):
    add(strict)
    folder = strict.installed.open(ID).skill_folder
    if change == "change":
        (folder / "skill.ts").write_text(CODE + "// changed\n")
    else:
        (folder / "helper.ts").write_text("export const a = 1;\n")
    with pytest.raises(CortexError) as caught:
        strict.load_installed(ID)
    assert caught.value.code == "signature_invalid"
    assert not strict.skills


def test_a_copy_elsewhere_needs_a_signature(strict, tmp_path):
    add(strict)
    folder = strict.installed.open(ID).skill_folder
    copy = tmp_path / "skill" / "greet"
    copy.mkdir(parents=True)
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    with pytest.raises(CortexError) as caught:
        strict.load(copy)
    assert caught.value.code == "signature_required"


def test_a_plain_skill_is_instructions_only(strict):
    add(strict, manifest="---\nname: plain\ndescription: Text only.\n---\n# Plain\n", code="export default {};\n")
    assert strict.load_installed(ID) == ["plain"]
    assert strict.skills["plain"].runtime is None
