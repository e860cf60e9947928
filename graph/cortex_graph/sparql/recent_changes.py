"""The latest changes of a store, from which a process brings its copy of the store up to date.

Rules kept here:
- a change is the quads that were inserted, or the text of a SPARQL update of data and of `DELETE WHERE`: it makes quads
  present or absent, independently of what was there. So it may be repeated: all changes since any state that had
  some of them, in order, lead to the same state;
- the changes are bounded by their quads and their length; what was changed before the first one is not known;
- a change that is not known (a bulk load, or one that failed) ends what can be known before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyoxigraph import Quad

Change = Sequence[Quad] | str

MOST_QUADS = 5_000  # to make these changes takes as long as a new copy
_MOST_CHARACTERS = 4 << 20


class RecentChanges:
    """The latest changes, one for each number. Nothing is kept until `begin`. The caller holds a lock."""

    def __init__(self) -> None:
        self._is_kept = False
        self._before = 0  # the number of the last change that is not kept
        self._changes: list[Change] = []
        self._quads = 0
        self._characters = 0

    def begin(self, now: int) -> None:
        """Keep the changes after this one."""
        if not self._is_kept:
            self._is_kept, self._before = True, now

    def add(self, number: int, change: Change | None) -> None:
        """Add the change with the next number; None for one that is not known."""
        if not self._is_kept:
            return
        if change is not None:
            self._changes.append(change)
            self._count(change, 1)
        if change is None or self._quads > MOST_QUADS or self._characters > _MOST_CHARACTERS:
            dropped = len(self._changes) if change is None else len(self._changes) // 2 + 1
            for old in self._changes[:dropped]:
                self._count(old, -1)
            del self._changes[:dropped]
            self._before = number - len(self._changes)

    def after(self, number: int) -> Sequence[Change] | None:
        """Return the changes after one; None when some of them are not known."""
        if not self._is_kept or number < self._before:
            return None
        return self._changes[number - self._before :]

    def _count(self, change: Change, sign: int) -> None:
        if isinstance(change, str):
            self._quads += sign
            self._characters += sign * len(change)
        else:
            self._quads += sign * len(change)
            self._characters += sign * sum(len(quad.object.value) for quad in change)  # type: ignore[union-attr, misc]


def as_text(changes: Iterable[Change]) -> list[tuple[str, str]]:
    """Return changes for another process: (`insert`, N-Quads) or (`update`, SPARQL)."""
    written: list[tuple[str, str]] = []
    inserted: list[str] = []
    for change in changes:
        if not isinstance(change, str):
            inserted += [f"{quad} .\n" for quad in change]
            continue
        if inserted:
            written.append(("insert", "".join(inserted)))
            inserted = []
        written.append(("update", change))
    return [*written, ("insert", "".join(inserted))] if inserted else written
