"""The keyring of the system, through the package `keyring`.

Rules kept here:
- a keyring is usable when it protects what it holds: those that `keyring` itself rates below 1 (none, plain text) are
  not;
- a keyring that refuses a value or is locked is no error here: the caller keeps the value elsewhere, or has none.
"""

from __future__ import annotations

import logging
from typing import Any

log = logging.getLogger(__name__)

_SERVICE = "cortex-skills"
_USABLE = 1  # `KeyringBackend.priority`


class SystemKeyring:
    """A keyring.

    Args:
        backend: with the methods of `keyring.backend.KeyringBackend`.
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    @classmethod
    def find(cls) -> SystemKeyring | None:
        """The keyring of the system; None when there is no usable one."""
        try:
            import keyring

            backend = keyring.get_keyring()
            return cls(backend) if float(backend.priority) >= _USABLE else None
        except Exception as error:  # a backend fails in its own ways
            log.info("the keyring cannot be used: %s", type(error).__name__)
            return None

    def keep(self, name: str, value: str) -> bool:
        """Keep a value, and read it again; False when the keyring did not take it."""
        try:
            self._backend.set_password(_SERVICE, name, value)
            return bool(self._backend.get_password(_SERVICE, name) == value)
        except Exception as error:
            log.info("the keyring did not take a value: %s", type(error).__name__)
            return False

    def read(self, name: str) -> str | None:
        """A value; None when there is none, or the keyring is locked."""
        try:
            value = self._backend.get_password(_SERVICE, name)
        except Exception as error:
            log.warning("the keyring cannot be read: %s", type(error).__name__)
            return None
        return value if isinstance(value, str) else None

    def remove(self, name: str) -> None:
        """Remove a value, if there is one."""
        try:
            self._backend.delete_password(_SERVICE, name)
        except Exception as error:
            log.info("the keyring did not remove a value: %s", type(error).__name__)
