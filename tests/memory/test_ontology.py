"""Every written memory conforms to the shapes of the ontology, and other triples do not."""

from __future__ import annotations

from datetime import UTC, datetime

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat
from pyshacl import validate

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.naming import vocabulary
from cortex_graph.naming.ontology import shapes
from cortex_graph.store import Pattern
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.model import NewMemory

pytestmark = pytest.mark.filterwarnings("ignore:(ConjunctiveGraph|Dataset).* is deprecated:DeprecationWarning")

words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40)


def written(new: NewMemory, agent: str = "a1", skill: str | None = "probe") -> list[Quad]:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    Memories(graph, lambda: datetime(2026, 6, 1, 12, tzinfo=UTC)).remember(new, agent=agent, skill=skill)
    quads = list(graph.store.quads(Pattern(graph.names.of_memories(agent).graph)))
    graph.store.close()
    return quads


def conforms(quads: list[Quad]) -> bool:
    text = pyoxigraph.serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES)
    data = rdflib.Graph().parse(data=text, format="nt")
    found: bool = validate(data, shacl_graph=rdflib.Graph().parse(data=shapes()))[0]
    return found


@settings(max_examples=20, deadline=None)
@given(text=words, importance=st.floats(0, 1), tags=st.sets(words, max_size=8), agent=words)
def test_every_written_memory_conforms_to_the_shapes(text, importance, tags, agent) -> None:
    quads = written(NewMemory(text, importance, tuple(tags)), agent)
    assert len(quads) == 7 + len(tags)  # and the key
    assert conforms(quads)


OF_REFLECTIONS = {vocabulary.MEMORY_DEPTH, vocabulary.MEMORY_REFLECTS_ON, vocabulary.MEMORY_USES}
NEEDED = vocabulary.MEMORY_READ - {vocabulary.MEMORY_SKILL, vocabulary.MEMORY_AUTHOR} - OF_REFLECTIONS


@pytest.mark.parametrize("term", sorted(NEEDED, key=str), ids=str)
def test_a_memory_without_one_of_its_parts_or_with_two_does_not_conform(term: NamedNode) -> None:
    quads = written(NewMemory("tea", 0.5, ()))
    (*parts,) = [quad for quad in quads if quad.predicate == term]
    (text,) = [quad for quad in quads if quad.predicate == vocabulary.MEMORY_TEXT]
    subject, graph = text.subject, text.graph_name
    values = [Literal("2"), NamedNode("urn:cortex:mayros:agent:other")]
    assert not all(conforms([*quads, Quad(subject, term, value, graph)]) for value in values)
    without = [quad for quad in quads if quad not in parts]
    assert conforms(without) == (term in (vocabulary.MEMORY_TEXT, vocabulary.MEMORY_TAG))  # without a text it is none


def test_a_recalled_reflection_conforms_and_one_of_depth_four_does_not() -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    memories = Memories(graph)
    source, _ = memories.remember(NewMemory("tea", 0.5, ()), agent="a1")
    reflection, _ = memories.reflect(NewMemory("drinks", 0.5, ()), [source], agent="a1")
    memories.used([reflection], agent="a1")
    quads = list(graph.store.quads(Pattern(graph.names.of_memories("a1").graph)))
    assert conforms(quads)
    (depth,) = [quad for quad in quads if quad.predicate == vocabulary.MEMORY_DEPTH]
    others = [quad for quad in quads if quad != depth]
    assert not conforms([*others, Quad(depth.subject, depth.predicate, Literal(4), depth.graph_name)])
