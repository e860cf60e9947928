"""Whether the journal of the audit is whole, found out while a server runs, for the inbox.

Rules kept here:
- the whole journal is verified in the background, at the start and every `EVERY_S`; a page reads what was found;
- one that is larger than `MOST` is left to `cortex-skills audit verify`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from threading import Event

from cortex_skills.audit.verification import verify_journal
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.inbox import Attention
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.service import Service
from cortex_skills.host import Host
from cortex_skills.keys.ed25519 import is_signed

log = logging.getLogger(__name__)

EVERY_S = 600.0
MOST = 128 << 20  # bytes
_FIRST_S = 5.0


class JournalCheck:
    """What was found last.

    Attributes:
        problem: the first fault in words; empty for a whole journal.
    """

    def __init__(self, host: Host) -> None:
        self._audit = host.audit
        self.problem = ""

    def look(self) -> None:
        """Verify the journal now."""
        journal = self._audit.journal
        if journal is None:
            return
        try:
            if sum(path.stat().st_size for path in journal.folder.iterdir()) > MOST:
                return
            report = verify_journal(journal.folder, is_signed)
        except OSError as error:
            self.problem = f"it cannot be read: {error.strerror}"
            return
        fault = report.fault
        self.problem = "" if fault is None else f"record {fault.seq:,} {fault.problem}"


async def watch(service: Service, ending: Event) -> None:
    """Verify the journal of a server again and again."""
    check = service.host(service.plugin.graph.namespace).part(JournalCheck)
    await asyncio.sleep(_FIRST_S)
    while not ending.is_set():
        with suppress(HttpError):
            await service.pools["slow"].run(check.look)
        await asyncio.sleep(EVERY_S)


def attention(call: PageCall) -> Iterator[Attention]:
    """A broken chain, and records that could not be written, for a caller who may read the audit."""
    if "audit" not in call.principal.permissions:
        return
    host = call.service.host(call.service.plugin.graph.namespace)
    if problem := host.part(JournalCheck).problem:
        yield Attention("bad", "broken", "The chain of the", "audit", f"{ROOT}/audit", "audit", more=problem)
    if missing := host.audit.missing:
        about = f"{missing:,} records could not be written to the"
        yield Attention("bad", "not written", about, "audit", f"{ROOT}/audit", "audit")
