"""The skills that are registered without a request: those of the package, and those in folders.

Rules kept here:
- every registry has the procedural skills of the package (`records/reading.py`); a skill of another origin keeps its
  name;
- a version of the package that is not among those of a stored record is registered as the next one, so that two
  versions of the package on one store do not take turns; one that cannot be written to keeps its version;
- folders are read on demand, and when a plugin first uses its registry;
- a skill that did not change keeps its version, and nothing is written;
- a skill that cannot be read or registered is reported, and the others go on;
- of two skills with one name the one whose folder comes first is registered, and the other one is reported;
- a skill that depends on another one of the folders is registered after it;
- a relative folder belongs to the working folder, which may be a foreign checkout: it is read on demand, and never
  because a plugin uses its registry;
- a semantic skill that is loaded is recorded from its folder, if its texts are those that were loaded. Nothing runs
  here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Protocol, TypedDict, Unpack

from cortex_graph import GraphError
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import MANIFEST, SkillDocument, digest
from cortex_skills.features.registry.folders import SkillFolder, read_skill_folder, skill_folders_in
from cortex_skills.features.registry.records.lifecycle import Origin
from cortex_skills.features.registry.records.reading import ACTOR, PackageSkills
from cortex_skills.features.registry.records.registry import Registered, SkillRegistry
from cortex_skills.features.registry.records.skill_record import UNSIGNED, SkillKey, VersionSignature
from cortex_skills.safe_io.display import one_line
from cortex_skills.safe_io.schemas import shown
from cortex_skills.skill_folder.skipped import skipped_skills

log = logging.getLogger(__name__)

FOLDER = Path(__file__).parent / "builtin"
_MOST_NAMESPACES = 16


def package_skills(namespace: str) -> PackageSkills:
    """The skills of the package as those of a namespace."""
    keys = [SkillKey(namespace, name) for name in _names()]
    return PackageSkills(keys, partial(_documents, namespace))


@cache
def _names() -> tuple[str, ...]:
    return tuple(folder.name for folder in skill_folders_in(FOLDER))


@lru_cache(_MOST_NAMESPACES)
def _documents(namespace: str) -> tuple[tuple[SkillDocument, float], ...]:
    folders = [FOLDER / name for name in _names()]
    return tuple((read_skill_folder(each, namespace).document, (each / MANIFEST).stat().st_mtime) for each in folders)


def update_package_skills(registry: SkillRegistry) -> None:
    """Register the skills of the package that a store has in another version."""
    package = package_skills(registry.terms.names.namespace)
    try:
        if not any(map(registry.skills.is_stored, package.keys)):
            return
        for document, _ in package.read():
            key = SkillKey(document.namespace, document.name)
            if registry.record(key).standing.origin != "builtin":
                continue
            if digest(document) not in {version.digest for version in registry.versions(key)}:
                registry.register(document, actor=ACTOR, origin="builtin", signature=UNSIGNED)
    except (CortexError, GraphError) as error:
        log.warning("the skills of the package are not registered: %s", error)


_BOM = b"\xef\xbb\xbf"


class Register(Protocol):
    """Registers a document that was read from a folder."""

    def __call__(self, *, document: SkillDocument, signature: VersionSignature | None) -> Registered:
        """The version."""


class SyncSettings(TypedDict, total=False):
    """Arguments of `synchronise`."""

    accept_changed: bool
    sign: bool
    register: Register | None


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What became of the skills of folders.

    Attributes:
        found: each skill that is registered, by its folder: whether it has a new version, and which.
        refused: each one that is not, and why.
        warnings: the files that were left out of a skill, and the folders that look like one and are not read.
    """

    found: Mapping[Path, Registered]
    refused: Mapping[Path, CortexError]
    warnings: tuple[tuple[Path, str], ...]


def synchronise(
    registry: SkillRegistry,
    folders: Iterable[Path],
    *,
    actor: str,
    origin: Origin = "human",
    accept_changed: bool = False,
    sign: bool = False,
    register: Register | None = None,
) -> SyncReport:
    """Register the skills of folders that are new or changed.

    Args:
        registry: where.
        folders: each that of a skill, or a folder of them; one that does not exist has none.
        actor: who registers them.
        origin: who made them.
        accept_changed: register a folder that was changed after its export, as another document without a signature.
        sign: sign those without a signature with the key of this installation.
        register: registers one, instead of the registry itself, in the name and with the origin of who asks.

    Raises:
        GraphError: the store cannot be used.
    """
    register = register or partial(registry.register, actor=actor, origin=origin)
    pending: dict[Path, SkillFolder] = {}
    refused: dict[Path, CortexError] = {}
    found: dict[Path, Registered] = {}
    namespace = registry.terms.names.namespace
    places = list(folders)
    read_from = dict.fromkeys(each for folder in places for each in skill_folders_in(folder))
    skipped = (each for folder in places for each in skipped_skills(folder, read_from))
    for place in read_from:
        try:
            pending[place] = read_skill_folder(place, namespace, accept_changed=accept_changed)
        except CortexError as error:
            refused[place] = error
    refused |= _second_of_a_name(pending)
    pending = {place: read for place, read in pending.items() if place not in refused}
    left_out = ((each.file, f"is skipped: it {each.reason} ({each.hint})") for each in skipped)
    warnings = (*left_out, *((place, warning) for place, read in pending.items() for warning in read.warnings))
    while pending:
        later: dict[Path, CortexError] = {}
        for place, read in pending.items():
            try:
                signature = read.signature
                if sign and signature == UNSIGNED:
                    signature = registry.own_signature(digest(read.document))
                found[place] = register(document=read.document, signature=signature)
            except CortexError as error:
                later[place] = error
        waiting = {place for place, error in later.items() if error.code == "skill_not_found"}
        refused |= {place: error for place, error in later.items() if place not in waiting}
        if len(waiting) == len(pending):
            refused |= later
            break
        pending = {place: pending[place] for place in waiting}
    return SyncReport(found, refused, warnings)


def _second_of_a_name(read: Mapping[Path, SkillFolder]) -> dict[Path, CortexError]:
    """The folders of skills that another one before has with another document, which would replace each other."""
    first: dict[tuple[str, str], tuple[Path, str]] = {}
    refused = {}
    for place, folder in read.items():
        document = folder.document
        key, this = (document.namespace, document.name), digest(document)
        other, digest_of_other = first.setdefault(key, (place, this))
        if digest_of_other != this:
            earlier = shown(f"{other.parent.name}/{other.name}")
            message = f"{'/'.join(key)} is another skill in {earlier}, which comes first"
            refused[place] = CortexError("skill_exists", message, hint="rename or remove one of them")
    return refused


def synchronise_configured(
    registry: SkillRegistry, folders: Iterable[str], *, actor: str, **settings: Unpack[SyncSettings]
) -> SyncReport:
    """Register the skills of all folders that the configuration names; the arguments are those of `synchronise`.

    Raises:
        GraphError: the store cannot be used.
    """
    places = list(map(Path, folders))
    return synchronise(registry, places, actor=actor, **settings)


def register_configured(registry: SkillRegistry, folders: Iterable[str], *, actor: str) -> None:
    """Register the skills of the folders with an absolute path; what is refused is a warning in the log."""
    found = [path for folder in folders if (path := Path(folder)).is_absolute() and path.is_dir()]
    if not found:
        return
    try:
        refused = synchronise(registry, found, actor=actor).refused
    except GraphError as error:
        log.warning("the skills in the configured folders are not registered: %s", error.message)
        return
    for folder, problem in refused.items():
        log.warning("the skill in %s is not registered: %s", one_line(str(folder)), problem.message)


def record_loaded(
    registry: SkillRegistry, folder: Path, texts: Mapping[str, str], *, actor: str, origin: Origin
) -> Registered:
    """Register a skill that was loaded from a folder.

    Args:
        registry: where.
        folder: of the skill.
        texts: the files that were loaded.
        actor: who loaded it.
        origin: who made it.

    Raises:
        CortexError: `manifest_invalid`: its folder cannot be read, or changed since; or the error of `register`.
        GraphError: the store cannot be used.
    """
    read = read_skill_folder(folder, registry.terms.names.namespace)
    files = {each.path: each.data.removeprefix(_BOM) for each in read.document.resources}
    files |= {name: text.encode() for name, text in read.manifests.items()}
    changed = [path for path, text in texts.items() if files.get(path) != text.encode()]
    if changed:
        problem = f"{shown(changed[0])} was left out, or changed while the skill was loaded"
        raise CortexError("manifest_invalid", problem, hint="load it again")
    return registry.register(read.document, actor=actor, origin=origin, signature=read.signature)
