"""A skill that is loaded: its manifest, where it came from, and what runs it.

Rules kept here:
- immutable: a reload makes a new one and the plugin swaps them, so that a call under way ends on what it began with;
- the calls under way are counted, so that nothing is taken away from under one of them.
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
from cortex_skills.resources import Resource, list_resources, read_resource
from cortex_skills.schemas import shown

if TYPE_CHECKING:
    from cortex_skills.proofs.logic.rules import RuleSet
    from cortex_skills.runtime import SkillRuntime


# What a skill of agentskills.io without a semantic block may do: nothing; and it keeps nobody else from any tool.
PLAIN = Semantic(1, allowed_tools=("*",))

# How often someone who waits for calls looks whether to go on waiting.
_LOOK_S = 0.05


class Calls:
    """The calls that one version of a skill has under way. Safe to use from several threads."""

    def __init__(self) -> None:
        self._count = 0
        self._ended = False
        self._lock = threading.Lock()  # taken by itself where nobody waits: a condition takes three times as long
        self._over = threading.Condition(self._lock)

    def enter(self) -> bool:
        """Count a call; False when the skill takes none any more."""
        with self._lock:
            if self._ended:
                return False
            self._count += 1
            return True

    def leave(self) -> None:
        """A call that was counted is over."""
        with self._lock:
            self._count -= 1
            if self._ended and not self._count:
                self._over.notify_all()

    def end(self, wait_s: float, hurry: threading.Event) -> bool:
        """Take no more calls, and wait for those under way.

        Args:
            wait_s: for how many seconds at most.
            hurry: when it is set, nobody waits any longer.

        Returns:
            Whether all of them are over.

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
        manifest: what it declares.
        semantic: its semantic block; `PLAIN` for a skill without one.
        folder: where it was read from.
        runtime: runs its code; None for a skill that has none.
        digests: what stands for the content of each source file and of the signature, by its relative path.
        signed: the SHA-256 of each file by its path, when signatures are required; else None.
        rules: its own shapes, for proofs of what it asserts; None when it has none.
        calls: those under way.

    """

    manifest: Manifest
    semantic: Semantic
    folder: Path
    runtime: SkillRuntime | None
    digests: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    signed: Mapping[str, str] | None = field(default=None, hash=False, compare=False)
    rules: RuleSet | None = None
    calls: Calls = field(default_factory=Calls, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.manifest.name

    def resources(self) -> list[Resource]:
        """The files of its folder that a model may ask for."""
        return list_resources(self.folder)

    def read_resource(self, path: str) -> bytes:
        """One of them, by its path.

        Raises:
            CortexError: `invalid_arguments`.

        """
        data = read_resource(self.folder, path)
        if self.signed is not None and self.signed.get(path) != sha256(data).hexdigest():
            raise CortexError(
                "invalid_arguments", f"{shown(path)} is not what was signed", hint="reload the skill to see why"
            )
        return data

    def says(self, manifest: Manifest | None, digests: Mapping[str, str]) -> bool:
        """Whether it was made from this."""
        return (self.manifest, self.digests) == (manifest, digests)
