"""`ActiveSkills`: which skills are active, and how they are loaded, replaced and removed.

Rules kept here:
- the active skills are one mapping that is replaced whole, so that a reader sees all of a change or nothing of it;
- one change at a time; readers wait for none;
- the predicates that need a proof (`Host.declared_predicates`) follow the active skills;
- a call is counted with the version that it found; an old version is closed when its calls have ended, or after the
  longest time that a call may take;
- a host that closes does not wait for a skill that is starting: the start is interrupted, and a compiler for this
  machine goes on without it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Generic, ParamSpec

from cortex_sandbox import compiling
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.lifecycle.loader import Loader, dispose
from cortex_skills.lifecycle.reload.approval import Approval
from cortex_skills.lifecycle.reload.granted_permissions import GrantedPermissions
from cortex_skills.lifecycle.reload.reloader import Reloader
from cortex_skills.lifecycle.reload.report import Rejected, Reloaded, ReloadReport
from cortex_skills.manifest import load_order
from cortex_skills.policy.permissions import nearest_or_list
from cortex_skills.runtime.skill import Skill
from cortex_skills.safe_io.schemas import shown
from cortex_skills.skill_folder.snapshot import SkillSnapshot

log = logging.getLogger(__name__)

P = ParamSpec("P")

# Longer than the gate lets any call take.
_DRAIN_S = 15.0
_LOOK_S = 0.05
# From this many changed paths on, all skills are checked: finding those that the paths belong to would take longer.
_MANY_PATHS = 200
_MANY_DECISIONS = 5_000


class Callbacks(Generic[P]):
    """Callables that are called at each event of one kind; an exception of one is logged."""

    def __init__(self, event: str) -> None:
        self._event = event
        self._callbacks: tuple[Callable[P, None], ...] = ()

    def add(self, callback: Callable[P, None]) -> Callable[[], None]:
        """Add a callable; returns a function that removes it."""

        def entry(*args: P.args, **kwargs: P.kwargs) -> None:  # one for each `add`: the same may be added twice
            callback(*args, **kwargs)

        def remove() -> None:
            self._callbacks = tuple(other for other in self._callbacks if other is not entry)

        self._callbacks = (*self._callbacks, entry)
        return remove

    def notify(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call each of them."""
        for callback in self._callbacks:
            try:
                callback(*args, **kwargs)
            except Exception:
                log.exception("a callback of %s failed", self._event)


class ActiveSkills:
    """The skills of one host. Safe to use from several threads.

    Attributes:
        on_reload: called with the report of each reload that is not empty.
        on_change: called when other skills or other versions are active.
        reloads: how many skills were reloaded, or loaded by a reload.
        last_reloads: the last reload of each skill, by its name, with what it changed.
    """

    def __init__(self, loader: Loader, approval: Approval = False) -> None:
        self._grants = GrantedPermissions.of_user()
        self._loader = loader
        self._approval = approval
        self._skills: Mapping[str, Skill] = MappingProxyType({})
        self._changing = threading.Lock()
        self._closing = threading.Event()
        self._reloader = Reloader(loader, self._swap, self._closing, self._grants)
        self.on_reload: Callbacks[[ReloadReport]] = Callbacks("a reload")
        self.on_change: Callbacks[[]] = Callbacks("a change of the active skills")
        self.reloads = 0
        self.last_reloads: Mapping[str, Reloaded] = MappingProxyType({})

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The active skills by name, as they are now."""
        return self._skills

    @cached_property
    def decisions(self) -> Decisions:
        """The user's signatures and approvals."""
        from cortex_skills.signatures.signing import own_folder

        return Decisions((own_folder(), self._grants.place))

    @property
    def rejected(self) -> list[Rejected]:
        """The versions in the folders that are not active, and why."""
        return self._reloader.rejected

    def enter(self, name: str | None) -> tuple[Skill, Mapping[str, Skill]]:
        """The acting skill and all active ones, for a call; the caller must call `skill.calls.leave()` at its end.

        Raises:
            CortexError: `skill_not_found` or `skill_ambiguous`; `signature_invalid`: its key was revoked since.
        """
        while True:
            skills = self._skills
            revoked = self._loader.revoked(skills)
            if revoked:
                if (error := revoked.get(acting_skill(name, skills).name)) is not None:
                    raise error
                skills = {name: skill for name, skill in skills.items() if name not in revoked}
            chosen = acting_skill(name, skills)
            if chosen.calls.enter():  # else it was replaced just now
                return chosen, skills

    def load(self, path: Path, *, strict: bool = True) -> list[str]:
        """See `Plugin.load`."""
        refused: list[tuple[SkillSnapshot, CortexError]] = []
        with self._changing:
            self._check_open()
            try:
                with compiling.unless(self._closing.is_set):
                    if strict:
                        loaded = self._loader.load(path, self._skills)
                    else:
                        loaded, refused = self._loader.load_sound(path, self._skills)
            except CortexError:
                raise
            except Exception as error:
                raise as_ours("loading a skill", error) from error
            if self._closing.is_set():
                dispose(loaded)
                self._check_open()
            self._reloader.remember(path, loaded, refused)
            self._put(loaded)
        self.on_change.notify()
        return [skill.name for skill in loaded]

    def expected(self, path: Path) -> Mapping[str, Skill]:
        """See `Plugin.expected`."""
        return self._loader.expected(path)

    def unload(self, name: str) -> None:
        """See `Plugin.unload`."""
        with self._changing:
            skill = acting_skill(name, self._skills)
            _check_not_needed(skill.name, self._skills.values())
            self._publish({n: s for n, s in self._skills.items() if n != skill.name})
            self._reloader.forget(skill)
            self._end([skill], "unload")
        self.on_change.notify()

    def reload(
        self,
        name: str | None = None,
        *,
        paths: Collection[str] | None = None,
        approval: Approval | None = None,
        retry: bool = True,
    ) -> ReloadReport:
        """See `Plugin.reload`."""
        with self._changing:
            self._check_open()
            wanted = _Wanted(None if name is None else self._folder_of(name), paths)
            approves = self._approval if approval is None else approval
            try:
                with compiling.unless(self._closing.is_set):
                    report = self._reloader.reload(self._skills, wanted, approves, retry=retry)
            except CortexError:
                raise
            except Exception as error:
                raise as_ours("the reload", error) from error
            self.reloads += len(report.reloaded) + len(report.loaded)
            latest = {change.name: change for change in report.reloaded}
            self.last_reloads = MappingProxyType({**self.last_reloads, **latest})
        if report:  # without the lock: a callback may call this object
            self.on_reload.notify(report)
        if report.reloaded or report.loaded:
            self.on_change.notify()
        return report

    def reload_changed(self, paths: Collection[str] | None) -> None:
        """Reload what changed at these paths; None means anything that changed since the last check.

        When the user has signed or approved a skill since, all that was rejected is tried again: also when no path says
        so, since the report of a decision is lost while the folders to watch change.
        """
        decided = self.decisions.changed()
        self.reload(paths=None if decided else paths, retry=decided or paths is not None)

    def close(self) -> None:
        """Deactivate every skill. Closing twice has no effect."""
        self._closing.set()
        while not self._changing.acquire(timeout=_LOOK_S):
            self._loader.starting.interrupt()
        try:
            skills, self._skills = self._skills, MappingProxyType({})
        finally:
            self._changing.release()
        order = load_order(skill.manifest for skill in skills.values())
        dispose([skills[manifest.name] for manifest in order], "session_end")

    # --- the caller of these holds the lock

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise CortexError("graph_unavailable", "the plugin is closed", hint="open it again")

    def _folder_of(self, name: str) -> Path:
        for rejected in self.rejected:
            if rejected.name == name and rejected.answering is None:
                return rejected.folder
        return acting_skill(name, self._skills).folder

    def _put(self, new: Iterable[Skill]) -> None:
        self._publish({**self._skills, **{skill.name: skill for skill in new}})

    def _publish(self, skills: Mapping[str, Skill]) -> None:
        self._loader.host.declared_predicates.replace({name: skill.semantic for name, skill in skills.items()})
        self._skills = MappingProxyType(skills)

    def _swap(self, new: list[Skill]) -> Mapping[str, Skill]:
        """Replace old versions by new ones in one step, and close the old ones."""
        old = [self._skills[skill.name] for skill in new if skill.name in self._skills]
        self._put(new)
        self._end(old, "reload")
        return self._skills

    def _end(self, skills: list[Skill], reason: str) -> None:
        """Close skills that no new call finds, when the calls that found them have ended."""
        for skill in reversed(skills):
            if not skill.calls.end(_DRAIN_S, self._closing) and not self._closing.is_set():
                log.warning("%s is closed with calls in progress: they took more than %g s", skill.name, _DRAIN_S)
            dispose([skill], reason)


class Decisions:
    """The files in which the user's signatures and approvals are, and whether one changed.

    Attributes:
        folders: where they are.
    """

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self._seen = self._stamps()

    def changed(self) -> bool:
        """Whether one was added, changed or removed since the last time, or since this object was made."""
        before, self._seen = self._seen, self._stamps()
        return self._seen != before

    def _stamps(self) -> set[tuple[str, int, int]]:
        found = set()
        for folder in self.folders:
            with suppress(OSError), os.scandir(folder) as listing:
                for entry in islice(listing, _MANY_DECISIONS):
                    with suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        found.add((entry.path, status.st_mtime_ns, status.st_ino))
        return found


class _Wanted:
    """Whether to check a skill's folder: it was named, or one of the paths is in it or above it."""

    def __init__(self, folder: Path | None, paths: Collection[str] | None) -> None:
        self._folder = folder
        self._paths: set[Path] | None = None
        if paths is not None and len(paths) <= _MANY_PATHS:
            given = [Path(path).absolute() for path in paths]
            # A symbolic link itself is not followed, only the folders above it.
            self._paths = {*given, *(path.parent.resolve() / path.name for path in given)}

    def __call__(self, folder: Path) -> bool:
        if self._folder is not None:
            return folder == self._folder
        if self._paths is None:
            return True
        places = {folder, folder.resolve()}
        return any(path.is_relative_to(place) or place.is_relative_to(path) for path in self._paths for place in places)


def acting_skill(name: object, skills: Mapping[str, Skill]) -> Skill:
    """The skill that a call acts for: the named one, or the only active one.

    Raises:
        CortexError: `skill_not_found`, or `skill_ambiguous` when several are active and none is named.
    """
    if name is not None:
        if isinstance(name, str) and name in skills:
            return skills[name]
        hint = nearest_or_list(name, "active", skills)
        raise CortexError("skill_not_found", f"no skill {shown(name)} is active", hint=hint)
    able = [skill for skill in skills.values() if skill.manifest.semantic is not None] or list(skills.values())
    if len(able) == 1:
        return able[0]
    if not skills:
        raise CortexError("skill_not_found", "no skill is active", hint="load a skill first")
    names = sorted(skill.name for skill in able)
    raise CortexError(
        "skill_ambiguous",
        f"{len(able)} skills are active, and the call does not name the one that acts",
        hint=f"name one of {', '.join(names)}",
        details={"active": names},
    )


def _check_not_needed(name: str, skills: Iterable[Skill]) -> None:
    """A skill that another active one depends on cannot be unloaded."""
    dependents = sorted(s.name for s in skills if name in {d.slug for d in s.semantic.dependencies})
    if dependents:
        raise CortexError(
            "invalid_arguments",
            f"{name} cannot be unloaded: {', '.join(dependents)} depends on it",
            hint="unload what depends on it first",
            details={"dependents": dependents},
        )
