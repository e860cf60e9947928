"""The encrypted store of a holder's openings.

    store = OpeningStore(default_folder())
    store.add(Opening(1990), label="birth year")
    store.get(point)

Rules kept here:
- the file is encrypted (libsodium's secretbox: XSalsa20-Poly1305) with a key in another folder; both files have mode
  0600 in folders with mode 0700. One of the two files alone is useless; the user's account has access to both;
- a change is made under a lock, and replaces the file atomically;
- a file that cannot be decrypted is reported and not changed: damaged, truncated, of another format, or encrypted with
  another key. No new key is created for an existing file;
- the holder chooses for which skills proofs are made, because each proof and each refusal reveals something;
- values and blindings are in the file and in an `Opening` only, never in a list, a message or a repr.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random as random_bytes

from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.zk.group import (
    BYTES,
    NotCanonicalError,
    from_text,
    read_scalar,
    scalar_bytes,
    to_text,
)
from cortex_skills.features.proofs.zk.pedersen import Opening, commitment_text
from cortex_skills.features.proofs.zk.statement import moment_text
from cortex_skills.safe_io.private_files import (
    NotPrivateError,
    check_private_folder,
    locked,
    read_private,
    write_private,
)

MAX_LABEL = 200

_MAGIC = b"cortex-skills openings 1\n"
_MAX_BYTES = 64 << 20
_KEYS = {"commitment", "value", "blinding", "added", "label", "skills"}

Records = list[dict[str, Any]]


def default_folder() -> Path:
    """`openings` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "openings"


def default_key_file() -> Path:
    """`openings/key` in the user's folder of settings."""
    from platformdirs import user_config_path

    return user_config_path("cortex-skills", appauthor=False) / "openings" / "key"


@dataclass(frozen=True, slots=True)
class OpeningInfo:
    """The public facts of an opening.

    Attributes:
        commitment: the commitment as text.
        label: the holder's label; may be empty.
        added: when it was added.
        skills: the skills that proofs are made for; empty for all that may request proofs.
    """

    commitment: str
    label: str
    added: str
    skills: tuple[str, ...] = ()


class OpeningStore:
    """The openings in a folder; a missing folder has none. Safe for several threads and processes.

    Args:
        folder: the folder of the encrypted file; created with the first opening.
        key_file: the key of 32 bytes; created with the first opening.
    """

    def __init__(self, folder: Path | None = None, key_file: Path | None = None) -> None:
        self.path = (folder or default_folder()) / "openings.sealed"
        self.key_file = key_file or default_key_file()

    def add(self, opening: Opening, *, label: str = "", skills: Collection[str] = ()) -> bool:
        """Add an opening; False if it was already stored.

        Args:
            opening: the opening.
            label: the holder's label.
            skills: the skills that proofs may be made for; empty for all that may request proofs.

        Raises:
            CortexError: `invalid_arguments`: the label is too long; `config_invalid`: the store cannot be used.
        """
        if len(label) > MAX_LABEL or not label.isprintable():
            hint = f"give at most {MAX_LABEL} characters in one line"
            raise CortexError("invalid_arguments", "the label of the opening is malformed", hint=hint)
        record = {
            "commitment": opening.commitment,
            "value": opening.value,
            "blinding": to_text(scalar_bytes(opening.blinding)),
            "added": moment_text(datetime.now(UTC)),
            "label": label,
            "skills": sorted(skills),
        }

        def added(records: Records) -> Records:
            known = any(other["commitment"] == record["commitment"] for other in records)
            return records if known else [*records, record]

        return self._change(added)

    def get(self, point: bytes, skill: str | None = None) -> Opening | None:
        """The opening of a commitment; None when it is not stored, or not for `skill` (None: the holder).

        Raises:
            CortexError: `config_invalid`: the store cannot be used.
        """
        text = commitment_text(point)
        for record in self._read():
            if record["commitment"] == text and (skill is None or skill in (record["skills"] or [skill])):
                return self._opened(record)
        return None

    def infos(self) -> list[OpeningInfo]:
        """The public facts of all openings, the oldest first.

        Raises:
            CortexError: `config_invalid`: the store cannot be used.
        """
        return [OpeningInfo(r["commitment"], r["label"], r["added"], tuple(r["skills"])) for r in self._read()]

    def remove(self, commitment: str) -> bool:
        """Remove an opening; True if it was stored. Without it, no proof about its commitment can be made.

        Raises:
            CortexError: `config_invalid`: the store cannot be used.
        """
        return self._change(lambda records: [record for record in records if record["commitment"] != commitment])

    def __repr__(self) -> str:
        return f"OpeningStore({str(self.path.parent)!r})"

    def _change(self, change: Callable[[Records], Records]) -> bool:
        with self._reported(), locked(self.path):
            self._check_folder(self.path.parent)
            old = self._read()
            new = change(old)
            if new == old:
                return False
            text = json.dumps({"openings": new}, ensure_ascii=True).encode()
            write_private(self.path, _MAGIC + SecretBox(self._key(make=not self.path.exists())).encrypt(text))
            return True

    def _read(self) -> Records:
        """The records in the file."""
        with self._reported():
            try:
                sealed = read_private(self.path, _MAX_BYTES)
            except FileNotFoundError:
                return []
            self._check_folder(self.path.parent)
            if not sealed.startswith(_MAGIC):
                raise self._refused("is not a store of openings", "move it away, or give another folder")
            try:
                document = json.loads(SecretBox(self._key(make=False)).decrypt(sealed[len(_MAGIC) :]))
            except (CryptoError, ValueError):
                hint = "restore a copy of the file, or of its key; nothing was changed"
                raise self._refused("is damaged, or was encrypted with another key", hint) from None
        records = document.get("openings") if isinstance(document, dict) else None
        if not isinstance(records, list) or not all(isinstance(r, dict) and set(r) == _KEYS for r in records):
            raise self._refused("has another format", "open it with the version that wrote it")
        return records

    def _key(self, *, make: bool) -> bytes:
        try:
            key = read_private(self.key_file, BYTES)
            self._check_folder(self.key_file.parent)
        except FileNotFoundError:
            if not make:
                hint = "restore a copy: without it the openings are lost"
                raise _unusable(self.key_file, "is the key of the openings, and is missing", hint) from None
            return self._new_key()
        if len(key) != BYTES or not any(key):
            raise _unusable(self.key_file, "is damaged: a key is 32 bytes", "restore a copy; nothing was changed")
        return key

    def _new_key(self) -> bytes:
        with locked(self.key_file):  # stores in other folders may use the same key
            try:
                return read_private(self.key_file, BYTES)
            except FileNotFoundError:
                key = random_bytes(BYTES)
                write_private(self.key_file, key)
                return key

    def _opened(self, record: dict[str, Any]) -> Opening:
        try:
            opening = Opening(record["value"], read_scalar(from_text(record["blinding"], BYTES)))
        except NotCanonicalError:
            opening = None
        if opening is None or opening.commitment != record["commitment"]:
            raise self._refused("has an opening that does not open its commitment", "remove that opening")
        return opening

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Report an error of a file as a `CortexError`."""
        try:
            yield
        except NotPrivateError as error:
            raise self._refused(f"or its key {self.key_file} {error.problem}", error.hint) from None
        except OSError as error:
            raise self._refused(f"cannot be used: {error.strerror}", "check its owner and its mode") from error

    def _check_folder(self, folder: Path) -> None:
        try:
            check_private_folder(folder)
        except NotPrivateError as error:
            raise _unusable(folder, error.problem, error.hint) from None

    def _refused(self, problem: str, hint: str) -> CortexError:
        return _unusable(self.path, problem, hint)


def _unusable(path: Path, problem: str, hint: str) -> CortexError:
    return CortexError("config_invalid", f"{path} {problem}", hint=hint)
