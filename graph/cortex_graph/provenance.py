"""Who asserted a triple, with what, and when: standard RDF 1.1 reification and PROV-O.

Rules kept here:
- a record is a node `{base}NS/triple/HASH`, an `rdf:Statement` and a `prov:Entity`, in the provenance graph of the
  triple's namespace. It holds the triple (`rdf:subject`, `rdf:predicate`, `rdf:object`), `prov:generatedAtTime`, and
  `prov:wasAttributedTo` the agent (`NS:agent:ID`) and the version of the skill (`NS:skill:SLUG@VERSION`);
- the proofs of a triple are linked from its record (`cortex:proof`);
- that skill is described beside it, once: a `prov:SoftwareAgent` with `rdfs:label` and `schema:softwareVersion`;
- each quad costs about 10 µs on a disk, so there is none that says what another one says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.errors import invalid
from cortex_graph.moments import date_time
from cortex_graph.names import Names
from cortex_graph.vocabulary import (
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

_LONGEST = 1 << 16  # characters of a name: in an IRI they may take twelve times as many bytes


@dataclass(frozen=True)
class Provenance:
    """Where an assertion comes from.

    Attributes:
        skill: the slug of the skill that asserted it.
        skill_version: that skill's version; means nothing without a skill.
        agent: the id of the agent on whose behalf.
        time: when, with its time zone; None for now.

    """

    skill: str | None = None
    skill_version: str | None = None
    agent: str | None = None
    time: datetime | None = None


def at_one_time(provenance: Provenance) -> Provenance:
    """The same with its time told, so that all that is asserted with it has the same."""
    if provenance.time is not None:
        return provenance
    return Provenance(provenance.skill, provenance.skill_version, provenance.agent, datetime.now(UTC))


def record_of(quad: Quad, record: NamedNode, provenance: Provenance, names: Names) -> list[Quad]:
    """The quads that record an assertion.

    Args:
        quad: what was asserted.
        record: the node of the record.
        provenance: where it comes from.
        names: the namespace that it belongs to.

    Raises:
        InvalidArguments: a part of the provenance is not what it must be.

    """
    graph = names.provenance_graph
    quads = [
        Quad(record, TYPE, STATEMENT, graph),
        Quad(record, TYPE, ENTITY, graph),
        Quad(record, SUBJECT, quad.subject, graph),
        Quad(record, PREDICATE, quad.predicate, graph),
        Quad(record, OBJECT, quad.object, graph),
        Quad(record, GENERATED_AT, _time(provenance.time), graph),
    ]
    if provenance.agent is not None:
        agent = names.node(f"{names.prefix}agent:{_text(provenance.agent, 'agent')}", "provenance.agent")
        quads.append(Quad(record, ATTRIBUTED_TO, agent, graph))
    if provenance.skill is not None:
        quads.append(Quad(record, ATTRIBUTED_TO, skill_node(provenance, names), graph))
    return quads


def skill_node(provenance: Provenance, names: Names) -> NamedNode:
    """The node of the version of the skill: `NS:skill:SLUG@VERSION`, or `NS:skill:SLUG` without one."""
    version = "" if provenance.skill_version is None else f"@{_text(provenance.skill_version, 'skill_version')}"
    return names.node(f"{names.prefix}skill:{_text(provenance.skill, 'skill')}{version}", "provenance.skill")


def description_of(provenance: Provenance, names: Names) -> list[Quad]:
    """The quads that describe the skill; none when there is no skill."""
    if provenance.skill is None:
        return []
    node, graph = skill_node(provenance, names), names.provenance_graph
    quads = [
        Quad(node, TYPE, SOFTWARE_AGENT, graph),
        Quad(node, LABEL, Literal(provenance.skill), graph),
    ]
    if provenance.skill_version is not None:
        quads.append(Quad(node, SOFTWARE_VERSION, Literal(provenance.skill_version), graph))
    return quads


def recorded_triple(record: Iterable[Quad], graph: NamedNode) -> Quad | None:
    """The triple that a record is about, as a quad of a graph; None when the record does not say."""
    parts = {quad.predicate: quad.object for quad in record}
    try:
        return Quad(parts[SUBJECT], parts[PREDICATE], parts[OBJECT], graph)  # type: ignore[arg-type]
    except (KeyError, TypeError):
        return None


def as_json(record: Iterable[Quad], description: Iterable[Quad], names: Names) -> dict[str, str | None]:
    """A record, with the description of its skill, as `{agent, skill, skillVersion, time}`; None for the unknown."""
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
    """The node of the skill that a record names."""
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
        raise invalid(f"provenance.{part}", "must be a string that is not empty")
    if len(given) > _LONGEST:
        raise invalid(f"provenance.{part}", f"has more than {_LONGEST:,} characters")
    return given


def _time(given: datetime | None) -> Literal:
    moment = datetime.now(UTC) if given is None else given
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise invalid("provenance.time", "must be a datetime with a time zone", hint="datetime.now(UTC)")
    return Literal(date_time(moment), datatype=DATE_TIME)
