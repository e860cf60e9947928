"""The report of a reload, as frozen data.

Rules kept here:
- every skill that was checked is in exactly one list: reloaded, loaded, rejected, restored, unchanged;
- a rejection is an error with a stable code, like any other refusal.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.lifecycle.reload.differences import ManifestDifference


@dataclass(frozen=True, slots=True)
class Reloaded:
    """A skill whose new version is active.

    Attributes:
        name, version: of the skill.
        differences: of its manifest.
        files: the relative paths of the source files that changed, are new or were removed.
    """

    name: str
    version: str
    differences: tuple[ManifestDifference, ...]
    files: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "differences": [asdict(d) for d in self.differences], "files": list(self.files)}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A version in a skill's folder that is not active.

    Attributes:
        name: of the skill; of its folder when the manifest has none.
        folder: the skill's.
        error: why.
        answering: the version that stays active; None for a skill that was never loaded.
        at: when, RFC 3339, UTC.
    """

    name: str
    folder: Path
    error: CortexError
    answering: str | None
    at: str

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        shown = {"name": self.name, "folder": str(self.folder), "error": self.error.to_json()}
        return {**shown, "answering": self.answering, "at": self.at}


@dataclass(frozen=True, slots=True)
class ReloadReport:
    """What a reload did.

    Attributes:
        reloaded: skills that were replaced, in the order in which they were activated.
        loaded: skills that are new in a folder of skills.
        rejected: skills whose old version stays active.
        restored: the names of those that were rejected before, and whose folders hold the active version again.
        unchanged: the names of those whose folders hold the active version, as before.
    """

    reloaded: tuple[Reloaded, ...] = ()
    loaded: tuple[Reloaded, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    restored: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything changed or was rejected."""
        return bool(self.reloaded or self.loaded or self.rejected or self.restored)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "reloaded": [item.to_json() for item in self.reloaded],
            "loaded": [item.to_json() for item in self.loaded],
            "rejected": [item.to_json() for item in self.rejected],
            "restored": list(self.restored),
            "unchanged": list(self.unchanged),
        }
