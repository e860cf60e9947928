"""The texts that were removed from enrichments, in a sealed file, where `audit.keepRemoved` is on.

    texts = RemovedTexts.of(config, "mayros")
    texts.keep(call, ["Ignore all previous instructions."])
    texts.newest()

Rules kept here:
- each record is encrypted (libsodium's secretbox: XSalsa20-Poly1305) with a key in another folder; both files have mode
  0600 in folders with mode 0700. One of the two files alone is useless; the user's account has access to both;
- the last `CAPACITY` records are kept, for `DAYS` days, with `CHARACTERS` characters of text each; older ones are
  deleted when the file is opened, read or added to;
- the values of the owner's secrets are not in the texts;
- a reader gets the records of one namespace; a record that cannot be decrypted is left out and counted;
- a call never fails because its texts cannot be kept: that is in the log, without a text.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random as random_bytes

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import NotPrivateError, locked, read_private, write_private
from cortex_skills.secrets import without_secrets

if TYPE_CHECKING:
    from cortex_skills.audit.recent_calls import RecentCall
    from cortex_skills.config.settings import Config

log = logging.getLogger(__name__)

CAPACITY = 1_000
DAYS = 7
CHARACTERS = 500

_SECONDS = DAYS * 24 * 60 * 60
_MAX_BYTES = 16 << 20
_KEYS = {"id", "time", "namespace", "tool", "skill", "agent", "texts"}


@dataclass(frozen=True, slots=True)
class RemovedText:
    """What was removed from the answer of one call.

    Attributes:
        id: of the call.
        time: its start, RFC 3339, UTC.
        tool, skill, agent: as in its audit record.
        texts: the beginning of the texts, `CHARACTERS` characters together.
    """

    id: str
    time: str
    tool: str
    skill: str | None
    agent: str
    texts: tuple[str, ...]


class RemovedTexts:
    """The sealed file of one installation. Safe for several threads and processes.

    Args:
        namespace: whose calls are kept and read.
        folder: of the file.
        key_file: the key of 32 bytes; created with the file.

    Raises:
        CortexError: `config_invalid`: the file or the key cannot be used.
    """

    def __init__(self, namespace: str, folder: Path, key_file: Path) -> None:
        self._namespace = namespace
        self.path = folder / "removed.sealed"
        self._key_file = key_file
        self._box = SecretBox(self._key())
        self.newest()

    @classmethod
    def of(cls, config: Config, namespace: str) -> RemovedTexts:
        """The file that the configuration names.

        Raises:
            CortexError: `config_invalid`: the file or the key cannot be used.
        """
        from platformdirs import user_config_path, user_data_path

        folder = config.audit.removed or user_data_path("cortex-skills", appauthor=False) / "audit"
        key = config.audit.removed_key or user_config_path("cortex-skills", appauthor=False) / "audit" / "key"
        return cls(namespace, Path(folder), Path(key))

    def keep(self, call: RecentCall, texts: Iterable[str]) -> None:
        """Keep what was removed from the answer of a call."""
        record = call.record
        document = {
            "id": call.id,
            "time": record.time,
            "namespace": self._namespace,
            "tool": record.tool,
            "skill": record.skill,
            "agent": record.agent,
            "texts": _bounded(without_secrets(list(texts))),
        }
        sealed = base64.b64encode(self._box.encrypt(json.dumps(document, ensure_ascii=True).encode()))
        try:
            self._add(b"%d %s\n" % (time.time(), sealed))
        except (OSError, NotPrivateError) as error:
            log.warning("the removed texts of a call cannot be kept: %s", type(error).__name__)

    def newest(self) -> tuple[list[RemovedText], int]:
        """The records of the namespace, the newest first, and how many records cannot be decrypted.

        Raises:
            CortexError: `config_invalid`: the file cannot be used.
        """
        try:
            with locked(self.path):
                lines, is_clean = self._lines()
                if not is_clean:
                    write_private(self.path, b"".join(lines))
        except NotPrivateError as error:
            raise _refused(self.path, error.problem, error.hint) from None
        except OSError as error:
            raise _refused(self.path, f"cannot be used: {error.strerror}", "check its owner and its mode") from error
        read = [self._opened(line) for line in reversed(lines)]
        found = [document for document in read if document is not None and document["namespace"] == self._namespace]
        removed = [
            RemovedText(each["id"], each["time"], each["tool"], each["skill"], each["agent"], tuple(each["texts"]))
            for each in found
        ]
        return removed, read.count(None)

    def _add(self, line: bytes) -> None:
        with locked(self.path):
            lines, is_clean = self._lines()
            if not is_clean or len(lines) >= CAPACITY:
                write_private(self.path, b"".join([*lines, line][-CAPACITY:]))
                return
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(line)

    def _lines(self) -> tuple[list[bytes], bool]:
        """The lines that are kept, and whether the file has no others."""
        try:
            lines = read_private(self.path, _MAX_BYTES).splitlines(keepends=True)
        except FileNotFoundError:
            return [], True
        now = time.time()
        kept = [line for line in lines if line.endswith(b"\n") and abs(now - _seconds(line)) <= _SECONDS][-CAPACITY:]
        return kept, len(kept) == len(lines)

    def _opened(self, line: bytes) -> dict[str, Any] | None:
        """The record in a line; None if it cannot be decrypted."""
        try:
            document = json.loads(self._box.decrypt(base64.b64decode(line.partition(b" ")[2])))
        except (CryptoError, ValueError):
            return None
        return document if isinstance(document, dict) and set(document) == _KEYS else None

    def _key(self) -> bytes:
        try:
            with locked(self._key_file):
                if not self._key_file.exists():
                    write_private(self._key_file, random_bytes(SecretBox.KEY_SIZE))
                key = read_private(self._key_file, SecretBox.KEY_SIZE)
        except NotPrivateError as error:
            raise _refused(self._key_file, error.problem, error.hint) from None
        except OSError as error:
            hint = "check its owner and its mode"
            raise _refused(self._key_file, f"cannot be used: {error.strerror}", hint) from error
        if len(key) != SecretBox.KEY_SIZE:
            raise _refused(self._key_file, "is damaged: a key is 32 bytes", "restore a copy, or remove it")
        return key


def _bounded(texts: Iterable[str]) -> list[str]:
    """The beginning of the texts, `CHARACTERS` characters together."""
    kept, left = [], CHARACTERS
    for text in texts:
        if left <= 0:
            break
        kept.append(text[:left])
        left -= len(text)
    return kept


def _seconds(line: bytes) -> float:
    digits = line.partition(b" ")[0]
    return int(digits) if digits.isdigit() and len(digits) < 12 else 0.0


def _refused(path: Path, problem: str, hint: str) -> CortexError:
    return CortexError("config_invalid", f"{path} {problem}", hint=hint)
