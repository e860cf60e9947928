"""Importing proofs: a hostile document is refused with a message, or is exactly the proved one."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortex_graph import InvalidArguments, NamespacedGraph, open_store
from cortex_skills import Config, CortexError
from cortex_skills.features.proofs.importing import ProofToImport, import_proof
from cortex_skills.features.proofs.kinds import CheckContext, check_stored, type_of
from cortex_skills.features.proofs.signing.canonical import canonical
from cortex_skills.features.proofs.signing.jsonld import to_rdf
from cortex_skills.features.proofs.verdict import Verdict
from tests.graph.ontology.test_ontology import records_of, report
from tests.proofs.logic.conftest import config_with_time, shapes
from tests.server.proof_cases import KINDS, TRIPLE, Elsewhere

_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.just([]),
    st.just({}),
    st.just({"@id": "urn:x"}),
)


@pytest.fixture(scope="module")
def proofs() -> dict[str, dict[str, Any]]:
    """A proof of each type."""
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = Elsewhere("mayros", Path(folder))
        return {kind: elsewhere.proof(kind) for kind in KINDS}


@pytest.fixture
def graph() -> Iterator[NamespacedGraph]:
    """A namespace that has the statement."""
    store = open_store("memory:")
    graph = NamespacedGraph(store, "mayros")
    graph.create_triple(TRIPLE)
    yield graph
    store.close()


def asked(graph: NamespacedGraph, **more: Any) -> CheckContext:
    return CheckContext(datetime.now(UTC), config_with_time(), graph, **more)


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value of a document."""
    if path:
        yield path
    if isinstance(document, dict | list):
        pairs = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in pairs:
            yield from leaves(value, (*path, key))


def replaced(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def meaning(document: dict[str, Any]) -> Any:
    """The signed content of a document: JSON-LD has several forms of one statement."""
    if "@context" not in document:
        return document
    return canonical(to_rdf({key: value for key, value in document.items() if key != "proof"}).dataset)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_document_with_one_value_changed_is_refused_or_not_verified(
    data: st.DataObject, kind: str, proofs: dict[str, dict[str, Any]], graph: NamespacedGraph
) -> None:
    original = proofs[kind]
    path = data.draw(st.sampled_from(list(leaves(original))))
    changed = replaced(original, path, data.draw(_VALUES))
    with suppress(InvalidArguments):
        try:
            taken = import_proof(ProofToImport(changed, kind), graph, asked(graph))
        except CortexError as error:
            if error.code not in ("invalid_arguments", "proof_failed"):
                raise
        else:
            assert taken.verdict is not Verdict.VERIFIED or meaning(changed) == meaning(original)


@pytest.mark.parametrize("kind", KINDS)
def test_each_type_is_recognized_from_the_proof(
    kind: str, proofs: dict[str, dict[str, Any]], graph: NamespacedGraph
) -> None:
    taken = import_proof(ProofToImport(proofs[kind], kind), graph, asked(graph))
    assert type_of(taken.proof.kind, taken.proof.content) == kind
    assert graph.proofs.get(taken.proof.id) == taken.proof
    assert not import_proof(ProofToImport(proofs[kind], kind), graph, asked(graph)).is_new


def test_stored_proofs_conform_to_the_ontology(proofs: dict[str, dict[str, Any]], graph: NamespacedGraph) -> None:
    rules = shapes(":S a sh:NodeShape ; sh:targetSubjectsOf :isVerified ; sh:nodeKind sh:IRI .")
    with tempfile.TemporaryDirectory() as folder:
        judged = Elsewhere("mayros", Path(folder)).pol(rules=rules)
    taken = [import_proof(ProofToImport(document, kind), graph, asked(graph)) for kind, document in proofs.items()]
    taken.append(import_proof(ProofToImport(judged, "pol", rules=(rules.text,)), graph, asked(graph)))
    assert taken[-1].proof.rules == (rules.digest,)
    conforms, reported = report(records_of(graph))
    assert conforms, reported
    assert graph.proofs.count() == len(taken)


def test_a_proof_without_time_left_is_not_evaluated(proofs: dict[str, dict[str, Any]], graph: NamespacedGraph) -> None:
    for kind in KINDS:
        taken = import_proof(ProofToImport(proofs[kind], kind), graph, asked(graph, deadline=0.0))
        assert taken.verdict is Verdict.NOT_CHECKED
        (check,) = check_stored(taken.proof, graph, asked(graph, deadline=0.0))
        assert "used up" in check.reasons[0]


def test_a_graph_of_another_base_is_another_namespace(proofs: dict[str, dict[str, Any]]) -> None:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "mayros", base="https://example.org/")
    graph.create_triple(TRIPLE)
    for kind in KINDS:
        with pytest.raises(CortexError, match="not about a statement of mayros"):
            import_proof(ProofToImport(proofs[kind], kind), graph, asked(graph))
    store.close()


def test_a_proof_that_was_made_in_the_future_is_refused(
    proofs: dict[str, dict[str, Any]], graph: NamespacedGraph
) -> None:
    early = CheckContext(datetime.now(UTC) - timedelta(hours=1), Config(), graph)
    for kind in ("pol", "credential"):
        with pytest.raises(CortexError, match=r"future|not valid before"):
            import_proof(ProofToImport(proofs[kind], kind), graph, early)
