"""Embedders: what turns a text into a vector, so that texts of one meaning have similar vectors.

Rules kept here:
- an embedder returns one row for each text, as float32, with length 1, or length 0 for a text without a known word;
- every failure is an `EmbedderError` with a message for a person; who asks goes on with words alone;
- nothing is read and no server is asked before the first text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from cortex_skills.config.settings import FinderSettings
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any

_MODULES = {"local": ("numpy", "safetensors", "tokenizers", "wordllama"), "http": ("numpy",)}


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


def open_embedder(settings: FinderSettings) -> Embedder | None:
    """The embedder of the settings; None for words alone.

    Raises:
        CortexError: `config_invalid`: a package is missing, or the endpoint is.

    """
    kind = settings.embedder
    if kind == "none":
        return None
    missing = [module for module in _MODULES[kind] if find_spec(module) is None]
    if missing:
        raise CortexError(
            "config_invalid",
            f"finder.embedder is {kind}, and {', '.join(missing)} is not installed",
            hint="pip install 'cortex-skills[embeddings]'",
        )
    return _OPENERS[kind](settings)


def _open_local(_: FinderSettings) -> Embedder:
    from cortex_skills.finder.static_vectors import StaticVectors

    return StaticVectors()


def _open_http(settings: FinderSettings) -> Embedder:
    from cortex_skills.finder.embeddings_endpoint import EmbeddingsEndpoint
    from cortex_skills.finder.vector_cache import CachedEmbedder, cache_file

    if not settings.endpoint or not settings.model:
        hint = "such as http://127.0.0.1:11434/v1 and a model that it serves"
        raise CortexError("config_invalid", "finder.embedder is http, and needs finder.endpoint and model", hint=hint)
    return CachedEmbedder(EmbeddingsEndpoint.of(settings), cache_file())


_OPENERS: dict[str, Callable[[FinderSettings], Embedder]] = {"local": _open_local, "http": _open_http}
