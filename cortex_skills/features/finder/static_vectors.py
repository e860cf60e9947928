"""The local embedder: the mean of static vectors of tokens, from the two files in the wheel of `wordllama`.

Rules kept here:
- nothing is downloaded; the code of that package is not imported;
- the files are read at the first text, once in a process, and must have the expected form;
- at most `MAX_CHARACTERS` of a text count.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cortex_skills.features.finder.embedders import EmbedderError, Vectors

MAX_CHARACTERS = 4000
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


class StaticVectors:
    """Embeds texts on this machine, in a few hundredths of a millisecond each."""

    name = "wordllama/l2_supercat_256"

    def embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:  # noqa: ARG002 - nobody is waited for
        """One row of 256 numbers for each text (`Embedder.embed`)."""
        import numpy as np

        table, tokenizer = _files()
        rows = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
        cut = [text[:MAX_CHARACTERS].encode(errors="replace").decode() for text in texts]
        if len(cut) == 1:  # a batch starts threads
            all_encoded = [tokenizer.encode(cut[0], add_special_tokens=False)]
        else:
            all_encoded = tokenizer.encode_batch(cut, add_special_tokens=False)
        for row, encoded in zip(rows, all_encoded, strict=True):
            if encoded.ids:
                row[:] = table[encoded.ids].astype(np.float32).mean(axis=0)
        return unit_rows(rows)


def unit_rows(rows: Vectors) -> Vectors:
    """The rows with length 1; a row of zeros stays one."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), dtype=np.float32)


@cache
def _files() -> tuple[Any, Any]:
    """The table of vectors and the tokenizer."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    found = find_spec("wordllama")
    folders = found.submodule_search_locations if found is not None else None
    if not folders:
        raise EmbedderError("the package wordllama is not installed")
    try:
        table = load_file(Path(folders[0], _WEIGHTS))["embedding.weight"]
        tokenizer = Tokenizer.from_file(str(Path(folders[0], _TOKENIZER)))
    except Exception as error:  # the libraries raise many kinds
        raise EmbedderError(f"the vectors in the package wordllama cannot be read: {error}") from error
    if table.ndim != 2 or table.shape[0] < tokenizer.get_vocab_size():
        raise EmbedderError(f"the vectors in the package wordllama have the form {table.shape}")
    return table, tokenizer
