"""The file of tokens, shared by the command and by running servers.

Rules kept here:
- the file holds digests, never a token's text, and is this user's alone (`private_files`);
- a change is read, made and written under a lock: two commands at once both count;
- a reader looks at the file each time, so that a revoked token is of no use from the next request on;
- a file that cannot be read or understood opens nothing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.private_files import NotPrivateError, locked, read_private, write_private
from cortex_skills.tokens.model import Token, read_record

_VERSION = 1
_MAX_BYTES = 4 << 20


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
            with locked(self.path):
                old = self._read() if self.path.exists() else ()
                new = change(old)
                if new != old:
                    document = {"version": _VERSION, "tokens": [token.to_record() for token in new]}
                    write_private(self.path, json.dumps(document, indent=1).encode())
        except OSError as error:
            raise self._refused(f"cannot be written: {error.strerror}", "see cortex.tokenFile") from error

    def _read(self) -> tuple[Token, ...]:
        try:
            document = json.loads(read_private(self.path, _MAX_BYTES))
        except NotPrivateError as error:
            raise self._refused(error.problem, error.hint) from None
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

    def _refused(self, problem: str, hint: str) -> CortexError:
        return CortexError("config_invalid", f"the file of tokens {self.path} {problem}", hint=hint)
