"""What the texts of a document were found to say, so that none is judged twice.

Rules kept here:
- a verdict is that of `detecting` on the text by itself, whatever it was judged among;
- a text that stands in a document that was looked at, as whole lines, is judged by that look; of others, many are
  looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cortex_skills.enrichment.detecting import Screen


class Verdicts:
    """What is known of texts.

    Attributes:
        screens: the looks at the documents that they stand in.

    """

    def __init__(self) -> None:
        self.screens: list[Screen] = []
        self._by_text: dict[str, Screen] = {}
        self._cleared: set[str] = set()

    def look_at(self, runs: Iterable[str], parts: Iterable[str] = ()) -> None:
        """Look at a document, and at many of its parts together."""
        self.screens.append(_screen(runs))
        self._look_through(self.screens[-1], set(parts))

    def look_through(self, texts: Iterable[str]) -> None:
        """Look at many texts together, before their kinds are asked for one by one."""
        left = {text for text in texts if text not in self._by_text and text not in self._cleared}
        for screen in self.screens:
            held = set(filter(screen.holds, left))
            self._look_through(screen, held)
            left -= held
        if left:
            self._look_through(_screen(sorted(left)), left)

    def kind(self, text: str) -> str | None:
        """The kind of instruction that `text` holds; None when it holds none."""
        if text in self._cleared:
            return None
        screen = self._by_text.get(text) or next((screen for screen in self.screens if screen.holds(text)), None)
        return _detect(text) if screen is None else screen.kind(text)

    def first(self, texts: Iterable[str]) -> str | None:
        """The kind of the first of some texts that holds an instruction; None when none does."""
        doubted = (text for text in texts if text not in self._cleared)
        return next((kind for kind in map(self.kind, doubted) if kind is not None), None)

    def _look_through(self, screen: Screen, parts: set[str]) -> None:
        doubted = screen.look_at(parts)
        self._cleared |= parts - doubted
        self._by_text |= dict.fromkeys(doubted, screen)


def _detect(text: str) -> str | None:
    from cortex_skills.enrichment.detecting import detect

    return detect(text)


def _screen(runs: Iterable[str]) -> Screen:
    from cortex_skills.enrichment.detecting import Screen

    return Screen(runs)
