"""The quads of a registry conform to the shapes, and their terms are defined."""

from __future__ import annotations

from datetime import UTC, datetime

import pyoxigraph
import pytest
import rdflib
from pyoxigraph import NamedNode, Quad, RdfFormat, parse
from pyshacl import validate

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.naming.ontology import ontology, shapes
from cortex_graph.naming.vocabulary import CORTEX
from cortex_graph.store import Pattern
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import LearnedIn, SkillKey
from cortex_skills.features.registry.records.standing import count_session
from cortex_skills.keys import Key


@pytest.fixture(scope="module")
def quads() -> list[Quad]:
    registry = SkillRegistry(open_store("memory:"), Names("mayros"), lambda: Key("local", b"\1" * 32))
    for name, needs in (("base", ()), ("user", ("base",)), ("other", ())):
        fields = {"namespace": "mayros", "name": name, "description": "d", "depends_on": needs}
        document = SkillDocument.checked(**fields, resources=(SkillResource("scripts/a", b"x"),))
        registry.register(document, actor="ada", origin="learned")
        registry.register(document.changed(body="two\n"), actor="ada", origin="learned")
        registry.outcome(SkillKey("mayros", name), success=True, actor="agent")
        for agent, works in (("a1", True), ("a2", False)):
            registry.report(SkillKey("mayros", name), success=works, actor=agent)
    registry.merge(SkillKey("mayros", "user"), SkillKey("mayros", "other"), actor="ada")
    count_session(registry, ["fs_read"], ["fs_write"], actor="agent")
    memory = registry.terms.names.node("mayros:memory:" + "0" * 32)
    made = SkillDocument.checked(namespace="mayros", name="made", description="d")
    learned_in = LearnedIn("5e" * 16, "a1", datetime(2026, 1, 2, tzinfo=UTC))
    registry.register(made, actor="ada", origin="learned", memories=[memory], learned_in=learned_in)
    registry.deprecate(SkillKey("mayros", "base"), "why not", actor="ada")
    return list(registry.store.quads(Pattern(registry.terms.graph)))


def conforms(quads: list[Quad]) -> tuple[bool, str]:
    text = pyoxigraph.serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES)
    data = rdflib.Graph().parse(data=text, format="nt")
    result, _, report = validate(data, shacl_graph=rdflib.Graph().parse(data=shapes()))
    return result, report


def test_what_the_registry_writes_conforms_to_the_shapes(quads):
    result, report = conforms(quads)
    assert result, report


@pytest.mark.parametrize("predicate", ["lifecycle", "currentVersion", "digest", "bytes", "prevHash"])
def test_the_shapes_miss_what_is_removed(quads, predicate):
    term = NamedNode(f"{CORTEX}{predicate}")
    changed = [quad for quad in quads if quad.predicate != term]
    if predicate == "bytes":
        changed = [*quads, next(Quad(q.subject, term, q.subject, q.graph_name) for q in quads if q.predicate == term)]
    assert not conforms(changed)[0]


def test_each_term_is_defined():
    defined = {
        quad.subject.value for quad in parse(ontology(), RdfFormat.TURTLE) if isinstance(quad.subject, NamedNode)
    }
    used = {term.value for term in vars(terms).values() if isinstance(term, NamedNode)}
    assert {term for term in used if term.startswith(CORTEX)} <= defined
