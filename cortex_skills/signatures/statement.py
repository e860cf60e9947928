r"""The statement of a skill's signature, its exact bytes, and its file.

Rules kept here:
- the signature covers a statement: format, publisher, key, skill, version, time and the digest of the files, each with
  its length as prefix, after a domain name, so that no other signature can be used here;
- the digest covers every file: its kind, path, size and SHA-256, with lengths, after another domain name;
- the file also lists the files, so that an error can name the changed one. The list is used only if it has the signed
  digest;
- the file is read strictly: exactly these keys, once each, in these forms. It is JSON, at most 2 MiB.

The bytes (u64: eight bytes, big-endian; `text`: u64 of its length in UTF-8, then the UTF-8):

    digest    = SHA-256("cortex-skill-files/1\0" + u64(number of files)
                        + for each file, by the bytes of its path: "f" + text(path) + u64(size) + 32 bytes SHA-256)
    message   = "cortex-skill-signature/1\0" + text(publisher) + text(key) + text(skill) + text(version)
                        + text(signed) + 32 bytes digest
    signature = Ed25519 (RFC 8032 §5.1) of message under the key that the did:key names
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, NoReturn

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.skill_files import MAX_FILES, SkillFile
from cortex_skills.skill_folder.snapshot import MAX_SIGNATURE

FORMAT = "cortex-skill-signature/1"
PUBLISHER = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?", re.ASCII)

_FILES_DOMAIN = b"cortex-skill-files/1\0"
_DOMAIN = b"cortex-skill-signature/1\0"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_SIGNATURE = re.compile(r"[0-9a-f]{128}", re.ASCII)
_KEYS = ("format", "publisher", "key", "skill", "version", "signed", "digest", "files", "signature")
_KEYS_OF_MAYROS = {"algorithm", "publicKey", "signature", "fileHashes"}
_MAX_TEXT = 256


@dataclass(frozen=True, slots=True)
class SignedStatement:
    """The signed statement.

    Attributes:
        publisher: the publisher's name: lower-case letters, digits, `.` and `-`.
        key: the `did:key` of the Ed25519 key.
        skill: the skill's name.
        version: its version; empty for a skill without one.
        signed: the time, as `xsd:dateTime` in UTC.
        digest: the digest of the files, 32 bytes.
    """

    publisher: str
    key: str
    skill: str
    version: str
    signed: str
    digest: bytes

    def message(self) -> bytes:
        """The signed bytes."""
        parts = (self.publisher, self.key, self.skill, self.version, self.signed)
        return _DOMAIN + b"".join(map(prefixed, parts)) + self.digest

    @property
    def time(self) -> datetime:
        """The time of the signature."""
        return datetime.fromisoformat(self.signed)


@dataclass(frozen=True, slots=True)
class Signature:
    """A statement, the files that it covers, and the signature of 64 bytes."""

    statement: SignedStatement
    files: tuple[SkillFile, ...]
    signature: bytes

    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each file by its path."""
        return {file.path: file.sha256 for file in self.files}

    def to_file(self) -> bytes:
        """The content of the signature file."""
        statement = self.statement
        document = {
            "format": FORMAT,
            "publisher": statement.publisher,
            "key": statement.key,
            "skill": statement.skill,
            "version": statement.version,
            "signed": statement.signed,
            "digest": statement.digest.hex(),
            "files": [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in self.files],
            "signature": self.signature.hex(),
        }
        return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def digest_of(files: Iterable[SkillFile]) -> bytes:
    """The digest of files; 32 bytes."""
    ordered = sorted(files, key=lambda file: file.path.encode())
    whole = sha256(_FILES_DOMAIN + _number(len(ordered)))
    for file in ordered:
        whole.update(b"f" + prefixed(file.path) + _number(file.size) + bytes.fromhex(file.sha256))
    return whole.digest()


def read_signature(data: bytes) -> Signature:
    """Read a signature file, without verifying the signature."""
    if len(data) > MAX_SIGNATURE:
        _refuse(f"it has more than {MAX_SIGNATURE >> 20} MiB")
    try:
        document = read_json(data)
    except ValueError as error:
        _refuse(f"it is not valid JSON: {error}")
    if isinstance(document, dict) and document.keys() >= _KEYS_OF_MAYROS:
        hint = "check where the skill comes from, then sign it for this machine: cortex-skills sign FOLDER"
        _refuse("SKILL.sig has the format of Mayros, which covers SKILL.md and skill.ts only", hint)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        _refuse(f"its format is not {FORMAT}")
    if tuple(sorted(document)) != tuple(sorted(_KEYS)):
        odd = sorted(set(document) ^ set(_KEYS))
        _refuse(f"its keys are not those of a signature: {', '.join(map(shown, odd[:5]))}")
    publisher, key, skill, version, signed = (
        _string(document, name) for name in ("publisher", "key", "skill", "version", "signed")
    )
    if not PUBLISHER.fullmatch(publisher):
        _refuse("its publisher is not a name of lower-case letters, digits, . and -")
    if not is_time(signed):
        _refuse("its time is not a time in UTC")
    files = _files(document["files"])
    digest = bytes.fromhex(_matching(_SHA256, document["digest"], "digest"))
    if digest_of(files) != digest:
        _refuse("the files that it lists do not have the signed digest")
    signature = bytes.fromhex(_matching(_SIGNATURE, document["signature"], "signature"))
    return Signature(SignedStatement(publisher, key, skill, version, signed, digest), files, signature)


def _files(given: Any) -> tuple[SkillFile, ...]:
    if not isinstance(given, list) or len(given) > MAX_FILES:
        _refuse("its files are not a list of files")
    files = []
    for entry in given:
        if not isinstance(entry, dict) or sorted(entry) != ["path", "sha256", "size"]:
            _refuse("its files are not a list of path, size and sha256")
        path, size = entry["path"], entry["size"]
        if not isinstance(path, str) or not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**63:
            _refuse("its files are not a list of path, size and sha256")
        if not _is_text(path):
            _refuse("it lists a file whose name is not Unicode text")
        files.append(SkillFile(path, size, _matching(_SHA256, entry["sha256"], "files")))
    if len({file.path for file in files}) != len(files):
        _refuse("it lists a file twice")
    return tuple(files)


def is_time(signed: str) -> bool:
    """Whether a text is a time in UTC, as statements have it."""
    try:
        return _TIME.fullmatch(signed) is not None and datetime.fromisoformat(signed).tzinfo is not None
    except ValueError:
        return False


def _string(document: dict[str, Any], name: str) -> str:
    value = document[name]
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        _refuse(f"its {name} is not a string of at most {_MAX_TEXT} characters")
    if not _is_text(value):
        _refuse(f"its {name} is not Unicode text")
    return str(value)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _matching(form: re.Pattern[str], value: Any, name: str) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        _refuse(f"its {name} is not lower-case hexadecimal of the right length")
    return str(value)


def _refuse(problem: str, hint: str = "sign the skill again") -> NoReturn:
    raise CortexError("signature_invalid", f"the signature cannot be used: {problem}", hint=hint)


def _number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def prefixed(value: str) -> bytes:
    """A text in signed bytes: its length, eight bytes big-endian, and its UTF-8."""
    encoded = value.encode()
    return _number(len(encoded)) + encoded
