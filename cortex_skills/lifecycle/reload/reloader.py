"""Reloading: new versions are built beside the running ones and replace them in one step, or not at all.

Rules kept here:
- everything is read, checked and started before anything is replaced; after a refusal the old version stays active;
- a group (see `groups`) is replaced together or not at all; groups do not wait for one another;
- a skill whose folder was removed stays active and is reported; when the folder is back, it is checked like any other.
  The same holds for removed code: an editor may be about to write the new file;
- a skill is known by its folder; a manifest that gives it another name is refused until the skill is unloaded;
- a skill that a host unloaded stays unloaded, though its folder is still there;
- a skill that is disabled by its faults is restarted, also when it did not change;
- a permission that is not approved is written down, so that the user can grant it while the host runs;
- differences are logged before the new version is activated; those that permit it more as warnings.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from cortex_skills.errors import CortexError, as_ours
from cortex_skills.lifecycle.loader import ENTRIES, Loader, dispose
from cortex_skills.lifecycle.reload.approval import Approval, check_approved, check_tools_kept
from cortex_skills.lifecycle.reload.differences import differences
from cortex_skills.lifecycle.reload.granted_permissions import GrantedPermissions
from cortex_skills.lifecycle.reload.groups import Links, connected, groups, links
from cortex_skills.lifecycle.reload.report import Rejected, Reloaded, ReloadReport
from cortex_skills.manifest import Manifest, load_order
from cortex_skills.runtime.skill import PLAIN, Skill
from cortex_skills.safe_io.display import one_line
from cortex_skills.skill_folder.snapshot import SkillSnapshot, is_skill, read_skill, skill_folders

log = logging.getLogger("cortex_skills.reload")

Skills = Mapping[str, Skill]


@dataclass
class _Check:
    """One check of the folders: what was found, and the results."""

    retry: bool
    changed: dict[str, SkillSnapshot] = field(default_factory=dict)
    linked: Links = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    reloaded: list[Reloaded] = field(default_factory=list)
    loaded: list[Reloaded] = field(default_factory=list)


class Reloader:
    """Remembers the folders of skills, the approved permissions and the rejected versions; one thread at a time.

    `swap` replaces old versions by new ones, closes the old, and returns the active skills.
    """

    def __init__(
        self,
        loader: Loader,
        swap: Callable[[list[Skill]], Skills],
        closing: threading.Event,
        grants: GrantedPermissions,
    ) -> None:
        self._loader = loader
        self._grants = grants
        self._swap = swap
        self._closing = closing
        self._folders_of_skills: list[Path] = []
        self._unloaded: set[Path] = set()
        self._granted: dict[str, frozenset[str]] = {}
        self._refused: dict[Path, tuple[Rejected, SkillSnapshot | None]] = {}

    @property
    def rejected(self) -> list[Rejected]:
        """The versions in the folders that are not active, and why."""
        return [rejected for rejected, _ in list(self._refused.values())]

    def remember(
        self, path: Path, loaded: Iterable[Skill], refused: Iterable[tuple[SkillSnapshot, CortexError]] = ()
    ) -> None:
        """The host has loaded these skills from `path` and could not load others; it approves their permissions."""
        for snapshot, error in refused:
            if snapshot.manifest is not None and snapshot.manifest.semantic is not None:
                self._granted.setdefault(snapshot.name, snapshot.manifest.semantic.permissions.names())
            self._refuse(snapshot.name, snapshot.folder.absolute(), error, None, snapshot)
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
        """Check folders, and reload the skills that changed.

        Args:
            active: the active skills.
            wanted: which folders to check; rejected skills that are connected to a change there are checked too.
            approval: which permissions the host approves, beyond those that it has approved before.
            retry: whether a rejected skill is tried again though its folder did not change.
        """
        check = _Check(retry)
        self._find_changes(check, active, wanted)
        for group in groups(check.changed, check.linked, [rejected.name for rejected in self.rejected]):
            active = self._reload([check.changed[name] for name in group], active, approval, check)
        return ReloadReport(
            tuple(check.reloaded),
            tuple(check.loaded),
            tuple(check.rejected),
            tuple(check.restored),
            tuple(sorted(check.unchanged)),
        )

    # --- finding changes

    def _find_changes(self, check: _Check, active: Skills, wanted: Callable[[Path], bool]) -> None:
        """Find the changes in the wanted folders, and the rejected skills that are connected to them."""
        held: dict[str, SkillSnapshot] = {}
        seen = set(filter(wanted, self._candidates(active)))
        for folder in sorted(seen):
            snapshot = self._differing(folder, active, check)
            if snapshot is not None and snapshot.name in check.changed:
                self._reject(snapshot, _twice(snapshot.name, check.changed[snapshot.name].folder), active, check)
            elif snapshot is not None:
                before = self._refused.get(folder, (None, None))[1]
                same = before is not None and snapshot.same_as(before)
                (held if same and not check.retry else check.changed)[snapshot.name] = snapshot
        manifests = [skill.manifest for skill in active.values()]
        while True:
            read = [snapshot.manifest for snapshot in check.changed.values() if snapshot.manifest is not None]
            check.linked = links([*manifests, *read])
            mates = set().union(*(connected(name, check.linked) for name in check.changed)) - check.changed.keys()
            late = [rejected.folder for rejected in self.rejected if rejected.name in mates]
            found = [held.pop(name, None) for name in mates]
            found += [self._differing(folder, active, check) for folder in late if folder not in seen]
            seen.update(late)
            new = {snapshot.name: snapshot for snapshot in found if snapshot is not None}
            if not new:
                return
            check.changed |= new

    def _candidates(self, active: Skills) -> list[Path]:
        """The folders to check: those of active skills, and new ones in the folders of skills."""
        found = [skill.folder for skill in active.values()]
        for place in self._folders_of_skills:
            try:
                inside = [] if is_skill(place) else skill_folders(place)
            except CortexError:  # it was removed, or is empty
                continue
            found += [folder for folder in inside if folder not in found and folder not in self._unloaded]
        for folder in self._refused.keys() - set(found):
            del self._refused[folder]  # it was never loaded, and was removed
        return found

    def _differing(self, folder: Path, active: Skills, check: _Check) -> SkillSnapshot | None:
        """The skill in a folder, if it differs from the active version."""
        old = next((skill for skill in active.values() if skill.folder == folder), None)
        if old is not None and not folder.is_dir():
            known = self._refused.get(folder)
            if check.retry or known is None or known[1] is not None:
                self._reject(None, _gone(old), active, check, old)
            return None
        snapshot = read_skill(folder, old.name if old is not None else "")
        if old is not None and snapshot.name != old.name:
            self._reject(replace(snapshot, manifest=None), _renamed(old, snapshot.name), active, check)
            return None
        if old is None and (other := active.get(snapshot.name)) is not None:
            self._reject(snapshot, _twice(other.name, other.folder), active, check)
            return None
        is_disabled = old is not None and old.runtime is not None and old.runtime.fault is not None
        if old is not None and old.is_from(snapshot.manifest, snapshot.digests) and not (is_disabled and check.retry):
            was_refused = self._refused.pop(folder, None) is not None
            (check.restored if was_refused else check.unchanged).append(old.name)
            if was_refused:
                self._grants.withdraw(folder, old.semantic.permissions.names())
            return None
        return snapshot

    # --- replacing a group

    def _reload(self, snapshots: list[SkillSnapshot], active: Skills, approval: Approval, check: _Check) -> Skills:
        """Reload a group; returns the active skills."""
        granted: dict[str, frozenset[str]] = {}
        built: list[Skill] = []
        errors: dict[str, CortexError] = {}
        manifests: list[Manifest] = []
        for snapshot in snapshots:
            try:
                manifest = self._loader.checked(snapshot)
                _check_code_kept(snapshot, active.get(snapshot.name))
                granted[snapshot.name] = self._approved(snapshot, manifest, active.get(snapshot.name), approval)
                manifests.append(manifest)
            except Exception as error:
                errors[snapshot.name] = as_ours(f"the reload of {snapshot.name}", error)
        if not errors:
            try:
                order = load_order(manifests, [skill.manifest for skill in active.values()])
            except CortexError as error:
                errors = dict.fromkeys(granted, error)
        if not errors:
            errors = self._build([(m, r) for m in order for r in snapshots if r.name == m.name], active, built)
        if self._closing.is_set():
            dispose(built)
            return active
        if errors:
            culprit = next(iter(errors))
            for snapshot in snapshots:
                refusal = errors.get(snapshot.name) or _held_back(snapshot.name, culprit, errors)
                self._reject(snapshot, refusal, active, check)
            return active
        self._granted |= granted
        for skill in built:
            if was_refused := self._refused.pop(skill.folder, None) is not None:
                self._grants.withdraw(skill.folder, skill.semantic.permissions.names())
            level = logging.WARNING if was_refused else logging.INFO  # after the warning that it was rejected
            log.log(level, "%s is reloaded: version %s answers", skill.name, skill.semantic.skill_version)
            (check.reloaded if skill.name in active else check.loaded).append(_reloaded(active.get(skill.name), skill))
        return self._swap(built)

    def _approved(
        self, snapshot: SkillSnapshot, manifest: Manifest, old: Skill | None, approval: Approval
    ) -> frozenset[str]:
        semantic = manifest.semantic or PLAIN
        if old is not None and old.manifest.semantic is not None:
            check_tools_kept(manifest.name, old.semantic, semantic)
        asked = semantic.permissions.names()
        granted = self._granted.get(manifest.name, frozenset())
        if not asked <= granted:
            granted |= self._grants.granted(snapshot.folder)
        try:
            return check_approved(manifest.name, asked, granted, approval)
        except CortexError as error:
            if error.code == "permission_denied":
                self._grants.ask(manifest.name, snapshot.folder, asked - granted)
            raise

    def _build(
        self, group: list[tuple[Manifest, SkillSnapshot]], active: Skills, built: list[Skill]
    ) -> dict[str, CortexError]:
        """Start the new versions and add them to `built`; when one of them fails, all are closed."""
        for manifest, snapshot in group:
            _log_differences(active.get(manifest.name), manifest)
            try:
                built.append(self._loader.start(snapshot))
                runtime = built[-1].runtime
                if runtime is not None and runtime.degraded is not None and manifest.name in active:
                    raise runtime.degraded  # the old version activated
            except BaseException as error:
                dispose(built)
                built.clear()
                if not isinstance(error, Exception):
                    raise
                return {snapshot.name: as_ours(f"the reload of {snapshot.name}", error)}
        return {}

    def _reject(
        self,
        snapshot: SkillSnapshot | None,
        error: CortexError,
        active: Skills,
        check: _Check,
        old: Skill | None = None,
    ) -> None:
        if snapshot is not None:
            name, folder, old = snapshot.name, snapshot.folder, active.get(snapshot.name)
        elif old is not None:
            name, folder = old.name, old.folder
        answering = old.semantic.skill_version if old is not None and old.folder == folder else None
        check.rejected.append(self._refuse(name, folder, error, answering, snapshot))

    def _refuse(
        self, name: str, folder: Path, error: CortexError, answering: str | None, snapshot: SkillSnapshot | None
    ) -> Rejected:
        """Remember and log a refusal; `answering` is the version that stays active."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        # A copy without traceback and cause, which would keep the discarded objects alive.
        plain = CortexError(error.code, error.message, hint=error.hint, details=error.details)
        rejected = Rejected(name, folder, plain, answering, now)
        self._refused[folder] = (rejected, snapshot and replace(snapshot, sources={}))
        kept = f"version {answering} keeps answering" if answering is not None else "it is not loaded"
        log.warning("%s in %s is rejected, %s: [%s] %s", name, one_line(str(folder)), kept, error.code, error)
        return rejected


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


def _check_code_kept(snapshot: SkillSnapshot, old: Skill | None) -> None:
    if old is not None and old.runtime is not None and not snapshot.digests.keys() & set(ENTRIES):
        raise CortexError(
            "skill_error",
            f"the code of {old.name} was removed: there is no {' and no '.join(ENTRIES)}",
            hint="put it back; for a skill without code, unload it and load it again",
        )


def _gone(skill: Skill) -> CortexError:
    return CortexError(
        "skill_not_found",
        f"the folder of {skill.name} was removed: {skill.folder}",
        hint="put it back, or unload the skill",
        details={"folder": str(skill.folder)},
    )


def _twice(name: str, folder: Path) -> CortexError:
    hint = "unload that one first, or remove this one"
    return CortexError("invalid_arguments", f"the skill {name} is loaded already, from {folder}", hint=hint)


def _renamed(old: Skill, name: str) -> CortexError:
    hint = f"unload {old.name} and load the folder again, or give it back its name"
    return CortexError("manifest_invalid", f"the skill {old.name} in {old.folder} is now named {name}", hint=hint)


def _held_back(name: str, culprit: str, errors: Mapping[str, CortexError]) -> CortexError:
    return CortexError(
        errors[culprit].code,
        f"{name} is held back: it is reloaded together with {culprit}, which was rejected",
        hint=f"correct {culprit}",
        details={"heldBackBy": sorted(errors)},
    )
