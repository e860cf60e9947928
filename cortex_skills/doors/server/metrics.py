"""`/metrics`: numbers of the server for Prometheus, with the package `prometheus-client` (the extra `metrics`).

Rules kept here:
- it needs a token with the permission `audit`: the numbers are those of all namespaces;
- labels are names of tools and codes, of which there are few; no agent, skill, namespace or text is one. Names beyond
  the first `MOST_TOOLS` are counted as `other`;
- a scrape is cheap: it counts files, and what features add, such as the requests that wait.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.journal_head import JournalHead
from cortex_skills.audit.journal_state import snapshot
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.service import Service
from cortex_skills.feature import functions
from cortex_skills.version import __version__

if TYPE_CHECKING:
    from prometheus_client import Metric

MOST_TOOLS = 200
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """What is counted while a server runs.

    Args:
        service: of the server.

    Raises:
        ImportError: `prometheus-client` is not installed.
    """

    def __init__(self, service: Service) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector

        self._service = service
        self._tools: set[str] = set()
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        Info("cortex", "The version", registry=self.registry).info({"version": __version__})
        self._calls = Counter("cortex_calls", "Calls and other events", ["tool", "code"], registry=self.registry)
        self._seconds = Histogram(
            "cortex_call_seconds", "Durations of calls", ["tool"], buckets=_BUCKETS, registry=self.registry
        )
        self.registry.register(self)
        service.plugin.audit.watchers.append(self.count)

    def close(self) -> None:
        """Count no more."""
        self._service.plugin.audit.watchers.remove(self.count)

    def count(self, entry: AuditRecord) -> None:
        """Count a record of the audit."""
        tool = entry.tool if entry.tool in self._tools or len(self._tools) < MOST_TOOLS else "other"
        self._tools.add(tool)
        self._calls.labels(tool, entry.outcome).inc()
        self._seconds.labels(tool).observe(entry.milliseconds / 1000)

    def collect(self) -> Iterator[Metric]:
        """The numbers that are read when they are asked for."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        pools = GaugeMetricFamily("cortex_requests_under_way", "Requests that run or wait", labels=["pool"])
        for name, pool in self._service.pools.items():
            pools.add_metric([name], pool.taken)
        yield pools
        for name, text, value in self._numbers():
            yield GaugeMetricFamily(name, text, value=value)

    def _numbers(self) -> Iterator[tuple[str, str, float]]:
        audit, store = self._service.plugin.audit, self._service.plugin.graph.store
        yield "cortex_audit_missing_records", "Records that could not be written to the journal", audit.missing
        if audit.journal is not None and (head := _head(audit.journal.folder)) is not None:
            yield "cortex_audit_unsigned_records", "Records that no signed head covers yet", head.seq - head.signed
        folder = getattr(store, "folder", None)
        if folder is not None:
            yield "cortex_store_bytes", "Size of the files of the store", _size(Path(folder))
        for numbers in functions("numbers"):
            yield from numbers(self._service.plugin)


def started(service: Service) -> Metrics | None:
    """The metrics of a server from now on; None where `prometheus-client` is not installed."""
    try:
        return Metrics(service)
    except ImportError:
        return None


def _head(folder: Path) -> JournalHead | None:
    try:
        return snapshot(folder)
    except OSError:
        return None


def _size(folder: Path) -> int:
    """Of all files in a folder, in bytes; what disappears meanwhile counts nothing."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size  # noqa: PTH118 - a path for each file is slow
            except OSError:
                continue
    return total


def metrics_route() -> Route:
    """The route."""
    return Route("/metrics", _answer, methods=["GET"], include_in_schema=False)


async def _answer(request: Request) -> Response:
    service: Service = request.app.state.service
    service.access.admit(request.scope, "audit")
    found: Metrics | None = request.app.state.metrics
    if found is None:
        hint = "pip install 'cortex-skills[metrics]', and start the server again"
        raise HttpError("not_found", "the numbers need the extra metrics, which is not installed", hint=hint)
    from prometheus_client.exposition import choose_encoder

    encode, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(await service.pools["quick"].run(lambda: encode(found.registry)), media_type=kind)
