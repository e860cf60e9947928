"""Finds the skills near a folder that are not loaded with it, so that each can be named.

Rules kept here:
- a skill is in the given folder or directly below it, and its manifest is called `SKILL.md`; a manifest that is deeper,
  is not a file, or is written differently (`skill.md`) is skipped, and the reason names what to do;
- hidden folders and generated ones are not searched, and links are not followed;
- the number of entries that are read, their depth, and the number of skills that are named are limited.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from cortex_skills.manifest.frontmatter import FILE_NAME
from cortex_skills.safe_io.display import one_line
from cortex_skills.safe_io.outside_file import GENERATED

_MAX_ENTRIES = 5_000
_MAX_DEPTH = 8
_MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class SkippedSkill:
    """A manifest that is not read.

    Attributes:
        file: its path.
        reason: why.
        hint: what to do.
    """

    file: Path
    reason: str
    hint: str

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON."""
        return {"file": str(self.file), "reason": self.reason, "hint": self.hint}

    def __str__(self) -> str:
        return f"{one_line(str(self.file))} is skipped: it {self.reason} ({one_line(self.hint)})"


def skipped_skills(path: Path, read: Collection[Path] = ()) -> list[SkippedSkill]:
    """The skills in and below a folder that are not among those that are read from it.

    Args:
        path: the folder.
        read: the folders of the skills that are read.
    """
    found = list(islice(_skipped(path, set(read)), _MAX_NAMED + 1))
    if len(found) > _MAX_NAMED:
        found[_MAX_NAMED] = SkippedSkill(path, "contains more skills that are skipped", "name the folders around them")
    return found


def _skipped(path: Path, read: Collection[Path]) -> Iterator[SkippedSkill]:
    pending = [(path, 0)]
    entries = 0
    while pending and entries <= _MAX_ENTRIES:
        folder, depth = pending.pop(0)
        try:
            with os.scandir(folder) as listing:
                here = sorted(islice(listing, _MAX_ENTRIES), key=lambda entry: entry.name)
            entries += len(here)
            inner = [entry.name for entry in here if _is_searched(entry)]
        except (OSError, ValueError):
            continue
        if depth < _MAX_DEPTH:
            pending += [(folder / name, depth + 1) for name in inner]
        if folder in read:
            continue
        for name in (entry.name for entry in here if entry.name.casefold() == FILE_NAME.casefold()):
            file = folder / name
            if name != FILE_NAME:
                yield SkippedSkill(file, f"is not called {FILE_NAME}", "rename it")
            elif not file.is_file():
                yield SkippedSkill(file, "is not a file", "a skill is a folder with a SKILL.md in it")
            else:
                inside = any(parent in read for parent in folder.parents)
                reason = "is inside another skill" if inside else f"is more than one folder below {one_line(str(path))}"
                yield SkippedSkill(file, reason, f"name {folder}, or the folder around it")


def _is_searched(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".") and entry.name not in GENERATED
