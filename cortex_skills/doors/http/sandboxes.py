"""The list of sandboxes: parts of a namespace for trying a skill, which are emptied later.

Rules kept here:
- a sandbox is the names of a namespace that begin with `NS:sandbox-ID`, or `NS:PART:sandbox-ID` for a part of it: it
  grants no access to anything;
- it ends when it is deleted, when its time is over, and when the server ends;
- the number of sandboxes is limited.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass

from cortex_skills.doors.http.http_errors import HttpError

MAX_SANDBOXES = 256


@dataclass(frozen=True, slots=True)
class SandboxArea:
    """A sandbox: its id, its namespace, the part of that (or nothing), and when it ends (`time.monotonic`)."""

    id: str
    namespace: str
    part: str
    ends: float

    @property
    def prefix(self) -> str:
        """The beginning of its names."""
        return ":".join(filter(None, (self.namespace, self.part, self.id)))


class Sandboxes:
    """The sandboxes of a server. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._areas: dict[str, SandboxArea] = {}

    def create(self, namespace: str, part: str, lifetime_s: float) -> SandboxArea:
        """Add a sandbox.

        Raises:
            HttpError: `server_busy`: there are too many.
        """
        area = SandboxArea(f"sandbox-{secrets.token_hex(16)}", namespace, part, time.monotonic() + lifetime_s)
        with self._lock:
            if len(self._areas) >= MAX_SANDBOXES:
                raise HttpError("server_busy", "there are too many sandboxes", hint="delete one that is not needed")
            self._areas[area.id] = area
        return area

    def find(self, sandbox_id: str) -> SandboxArea | None:
        """The sandbox of an id, if this server created it."""
        with self._lock:
            return self._areas.get(sandbox_id)

    def forget(self, sandbox_id: str) -> None:
        """Remove a sandbox from the list; `sandboxes.empty` deletes its statements."""
        with self._lock:
            self._areas.pop(sandbox_id, None)

    def ended(self, *, everything: bool = False) -> list[SandboxArea]:
        """The expired sandboxes, or all of them."""
        now = time.monotonic()
        with self._lock:
            return [area for area in self._areas.values() if everything or area.ends <= now]
