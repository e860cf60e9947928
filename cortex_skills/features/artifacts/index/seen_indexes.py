"""The private file of the indexes that were accepted, against rollback: `indexes.json` beside the trust store.

Rules kept here:
- what is remembered of an index changes under a lock, after a check against what the file contains at that moment, so
  that two processes cannot take each other's number back;
- a damaged or foreign file is an error, not an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from cortex_skills.config.private_paths import SEEN_INDEXES
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index.snapshot_check import SeenIndex
from cortex_skills.safe_io.private_files import NotPrivateError, locked, read_private, write_private
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.signatures.trust_file import trust_of

_VERSION = 1
_MAX_BYTES = 4 << 20
_TYPES = {"url": str, "publisher": str, "key": str, "snapshot": int, "sha256": str, "expires_at_unix_ms": int}


class SeenIndexes:
    """The accepted indexes by address.

    Args:
        path: the file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, config: Config) -> SeenIndexes:
        """Those of an installation: the file is beside its trust store."""
        return cls(trust_of(config).path.with_name(SEEN_INDEXES))

    def all(self) -> dict[str, SeenIndex]:
        """What is remembered, by address.

        Raises:
            CortexError: `config_invalid`: the file is damaged, not private, or cannot be read.
        """
        with self._reported():
            return self._read()

    def change(self, url: str, change: Callable[[SeenIndex | None], SeenIndex | None]) -> None:
        """Change what is remembered of an address; None forgets it.

        Raises:
            CortexError: `config_invalid`; or what `change` raises.
        """
        with self._reported(), locked(self.path):
            before = self._read()
            new = change(before.get(url))
            after = {address: seen for address, seen in before.items() if address != url}
            if new is not None:
                after[url] = new
            if after != before:
                document = {"version": _VERSION, "indexes": [asdict(after[address]) for address in sorted(after)]}
                write_private(self.path, json.dumps(document, indent=1).encode())

    def _read(self) -> dict[str, SeenIndex]:
        try:
            data = read_private(self.path, _MAX_BYTES)
        except FileNotFoundError:
            return {}
        try:
            document = read_json(data, max_depth=3, floats=False)
            if document["version"] != _VERSION:
                raise ValueError("another version")
            found = [SeenIndex(**entry) for entry in document["indexes"]]
            if any(type(getattr(seen, name)) is not kind for seen in found for name, kind in _TYPES.items()):
                raise ValueError("another type")
        except (ValueError, KeyError, TypeError):
            hint = "restore a copy; without the file, older indexes are accepted again"
            raise CortexError("config_invalid", f"{self.path} is damaged", hint=hint) from None
        return {seen.url: seen for seen in found}

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except NotPrivateError as error:
            raise CortexError("config_invalid", f"{self.path} {error.problem}", hint=error.hint) from None
        except OSError as error:
            hint = "check its owner and its mode"
            raise CortexError("config_invalid", f"{self.path} cannot be used: {error.strerror}", hint=hint) from error
