"""What the texts of a document were found to say, so that none is judged twice.

Rules kept here:
- a verdict is that of `detecting` on the text by itself, whatever it was judged among;
- texts are looked at together, as many as are asked about at once, before any is judged by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cortex_skills.enrichment.neighbours import Neighbours

_AT_ONCE = 1 << 16  # characters


class Verdicts:
    """What is known of texts."""

    def __init__(self) -> None:
        # Text → what is in doubt of it.
        self._doubts: dict[str, int] = {}

    def look_over(self, neighbours: Neighbours) -> bool:
        """Look at all that is read of some pieces, before any text is asked for; whether any is in doubt."""
        doubts = _doubts(*neighbours.document())
        if not any(doubts):
            return False
        self._doubts = dict(zip([*neighbours.alone, *neighbours.joined], doubts, strict=True))
        return True

    def look_at(self, texts: Iterable[str]) -> None:
        """Look at texts together, before their kinds are asked for one by one."""
        for some in _batches(text for text in texts if text not in self._doubts):
            self._doubts |= _doubts_of(some)

    def kind(self, text: str) -> str | None:
        """The kind of instruction that `text` holds; None when it holds none."""
        return next((kind for _, kind in self.found([text])), None)

    def found(self, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Those of some texts that hold an instruction, one after the other, and its kind."""
        texts = list(texts)
        self.look_at(texts)
        for text in filter(self._doubts.__getitem__, texts):
            kind = _verdict(text, self._doubts[text])
            if kind is not None:
                yield text, kind

    def any_in(self, texts: Iterable[str]) -> bool:
        """Whether any of some texts holds an instruction."""
        return next(self.found(texts), None) is not None

    def says_so(self, text: str, whole: str) -> bool:
        """Whether `text` says what `whole` was found to say: in its words, or else in a disguise."""
        doubts = self._doubts[whole]
        in_words = _in_words(doubts)
        if in_words and _verdict(whole, in_words) is not None:
            doubts = in_words
        return _verdict(text, doubts) is not None


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Some texts after the other, each time so many characters at least as are well looked at together."""
    some: list[str] = []
    size = 0
    for text in texts:
        some.append(text)
        size += len(text)
        if size >= _AT_ONCE:
            yield some
            some, size = [], 0
    if some:
        yield some


def _verdict(text: str, doubts: int) -> str | None:
    from cortex_skills.enrichment.detecting import verdict

    return verdict(text, doubts)


def _in_words(doubts: int) -> int:
    from cortex_skills.enrichment.detecting.shapes import WORDS

    return doubts & WORDS


def _doubts(whole: str, parts: Sequence[tuple[int, int]]) -> list[int]:
    from cortex_skills.enrichment.detecting import doubts

    return doubts(whole, parts)


def _doubts_of(texts: Iterable[str]) -> dict[str, int]:
    from cortex_skills.enrichment.detecting import doubts_of

    return doubts_of(texts)
