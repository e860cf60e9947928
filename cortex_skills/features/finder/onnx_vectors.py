"""The embedder of models in ONNX, with the package `fastembed`: from a folder, or downloaded by that package.

Rules kept here:
- the package is imported, and the model loaded, at the first text, in a thread: a model that is being downloaded takes
  longer than a search may. Until it is there, finding uses words alone;
- with a folder nothing is downloaded. Without one the files are kept in the user's cache folder;
- at most `MAX_CHARACTERS` of a text count; vectors that are not finite are an error.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from cortex_skills.features.finder.embedders import EmbedderError, Vectors
from cortex_skills.features.finder.finder_settings import FinderSettings
from cortex_skills.features.finder.static_vectors import unit_rows

MODEL = "BAAI/bge-small-en-v1.5"
MAX_CHARACTERS = 8_000
_BATCH = 32


class OnnxVectors:
    """Embeds texts on this machine, in some milliseconds each.

    Args:
        model: one that the package knows.
        folder: with the files of the model; None to have the package download them.
    """

    def __init__(self, model: str, folder: Path | None = None) -> None:
        self._model_name = model
        self._folder = folder
        self._lock = threading.Lock()
        self._loading: threading.Thread | None = None
        self._model: Any = None
        self._problem = ""

    @classmethod
    def of(cls, settings: FinderSettings) -> OnnxVectors:
        """The model of the settings."""
        return cls(settings.model or MODEL, Path(settings.folder).expanduser() if settings.folder else None)

    @property
    def name(self) -> str:
        """The model, and its folder with the time of its last change."""
        if self._folder is None:
            return f"fastembed {self._model_name}"
        changed = max((path.stat().st_mtime_ns for path in self._folder.glob("*")), default=0)
        return f"fastembed {self._model_name} {self._folder} {changed}"

    def embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        """One row for each text (`Embedder.embed`)."""
        import numpy as np

        model = self._loaded(timeout_s)
        cut = [text[:MAX_CHARACTERS].encode(errors="replace").decode() for text in texts]
        try:
            with self._lock:
                rows = np.array(list(model.embed(cut, batch_size=_BATCH)), dtype=np.float32)
        except Exception as error:  # the runtime raises many kinds
            raise EmbedderError(f"the model {self._model_name} failed: {error}") from error
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise EmbedderError(
                f"the model {self._model_name} makes vectors of the form {rows.shape}, or not finite ones"
            )
        return unit_rows(rows)

    def _loaded(self, timeout_s: float) -> Any:
        """The model; the first call starts to load it, and so does one after a failure."""
        with self._lock:
            if self._model is not None:
                return self._model
            loading = self._loading
            if loading is None:
                loading = self._loading = threading.Thread(target=self._load, name="cortex-find-model", daemon=True)
                loading.start()
        loading.join(timeout_s)
        with self._lock:
            if self._model is not None:
                return self._model
            if not loading.is_alive():
                self._loading = None
                raise EmbedderError(self._problem)
        raise EmbedderError(f"the model {self._model_name} is being loaded")

    def _load(self) -> None:
        try:
            from fastembed import TextEmbedding

            if self._folder is not None and not self._folder.is_dir():
                raise FileNotFoundError(f"there is no folder {self._folder}")
            where: dict[str, Any] = {"cache_dir": str(user_cache_path("cortex-skills", appauthor=False) / "models")}
            if self._folder is not None:
                where = {"specific_model_path": str(self._folder), "local_files_only": True}
            model = TextEmbedding(self._model_name, providers=["CPUExecutionProvider"], **where)
        except Exception as error:  # the packages raise many kinds
            self._problem = f"the model {self._model_name} cannot be loaded: {error}"
            return
        self._model = model
