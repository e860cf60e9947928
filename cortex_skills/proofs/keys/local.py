"""The key that this installation signs with.

Rules kept here:
- it is in a folder of the user's own (`proofs.keys`, else `keys` in the user's data folder), under the name that the
  configuration says (`proofs.key`);
- the first use makes it, so that proofs need no preparation; one that cannot be used is an error, and never replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.proofs.keys.ed25519 import Key
from cortex_skills.proofs.keys.folder import KeyFolder, default_folder

if TYPE_CHECKING:
    from cortex_skills.config import Config


def key_folder(config: Config) -> KeyFolder:
    """The folder of this installation's keys."""
    given = config.proofs.keys
    return KeyFolder(Path(given).expanduser() if given else default_folder())


def signing_key(config: Config) -> Key:
    """The key of this installation.

    Raises:
        CortexError: `config_invalid`: the folder or the file is not ours alone, or cannot be read.

    """
    return key_folder(config).open_or_create(config.proofs.key)
