"""The embedder that the settings name.

Rules kept here:
- the packages of an embedder are imported when it is chosen, and a missing one is an error that names it;
- without one there is no embedder, and finding uses words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cortex_skills.config.extras import check_extra
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedders import Embedder, EmbedderError, Vectors
from cortex_skills.features.finder.finder_settings import FinderSettings
from cortex_skills.host import Host

_EXTRAS = {"local": "embeddings", "http": "vectors", "fastembed": "fastembed"}


def open_embedder(settings: FinderSettings) -> Embedder | None:
    """The embedder of the settings; None for words alone.

    Raises:
        CortexError: `config_invalid`: a package is missing, or the endpoint is.
    """
    kind = settings.embedder
    if kind == "none":
        return None
    check_extra(_EXTRAS[kind], f"the embedder {kind}")
    return _OPENERS[kind](settings)


class NoticedEmbedder:
    """An embedder whose last failure is kept, for who looks after it. Safe to use from several threads.

    Attributes:
        name: of the model.
        problem: why the last texts have no vectors; empty once some have. It may quote a server.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.problem = ""

    def embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        """One row for each text; arguments and errors as for `Embedder`."""
        try:
            found = self._embedder.embed(texts, timeout_s)
        except EmbedderError as error:
            self.problem = str(error)
            raise
        self.problem = ""
        return found


def embedder_of(host: Host) -> NoticedEmbedder | None:
    """The embedder of a plugin, for all namespaces: `host.shared(embedder_of)`."""
    embedder = open_embedder(host.config.section(FinderSettings))
    return None if embedder is None else NoticedEmbedder(embedder)


def _open_local(_: FinderSettings) -> Embedder:
    from cortex_skills.features.finder.static_vectors import StaticVectors

    return StaticVectors()


def _open_http(settings: FinderSettings) -> Embedder:
    from cortex_skills.features.finder.embeddings_endpoint import EmbeddingsEndpoint
    from cortex_skills.features.finder.vector_cache import CachedEmbedder, cache_file

    if not settings.endpoint or not settings.model:
        hint = "such as http://127.0.0.1:11434/v1 and a model that it serves"
        raise CortexError("config_invalid", "finder.embedder is http, and needs finder.endpoint and model", hint=hint)
    return CachedEmbedder(EmbeddingsEndpoint.of(settings), cache_file())


def _open_fastembed(settings: FinderSettings) -> Embedder:
    from cortex_skills.features.finder.onnx_vectors import OnnxVectors
    from cortex_skills.features.finder.vector_cache import CachedEmbedder, cache_file

    return CachedEmbedder(OnnxVectors.of(settings), cache_file())


_OPENERS: dict[str, Callable[[FinderSettings], Embedder]] = {
    "local": _open_local,
    "http": _open_http,
    "fastembed": _open_fastembed,
}
