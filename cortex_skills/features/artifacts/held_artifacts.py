"""Artifacts that a person has given and not installed yet, in the memory of the server.

    held = host.part(held_in)
    sha256 = held.put("ada", data, options)
    held.get("ada", sha256)

Rules kept here:
- bytes are kept for the one who gave them, by their SHA-256, and nothing of them is read, written or run here;
- one artifact for each person: another one takes its place; it is dropped when it was installed, and after 15 minutes;
- all together have a limit, beyond which another one is refused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.installed.installation import InstallOptions

if TYPE_CHECKING:
    from cortex_skills.host import Host

KEPT_S = 15 * 60.0
MOST = 160 << 20  # bytes of all


@dataclass(frozen=True, slots=True)
class HeldArtifact:
    """The bytes of an artifact, how it would be installed, and when it was given."""

    data: bytes
    options: InstallOptions
    since: float


class HeldArtifacts:
    """What was given, by person.

    Args:
        clock: the time in seconds.
        most: bytes of all together.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST) -> None:
        self._clock, self._most = clock, most
        self._held: dict[str, HeldArtifact] = {}
        self._turn = threading.Lock()

    def put(self, person: str, data: bytes, options: InstallOptions) -> str:
        """Keep an artifact in place of the one before; its SHA-256.

        Raises:
            HttpError: `server_busy`: too much is kept.
        """
        with self._turn:
            self._drop_old()
            others = sum(len(each.data) for name, each in self._held.items() if name != person)
            if others + len(data) > self._most:
                hint = f"try again in {KEPT_S / 60:g} minutes, or use `cortex-skills install`"
                raise HttpError("server_busy", "others have given artifacts that are not installed yet", hint=hint)
            self._held[person] = HeldArtifact(data, options, self._clock())
        return sha256(data).hexdigest()

    def get(self, person: str, digest: str) -> HeldArtifact:
        """The artifact that a person has given.

        Raises:
            CortexError: `artifact_not_found`: it is not kept, or is another one.
        """
        with self._turn:
            self._drop_old()
            found = self._held.get(person)
        if found is None or sha256(found.data).hexdigest() != digest:
            hint = "give the file again"
            raise CortexError("artifact_not_found", "the artifact is not kept any more, or is another one", hint=hint)
        return found

    def drop(self, person: str) -> None:
        """Forget what a person has given."""
        with self._turn:
            self._held.pop(person, None)

    def _drop_old(self) -> None:
        oldest = self._clock() - KEPT_S
        self._held = {name: each for name, each in self._held.items() if each.since > oldest}


def held_in(host: Host) -> HeldArtifacts:  # noqa: ARG001 - one for each host
    """What was given for a host."""
    return HeldArtifacts()
