"""Spans and counters of OpenTelemetry: of its SDK, in a separate process, since a process configures it once."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans, reader, provider = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
metrics.set_meter_provider(MeterProvider([reader]))

from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.recent_calls import RecentCalls

audit = AuditLog("a1", RecentCalls(), namespace="mayros")
time = "2026-01-31T12:00:00.000+00:00"
with trace.get_tracer("host").start_as_current_span("host"):
    audit.record(AuditRecord(time, "skill_assert", "probe", "a1", "ok", 2.5, inputs={"a": "SECRET"}))
audit.record(AuditRecord(time, "skill_assert", None, "a1", "rate_limited", 1.0))
first, _, second = spans.get_finished_spans()
metrics_read = {
    metric.name: metric for metric in reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
}
durations = metrics_read["cortex.call.duration"]
print(json.dumps({
    "name": first.name,
    "milliseconds": (first.end_time - first.start_time) / 1e6,
    "has_parent": first.parent is not None,
    "attributes": dict(first.attributes),
    "status": [first.status.status_code.name, second.status.status_code.name],
    "counted": sum(point.value for point in metrics_read["cortex.calls"].data.data_points),
    "units": [metrics_read["cortex.calls"].unit, durations.unit],
    "durations": [point.sum for point in durations.data.data_points],
    "buckets": list(durations.data.data_points[0].explicit_bounds)[:3],
}))
"""


def test_each_record_is_a_span_and_is_counted() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert "SECRET" not in done.stdout
    assert json.loads(done.stdout) == {
        "name": "tool.call skill_assert",
        "milliseconds": 2.5,
        "has_parent": True,
        "attributes": {
            "cortex.tool": "skill_assert",
            "cortex.event": "tool.call",
            "cortex.category": "tool",
            "cortex.outcome": "ok",
            "cortex.namespace": "mayros",
            "cortex.agent": "a1",
            "cortex.skill": "probe",
        },
        "status": ["UNSET", "ERROR"],
        "counted": 2,
        "units": ["{call}", "s"],
        "durations": [0.0025, 0.001],
        "buckets": [0.005, 0.01, 0.025],
    }


def test_a_process_without_opentelemetry_does_not_import_it() -> None:
    program = """
import sys
from cortex_skills import Config, Plugin
with Plugin.open(Config()) as plugin:
    plugin.record("tool")
print(any(name.startswith("opentelemetry") for name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
