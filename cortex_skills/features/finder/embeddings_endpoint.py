"""The embedder on a server that has an OpenAI-compatible `POST /v1/embeddings`.

Rules kept here:
- an answer must have one vector for each text, all finite and of one dimension, which never changes afterwards;
  anything else is an `EmbedderError`, and no part of the answer is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cortex_skills.features.finder.embedders import EmbedderError, Vectors
from cortex_skills.features.finder.finder_settings import FinderSettings
from cortex_skills.features.finder.static_vectors import unit_rows
from cortex_skills.safe_io.json_endpoint import EndpointError, JsonEndpoint
from cortex_skills.safe_io.strict_json import read_json

BATCH = 64
MAX_CHARACTERS = 8000
MAX_DIMENSION = 8192
_BYTES_OF_A_NUMBER = 32


class EmbeddingsEndpoint:
    """Asks a server for vectors.

    Args:
        endpoint: the address of the server with `/v1`.
        model: the model to ask for.
        key_variable: the environment variable with the key of the server; empty for none.
    """

    def __init__(self, endpoint: str, model: str, key_variable: str = "") -> None:
        self._endpoint = JsonEndpoint(endpoint, "embeddings", key_variable)
        self._model = model
        self._dimension = 0

    @classmethod
    def of(cls, settings: FinderSettings) -> EmbeddingsEndpoint:
        """The server of the settings."""
        return cls(settings.endpoint, settings.model, settings.key_variable)

    @property
    def name(self) -> str:
        """The address and the model."""
        return f"{self._endpoint.url} {self._model}"

    def embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        """One row for each text (`Embedder.embed`)."""
        import numpy as np

        parts = [self._asked(texts[start : start + BATCH], timeout_s) for start in range(0, len(texts), BATCH)]
        return unit_rows(np.concatenate(parts))

    def _asked(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        cut = [text[:MAX_CHARACTERS].encode(errors="replace").decode() for text in texts]
        asked = {"model": self._model, "input": cut, "encoding_format": "float"}
        longest = (len(texts) + 1) * MAX_DIMENSION * _BYTES_OF_A_NUMBER
        try:
            data = self._endpoint.post(asked, longest=longest, timeout_s=timeout_s)
        except EndpointError as error:
            raise EmbedderError(f"the embedder {error}") from error
        return self._rows(data, len(texts))

    def _rows(self, data: bytes, count: int) -> Vectors:
        """The vectors of an answer, in the order of the texts."""
        import numpy as np

        try:
            entries = read_json(data)["data"]
            by_place = {_place(entry): entry["embedding"] for entry in entries}
            if len(entries) != count or by_place.keys() != set(range(count)):
                raise self._error(f"answers with {len(entries)} vectors for {count} texts")
            rows = np.array([by_place[place] for place in range(count)], dtype=np.float32)
        except EmbedderError:
            raise
        except Exception as error:  # whatever the server sends
            raise self._error("answers with something else than vectors") from error
        if rows.ndim != 2 or not 1 <= rows.shape[1] <= MAX_DIMENSION or not np.isfinite(rows).all():
            raise self._error("answers with vectors that are empty, too long or not finite")
        if self._dimension not in (0, rows.shape[1]):
            raise self._error(f"answers with {rows.shape[1]} dimensions, and had {self._dimension} before")
        self._dimension = rows.shape[1]
        return rows

    def _error(self, problem: str) -> EmbedderError:
        return EmbedderError(f"the embedder {self._endpoint.server} {problem}")


def _place(entry: Any) -> int:
    place = entry["index"]
    if type(place) is not int:
        raise TypeError("the index is no number")
    return place
