"""The secrets of this user: names in a private file, values in the system's keyring or sealed in that file.

    secrets = SecretStore.of(config.secrets)
    secrets.set(SecretName.of("skill:acme.weather/api_key"), value)
    secrets.read(name)  # for what was granted it; hidden from every output from then on

Rules kept here:
- the values are in the keyring where the system has a usable one (`secrets.store` decides otherwise); one that the
  keyring does not take, because of its size, and all where there is none, are sealed with XChaCha20-Poly1305
  (libsodium), whose associated data is the name: a value moved to another name does not open;
- the key of the file is in a private file in another folder, or made of the passphrase in
  `CORTEX_SECRETS_PASSPHRASE` with Argon2id; each of the two files alone is useless;
- a value is sealed only with the key that opens the others, so that a damaged, lost or mistyped key is an error;
- files are private (`private_files`), replaced whole, and changed under a lock;
- a value is a text of 1 to 65,536 bytes; it is in no message, and `read` hides it (`hidden_values`).
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cortex_skills.config.extras import check_extra
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import NotPrivateError, locked, read_private, write_private
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.secrets.hidden_values import HIDDEN
from cortex_skills.secrets.secret_names import SecretName
from cortex_skills.secrets.system_keyring import SystemKeyring

if TYPE_CHECKING:
    from cortex_skills.config.core_settings import SecretSettings

MAX_VALUE = 64 << 10
PASSPHRASE = "CORTEX_SECRETS_PASSPHRASE"  # noqa: S105 - the name of a variable
_MAX_SECRETS = 1_000
_MAX_BYTES = 128 << 20
_VERSION = 1
_KEY_BYTES = 32
_SALT_BYTES = 16
_IN_KEYRING = None  # instead of a sealed value

Entries = dict[str, str | None]


class SecretStore:
    """The secrets of one installation. Safe for several threads and processes.

    Args:
        path: the file of the names and the sealed values; created with the first secret.
        key_file: the file of the key that seals.
        keyring: the keyring of the system; None to seal every value.
        passphrase: replaces the key file; empty for none.
    """

    def __init__(self, path: Path, key_file: Path, keyring: SystemKeyring | None = None, passphrase: str = "") -> None:
        self.path = path
        self._key_file = key_file
        self._keyring = keyring
        self._passphrase = passphrase

    @classmethod
    def of(cls, settings: SecretSettings) -> SecretStore:
        """The store that the configuration names.

        Raises:
            CortexError: `config_invalid`: the keyring is asked for, and there is no usable one.
        """
        from platformdirs import user_config_path, user_data_path

        keyring = None if settings.store == "file" else SystemKeyring.find()
        if keyring is None and settings.store == "keyring":
            check_extra("keyring", "secrets.store: keyring")
            hint = "install one that the package keyring supports, or set secrets.store to auto or file"
            raise CortexError("config_invalid", "secrets.store is keyring, and this system has no keyring", hint=hint)
        path = settings.file or user_data_path("cortex-skills", appauthor=False) / "secrets.json"
        key = settings.key or user_config_path("cortex-skills", appauthor=False) / "secrets.key"
        passphrase = os.environ.get(PASSPHRASE, "")
        return cls(Path(path), Path(key), keyring, passphrase)

    def names(self) -> list[SecretName]:
        """The names of all secrets, sorted.

        Raises:
            CortexError: `config_invalid`: the file cannot be used.
        """
        return sorted(SecretName.of(name) for name in self._entries())

    def set(self, name: SecretName, value: str) -> bool:
        """Keep a secret; whether it replaced an older one.

        Raises:
            CortexError: `invalid_arguments`: the value is empty, too long or no text; `config_invalid`: the file or
                the key cannot be used.
        """
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            size = 0
        if not 0 < size <= MAX_VALUE or "\0" in value:
            hint = "give a text without NUL"
            raise CortexError(
                "invalid_arguments", f"the value of {name} must have 1 to {MAX_VALUE:,} bytes of text", hint=hint
            )
        HIDDEN.add(value)

        def change(entries: Entries) -> bool:
            existed = str(name) in entries
            if not existed and len(entries) >= _MAX_SECRETS:
                raise self._refused(f"has {_MAX_SECRETS:,} secrets", "remove those that are not needed")
            is_kept = self._keyring is not None and self._keyring.keep(str(name), value)
            if not is_kept:
                self._check_key(entries, str(name))
            entries[str(name)] = _IN_KEYRING if is_kept else self._sealed(str(name), value)
            return existed

        return self._change(change)

    def remove(self, name: SecretName) -> bool:
        """Remove a secret; whether there was one.

        Raises:
            CortexError: `config_invalid`: the file cannot be used.
        """

        def change(entries: Entries) -> bool:
            missing = object()
            kept = entries.pop(str(name), missing)
            if kept is _IN_KEYRING and self._keyring is not None:
                self._keyring.remove(str(name))
            return kept is not missing

        return self._change(change)

    def read(self, name: SecretName) -> str:
        """The value of a secret, which is hidden from every output of this process from now on.

        Raises:
            CortexError: `secret_not_found`; `config_invalid`: the file or the key cannot be used.
        """
        entries = self._entries()
        sealed = entries.get(str(name))
        value = self._opened(str(name), sealed) if sealed is not None else None
        if sealed is None and str(name) in entries and self._keyring is not None:
            value = self._keyring.read(str(name))
        if value is None:
            hint = f"the owner sets it: cortex-skills secrets set {name}"
            raise CortexError("secret_not_found", f"there is no secret {name}", hint=hint, details={"name": str(name)})
        HIDDEN.add(value)
        return value

    def _change(self, change: Callable[[Entries], bool]) -> bool:
        try:
            with locked(self.path):
                entries = self._entries()
                answer = change(entries)
                document = {"version": _VERSION, "secrets": dict(sorted(entries.items()))}
                write_private(self.path, json.dumps(document, indent=1).encode())
                return answer
        except OSError as error:
            raise self._refused(f"cannot be written: {error.strerror}", "see secrets.file") from error

    def _entries(self) -> Entries:
        try:
            document = read_json(read_private(self.path, _MAX_BYTES))
        except FileNotFoundError:
            return {}
        except NotPrivateError as error:
            raise self._refused(error.problem, error.hint) from None
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror}", "check its owner and mode") from error
        except ValueError as error:
            raise self._refused("is damaged", "restore a copy, or remove it and set the secrets again") from error
        if not _is_valid(document):
            raise self._refused("is damaged", "restore a copy, or remove it and set the secrets again")
        entries: Entries = document["secrets"]
        return entries

    def _check_key(self, entries: Entries, name: str) -> None:
        """Refuse a key, or a passphrase, that does not open another value of the file."""
        for other, sealed in entries.items():
            if sealed is not None and other != name:
                self._opened(other, sealed)
                return

    def _sealed(self, name: str, value: str) -> str:
        from nacl.secret import Aead

        salt = os.urandom(_SALT_BYTES)
        return b64encode(salt + bytes(Aead(self._key(salt)).encrypt(value.encode(), name.encode()))).decode()

    def _opened(self, name: str, sealed: str) -> str:
        from nacl.exceptions import CryptoError
        from nacl.secret import Aead

        try:
            data = b64decode(sealed, validate=True)
            key = self._key(data[:_SALT_BYTES], creates=False)
            return Aead(key).decrypt(data[_SALT_BYTES:], name.encode()).decode()
        except (CryptoError, ValueError):
            hint = f"check {PASSPHRASE} and {self._key_file}, or remove the secret and set it again"
            raise self._refused(f"has a value for {name} that does not open with the key", hint) from None

    def _key(self, salt: bytes, *, creates: bool = True) -> bytes:
        """The key of a sealed value: of the passphrase and the salt, or that of the key file."""
        if self._passphrase:
            from nacl.pwhash import argon2id

            limits = (argon2id.OPSLIMIT_INTERACTIVE, argon2id.MEMLIMIT_INTERACTIVE)
            derived: bytes = argon2id.kdf(
                _KEY_BYTES, self._passphrase.encode("utf-8", "surrogateescape"), salt, *limits
            )
            return derived
        try:
            with locked(self._key_file):
                if creates and not self._key_file.exists():
                    write_private(self._key_file, os.urandom(_KEY_BYTES))
                key = read_private(self._key_file, _KEY_BYTES)
        except NotPrivateError as error:
            raise _unusable(self._key_file, error.problem, error.hint) from None
        except OSError as error:
            raise _unusable(self._key_file, f"cannot be used: {error.strerror}", "restore a copy") from error
        if len(key) != _KEY_BYTES:
            raise _unusable(self._key_file, "is damaged: a key is 32 bytes", "restore a copy")
        return key

    def _refused(self, problem: str, hint: str) -> CortexError:
        return _unusable(self.path, problem, hint)


def _is_valid(document: Any) -> bool:
    if not isinstance(document, dict) or document.get("version") != _VERSION:
        return False
    secrets = document.get("secrets")
    if not isinstance(secrets, Mapping) or not all(each is None or isinstance(each, str) for each in secrets.values()):
        return False
    try:
        return all(str(SecretName.of(name)) == name for name in secrets)
    except CortexError:
        return False


def _unusable(path: Path, problem: str, hint: str) -> CortexError:
    return CortexError("config_invalid", f"{path} {problem}", hint=hint)
