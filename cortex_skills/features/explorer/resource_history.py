"""The history of a resource: when statements about it were made and withdrawn, and the form that compares two moments.

Rules kept here:
- the latest `MOMENTS` assertions are read, those that were withdrawn too; without a record there is no history.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import NamedNode

from cortex_graph.assertions import AssertionFilter, list_assertions
from cortex_graph.exceptions import QueryTimeout
from cortex_skills.doors.explorer.addresses import namespace_root
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.explorer.pictures.timeline import changes_in_time
from cortex_skills.features.explorer.reading import Reading

MOMENTS = 50


@dataclass(frozen=True, slots=True)
class ResourceHistory:
    """When statements about a resource were made and withdrawn.

    Attributes:
        picture: the moments in time.
        times: the latest of them, the oldest first: an `xsd:dateTime` each.
        action: the page that compares two moments.
        subject: the resource.
    """

    picture: Svg
    times: tuple[str, ...]
    action: str
    subject: str


def history_of_resource(reading: Reading, node: NamedNode) -> ResourceHistory | None:
    """The history; None if no statement about the resource has a record, or finding them takes too long."""
    today, name = reading.call.graph, reading.graph.names.name(node.value)
    try:
        found = list_assertions(today, AssertionFilter(subject=name, withdrawn=True), limit=MOMENTS).assertions
    except QueryTimeout:
        return None
    gone = [time for each in found if each.withdrawn is not None and (time := each.withdrawn["time"]) is not None]
    made = [each.time for each in found if each.time is not None]
    if not made:
        return None
    asserted, withdrawn = ([datetime.fromisoformat(time) for time in times] for times in (made, gone))
    return ResourceHistory(
        changes_in_time(asserted, withdrawn, datetime.now(UTC)),
        tuple(sorted({*made, *gone}, key=datetime.fromisoformat)[-MOMENTS:]),
        f"{namespace_root(today.namespace)}/changes",
        to_field(name),
    )
