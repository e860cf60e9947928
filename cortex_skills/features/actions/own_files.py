"""The files of the plugin, which no action reads or writes, and those that no action writes.

Rules kept here:
- what is private (`config.private_paths`) is denied wherever it is in the workspace, also before it exists, with what
  its name begins beside it: locks, temporary files, backups of editors, the audit of a store;
- what agents may only read is denied to those that write: what the marks say, files that the command of a program of
  `actions.agents` names, also before they exist, and the folders of active skills;
- while it is not known what is private, since a feature with settings cannot be imported, there is no workspace: no
  action that needs one is offered;
- a workspace that is a private folder of the configuration, or is in one, is refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

from cortex_skills.config.private_paths import private_paths, read_only_paths, unread_settings, user_folders
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.paths import folded
from cortex_skills.features.actions.workspace_id import NAME as WORKSPACE_ID

log = logging.getLogger(__name__)

_MEANS_MORE = re.compile(r"([*?[])")  # in a pattern of `fnmatch`


@dataclass(frozen=True, slots=True)
class GuardedSettings(ActionSettings):
    """The settings of actions with what is denied besides.

    Attributes:
        not_written: paths of the workspace that are read only.
        own: what is private, inside the workspace and outside.
    """

    not_written: tuple[str, ...] = ()
    own: tuple[Path, ...] = ()


def guarded(config: Config) -> ActionSettings:
    """The settings of actions, which deny the files of the plugin too.

    Raises:
        CortexError: `config_invalid`: the workspace is, or is in, a private folder of the configuration.
    """
    settings = config.section(ActionSettings)
    if not settings.workspace:
        return settings
    if unread := unread_settings(config):
        log.error("actions have no workspace: it is not known what is private in the settings %s", ", ".join(unread))
        return replace(settings, workspace="")
    root = Path(settings.workspace).resolve()
    private = (*private_paths(config), root / WORKSPACE_ID)
    chosen = set(private) - {folder.resolve() for folder in user_folders()}
    if around := next((path for path in chosen if root.is_relative_to(path)), None):
        hint = "set actions.workspace to a folder that holds what agents may see"
        message = f"actions.workspace is in {around}, where the plugin keeps private data"
        raise CortexError("config_invalid", message, hint=hint)
    never = (*settings.never, *_patterns(root, private))
    given = {item.name: getattr(settings, item.name) for item in fields(settings)}
    not_written = _inside(root, (*read_only_paths(config), *_programs(settings, root)))
    return GuardedSettings(**given | {"never": never}, not_written=tuple(not_written), own=private)


def with_read_only(settings: ActionSettings, folders: Iterable[Path]) -> ActionSettings:
    """Settings that deny more to actions that write.

    Args:
        settings: of the host.
        folders: what is not written, as the folders of active skills.
    """
    if not isinstance(settings, GuardedSettings):
        return settings
    more = tuple(_inside(Path(settings.workspace).resolve(), (folder.resolve() for folder in folders)))
    return replace(settings, not_written=(*settings.not_written, *more)) if more else settings


def _programs(settings: ActionSettings, root: Path) -> Iterator[Path]:
    """The files that the commands of programs name: the programs, and scripts and settings among their arguments."""
    for entry in settings.agents.values():
        words = (part for word in entry["command"] for part in {word, word.partition("=")[2]})
        for word in filter(None, words):
            with suppress(OSError, ValueError):  # an argument is any text
                path = (root / entry.get("folder", "") / word).resolve()
                if not path.is_dir():
                    yield path


def _patterns(root: Path, paths: Iterable[Path]) -> Iterator[str]:
    for path in _inside(root, paths):
        folder, slash, name = path.rpartition("/")
        yield from (path, f"{path}[ .~]*", f"{folder}{slash}.{name}[ .]*")  # a name has lost its last blanks


def _inside(root: Path, paths: Iterable[Path]) -> Iterator[str]:
    """Those of some paths that are in the workspace, as patterns that match them alone."""
    for path in paths:
        if path != root and path.is_relative_to(root):
            names = map(folded, path.relative_to(root).parts)  # before what means more is quoted: it may become that
            yield "/" + "/".join(_MEANS_MORE.sub(r"[\1]", name) for name in names)
