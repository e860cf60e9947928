"""The registry of proof kinds: the built-in kinds, and those of other distributions by entry points."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from pyoxigraph import Quad

from cortex_graph import NamespacedGraph, open_store
from cortex_skills import Config
from cortex_skills.features.proofs import kinds
from cortex_skills.features.proofs.importing import ProofToImport, import_proof
from cortex_skills.features.proofs.kinds import CheckContext, ProofKind, check_proof, kind_of, proof_kinds, type_of
from cortex_skills.features.proofs.verdict import Check, Verdict

TRIPLE = {"subject": "alice", "predicate": "isVerified", "object": True}


class Stamp(ProofKind):
    """A kind of another distribution: a document that names its statement."""

    name = "stamp"
    types = ("stamp",)

    def recognizes(self, document: Mapping[str, Any]) -> bool:
        return "stamp" in document

    def check(self, content: str, context: CheckContext) -> list[Check]:
        return [Check("stamp", Verdict.VERIFIED, "it has a stamp", "anything else")]

    def statement_of(self, content: str, graph: NamespacedGraph) -> tuple[str, Quad | None]:
        quad = graph.quad_of(TRIPLE)
        return graph.index.identify(quad), quad


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found = {
        "stamp": f"{__name__}:Stamp",
        "gone": "no_such_module:Kind",
        "odd": "json:loads",
        "again": f"{__name__}:Again",
    }
    entries = [EntryPoint(name, value, kinds.GROUP) for name, value in found.items()]
    monkeypatch.setattr(kinds, "entry_points", lambda group: entries if group == kinds.GROUP else [])
    proof_kinds.cache_clear()
    yield
    proof_kinds.cache_clear()


class Again(Stamp):
    """A kind with the name of a built-in one."""

    name = "pol"


def context(graph: NamespacedGraph | None = None) -> CheckContext:
    return CheckContext(datetime.now(UTC), Config(), graph)


def test_the_built_in_kinds_have_their_stored_names_and_types() -> None:
    assert {name: kind.types for name, kind in proof_kinds().items()} == {
        "credential": ("credential",),
        "pol": ("pol",),
        "zk": ("schnorr", "equality", "membership", "range"),
    }
    assert type_of("zk", '{"proofType": "range"}') == "range"
    assert type_of("zk", '{"proofType": "pol"}') == "zk"
    assert type_of("unknown", "{}") == "unknown"


def test_a_document_of_an_unknown_form_has_no_kind_and_is_not_evaluated() -> None:
    assert kind_of('{"type": "Other"}') is None
    (check,) = check_proof("stamp", "{}", context())
    assert check.verdict is Verdict.NOT_CHECKED
    assert "does not know proofs of the kind 'stamp'" in check.reasons[0]


@pytest.mark.usefixtures("registered")
def test_a_kind_of_an_entry_point_is_recognized_checked_and_imported() -> None:
    kind = kind_of('{"stamp": 1}')
    assert isinstance(kind, Stamp)
    assert check_proof("stamp", "{}", context())[0].verdict is Verdict.VERIFIED
    store = open_store("memory:")
    graph = NamespacedGraph(store, "mayros")
    triple_id = graph.create_triple(TRIPLE)["id"]
    imported = import_proof(ProofToImport({"stamp": 1}, "stamp"), graph, context(graph))
    assert (imported.verdict, imported.proof.kind, imported.proof.proves) == (Verdict.VERIFIED, "stamp", (triple_id,))
    assert graph.proofs.of(triple_id, "stamp") == [imported.proof]
    store.close()


@pytest.mark.usefixtures("registered")
def test_a_broken_entry_point_is_skipped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert list(proof_kinds()) == [*(kind.name for kind in kinds._BUILT_IN), "stamp"]
    assert [text.split(" is skipped")[0] for text in caplog.messages] == [
        "the proof kind no_such_module:Kind",
        "the proof kind json:loads",
        f"the proof kind {__name__}:Again",
    ]
