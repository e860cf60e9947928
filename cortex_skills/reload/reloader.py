"""Reloading: what changed is built beside what runs, and takes its place in one step, or not at all.

Rules kept here:
- everything is read, checked and started before anything is swapped; what is refused leaves the old version answering;
- a group (see `groups`) goes over together or not at all; one group does not wait for what another makes of itself;
- a folder that is gone leaves its skill answering, and says so; when it is back, it is looked at like any other. So
  does code that is gone: an editor may be about to put the new file into its place;
- what a host unloaded stays unloaded, though its folder is still there;
- a skill that is left alone for its faults is started anew, also when nothing of it changed;
- differences are logged before the new version is activated, those that let it do more as warnings.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from cortex_skills.errors import CortexError, as_ours
from cortex_skills.loader import ENTRIES, Loader, dispose
from cortex_skills.manifest import Manifest, load_order
from cortex_skills.reading import Reading, is_skill, name_of, read_skill, skill_folders
from cortex_skills.reload.differences import differences
from cortex_skills.reload.groups import Links, groups, links, together
from cortex_skills.reload.report import Rejected, Reloaded, ReloadReport
from cortex_skills.reload.rules import Approval, check_approved, check_tools_kept
from cortex_skills.skill import PLAIN, Skill

log = logging.getLogger("cortex_skills.reload")

Skills = Mapping[str, Skill]


@dataclass
class _Look:
    """What a look at the folders has found, and what became of it."""

    retry: bool
    changed: dict[str, Reading] = field(default_factory=dict)
    tied: Links = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    reloaded: list[Reloaded] = field(default_factory=list)
    loaded: list[Reloaded] = field(default_factory=list)


class Reloader:
    """Knows where skills came from and what became of them; one thread at a time.

    Args:
        loader: starts skills.
        swap: puts new versions in the place of the old ones, and ends those; returns what is active then.
        closing: set when the host is about to end.

    """

    def __init__(self, loader: Loader, swap: Callable[[list[Skill]], Skills], closing: threading.Event) -> None:
        self._loader = loader
        self._swap = swap
        self._closing = closing
        self._folders_of_skills: list[Path] = []
        self._unloaded: set[Path] = set()
        self._granted: dict[str, frozenset[str]] = {}
        self._refused: dict[Path, tuple[Rejected, Reading | None]] = {}

    @property
    def rejected(self) -> list[Rejected]:
        """What lies in the folders and is not what answers."""
        return [rejected for rejected, _ in list(self._refused.values())]

    def remember(self, path: Path, loaded: Iterable[Skill]) -> None:
        """The host has loaded these skills from `path`: what they may do is approved."""
        for skill in loaded:
            self._granted[skill.name] = skill.semantic.permissions.names()
            self._unloaded.discard(skill.folder)
            self._refused.pop(skill.folder, None)
        place = path.absolute()
        if not is_skill(place) and place not in self._folders_of_skills:
            self._folders_of_skills.append(place)

    def forget(self, skill: Skill) -> None:
        """The host has unloaded a skill."""
        self._granted.pop(skill.name, None)
        self._refused.pop(skill.folder, None)
        self._unloaded.add(skill.folder)

    def reload(
        self, active: Skills, wanted: Callable[[Path], bool], approval: Approval, *, retry: bool
    ) -> ReloadReport:
        """Look at folders, and reload what changed.

        Args:
            active: the skills that answer.
            wanted: which folders to look at; what is tied to a change there comes along.
            approval: what the host says about permissions that it has not approved before.
            retry: whether what was rejected is tried again though its folder says what it said.

        """
        look = _Look(retry)
        self._look(look, active, wanted)
        for group in groups(look.changed, look.tied, [rejected.name for rejected in self.rejected]):
            active = self._reload([look.changed[name] for name in group], active, approval, look)
        return ReloadReport(
            tuple(look.reloaded),
            tuple(look.loaded),
            tuple(look.rejected),
            tuple(look.restored),
            tuple(sorted(look.unchanged)),
        )

    # --- what changed

    def _look(self, look: _Look, active: Skills, wanted: Callable[[Path], bool]) -> None:
        """Find what changed in the wanted folders; and what was rejected before and is tied to that."""
        held: dict[str, Reading] = {}
        seen = set(filter(wanted, self._candidates(active)))
        for folder in sorted(seen):
            reading = self._differing(folder, active, look)
            if reading is not None and reading.name in look.changed:
                self._reject(reading, _twice(reading.name, look.changed[reading.name].folder), active, look)
            elif reading is not None:
                before = self._refused.get(folder, (None, None))[1]
                same = before is not None and reading.same_as(before)
                (held if same and not look.retry else look.changed)[reading.name] = reading
        manifests = [skill.manifest for skill in active.values()]
        while True:
            read = [reading.manifest for reading in look.changed.values() if reading.manifest is not None]
            look.tied = links([*manifests, *read])
            mates = set().union(*(together(name, look.tied) for name in look.changed)) - look.changed.keys()
            late = [rejected.folder for rejected in self.rejected if rejected.name in mates]
            found = [held.pop(name, None) for name in mates]
            found += [self._differing(folder, active, look) for folder in late if folder not in seen]
            seen.update(late)
            new = {reading.name: reading for reading in found if reading is not None}
            if not new:
                return
            look.changed |= new

    def _candidates(self, active: Skills) -> list[Path]:
        """The folders to look at: those of active skills, and those that are new among skills."""
        found = [skill.folder for skill in active.values()]
        for place in self._folders_of_skills:
            try:
                inside = [] if is_skill(place) else skill_folders(place)
            except CortexError:  # it is gone, or holds nothing
                continue
            found += [folder for folder in inside if folder not in found and folder not in self._unloaded]
        for folder in self._refused.keys() - set(found):
            del self._refused[folder]  # it was never loaded, and is gone
        return found

    def _differing(self, folder: Path, active: Skills, look: _Look) -> Reading | None:
        """What lies in a folder, if it differs from what answers."""
        old = active.get(name_of(folder))
        if old is not None and old.folder != folder:
            self._reject(read_skill(folder), _twice(old.name, old.folder), active, look)
            return None
        if old is not None and not folder.is_dir():
            known = self._refused.get(folder)
            if look.retry or known is None or known[1] is not None:
                self._reject(None, _gone(old), active, look, old)
            return None
        reading = read_skill(folder)
        is_left_alone = old is not None and old.runtime is not None and old.runtime.fault is not None
        if old is not None and old.says(reading.manifest, reading.digests) and not (is_left_alone and look.retry):
            (look.unchanged if self._refused.pop(folder, None) is None else look.restored).append(old.name)
            return None
        return reading

    # --- a group of them

    def _reload(self, readings: list[Reading], active: Skills, approval: Approval, look: _Look) -> Skills:
        """Reload a group; what is active then."""
        granted: dict[str, frozenset[str]] = {}
        built: list[Skill] = []
        errors: dict[str, CortexError] = {}
        manifests: list[Manifest] = []
        for reading in readings:
            try:
                manifest = self._loader.checked(reading)
                _check_code_kept(reading, active.get(reading.name))
                granted[reading.name] = self._approved(manifest, active.get(reading.name), approval)
                manifests.append(manifest)
            except Exception as error:
                errors[reading.name] = as_ours(f"the reload of {reading.name}", error)
        if not errors:
            try:
                order = load_order(manifests, [skill.manifest for skill in active.values()])
            except CortexError as error:
                errors = dict.fromkeys(granted, error)
        if not errors:
            errors = self._build([(m, r) for m in order for r in readings if r.name == m.name], active, built)
        if self._closing.is_set():
            dispose(built)
            return active
        if errors:
            culprit = next(iter(errors))
            for reading in readings:
                self._reject(
                    reading, errors.get(reading.name) or _held_back(reading.name, culprit, errors), active, look
                )
            return active
        self._granted |= granted
        for skill in built:
            self._refused.pop(skill.folder, None)
            (look.reloaded if skill.name in active else look.loaded).append(_reloaded(active.get(skill.name), skill))
        return self._swap(built)

    def _approved(self, manifest: Manifest, old: Skill | None, approval: Approval) -> frozenset[str]:
        semantic = manifest.semantic or PLAIN
        if old is not None and old.manifest.semantic is not None:
            check_tools_kept(manifest.name, old.semantic, semantic)
        asked = semantic.permissions.names()
        return check_approved(manifest.name, asked, self._granted.get(manifest.name, frozenset()), approval)

    def _build(
        self, group: list[tuple[Manifest, Reading]], active: Skills, built: list[Skill]
    ) -> dict[str, CortexError]:
        """Start the new versions into `built`; nothing is left of it when one of them fails."""
        for manifest, reading in group:
            _log_differences(active.get(manifest.name), manifest)
            try:
                built.append(self._loader.start(reading))
            except BaseException as error:
                dispose(built)
                built.clear()
                if not isinstance(error, Exception):
                    raise
                return {reading.name: as_ours(f"the reload of {reading.name}", error)}
        return {}

    def _reject(
        self, reading: Reading | None, error: CortexError, active: Skills, look: _Look, old: Skill | None = None
    ) -> None:
        if reading is not None:
            name, folder, old = reading.name, reading.folder, active.get(reading.name)
        elif old is not None:
            name, folder = old.name, old.folder
        answering = old.semantic.skill_version if old is not None and old.folder == folder else None
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        # Without its traceback and its causes: they hold on to what was thrown away.
        plain = CortexError(error.code, error.message, hint=error.hint, details=error.details)
        rejected = Rejected(name, folder, plain, answering, now)
        self._refused[folder] = (rejected, reading and replace(reading, sources={}))
        look.rejected.append(rejected)
        kept = f"version {answering} answers on" if answering is not None else "it is not loaded"
        log.warning("%s is rejected, %s: [%s] %s", name, kept, error.code, error)


def _log_differences(old: Skill | None, manifest: Manifest) -> None:
    for difference in differences(old.manifest if old is not None else None, manifest):
        what = "the manifest changed" if old is not None else "is new"
        level = logging.WARNING if difference.security else logging.INFO
        log.log(level, "%s: %s: %s", manifest.name, what, difference)


def _reloaded(old: Skill | None, new: Skill) -> Reloaded:
    before = old.digests if old is not None else {}
    files = sorted(name for name in {*before, *new.digests} if before.get(name) != new.digests.get(name))
    changes = differences(old.manifest if old is not None else None, new.manifest)
    return Reloaded(new.name, new.semantic.skill_version, changes, tuple(files))


def _check_code_kept(reading: Reading, old: Skill | None) -> None:
    if old is not None and old.runtime is not None and not reading.digests.keys() & set(ENTRIES):
        raise CortexError(
            "skill_error",
            f"the code of {old.name} is gone: there is no {' and no '.join(ENTRIES)}",
            hint="put it back; for a skill without code, unload it and load it again",
        )


def _gone(skill: Skill) -> CortexError:
    return CortexError(
        "skill_not_found",
        f"the folder of {skill.name} is gone: {skill.folder}",
        hint="put it back, or unload the skill",
        details={"folder": str(skill.folder)},
    )


def _twice(name: str, folder: Path) -> CortexError:
    hint = "unload that one first, or take this one away"
    return CortexError("invalid_arguments", f"the skill {name} is loaded already, from {folder}", hint=hint)


def _held_back(name: str, culprit: str, errors: Mapping[str, CortexError]) -> CortexError:
    return CortexError(
        errors[culprit].code,
        f"{name} is held back: it is reloaded together with {culprit}, which is rejected",
        hint=f"mend {culprit}",
        details={"heldBackBy": sorted(errors)},
    )
