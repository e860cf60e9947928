"""The labels of the names on one page: what people call them, looked up together.

Rules kept here:
- nothing is read until the first name is shown; then the labels of all names that the page has are looked up at once;
- a label is a text from outside, so it is shown without the name beside it only if it cannot pass for another one: it
  hides no character, mixes no scripts, does not read like a name, and no other name of the page has a label or a name
  that looks like it (`look_alike_names.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from pyoxigraph import NamedNode

from cortex_skills.doors.explorer.look_alike_names import skeleton, warning_of
from cortex_skills.safe_io.display import is_invisible

_LIKE_A_NAME = re.compile(r"[^\s:]:[^\s:]|^[\W_]*<|//|^[^\w\s]*:")

LookUp = Callable[[Iterable[NamedNode]], Mapping[NamedNode, str]]


class NameLabels:
    """Looks up labels for one page.

    Args:
        look_up: returns the labels of those of some nodes that have one.
    """

    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._new: dict[str, None] = {}
        self._texts: dict[str, str] = {}
        self._claims: dict[str, set[str]] = {}

    def add(self, iri: str, *names: str) -> None:
        """Add a name of the page, in the ways that it is shown; its label is looked up with the next one."""
        self._new[iri] = None
        for name in names:
            self._claim(name, iri)

    def of(self, iri: str) -> str | None:
        """The label of an IRI; None if it has none, or was not added."""
        if self._new:
            new, self._new = list(self._new), {}
            for node, label in self._look_up(map(NamedNode, new)).items():
                self._texts[node.value] = label
                self._claim(label, node.value)
        return self._texts.get(iri)

    def is_clear(self, iri: str) -> bool:
        """Whether the label of an IRI cannot pass for another name of the page."""
        label = self.of(iri) or ""
        if _LIKE_A_NAME.search(label) or warning_of(label) or any(map(is_invisible, label)):
            return False
        return self._claims[_seen(label)] == {iri}

    def _claim(self, text: str, iri: str) -> None:
        self._claims.setdefault(_seen(text), set()).add(iri)


def _seen(text: str) -> str:
    """What a reader sees of a text: what all texts that look like it have in common."""
    return " ".join(skeleton(text).split())
