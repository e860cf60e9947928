"""Vectors of a server kept on this machine, so that a text is embedded once.

Rules kept here:
- a vector is known by the name of the model and the SHA-256 of the text: another text or model is asked for anew;
- the file is in the user's cache folder, private, in SQLite, which several processes may use at once. It can be
  removed at any time; one that cannot be used costs requests, nothing else. It is not in the graph, because it follows
  from the graph: exports, copies and signatures do without it.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

from cortex_skills.features.finder.embedders import Embedder, Vectors

log = logging.getLogger(__name__)

_WAIT_S = 2.0
_FEW = 500  # variables of one statement


def cache_file() -> Path:
    """Where the vectors are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("cortex-skills", appauthor=False) / "vectors.sqlite"


class CachedEmbedder:
    """An embedder that asks another one for new texts only.

    Args:
        inner: makes the vectors.
        path: the file that keeps them.
    """

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner = inner
        self._path = path

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._inner.name

    def embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        """One row for each text (`Embedder.embed`)."""
        import numpy as np

        keys = [sha256(f"{self.name}\0{text}".encode(errors="surrogatepass")).digest() for text in texts]
        known = self._known(keys)
        new = [place for place, key in enumerate(keys) if key not in known]
        if new:
            made = self._inner.embed([texts[place] for place in new], timeout_s)
            fresh = {keys[place]: row.tobytes() for place, row in zip(new, made, strict=True)}
            width = made.shape[1] * made.itemsize
            if any(len(data) != width for data in known.values()):  # the server has changed its model
                return self._inner.embed(texts, timeout_s)
            self._keep(fresh)
            known |= fresh
        return np.frombuffer(b"".join(known[key] for key in keys), dtype=np.float32).reshape(len(keys), -1)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}

        def read(connection: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _FEW):
                some = keys[start : start + _FEW]
                marks = ",".join("?" * len(some))
                rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some)  # noqa: S608
                found.update(
                    (key, data) for key, data in rows if isinstance(data, bytes) and data and not len(data) % 4
                )

        self._use(read)
        if len({len(data) for data in found.values()}) > 1:
            return {}
        return found

    def _keep(self, vectors: dict[bytes, bytes]) -> None:
        self._use(lambda connection: connection.executemany("REPLACE INTO vectors VALUES (?, ?)", vectors.items()))

    def _use(self, what: Callable[[sqlite3.Connection], object]) -> None:
        try:
            with self._opened() as connection, connection:
                what(connection)
        except (OSError, sqlite3.Error) as error:
            log.warning("the vectors in %s are not used: %s", self._path, error)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if not self._path.exists():
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(self._path, timeout=_WAIT_S)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
            yield connection
