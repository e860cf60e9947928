"""The reader, and how it is asked: bytes and numbers go in, a number comes out.

Rules kept here:
- the reader is a WebAssembly module that calls nobody (`reader/`): what hostile texts do to it stays in its memory;
- it is told all that is known (`knowledge`) when it is made, and of a character when it first meets it;
- a text goes in as UTF-8, and a lone surrogate as if it were a character: it goes when the text is folded.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from cortex_skills.enrichment.detecting import knowledge
from cortex_skills.enrichment.detecting.sources import FOLDER

if TYPE_CHECKING:
    from cortex_sandbox.pure import PureInstance, PureModule

_WASM = FOLDER / "reader" / "reader.wasm"
# What it answers when it meets a character that it was not told of, or one that it cannot fold by itself.
_UNKNOWN, FOLD_IT = -2, -3


@cache
def module() -> PureModule:
    """The module, of which one instance is in use at a time."""
    from cortex_sandbox.pure import PureModule

    return PureModule("reader", _WASM, _prepare)


def encode(text: str) -> bytes:
    """A text as the reader takes it."""
    return text.encode("utf-8", "surrogatepass")


def answer(reader: PureInstance, texts: Iterable[str], question: str, data: bytes, *numbers: int) -> int:
    """What the reader answers about some data, when it knows all characters of the texts in it."""
    reader.give(data)
    found = reader.call(question, *numbers)
    if found == _UNKNOWN:
        _tell_characters(reader, texts)
        reader.give(data)
        found = reader.call(question, *numbers)
    if found == _UNKNOWN:
        raise RuntimeError(f"the reader was told of all characters, and does not know one of them: {question}")
    return found


# The characters that the reader was told of since it was prepared.
_TOLD = set[str]()


def _tell_characters(reader: PureInstance, texts: Iterable[str]) -> None:
    from cortex_skills.enrichment.detecting import characters

    new = knowledge.uncommon("".join(texts)) - _TOLD
    told, count = characters.told(new)
    reader.give(told)
    reader.call("classify", count)
    _TOLD.update(new)


def _prepare(reader: PureInstance) -> None:
    for function, numbers, data in knowledge.lessons():
        reader.give(data)
        reader.call(function, *numbers)
    _TOLD.clear()
