"""A person who walks through the explorer with the mouse or with the keyboard alone, and whose steps are counted.

Rules kept here:
- a step is one act with a purpose: something that is clicked or chosen, or a text that is typed and sent with Enter
  (with Ctrl-Enter where the field has several lines); a text that is not sent is one, too;
- the token of the session, typed where it is asked for, is a step; to be signed in on the first page is none;
- a person finds things by what is shown: roles and visible names, never by an address or a selector;
- with the keyboard, what leads to a thing (Tab, the link that skips the frame, `j` for the next row) is counted apart
  for each step: `MOST_MOVES`. A shortcut that follows a link of the navigation is the step itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

MOST_MOVES = 15
_HAS_FOCUS = "element => element === element.getRootNode().activeElement"


@dataclass
class Walk:
    """A walk from a page.

    Attributes:
        page: of the browser.
        by: what the person uses.
        steps: what was done, in words.
        moves: for each step the keys that led to it.
    """

    page: Any
    by: Literal["mouse", "keyboard"]
    steps: list[str] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.wait_for_load_state()

    def go(self, label: str, keys: str) -> None:
        """Follow a link of the navigation; with the keyboard by its keys."""
        if self.by == "mouse":
            self.page.get_by_role("navigation", name="Sections").get_by_role("link", name=label).click()
        else:
            for key in keys.split():
                self.page.keyboard.press(key)
            self.page.get_by_role("heading", level=1, name=label).wait_for()
        self._step(label, 0)

    def find(self, text: str) -> None:
        """Type a text into the field of every page."""
        box = self.page.get_by_role("searchbox", name="Find").or_(self.page.get_by_role("combobox", name="Find"))
        box.click() if self.by == "mouse" else self.page.keyboard.press("/")
        self.page.keyboard.type(text)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self._step(f"find {text!r}", 0)

    def open(
        self,
        role: str,
        name: Any,
        *,
        in_rows: bool = False,
        row: Any = None,
        skip: str = "Skip to content",
        leaves: bool = True,
    ) -> None:
        """Click something; with the keyboard go to it, and press Enter.

        Args:
            role: of it.
            name: that is shown.
            in_rows: whether it is in a row of what the page lists, which `j` goes through.
            row: what the row of the thing begins with, where others have such a thing, too.
            skip: the link at the beginning of the page with which the keyboard comes nearer to it.
            leaves: whether another page opens.
        """
        place = self.page.get_by_role("main") if row is None else self.page.get_by_role("row", name=row)
        target, moves = place.get_by_role(role, name=name), 0
        if self.by == "keyboard":
            moves = self._reach(target, in_rows=in_rows, skip=skip)
        act = target.click if self.by == "mouse" else lambda: self.page.keyboard.press("Enter")
        if leaves:
            with self.page.expect_navigation():
                act()
        else:
            act()
        self._step(str(getattr(name, "pattern", name)), moves)

    def type(self, label: str, text: str, *, sends: str = "Enter", skip: str = "Skip to content") -> None:
        """Type a text into a field in place of what it has, and send it; an empty `sends` does not."""
        main, moves = self.page.get_by_role("main"), 0
        target = main.get_by_role("textbox", name=label).or_(main.get_by_role("combobox", name=label))
        if label == "Token":
            target = main.get_by_label(label)
        if self.by == "mouse":
            target.click()
        else:
            moves = self._reach(target, skip=skip)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        if sends:
            with self.page.expect_navigation():
                self.page.keyboard.press(sends)
        self._step(f"{label}: {'…' if label == 'Token' else text.splitlines()[0]}", moves)

    def _reach(self, target: Any, *, in_rows: bool = False, skip: str = "Skip to content") -> int:
        """Go to something with the keyboard; returns how many keys that took."""
        target.wait_for()
        for moves in range(MOST_MOVES + 1):
            if target.evaluate(_HAS_FOCUS):
                return moves
            if in_rows and not target.evaluate("e => !!e.closest('tr, li')?.contains(document.activeElement)"):
                key = "j"
            else:
                skips = self.page.get_by_role("link", name=skip)
                key = "Enter" if skips.evaluate(_HAS_FOCUS) else "Tab"
            self.page.keyboard.press(key)
        raise AssertionError(f"{self.steps}: {target} takes more than {MOST_MOVES} keys")

    def _step(self, words: str, moves: int) -> None:
        self.page.wait_for_load_state()
        self.steps.append(words)
        self.moves.append(moves)
