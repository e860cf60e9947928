"""The security audit of what is installed, every few hours for as long as a server runs.

Rules kept here:
- of the servers of a host one audits at a time, and only if it is due; the first look is soon after the start;
- an audit runs in a thread of the slow pool, and stops before its next artifact when the server ends;
- a store that cannot be used is logged, and the server goes on;
- the bytes of what this host installed are written to a store on a server, if it lacks them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from datetime import timedelta
from functools import partial

from cortex_graph import GraphError
from cortex_graph.store_access.claims import has_claims
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.service import Service
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.operations.caller import SERVER, Caller
from cortex_skills.operations.run import run

log = logging.getLogger(__name__)

FIRST_S = 10.0
POLL_S = 300.0


async def audit_artifacts(service: Service, ending: threading.Event) -> None:
    """Audit what is installed in the namespace of the plugin, whenever it is due, until the task is cancelled.

    Args:
        service: the server.
        ending: set when the server ends.
    """
    from cortex_skills.features.artifacts.artifact_operations import audit
    from cortex_skills.features.artifacts.installed import ArtifactKey, installed_in
    from cortex_skills.features.artifacts.installed.installed_audit import audit_if_due

    hours = service.plugin.config.section(ArtifactSettings).audit_hours
    graph = service.plugin.graph
    if not hours or not has_claims(graph.store):
        return
    host = service.plugin.host_of(graph)
    caller = Caller(SERVER, "program", "task", frozenset({"approve"}), namespace=graph.namespace)

    def judge(key: ArtifactKey) -> object:
        return run(audit, caller, {"id": key.skill_id, "version": key.version}, host)

    await asyncio.sleep(FIRST_S)
    while True:
        installed = host.part(installed_in)
        due = partial(audit_if_due, installed, timedelta(hours=hours), judge, is_stopped=ending.is_set)
        try:
            await service.pools["slow"].run(installed.share)
            await service.pools["slow"].run(due)
        except (GraphError, CortexError, HttpError) as error:
            log.warning("installed artifacts were not audited: %s", error)
        await asyncio.sleep(POLL_S)
