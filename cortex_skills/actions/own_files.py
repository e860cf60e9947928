"""The files of the plugin, which no action reads or writes.

Rules kept here:
- what the configuration names is denied wherever it is in the workspace: the store, the journal of the audit, keys,
  tokens, the trust store, openings and removed texts, also before they exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cortex_skills.audit.opening import journal_folder
from cortex_skills.config.settings import ActionSettings, Config

_MEANS_MORE = re.compile(r"([*?[])")  # in a pattern of `fnmatch`


def guarded(config: Config) -> ActionSettings:
    """The settings of actions, which deny the files of the plugin too."""
    settings = config.actions
    if not settings.workspace:
        return settings
    root = Path(settings.workspace).resolve()
    own = (path.expanduser().resolve() for path in _own_files(config))
    inside = (path.relative_to(root).as_posix() for path in own if path != root and path.is_relative_to(root))
    return replace(settings, never=(*settings.never, *(_MEANS_MORE.sub(r"[\1]", path) for path in inside)))


def _own_files(config: Config) -> Iterator[Path]:
    for folder in (config.store_folder, journal_folder(config)):
        if folder is not None:
            yield folder
    proofs, audit = config.proofs, config.audit
    for named in (
        config.cortex.token_file,
        config.verification.trust_store,
        *config.verification.model_keys,
        proofs.keys,
        proofs.openings,
        proofs.openings_key,
        audit.removed,
        audit.removed_key,
    ):
        if named:
            yield Path(named)
