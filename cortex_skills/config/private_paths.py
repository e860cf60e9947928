"""Where the plugin keeps what is private, as the configuration says and by default.

Rules kept here:
- derived from the marks of the settings (`path_settings`), with the folders of the user in which settings without a
  value have their place, what is beside the store, and the configuration file: it may hold a token;
- a path is private before it exists, and so is all below it;
- where the settings of a feature are not read, since it cannot be imported, it is not known what of theirs is private:
  then it is an error to ask, and nothing reads or writes files for an agent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cortex_skills.config.sections import UnusedSection, path_settings
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

CACHE_VARIABLE = "CORTEX_SANDBOX_CACHE"
SEEN_INDEXES = "indexes.json"  # beside the trust store


def private_paths(config: Config) -> Iterator[Path]:
    """What nobody but the owner reads or writes, as paths without symbolic links above them.

    Raises:
        CortexError: `config_invalid`: a section of the configuration is of a feature that cannot be imported.
    """
    if unread := unread_settings(config):
        problem = f"the settings {', '.join(unread)} cannot be read, so that it is not known which files are private"
        hint = "`cortex-skills doctor` names the feature that cannot be imported; install it again, or remove it"
        raise CortexError("config_invalid", problem, hint=hint)
    for path in (*user_folders(), config.file, config.store_folder):
        if path is not None:
            yield from _places(path)
    for name, path in _marked(config, "private"):
        yield from _places(path)
        if name == "verification.trustStore":
            yield from _places(path.with_name(SEEN_INDEXES))


def unread_settings(config: Config) -> list[str]:
    """The sections of features that cannot be imported: of their paths it is not known which are private."""
    return [name for name, section in config.sections.items() if isinstance(section, UnusedSection)]


def read_only_paths(config: Config) -> Iterator[Path]:
    """What agents may read and never write, as `private_paths`: it decides what is trusted or loaded."""
    for _, path in _marked(config, "read-only"):
        yield from _places(path)


def user_folders() -> tuple[Path, ...]:
    """The folders of the user in which the plugin keeps data, settings, and caches with compiled code."""
    from platformdirs import user_cache_path, user_config_path, user_data_path

    kinds = (user_data_path, user_config_path, user_cache_path)
    folders = tuple(of("cortex-skills", appauthor=False) for of in kinds)
    if not os.environ.get(CACHE_VARIABLE):
        return folders
    from cortex_sandbox.engine.cache import chosen_folder  # slow to import

    return (*folders, *filter(None, (chosen_folder(),)))


def private_below(config: Config, root: Path) -> Iterator[Path]:
    """What is private in a folder that the owner chose, as `private_paths`; not the folder itself."""
    top = root.resolve()
    return (path for path in private_paths(config) if path != top and path.is_relative_to(top))


def _marked(config: Config, access: Literal["private", "read-only"]) -> Iterator[tuple[str, Path]]:
    for name, value, mark in path_settings(config):
        if mark.access == access and not mark.may_be_address:
            yield name, Path(value)


def _places(path: Path) -> Iterator[Path]:
    """Where a path leads, and where it is itself if that is a symbolic link: what is kept beside it is there.

    Settings are expanded already: a folder that is called `~` is one.
    """
    yield path.resolve()
    if path.is_symlink():
        yield path.parent.resolve() / path.name
