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

    def look_at(self, runs: Iterable[str]) -> None:
        """Look at a document."""
        self.screens.append(_screen(runs))

    def look_through(self, texts: Iterable[str]) -> None:
        """Look at many texts together, before their kinds are asked for one by one."""
        left = {text for text in texts if text not in self._by_text}
        for screen in self.screens:
            left -= self._held(screen, left)
        if left:
            self._held(_screen(sorted(left)), left)

    def kind(self, text: str) -> str | None:
        """The kind of instruction that `text` holds; None when it holds none."""
        screen = self._by_text.get(text) or next((screen for screen in self.screens if screen.holds(text)), None)
        return _detect(text) if screen is None else screen.kind(text)

    def first(self, texts: Iterable[str]) -> str | None:
        """The kind of the first of some texts that holds an instruction; None when none does."""
        return next((kind for kind in map(self.kind, texts) if kind is not None), None)

    def _held(self, screen: Screen, texts: set[str]) -> set[str]:
        held = set(filter(screen.holds, texts))
        screen.look_at(held)
        self._by_text |= dict.fromkeys(held, screen)
        return held


def _detect(text: str) -> str | None:
    from cortex_skills.enrichment.detecting import detect

    return detect(text)


def _screen(runs: Iterable[str]) -> Screen:
    from cortex_skills.enrichment.detecting import Screen

    return Screen(runs)
