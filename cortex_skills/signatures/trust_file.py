"""The trust store: a file of publishers and of what was seen, that cannot be changed unnoticed.

Rules kept here:
- the file carries a keyed check of its content (HMAC-SHA-256). The key is in another folder, the user's for
  configuration, and made when the store first is;
- beside the key stands how often the store was written: a store that is gone where there was one, or that is an older
  copy of itself, is an error and not an empty store;
- it is read, changed and written under a lock, and each change is whole or not there (`private_files`). Where it may
  not be written, as in an image of a container, it is read without one.
"""

from __future__ import annotations

import errno
import hmac
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cortex_skills.errors import CortexError
from cortex_skills.private_files import NotPrivateError, locked, read_private, write_private
from cortex_skills.signatures.trust import Publisher, Seen, Trust

if TYPE_CHECKING:
    from cortex_skills.config import Config

_VERSION = 1
_MAX_BYTES = 4 << 20
_KEY_BYTES = 32
_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_DOMAIN = b"cortex-trust-store/1\0"


def default_file() -> Path:
    """`trust.json` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "trust.json"


def default_key_file() -> Path:
    """`trust.key` in the user's folder for configuration."""
    from platformdirs import user_config_path

    return user_config_path("cortex-skills", appauthor=False) / "trust.key"


def trust_of(config: Config) -> TrustFile:
    """The trust store that the settings name."""
    given = config.verification.trust_store
    return TrustFile(Path(given).expanduser() if given else default_file(), default_key_file())


class TrustFile:
    """The trust store in a file; where there never was one, nobody is trusted.

    Args:
        path: of the store.
        key_path: of the key that its content is checked with; in another folder.

    """

    def __init__(self, path: Path, key_path: Path) -> None:
        self.path = path.absolute()
        self.key_path = key_path.absolute()

    def trust(self) -> Trust:
        """What is known.

        Raises:
            CortexError: `config_invalid`: the store is gone, was changed by somebody else, or cannot be read.

        """
        with self._told():
            if not self.path.exists() and not self.key_path.exists():
                return Trust()
        return self.change(lambda trust: trust)

    def change(self, change: Callable[[Trust], Trust]) -> Trust:
        """Change what is known, in one step.

        Args:
            change: what is known → what is known then; whatever it raises leaves the store as it was.

        Raises:
            CortexError: `config_invalid`, as for `trust`, or when the store cannot be written.

        """
        with self._told():
            try:
                with locked(self.key_path), locked(self.path):
                    return self._changed(change)
            except OSError as error:
                if error.errno not in _NOT_WRITABLE:
                    raise
                old, _, _, _ = self._known()
                new = change(old)
                if new != old:
                    raise
                return new

    def _changed(self, change: Callable[[Trust], Trust]) -> Trust:
        old, count, key, counts = self._known()
        new = change(old)
        if new != old:
            if not counts:  # a key first, so that no store is ever without one
                self._write_key(key, counts)
            write_private(self.path, _sealed(new, count + 1, key))
            self._write_key(key, {**counts, str(self.path): count + 1})
        return new

    def _known(self) -> tuple[Trust, int, bytes, dict[str, int]]:
        """What is known, how often the store was written, the key, and what stands beside the key."""
        key, counts = self._read_key()
        return *self._read(key, counts.get(str(self.path), 0)), key, counts

    def _read(self, key: bytes, written: int) -> tuple[Trust, int]:
        """What is known, and how often the store was written."""
        try:
            data = read_private(self.path, _MAX_BYTES)
        except FileNotFoundError:
            if written:
                raise self._refused("is gone, and there was one", _put_back(self.key_path)) from None
            return Trust(), 0
        except NotPrivateError as error:
            raise self._refused(error.problem, error.hint) from None
        try:
            document = json.loads(data)
            given = document.pop("mac")
            if not hmac.compare_digest(str(given).encode(), _mac(document, key).encode()):
                raise self._refused("was changed by something else than this software", _put_back(self.key_path))
            if document["version"] != _VERSION:
                raise self._refused("is of another format", "use the version of this software that wrote it")
            trust = Trust(
                {entry["name"]: Publisher(**entry) for entry in document["publishers"]},
                {entry["skill"]: Seen(**entry) for entry in document["seen"]},
            )
            count = int(document["count"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._refused("is damaged", _put_back(self.key_path)) from None
        # One more than beside the key: a write that ended between the two.
        if count not in (written, written + 1):
            raise self._refused("is an older copy of itself", _put_back(self.key_path))
        return trust, count

    def _read_key(self) -> tuple[bytes, dict[str, int]]:
        try:
            document = json.loads(read_private(self.key_path, _MAX_BYTES))
            key, counts = bytes.fromhex(document["key"]), dict(document["stores"])
            if len(key) == _KEY_BYTES and all(type(count) is int for count in counts.values()):
                return key, counts
        except FileNotFoundError:
            if self.path.exists():
                raise self._refused(
                    f"cannot be checked: its key {self.key_path} is gone", _put_back(self.key_path)
                ) from None
            return secrets.token_bytes(_KEY_BYTES), {}
        except NotPrivateError as error:
            raise self._refused(f"cannot be checked: {self.key_path} {error.problem}", error.hint) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise self._refused(f"cannot be checked: its key {self.key_path} is damaged", _put_back(self.key_path))

    def _write_key(self, key: bytes, counts: dict[str, int]) -> None:
        write_private(self.key_path, json.dumps({"key": key.hex(), "stores": counts}).encode())

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what is wrong with a file in words of ours."""
        try:
            yield
        except OSError as error:
            raise self._refused(f"cannot be used: {error.strerror}", "see who owns it") from error

    def _refused(self, problem: str, hint: str) -> CortexError:
        return CortexError("config_invalid", f"the trust store {self.path} {problem}", hint=hint)


def _sealed(trust: Trust, count: int, key: bytes) -> bytes:
    document = {
        "version": _VERSION,
        "count": count,
        "publishers": [asdict(publisher) for publisher in trust.publishers.values()],
        "seen": [asdict(seen) for seen in trust.seen.values()],
    }
    return json.dumps({**document, "mac": _mac(document, key)}, indent=1).encode()


def _mac(document: dict[str, Any], key: bytes) -> str:
    content = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    return hmac.digest(key, _DOMAIN + content, "sha256").hex()


def _put_back(key_path: Path) -> str:
    return f"put its copy back; or, to trust nobody and begin anew, remove it and {key_path}"
