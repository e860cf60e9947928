"""`OwnedTexts`: the texts of one owner in an index that is followed (`index_follower.py`), and how they match a query.

Rules kept here:
- a number names a text in one state of the index: its place in the documents, or a negative one of what is not in them
  yet. A text that was changed or removed since the last commit is not found in the documents;
- how frequent a word is, and how many texts there are, is counted with what is not in the documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from cortex_skills.features.finder.index_follower import IndexView
from cortex_skills.features.finder.owned_documents import OwnedDocuments, OwnedText
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.word_stems import asked_stems

_EMPTY = IndexView(None)


class OwnedTexts:
    """The texts of one owner. Not safe for concurrent use.

    Args:
        owner: the first part of their keys.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._view = _EMPTY
        self._documents: OwnedDocuments | None = None
        self._count = 0
        self._seen: dict[str, OwnedText | None] = {}
        self._later: dict[int, OwnedText] = {}
        self._numbers: dict[str, int] = {}  # of later ones, by their keys
        self._replaced: dict[int, OwnedText] = {}  # in the documents, by their places
        self._next = -1
        self._changes = 0

    def __len__(self) -> int:
        return self._count

    @property
    def state(self) -> tuple[int, int]:
        """The generation of the documents, and another number after each later change."""
        return self._view.generation, self._changes

    @property
    def changed(self) -> Mapping[str, OwnedText | None]:
        """What changed since the documents were committed, by key."""
        return self._seen

    def follow(self, view: IndexView) -> None:
        """Have the texts of a view."""
        if self._documents is not view.documents or view.generation != self._view.generation or self._view is _EMPTY:
            self._documents = view.documents
            for each in (self._seen, self._later, self._numbers, self._replaced):
                each.clear()
            self._begin(view.documents)
        if view.changed is not self._view.changed or not self._seen:
            self._apply(view.changed)
        self._view = view

    def _begin(self, documents: OwnedDocuments | None) -> None:
        self._count = 0 if documents is None else documents.count_of(self._owner)

    def _added(self, _text: OwnedText, _number: int) -> None:
        self._count += 1

    def _removed(self, _text: OwnedText, _number: int) -> None:
        self._count -= 1

    def _apply(self, changed: Mapping[str, OwnedText | None]) -> None:
        start = f"{self._owner}:"
        for key, text in changed.items():
            if not key.startswith(start) or (key in self._seen and self._seen[key] == text):
                continue
            number = self._numbers.pop(key, None)
            if number is not None:
                self._removed(self._later.pop(number), number)
            elif key not in self._seen and self._documents is not None:
                place = self._documents.place_of(key)
                if place is not None:
                    self._replaced[place] = self._documents.text(place)
                    self._removed(self._replaced[place], place)
            self._seen[key] = text
            self._changes += 1
            if text is not None:
                self._numbers[key], self._later[self._next] = self._next, text
                self._added(text, self._next)
                self._next -= 1

    def asked(self, query: str) -> QueryWords:
        """The words of a query, with their weights among the texts."""
        words = asked_stems(query)
        having = [0] * len(words) if self._documents is None else self._documents.having(self._owner, words)
        for sign, texts in ((1, self._later.values()), (-1, self._replaced.values())):
            for text in texts:
                mask = text.mask(words)
                having = [count + sign * (mask >> place & 1) for place, count in enumerate(having)]
        return QueryWords.of(words, having, len(self))

    def search(self, asked: QueryWords, min_weight: float, limit: int, tag: str = "") -> list[int]:
        """The numbers of the texts with the best words, with at least this weight, and with a tag if one is given."""
        found = [
            (number, asked.coverage(mask))
            for number, text in self._later.items()
            if text.is_wanted(min_weight, tag) and (mask := text.mask(asked.words))
        ]
        if self._documents is not None:
            hits = self._documents.search(self._owner, asked, min_weight, limit + len(self._replaced), tag)
            found += [hit for hit in hits if hit[0] not in self._replaced]
        return [number for number, _ in sorted(found, key=lambda hit: -hit[1])[:limit]]

    def texts(self, numbers: Collection[int]) -> dict[int, OwnedText]:
        """What is indexed of some texts, in their order."""
        places = [number for number in numbers if number >= 0]
        read = self._documents.texts(places) if places and self._documents is not None else []
        of_places = dict(zip(places, read, strict=True))
        return {number: self._later[number] if number < 0 else of_places[number] for number in numbers}

    def numbers_of(self, identifiers: Collection[str]) -> list[int]:
        """The numbers of the texts with some ids that are there, in any order."""
        keys = [f"{self._owner}:{identifier}" for identifier in identifiers]
        found = [self._numbers[key] for key in keys if key in self._numbers]
        others = [key for key in keys if key not in self._seen]
        return [*found, *(self._documents.places_of(others) if others and self._documents is not None else ())]

    def every(self) -> Iterator[OwnedText]:
        """All of them."""
        if self._documents is not None:
            places = [each for each in self._documents.places(self._owner) if each not in self._replaced]
            yield from self._documents.texts(places)
        yield from self._later.values()
