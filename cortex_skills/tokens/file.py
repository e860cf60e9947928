"""The token file, shared by the command line and running servers.

Rules kept here:
- the file contains digests, never the text of a token, and is private (`private_files`);
- a change reads and writes under a lock, so concurrent commands do not lose changes;
- every request checks the state of the file, so a revoked token is rejected from the next request on;
- an unreadable or invalid file grants no access.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import NotPrivateError, locked, read_private, write_private
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.tokens.token import Token, read_record

log = logging.getLogger(__name__)

_VERSION = 1
_MAX_BYTES = 4 << 20
_NAMED = 20  # tokens in a line of the log


def default_file() -> Path:
    """`tokens.json` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("cortex-skills", appauthor=False) / "tokens.json"


class TokenFile:
    """The tokens in a file; a missing file has none.

    Args:
        path: the file; its folder is created with the first token.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] | None = None
        self._tokens: tuple[Token, ...] = ()
        self._was_noted = False

    @classmethod
    def at(cls, path: str) -> TokenFile:
        """The file of the setting `cortex.tokenFile`; the default one where that is empty."""
        return cls(Path(path) if path else default_file())

    def tokens(self) -> tuple[Token, ...]:
        """All tokens in the current file.

        Raises:
            CortexError: `config_invalid`: the file cannot be read, is not private, or is damaged.
        """
        with self._lock:
            try:
                state = self.path.stat()
            except FileNotFoundError:
                self._seen, self._tokens = None, ()
                return ()
            except OSError as error:
                raise self._refused(f"cannot be read: {error.strerror}", "check its owner and mode") from error
            seen = (state.st_ino, state.st_mtime_ns, state.st_size, state.st_mode, state.st_uid, state.st_ctime_ns)
            if seen != self._seen:
                self._tokens = self._read()
                self._seen = seen
            return self._tokens

    def add(self, token: Token) -> None:
        """Add a token.

        Raises:
            CortexError: `invalid_arguments`: the name is in use; `config_invalid`: the file cannot be used.
        """

        def added(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if any(other.name == token.name for other in tokens):
                hint = "revoke that one first, or choose another name"
                raise CortexError("invalid_arguments", f"a token called {token.name} exists", hint=hint)
            return (*tokens, token)

        self._change(added)

    def remove(self, name: str) -> bool:
        """Remove the token with this name; True if it existed.

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
            document = read_json(read_private(self.path, _MAX_BYTES))
        except NotPrivateError as error:
            raise self._refused(error.problem, error.hint) from None
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror}", "check its owner and mode") from error
        except ValueError as error:
            raise self._refused("is damaged", "remove it and create the tokens again") from error
        if not isinstance(document, dict) or document.get("version") != _VERSION:
            raise self._refused("is of another format", "remove it and create the tokens again")
        records: Any = document.get("tokens")
        if not isinstance(records, list):
            raise self._refused("is damaged", "remove it and create the tokens again")
        try:
            tokens = tuple(map(read_record, records))
        except CortexError as error:
            raise self._refused(f"is damaged: {error.message}", "remove it and create the tokens again") from error
        earlier = [token for token, record in zip(tokens, records, strict=True) if "holder" not in record]
        if earlier and not self._was_noted:
            self._was_noted = True
            named = ", ".join(f"{token.name} ({token.holder})" for token in earlier[:_NAMED])
            log.warning("tokens that state no holder are of a person if they may approve, else of an agent: %s", named)
        return tokens

    def _refused(self, problem: str, hint: str) -> CortexError:
        return CortexError("config_invalid", f"the token file {self.path} {problem}", hint=hint)
