"""Who asserted a triple, with which skill, and when: RDF 1.1 reification and PROV-O.

Rules kept here:
- a record is a node `{base}NS/triple/HASH`, an `rdf:Statement` and a `prov:Entity`, in the provenance graph of the
  namespace of the triple. It has the triple (`rdf:subject`, `rdf:predicate`, `rdf:object`), `prov:generatedAtTime`, and
  `prov:wasAttributedTo` the agent (`NS:agent:ID`) and the version of the skill (`NS:skill:SLUG@VERSION`);
- the record links to the proofs of the triple (`cortex:proof`);
- the skill is described once in the same graph: a `prov:SoftwareAgent`, and so a `prov:Agent`, since readers of PROV do
  not all know its classes; with `rdfs:label` and `schema:softwareVersion`;
- each quad costs about 10 µs on a disk, so no quad repeats what another one states.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import invalid
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import (
    AGENT,
    ATTRIBUTED_TO,
    DATE_TIME,
    ENTITY,
    GENERATED_AT,
    LABEL,
    OBJECT,
    PREDICATE,
    SOFTWARE_AGENT,
    SOFTWARE_VERSION,
    STATEMENT,
    SUBJECT,
    TYPE,
)

_LONGEST = 1 << 16  # characters of a name; percent-encoded they take up to twelve times as many bytes


@dataclass(frozen=True)
class Provenance:
    """The source of an assertion.

    Attributes:
        skill: the slug of the skill that asserted it.
        skill_version: the version of that skill; ignored without a skill.
        agent: the id of the agent on whose behalf it was asserted.
        time: with its time zone; None for now.
    """

    skill: str | None = None
    skill_version: str | None = None
    agent: str | None = None
    time: datetime | None = None


def at_one_time(provenance: Provenance) -> Provenance:
    """Return the same provenance with a fixed time, so that all triples of one assertion have the same time."""
    if provenance.time is not None:
        return provenance
    return Provenance(provenance.skill, provenance.skill_version, provenance.agent, datetime.now(UTC))


def record_of(quad: Quad, record: NamedNode, provenance: Provenance, names: Names) -> list[Quad]:
    """Return the quads that record an assertion.

    Args:
        quad: the triple.
        record: the node of the record.
        provenance: its source.
        names: the namespace of the triple.

    Raises:
        InvalidArguments: a part of the provenance is invalid.
    """
    graph = names.provenance_graph
    quads = [
        Quad(record, TYPE, STATEMENT, graph),
        Quad(record, TYPE, ENTITY, graph),
        Quad(record, SUBJECT, quad.subject, graph),
        Quad(record, PREDICATE, quad.predicate, graph),
        Quad(record, OBJECT, quad.object, graph),
        Quad(record, GENERATED_AT, time_of(provenance), graph),
    ]
    return [*quads, *(Quad(record, ATTRIBUTED_TO, node, graph) for node in attributed_to(provenance, names))]


def attributed_to(provenance: Provenance, names: Names) -> list[NamedNode]:
    """Return the nodes of the agent and of the version of the skill, as far as they are given.

    Raises:
        InvalidArguments: a part of the provenance is invalid.
    """
    nodes = []
    if provenance.agent is not None:
        name = f"{names.prefix}agent:{_text(provenance.agent, 'agent')}"
        nodes.append(names.node(name, "provenance.agent"))
    if provenance.skill is not None:
        nodes.append(skill_node(provenance, names))
    return nodes


def skill_node(provenance: Provenance, names: Names) -> NamedNode:
    """Return the node of the version of the skill: `NS:skill:SLUG@VERSION`, or `NS:skill:SLUG` without a version."""
    version = "" if provenance.skill_version is None else f"@{_text(provenance.skill_version, 'skill_version')}"
    return names.node(f"{names.prefix}skill:{_text(provenance.skill, 'skill')}{version}", "provenance.skill")


def description_of(provenance: Provenance, names: Names) -> list[Quad]:
    """Return the quads that describe the skill; empty without a skill."""
    if provenance.skill is None:
        return []
    node, graph = skill_node(provenance, names), names.provenance_graph
    quads = [
        Quad(node, TYPE, SOFTWARE_AGENT, graph),
        Quad(node, TYPE, AGENT, graph),
        Quad(node, LABEL, Literal(provenance.skill), graph),
    ]
    if provenance.skill_version is not None:
        quads.append(Quad(node, SOFTWARE_VERSION, Literal(provenance.skill_version), graph))
    return quads


def recorded_triple(record: Iterable[Quad], graph: NamedNode) -> Quad | None:
    """Return the triple of a record as a quad of a graph; None when the record is incomplete."""
    parts = {quad.predicate: quad.object for quad in record}
    try:
        return Quad(parts[SUBJECT], parts[PREDICATE], parts[OBJECT], graph)  # type: ignore[arg-type]
    except (KeyError, TypeError):
        return None


def as_json(record: Iterable[Quad], description: Iterable[Quad], names: Names) -> dict[str, str | None]:
    """Return a record, with the description of its skill, as `{agent, skill, skillVersion, time}`; None for unknown."""
    found: dict[str, str | None] = dict.fromkeys(("agent", "skill", "skillVersion", "time"))
    agents = f"{names.prefix}agent:"
    for quad in record:
        if quad.predicate == GENERATED_AT:
            found["time"] = _value(quad)
        elif quad.predicate == ATTRIBUTED_TO and isinstance(quad.object, NamedNode):
            name = names.name(quad.object.value)
            if name.startswith(agents):
                found["agent"] = name[len(agents) :]
    for quad in description:
        if quad.predicate == LABEL:
            found["skill"] = _value(quad)
        elif quad.predicate == SOFTWARE_VERSION:
            found["skillVersion"] = _value(quad)
    return found


def skill_of(record: Iterable[Quad], names: Names) -> NamedNode | None:
    """Return the node of the skill that a record names."""
    skills = f"{names.prefix}skill:"
    for quad in record:
        if quad.predicate != ATTRIBUTED_TO or not isinstance(quad.object, NamedNode):
            continue
        if names.name(quad.object.value).startswith(skills):
            return quad.object
    return None


def _value(quad: Quad) -> str | None:
    return quad.object.value if isinstance(quad.object, Literal) else None


def _text(given: Any, part: str) -> str:
    if not isinstance(given, str) or not given:
        raise invalid(f"provenance.{part}", "must be a non-empty string")
    if len(given) > _LONGEST:
        raise invalid(f"provenance.{part}", f"has more than {_LONGEST:,} characters")
    return given


def time_of(provenance: Provenance) -> Literal:
    """Return the time as an `xsd:dateTime`; now, if it is not given.

    Raises:
        InvalidArguments: it has no time zone.
    """
    moment = datetime.now(UTC) if provenance.time is None else provenance.time
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise invalid("provenance.time", "must be a datetime with a time zone", hint="datetime.now(UTC)")
    return _time_literal(moment)


@lru_cache(64)
def _time_literal(moment: datetime) -> Literal:
    """Return the term of a moment; the triples of one call have the same one."""
    return Literal(date_time(moment), datatype=DATE_TIME)
