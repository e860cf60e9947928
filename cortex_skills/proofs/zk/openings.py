"""The sealed store of openings: what a holder knows of commitments, and nobody else may see.

    store = OpeningStore(default_folder())
    store.add(Opening(1990), label="birth year")
    store.get(point)

Rules kept here:
- the file is encrypted (libsodium's secretbox: XSalsa20-Poly1305) with a key that lies elsewhere, both of them 0600 in
  folders of 0700. Whoever has one of the two files has nothing; whoever has the account of the user has both;
- a change is read, made and written under a lock, and the new file takes the old one's place whole;
- what cannot be opened is left as it is, and said: a damaged file, one that was cut off, one of another kind, one that
  was sealed with another key. No key is made for a file that is there already;
- its holder says for which skills proofs are made: each proof, and each refusal, tells something;
- values and blindings are in the file and in an `Opening`, and in no list, message or repr.
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
from cortex_skills.private_files import NotPrivateError, check_private_folder, locked, read_private, write_private
from cortex_skills.proofs.zk.group import BYTES, NotCanonicalError, from_text, read_scalar, scalar_bytes, to_text
from cortex_skills.proofs.zk.pedersen import Opening, commitment_text
from cortex_skills.proofs.zk.statement import moment_text

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
    """What may be shown of an opening.

    Attributes:
        commitment: what it opens, as text.
        label: what its holder calls it; may be empty.
        added: when it came in.
        skills: the names of those that proofs are made for; empty for every one that may request proofs.

    """

    commitment: str
    label: str
    added: str
    skills: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The same, JSON-ready."""
        skills = list(self.skills)
        return {"commitment": self.commitment, "label": self.label, "added": self.added, "skills": skills}


class OpeningStore:
    """The openings in a folder; a folder that is not there holds none. Safe for several threads and processes.

    Args:
        folder: of the sealed file; made when the first opening is added.
        key_file: 32 bytes; made with the first opening.

    """

    def __init__(self, folder: Path | None = None, key_file: Path | None = None) -> None:
        self.path = (folder or default_folder()) / "openings.sealed"
        self.key_file = key_file or default_key_file()

    def add(self, opening: Opening, *, label: str = "", skills: Collection[str] = ()) -> bool:
        """Keep an opening; False if it was there already.

        Args:
            opening: the opening.
            label: what its holder calls it.
            skills: the names of those that proofs may be made for; empty for every one that may request proofs.

        Raises:
            CortexError: `invalid_arguments`: the label is too long; `config_invalid`: the store cannot be used.

        """
        if len(label) > MAX_LABEL or not label.isprintable():
            hint = f"at most {MAX_LABEL} characters in one line"
            raise CortexError("invalid_arguments", "the label of an opening is not well-formed", hint=hint)
        record = {
            "commitment": opening.commitment,
            "value": opening.value,
            "blinding": to_text(scalar_bytes(opening.blinding)),
            "added": moment_text(datetime.now(UTC)),
            "label": label,
            "skills": sorted(skills),
        }

        def added(records: Records) -> Records:
            there = any(other["commitment"] == record["commitment"] for other in records)
            return records if there else [*records, record]

        return self._change(added)

    def get(self, point: bytes, skill: str | None = None) -> Opening | None:
        """What opens a commitment; None when it is not known here, or not for this skill.

        Args:
            point: the commitment.
            skill: on behalf of which a proof is made; None for its holder.

        Raises:
            CortexError: `config_invalid`: the store cannot be used.

        """
        text = commitment_text(point)
        for record in self._read():
            if record["commitment"] == text and (skill is None or skill in (record["skills"] or [skill])):
                return self._opened(record)
        return None

    def infos(self) -> list[OpeningInfo]:
        """All openings, the oldest first, without what they open to.

        Raises:
            CortexError: `config_invalid`: the store cannot be used.

        """
        return [OpeningInfo(r["commitment"], r["label"], r["added"], tuple(r["skills"])) for r in self._read()]

    def remove(self, commitment: str) -> bool:
        """Forget an opening; True if it was there. Nobody can prove anything about its commitment any more.

        Raises:
            CortexError: `config_invalid`: the store cannot be used.

        """
        return self._change(lambda records: [record for record in records if record["commitment"] != commitment])

    def __repr__(self) -> str:
        return f"OpeningStore({str(self.path.parent)!r})"

    def _change(self, change: Callable[[Records], Records]) -> bool:
        with self._told(), locked(self.path):
            self._check_folder(self.path.parent)
            old = self._read()
            new = change(old)
            if new == old:
                return False
            text = json.dumps({"openings": new}, ensure_ascii=True).encode()
            write_private(self.path, _MAGIC + SecretBox(self._key(make=not self.path.exists())).encrypt(text))
            return True

    def _read(self) -> Records:
        """The records in the file.

        Raises:
            CortexError: `config_invalid`.

        """
        with self._told():
            try:
                sealed = read_private(self.path, _MAX_BYTES)
            except FileNotFoundError:
                return []
            self._check_folder(self.path.parent)
            if not sealed.startswith(_MAGIC):
                raise self._refused("is no store of openings", "move it away, or name another folder")
            try:
                document = json.loads(SecretBox(self._key(make=False)).decrypt(sealed[len(_MAGIC) :]))
            except (CryptoError, ValueError):
                hint = "put back a copy of the file, or of its key; nothing was changed"
                raise self._refused("is damaged, or was sealed with another key", hint) from None
        records = document.get("openings") if isinstance(document, dict) else None
        if not isinstance(records, list) or not all(isinstance(r, dict) and set(r) == _KEYS for r in records):
            raise self._refused("is of another format", "open it with the version that wrote it")
        return records

    def _key(self, *, make: bool) -> bytes:
        try:
            key = read_private(self.key_file, BYTES)
            self._check_folder(self.key_file.parent)
        except FileNotFoundError:
            if not make:
                hint = "put its copy back: without it the openings are lost"
                raise _unusable(self.key_file, "is the key of the openings, and is not there", hint) from None
            return self._new_key()
        if len(key) != BYTES or not any(key):
            raise _unusable(self.key_file, "is damaged: a key is 32 bytes", "put its copy back; nothing was changed")
        return key

    def _new_key(self) -> bytes:
        with locked(self.key_file):  # stores in other folders may share it
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
            raise self._refused("holds an opening that does not fit its commitment", "remove that one")
        return opening

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what is wrong with a file in words of ours."""
        try:
            yield
        except NotPrivateError as error:
            raise self._refused(f"or its key {self.key_file} {error.problem}", error.hint) from None
        except OSError as error:
            raise self._refused(f"cannot be used: {error.strerror}", "see who owns it") from error

    def _check_folder(self, folder: Path) -> None:
        try:
            check_private_folder(folder)
        except NotPrivateError as error:
            raise _unusable(folder, error.problem, error.hint) from None

    def _refused(self, problem: str, hint: str) -> CortexError:
        return _unusable(self.path, problem, hint)


def _unusable(path: Path, problem: str, hint: str) -> CortexError:
    return CortexError("config_invalid", f"{path} {problem}", hint=hint)
