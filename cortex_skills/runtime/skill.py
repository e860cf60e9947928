"""A loaded skill: its manifest, its folder, and what runs its code.

Rules kept here:
- immutable: a reload creates a new one and the plugin replaces the old, so that a call in progress ends on the version
  that it began with;
- the calls in progress are counted, so that nothing is closed while one of them uses it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError
from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.safe_io.schemas import shown
from cortex_skills.skill_folder.resources import Resource, list_resources, read_resource

if TYPE_CHECKING:
    from cortex_skills.runtime.runtime import SkillRuntime
    from cortex_skills.skill_folder.rule_set import RuleSet

# For a skill of agentskills.io without a semantic block: it may do nothing, and forbids no tool to others.
PLAIN = Semantic(1, allowed_tools=("*",))

# How often a wait for calls checks whether to continue.
_LOOK_S = 0.05


class Calls:
    """The calls that one version of a skill has in progress. Safe to use from several threads."""

    def __init__(self) -> None:
        self._count = 0
        self._ended = False
        self._lock = threading.Lock()  # used without the condition where no thread waits: that is three times as fast
        self._over = threading.Condition(self._lock)

    def enter(self) -> bool:
        """Count a call; False when the skill accepts none any more."""
        with self._lock:
            if self._ended:
                return False
            self._count += 1
            return True

    def leave(self) -> None:
        """Count the end of a call."""
        with self._lock:
            self._count -= 1
            if self._ended and not self._count:
                self._over.notify_all()

    def end(self, wait_s: float, hurry: threading.Event) -> bool:
        """Accept no more calls, and wait for those in progress.

        Args:
            wait_s: the longest wait, in seconds.
            hurry: ends the wait when it is set.

        Returns:
            Whether all of them have ended.
        """
        until = time.monotonic() + wait_s
        with self._lock:
            self._ended = True
            while self._count and not hurry.is_set() and (left := until - time.monotonic()) > 0:
                self._over.wait(min(left, _LOOK_S))
            return not self._count


@dataclass(frozen=True, slots=True)
class Skill:
    """One loaded skill.

    Attributes:
        manifest: of the skill.
        semantic: its semantic block; `PLAIN` for a skill without one.
        folder: where it was read from.
        runtime: runs its code; None for a skill without code.
        digests: the digests of the source files and of the signature, by relative path.
        signed: the SHA-256 of each file by its path, when signatures are required; else None.
        signer: the `did:key` that signed it, when signatures are required; else empty.
        rules: its own shapes, for proofs of what it asserts; None when it has none.
        calls: those in progress.
        is_builtin: whether it is a skill of the package.
    """

    manifest: Manifest
    semantic: Semantic
    folder: Path
    runtime: SkillRuntime | None
    digests: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    signed: Mapping[str, str] | None = field(default=None, hash=False, compare=False)
    signer: str = ""
    rules: RuleSet | None = None
    calls: Calls = field(default_factory=Calls, compare=False, repr=False)
    is_builtin: bool = False

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.manifest.name

    def resources(self) -> list[Resource]:
        """The files of its folder that a model may read."""
        return list_resources(self.folder)

    def read_resource(self, path: str) -> bytes:
        """Read one of them by its path.

        Raises:
            CortexError: `invalid_arguments`.
        """
        data = read_resource(self.folder, path)
        if self.signed is not None and self.signed.get(path) != sha256(data).hexdigest():
            raise CortexError(
                "invalid_arguments", f"{shown(path)} differs from the signed file", hint="reload the skill to see why"
            )
        return data

    def is_from(self, manifest: Manifest | None, digests: Mapping[str, str]) -> bool:
        """Whether it was loaded from this manifest and these files."""
        return (self.manifest, self.digests) == (manifest, digests)
