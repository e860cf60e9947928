"""The built-in skill `notebook`: assert, query, retract and remember without writing a skill."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode

from cortex_graph.naming import vocabulary
from cortex_skills import CortexError, Plugin, Result
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests.plugin.skills import write_skill

FACT = {"subject": "person:ada", "predicate": "worksAt", "object": {"node": "company:acme"}}


@pytest.fixture
def notebook(opened: Callable[..., Plugin]) -> Plugin:
    """A plugin that requires signatures, with the notebook."""
    plugin = opened(verification={"requireSignature": True})
    plugin.load(builtin_skill(NOTEBOOK))
    return plugin


def known(plugin: Plugin, **wanted: Any) -> list[Any]:
    found = plugin.call("skill_graph_query", {"scope": "namespace", **wanted}, skill="notebook")
    assert not found.is_error, found.text
    return [match["object"] for match in found.details["matches"]]


def done(result: Result) -> dict[str, Any]:
    assert not result.is_error, result.text
    return result.details


def test_any_predicate_is_asserted_queried_and_retracted(notebook: Plugin) -> None:
    fact = done(notebook.call("skill_assert", FACT))
    assert known(notebook, predicate="worksAt") == [{"node": "mayros:company:acme"}]
    retracted = notebook.call("skill_retract", {"tripleHash": fact["tripleHash"]})
    assert done(retracted)["retracted"] is True
    assert retracted.text.startswith("Retracted: mayros:person:ada mayros:worksAt ")
    assert known(notebook, predicate="worksAt") == []
    again = notebook.call("skill_retract", {"tripleHash": fact["tripleHash"]})
    assert (done(again)["retracted"], again.text) == (False, "Already retracted.")
    (withdrawal,) = notebook.graph.withdrawals.of(fact["tripleHash"])
    assert (withdrawal.withdrawn["agent"], withdrawal.withdrawn["skill"]) == ("a1", "notebook")
    assert done(notebook.call("skill_assert", FACT))["created"] is True
    assert known(notebook, predicate="worksAt") == [{"node": "mayros:company:acme"}]


def test_an_agent_retracts_only_what_it_asserted(notebook: Plugin) -> None:
    fact = done(notebook.call("skill_assert", FACT, agent="a2"))
    refused = notebook.call("skill_retract", {"tripleHash": fact["tripleHash"]}, agent="a1")
    assert refused.code == "permission_denied"
    imported = notebook.graph.create_triple({"subject": "s", "predicate": "p", "object": 1})
    assert notebook.call("skill_retract", {"tripleHash": imported["id"]}).code == "permission_denied"
    assert notebook.call("skill_retract", {"tripleHash": "0" * 64}).code == "not_found"
    assert notebook.call("skill_retract", {"tripleHash": "x"}).code == "invalid_arguments"
    assert len(known(notebook)) == 2


def test_notes_are_remembered_for_the_agent_alone(notebook: Plugin) -> None:
    note = {"text": "Ada prefers short answers.", "importance": 0.9, "tags": ["style"]}
    assert done(notebook.call("skill_memory_remember", note, agent="a1"))["created"] is True
    repeated = notebook.call("skill_memory_remember", note, agent="a1")
    assert (done(repeated)["created"], repeated.text) == (False, "Remembered already.")
    recalled = notebook.call("skill_memory_context", {"query": "short answers"}, agent="a1")
    assert [memory["text"] for memory in recalled.details["memories"]] == ["Ada prefers short answers."]
    other = notebook.call("skill_memory_context", {"query": "short answers"}, agent="a2")
    assert other.text == "No matching memories."
    assert notebook.call("skill_memory_remember", {"text": "x" * 513}).code == "invalid_arguments"


def test_a_predicate_that_another_active_skill_declares_is_left_to_it(
    notebook: Plugin, opened: Callable[..., Plugin], tmp_path: Path
) -> None:
    plugin = opened()
    plugin.load(builtin_skill(NOTEBOOK))
    plugin.load(write_skill(tmp_path / "kyc", assertions=[{"predicate": "isVerified", "requireProof": True}]))
    statement = {"subject": "s", "predicate": "mayros:isVerified", "object": True}
    refused = plugin.call("skill_assert", statement, skill="notebook")
    assert refused.code == "undeclared_predicate"
    assert "kyc, which declares it" in refused.text
    assert done(plugin.call("skill_assert", {**statement, "predicate": "other"}, skill="notebook"))["created"]
    proved = done(plugin.call("skill_assert", statement, skill="kyc"))
    assert plugin.call("skill_retract", {"tripleHash": proved["tripleHash"]}, skill="notebook").is_error
    assert done(plugin.call("skill_retract", {"tripleHash": proved["tripleHash"]}, skill="kyc"))["retracted"] is True
    plugin.unload("kyc")
    assert done(plugin.call("skill_assert", statement, skill="notebook"))["created"]


@pytest.mark.parametrize("predicate", [vocabulary.MEMORY_TEXT, vocabulary.MEMORY_KEY], ids=["text", "key"])
def test_predicates_of_memories_are_reserved(notebook: Plugin, predicate: NamedNode) -> None:
    refused = notebook.call("skill_assert", {"subject": "s", "predicate": f"<{predicate.value}>", "object": "x"})
    assert refused.is_error
    assert notebook.graph.count() == 0


def test_a_skill_elsewhere_with_its_name_needs_a_signature(opened: Callable[..., Plugin], tmp_path: Path) -> None:
    folder = tmp_path / "builtin_skills" / "notebook"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text((builtin_skill(NOTEBOOK) / "SKILL.md").read_text())
    with pytest.raises(CortexError) as refused:
        opened(verification={"requireSignature": True}).load(folder)
    assert refused.value.code == "signature_required"
