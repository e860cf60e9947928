"""Spans and counters of OpenTelemetry for the records of the audit, in a process that uses OpenTelemetry.

Rules kept here:
- nothing is imported or sent unless the process has imported `opentelemetry` and configured an SDK: this is its API;
- a span has the start and the duration of the call, and the span of the host that was active as its parent;
- durations are in seconds, as in the semantic conventions of OpenTelemetry, with the buckets that these advise;
- names of tools, skills and agents are attributes; inputs, outputs and data are not.
"""

from __future__ import annotations

import sys
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_skills.audit.call_records import AuditRecord

_NAME = "cortex_skills"
_BUCKETS = [
    0.005,
    0.01,
    0.025,
    0.05,
    0.075,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
]  # of `http.server.request.duration`


def record(entry: AuditRecord, namespace: str) -> None:
    """Add the span of a record, and count it."""
    if "opentelemetry.trace" not in sys.modules:
        return
    from opentelemetry import trace

    calls, seconds = _instruments()
    attributes = {
        "cortex.tool": entry.tool,
        "cortex.event": entry.event,
        "cortex.category": entry.category,
        "cortex.outcome": entry.outcome,
        "cortex.namespace": namespace,
    }
    calls.add(1, attributes)
    seconds.record(entry.milliseconds / 1000, attributes)
    start = int(datetime.fromisoformat(entry.time).timestamp() * 1_000_000_000)
    given = {"cortex.agent": entry.agent, "cortex.skill": entry.skill, "cortex.trust_level": entry.trust_level}
    of_span: dict[str, Any] = attributes | {name: value for name, value in given.items() if value is not None}
    if entry.changes:
        of_span["cortex.changes"] = [change["event"] for change in entry.changes]
    span = trace.get_tracer(_NAME).start_span(f"{entry.event} {entry.tool}", attributes=of_span, start_time=start)
    if entry.is_refused:
        span.set_status(trace.StatusCode.ERROR, entry.outcome)
    span.end(start + int(entry.milliseconds * 1_000_000))


@cache
def _instruments() -> tuple[Any, Any]:
    """The counter of calls and the histogram of their durations."""
    from opentelemetry import metrics

    meter = metrics.get_meter(_NAME)
    return (
        meter.create_counter("cortex.calls", "{call}", "Calls of tools and actions, and other events"),
        meter.create_histogram(
            "cortex.call.duration",
            "s",
            "The duration of calls",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        ),
    )
