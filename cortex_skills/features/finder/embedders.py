"""Embedders: what turns a text into a vector, so that texts of one meaning have similar vectors.

Rules kept here:
- an embedder returns one row for each text, as float32, with length 1, or length 0 for a text without a known word;
- every failure is an `EmbedderError` with a message for a person; who asks goes on with words alone;
- nothing is read and no server is asked before the first text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any


class EmbedderError(Exception):
    """An embedder failed; the message states what, and who."""


class Embedder(Protocol):
    """Turns texts into vectors. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The name of the model: vectors of two names are not compared."""

    def embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        """One row for each text.

        Args:
            texts: the texts, at least one.
            timeout_s: how long a server may take for them, in seconds.

        Raises:
            EmbedderError: there are no vectors.
        """
