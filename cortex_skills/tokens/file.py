"""The file of tokens, shared by the command and by running servers.

Rules kept here:
- the file holds digests, never a token's text; it is 0600, and one that others may read or write is not trusted;
- a change is read, made and written under a lock, into a new file that takes the old one's place: two commands at once
  both count, and a reader sees the one or the other, whole;
- a reader looks at the file each time, so that a revoked token is of no use from the next request on;
- a file that cannot be read or understood opens nothing.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.tokens.model import Token, read_record

_VERSION = 1
_MAX_BYTES = 4 << 20
_POSIX = os.name == "posix"


def default_file() -> Path:
    """`tokens.json` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "tokens.json"


class TokenFile:
    """The tokens in a file; a file that is not there holds none.

    Args:
        path: the file; its folder is made when the first token is.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] | None = None
        self._tokens: tuple[Token, ...] = ()

    def tokens(self) -> tuple[Token, ...]:
        """All tokens, as the file has them now.

        Raises:
            CortexError: `config_invalid`: the file cannot be read, is not ours alone, or is damaged.

        """
        with self._lock:
            try:
                state = self.path.stat()
            except FileNotFoundError:
                self._seen, self._tokens = None, ()
                return ()
            except OSError as error:
                raise self._refused(f"cannot be read: {error.strerror}", "see who owns it") from error
            seen = (state.st_ino, state.st_mtime_ns, state.st_size, state.st_mode, state.st_uid, state.st_ctime_ns)
            if seen != self._seen:
                self._tokens = self._read()
                self._seen = seen
            return self._tokens

    def add(self, token: Token) -> None:
        """Keep a new token.

        Raises:
            CortexError: `invalid_arguments`: there is one of that name; `config_invalid`: the file cannot be used.

        """

        def added(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if any(other.name == token.name for other in tokens):
                hint = "revoke that one first, or choose another name"
                raise CortexError("invalid_arguments", f"there is a token called {token.name}", hint=hint)
            return (*tokens, token)

        self._change(added)

    def remove(self, name: str) -> bool:
        """Forget the token of a name; True if there was one.

        Raises:
            CortexError: `config_invalid`: the file cannot be used.

        """
        before: list[int] = []

        def removed(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            left = tuple(token for token in tokens if token.name != name)
            before.append(len(tokens) - len(left))
            return left

        self._change(removed)
        return bool(before[0])

    def _change(self, change: Callable[[tuple[Token, ...]], tuple[Token, ...]]) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self.path.with_name(f"{self.path.name}.lock")):
                old = self._read() if self.path.exists() else ()
                new = change(old)
                if new != old:
                    self._write(new)
        except OSError as error:
            raise self._refused(f"cannot be written: {error.strerror}", "see cortex.tokenFile") from error

    def _read(self) -> tuple[Token, ...]:
        try:
            with open(self.path, "rb", opener=_without_waiting) as file:
                state = os.fstat(file.fileno())
                if _POSIX and (state.st_mode & 0o077 or state.st_uid != os.geteuid()):
                    raise self._refused("can be read or written by others", "make it your own, with mode 600")
                if not stat.S_ISREG(state.st_mode):
                    raise self._refused("is no file", "see cortex.tokenFile")
                data = file.read(_MAX_BYTES + 1)
            if len(data) > _MAX_BYTES:
                raise self._refused("is too large", "revoke tokens that are not needed")
            document = json.loads(data)
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror}", "see who owns it") from error
        except (ValueError, RecursionError) as error:
            raise self._refused("is damaged", "remove it and create the tokens anew") from error
        if not isinstance(document, dict) or document.get("version") != _VERSION:
            raise self._refused("is of another format", "remove it and create the tokens anew")
        records: Any = document.get("tokens")
        if not isinstance(records, list):
            raise self._refused("is damaged", "remove it and create the tokens anew")
        try:
            return tuple(map(read_record, records))
        except CortexError as error:
            raise self._refused(f"is damaged: {error.message}", "remove it and create the tokens anew") from error

    def _write(self, tokens: tuple[Token, ...]) -> None:
        document = {"version": _VERSION, "tokens": [token.to_record() for token in tokens]}
        handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)  # 0600 from the start
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
        if _POSIX:
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _refused(self, problem: str, hint: str) -> CortexError:
        return CortexError("config_invalid", f"the file of tokens {self.path} {problem}", hint=hint)


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe in its place is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out until the end of the block."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _POSIX:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        else:
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        yield
    finally:
        os.close(handle)
