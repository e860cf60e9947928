"""What a reload did, as frozen data.

Rules kept here:
- every skill that was looked at is in exactly one list: reloaded, loaded, rejected, restored, unchanged;
- a rejection is an error with a stable code, like any other refusal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.reload.differences import Difference


@dataclass(frozen=True, slots=True)
class Reloaded:
    """A skill whose new version answers now.

    Attributes:
        name, version: of the skill.
        differences: of its manifest.
        files: the source files that are others now, new or gone, by their relative paths.

    """

    name: str
    version: str
    differences: tuple[Difference, ...]
    files: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As it goes over a wire."""
        differences = [difference.to_json() for difference in self.differences]
        return {"name": self.name, "version": self.version, "differences": differences, "files": list(self.files)}


@dataclass(frozen=True, slots=True)
class Rejected:
    """What lies in a skill's folder and is not what answers.

    Attributes:
        name: of the skill, or of its folder where that has none yet.
        folder: the skill's.
        error: why.
        answering: the version that answers on; None for a skill that was never loaded.
        at: when, RFC 3339, UTC.

    """

    name: str
    folder: Path
    error: CortexError
    answering: str | None
    at: str

    def to_json(self) -> dict[str, Any]:
        """As it goes over a wire."""
        return {
            "name": self.name,
            "folder": str(self.folder),
            "error": self.error.to_json(),
            "answering": self.answering,
            "at": self.at,
        }


@dataclass(frozen=True, slots=True)
class ReloadReport:
    """What a reload did.

    Attributes:
        reloaded: skills that were swapped, in the order in which they were activated.
        loaded: skills that are new in a folder of skills.
        rejected: skills of which the old version answers on.
        restored: the names of those that were rejected before, and whose folders say again what answers.
        unchanged: the names of those whose folders say what answers, as before.

    """

    reloaded: tuple[Reloaded, ...] = ()
    loaded: tuple[Reloaded, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    restored: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.reloaded or self.loaded or self.rejected or self.restored)

    def to_json(self) -> dict[str, Any]:
        """As it goes over a wire."""
        return {
            "reloaded": [item.to_json() for item in self.reloaded],
            "loaded": [item.to_json() for item in self.loaded],
            "rejected": [item.to_json() for item in self.rejected],
            "restored": list(self.restored),
            "unchanged": list(self.unchanged),
        }
