"""The folders in which clients over HTTP and MCP may register from and export to.

Rules kept here:
- without a configured root nothing is imported and nothing exported;
- a client names a folder below the root, relative to it: no absolute path, no `..`, no hidden segment, no name that
  some file systems do not have. Each segment that exists is a folder, and no symbolic link. A refusal names neither the
  root nor what else is in it;
- what the plugin keeps private in the root (`config.private_paths`) is neither imported nor written into;
- the root is the owner's: who can change it while it is read can change what is read there anyway.
"""

from __future__ import annotations

import stat
from pathlib import Path

from cortex_skills.config.private_paths import private_below
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.document import SkillDocument, path_problem
from cortex_skills.features.registry.folders import write_skill_folder
from cortex_skills.features.registry.skill_record import SkillVersion
from cortex_skills.safe_io.schemas import shown

_FIELDS = {"importRoot": "folder_path", "exportRoot": "target_folder"}  # of requests


def import_folder(config: Config, given: str) -> Path:
    """The folder that a client names to register from.

    Raises:
        CortexError: `permission_denied`: no folder is configured; `invalid_arguments`: it is not one below it.
    """
    root = config.registry.import_root
    place = _below(root, "importRoot", given, must_exist=True)
    found = place.resolve()
    for private in private_below(config, Path(root)):
        if found.is_relative_to(private) or private.is_relative_to(found):
            raise _refused(given, "importRoot", "holds private data of this installation")
    return place


def export_folder(config: Config, given: str, name: str) -> Path:
    """The folder that a client names to export to; it need not exist, and empty is the root itself.

    Args:
        config: the settings.
        given: as the client names it.
        name: of the folder that is written there.

    Raises:
        CortexError: `permission_denied`: no folder is configured; `invalid_arguments`: it is not one below it.
    """
    root = config.registry.export_root
    place = _below(root, "exportRoot", given, must_exist=False)
    if any((place / name).resolve().is_relative_to(private) for private in private_below(config, Path(root))):
        raise _refused(given, "exportRoot", "is where this installation keeps private data")
    return place


def export_to(config: Config, document: SkillDocument, version: SkillVersion, given: str) -> str:
    """Export a document to a new folder in the one that a client names.

    Returns:
        The path of the new folder, relative to the root.

    Raises:
        CortexError: as `export_folder`; `skill_exists`: there is such a folder; `invalid_arguments`: it cannot be
            written.
    """
    place = export_folder(config, given, document.name)
    path = f"{given.rstrip('/')}/{document.name}".lstrip("/")
    try:
        write_skill_folder(document, version, place)
    except CortexError as error:
        problem = "exists" if error.code == "skill_exists" else "cannot be written"
        raise CortexError(error.code, f"the folder {shown(path)} {problem}", hint=error.hint) from None
    return path


def _below(root: str, setting: str, given: str, *, must_exist: bool) -> Path:
    if not root:
        message = f"clients cannot name folders here: `registry.{setting}` is not configured"
        raise CortexError("permission_denied", message, hint="ask the owner of this installation to set it")
    place = Path(root)
    segments = [] if not given and not must_exist else given.rstrip("/").split("/")
    problem = path_problem("/".join(segments)) if segments else ""
    if problem:
        raise _refused(given, setting, problem)
    for number, segment in enumerate(segments):
        place /= segment
        try:
            mode = place.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if must_exist:
                raise _refused(given, setting, "does not exist") from None
            return place.joinpath(*segments[number + 1 :])
        except OSError:
            raise _refused(given, setting, "cannot be read") from None
        if not stat.S_ISDIR(mode):
            raise _refused(given, setting, "leads through a symbolic link" if stat.S_ISLNK(mode) else "is not a folder")
    return place


def _refused(given: str, setting: str, problem: str) -> CortexError:
    hint = "name a folder relative to the one that is configured, such as skills/fetch-data"
    details = {"field": _FIELDS[setting]}
    return CortexError("invalid_arguments", f"the folder {shown(given)} {problem}", hint=hint, details=details)
