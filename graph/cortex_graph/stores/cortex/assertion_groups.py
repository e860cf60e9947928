"""Recognises groups of quads that are an assertion with its record, which the API writes itself.

Rules kept here:
- a group is an assertion when its provenance makes exactly the record of the group, quad by quad. Other groups are sent
  as changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pyoxigraph import Quad

from cortex_graph.assertion_records.provenance import Provenance, as_json, description_of, record_of, skill_of
from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import GraphError
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.names import Names

_LONGEST = 256  # of a part of a provenance; the limit of the API


def provenance_of(group: Sequence[Quad], names: Names) -> Provenance | None:
    """Return the provenance that a group records for its first quad; None when the group has any other content.

    Args:
        group: the triple, its record, and optionally the description of the skill.
        names: of the namespace, without vocabularies.
    """
    quad, record = group[0], names.record(hash_line(str(group[0])))
    about = [each for each in group[1:] if each.subject == record]
    skill = skill_of(about, names)
    described = [each for each in group[1:] if each.subject == skill]
    found = as_json(about, described, names)
    if skill is not None and not described:  # the skill was described before
        slug = names.name(skill.value).removeprefix(f"{names.prefix}skill:")
        found["skill"], _, version = slug.partition("@")
        found["skillVersion"] = version or None
    try:
        time = datetime.fromisoformat(found["time"] or "")
        given = Provenance(found["skill"], found["skillVersion"], found["agent"], time)
        made = record_of(quad, record, given, names)
        description = description_of(given, names)
    except (GraphError, ValueError):
        return None
    if any(len(part) > _LONGEST for part in (given.skill, given.skill_version, given.agent) if part):
        return None
    rest = set(group[1:])
    return given if rest in (set(made), {*made, *description}) else None


def to_json(provenance: Provenance) -> dict[str, Any]:
    """Return a provenance in the form of the API."""
    given = {
        "skill": provenance.skill,
        "skillVersion": provenance.skill_version,
        "agent": provenance.agent,
        "time": None if provenance.time is None else date_time(provenance.time),
    }
    return {key: value for key, value in given.items() if value is not None}
