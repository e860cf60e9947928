"""`ActiveSkills`: which skills there are, and how they come and go.

Rules kept here:
- the active skills are one mapping that is swapped whole, so that a reader sees all of a change or nothing of it;
- one change at a time; readers wait for none;
- a call is counted with the version that it found; an old version is ended when its calls are over, or the longest
  that a call may take has passed;
- a host that closes waits for no skill that is being started: that is stopped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from cortex_skills import policy
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.loader import Loader, dispose
from cortex_skills.manifest import load_order
from cortex_skills.reload import Approval, Rejected, ReloadReport
from cortex_skills.reload.reloader import Reloader
from cortex_skills.skill import Skill

log = logging.getLogger(__name__)

# Longer than the gate lets any call take.
_DRAIN_S = 15.0
_LOOK_S = 0.05
# So many changed paths are a change of everything: telling which skills they belong to would take longer.
_MANY_PATHS = 200


class ActiveSkills:
    """The skills of one host. Safe to use from several threads.

    Args:
        loader: makes skills run.
        approval: what the host says about permissions that a reload would add.

    """

    def __init__(self, loader: Loader, approval: Approval = False) -> None:
        self._loader = loader
        self._approval = approval
        self._skills: Mapping[str, Skill] = MappingProxyType({})
        self._changing = threading.Lock()
        self._closing = threading.Event()
        self._reloader = Reloader(loader, self._swap, self._closing)
        self._tell: tuple[Callable[[ReloadReport], None], ...] = ()
        self._tell_change: tuple[Callable[[], None], ...] = ()
        self.reloads = 0

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The active skills by name, as they are now."""
        return self._skills

    @property
    def rejected(self) -> list[Rejected]:
        """What lies in the folders and is not what answers."""
        return self._reloader.rejected

    def enter(self, name: str | None) -> tuple[Skill, Mapping[str, Skill]]:
        """The acting skill and all that are active beside it; the caller owes `skill.calls.leave()`.

        Raises:
            CortexError: `skill_not_found` or `skill_ambiguous`.

        """
        while True:
            skills = self._skills
            chosen = policy.acting_skill(name, skills)
            if chosen.calls.enter():  # else it was swapped just now
                return chosen, skills

    def load(self, path: Path) -> list[str]:
        """See `Plugin.load`."""
        with self._changing:
            self._check_open()
            try:
                loaded = self._loader.load(path, self._skills)
            except CortexError:
                raise
            except Exception as error:
                raise as_ours("loading a skill", error) from error
            if self._closing.is_set():
                dispose(loaded)
                self._check_open()
            self._reloader.remember(path, loaded)
            self._put(loaded)
        self._changed()
        return [skill.name for skill in loaded]

    def unload(self, name: str) -> None:
        """See `Plugin.unload`."""
        with self._changing:
            skill = policy.acting_skill(name, self._skills)
            policy.check_not_needed(skill.name, (active.manifest for active in self._skills.values()))
            self._skills = MappingProxyType({n: s for n, s in self._skills.items() if n != skill.name})
            self._reloader.forget(skill)
            self._end([skill], "unload")
        self._changed()

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
                report = self._reloader.reload(self._skills, wanted, approves, retry=retry)
            except CortexError:
                raise
            except Exception as error:
                raise as_ours("the reload", error) from error
            self.reloads += len(report.reloaded) + len(report.loaded)
        for tell in self._tell if report else ():  # without the lock: it may want to call us
            try:
                tell(report)
            except Exception:
                log.exception("what a reload did could not be told")
        if report.reloaded or report.loaded:
            self._changed()
        return report

    def look_again(self, paths: Collection[str] | None) -> None:
        """Reload what changed at these paths; at None, whatever did since somebody looked."""
        self.reload(paths=paths, retry=paths is not None)

    def on_reload(self, tell: Callable[[ReloadReport], None]) -> Callable[[], None]:
        """See `Plugin.on_reload`."""

        def told(report: ReloadReport) -> None:
            tell(report)

        def take_back() -> None:
            self._tell = tuple(other for other in self._tell if other is not told)

        self._tell = (*self._tell, told)
        return take_back

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        """See `Plugin.on_change`."""

        def told() -> None:
            tell()

        def take_back() -> None:
            self._tell_change = tuple(other for other in self._tell_change if other is not told)

        self._tell_change = (*self._tell_change, told)
        return take_back

    def close(self) -> None:
        """Deactivate every skill. Closing twice is fine."""
        self._closing.set()
        while not self._changing.acquire(timeout=_LOOK_S):
            self._loader.starting.interrupt()
        try:
            skills, self._skills = self._skills, MappingProxyType({})
        finally:
            self._changing.release()
        order = load_order(skill.manifest for skill in skills.values())
        dispose([skills[manifest.name] for manifest in order], "session_end")

    def _changed(self) -> None:
        for tell in self._tell_change:  # without the lock, like those of a reload
            try:
                tell()
            except Exception:
                log.exception("that other skills are active could not be told")

    # --- inside; the lock is held by the caller

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise CortexError("graph_unavailable", "the plugin is closed", hint="open it again")

    def _folder_of(self, name: str) -> Path:
        for rejected in self.rejected:
            if rejected.name == name and rejected.answering is None:
                return rejected.folder
        return policy.acting_skill(name, self._skills).folder

    def _put(self, new: Iterable[Skill]) -> None:
        self._skills = MappingProxyType({**self._skills, **{skill.name: skill for skill in new}})

    def _swap(self, new: list[Skill]) -> Mapping[str, Skill]:
        """Put new versions in the place of the old ones, in one step, and end those."""
        old = [self._skills[skill.name] for skill in new if skill.name in self._skills]
        self._put(new)
        self._end(old, "reload")
        return self._skills

    def _end(self, skills: list[Skill], reason: str) -> None:
        """End skills that no new call finds, when the calls that found them are over."""
        for skill in reversed(skills):
            if not skill.calls.end(_DRAIN_S, self._closing) and not self._closing.is_set():
                log.warning("%s is ended with calls under way: they took more than %g s", skill.name, _DRAIN_S)
            dispose([skill], reason)


class _Wanted:
    """Whether a skill's folder is one that was asked for: by itself, or by paths in it or above it."""

    def __init__(self, folder: Path | None, paths: Collection[str] | None) -> None:
        self._folder = folder
        self._paths: set[Path] | None = None
        if paths is not None and len(paths) <= _MANY_PATHS:
            given = [Path(path).absolute() for path in paths]
            # A link is a place of its own: only what lies above it is followed.
            self._paths = {*given, *(path.parent.resolve() / path.name for path in given)}

    def __call__(self, folder: Path) -> bool:
        if self._folder is not None:
            return folder == self._folder
        if self._paths is None:
            return True
        places = {folder, folder.resolve()}
        return any(path.is_relative_to(place) or place.is_relative_to(path) for path in self._paths for place in places)
