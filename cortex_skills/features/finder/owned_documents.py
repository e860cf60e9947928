"""The documents of an index of texts that belong to owners, each of whom finds its own only.

Rules kept here:
- the owner is a part of the key and of each indexed word, so that a query of one cannot match a text of another. How
  frequent a word is, and how many texts there are, is counted for each owner: both decide scores, which must not depend
  on others. What all have in common is only the mean length of a text, which has a part in the order of equal words
  where more texts match than are asked for;
- a document has stems, a weight and a time, and no text: the text of an answer is read from the graph;
- a place (`int`) names a document in one state of the files (`IndexView.generation`), and none after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex_skills.features.finder.kept_documents import ANALYZER, KeptDocuments
from cortex_skills.features.finder.query_words import QueryWords, rarity

if TYPE_CHECKING:
    from tantivy import Query, SchemaBuilder

_DOC_BITS = 32
_MOST = 1_000_000  # texts of one owner


@dataclass(frozen=True, slots=True)
class OwnedText:
    """What of a text is indexed.

    Attributes:
        key: `OWNER:ID`; neither has a colon or a space.
        stems: of its words, in order, separated by spaces.
        weight: from 0 to 1.
        time: in seconds since 1970.
        tags: by which a search may be narrowed.
        details: what is read with it, and not searched.
    """

    key: str
    stems: str
    weight: float
    time: float = 0.0
    tags: tuple[str, ...] = ()
    details: bytes = b""

    @property
    def words(self) -> frozenset[str]:
        """The stems, each once."""
        return frozenset(self.stems.split())

    @property
    def id(self) -> str:
        """The second part of the key."""
        return self.key.rpartition(":")[2]

    def is_wanted(self, min_weight: float, tag: str) -> bool:
        """Whether it has at least a weight, and a tag if one is given."""
        return self.weight >= min_weight and (not tag or tag in self.tags)

    def mask(self, asked: Sequence[str]) -> int:
        """Which of some words it has (`QueryWords`)."""
        own = f" {self.stems} "  # a set of them takes longer than looking for a few words
        mask = 0
        for place, word in enumerate(asked):
            if word in own and f" {word} " in own:
                mask |= 1 << place
        return mask


class OwnedDocuments(KeptDocuments):
    """An index of the texts of owners."""

    version = 2

    def _add_fields(self, schema: SchemaBuilder) -> None:
        schema.add_text_field("owner", tokenizer_name="raw", index_option="basic")
        schema.add_text_field("words", tokenizer_name=ANALYZER, index_option="freq")
        schema.add_bytes_field("stems", stored=True, indexed=False)
        schema.add_float_field("weight", indexed=True, fast=True)
        schema.add_float_field("time", fast=True)
        schema.add_text_field("tags", stored=True, tokenizer_name="raw", index_option="basic")
        schema.add_bytes_field("details", stored=True, indexed=False)

    def fields_of(self, document: OwnedText) -> dict[str, Any]:
        """The key, the owner, the words of the owner, and what is read of a text."""
        owner = document.key.partition(":")[0]
        words = " ".join(f"{owner}:{stem}" for stem in document.stems.split())
        fields: dict[str, Any] = {"key": document.key, "owner": owner, "words": words, "stems": document.stems.encode()}
        if document.tags:
            fields["tags"] = list(document.tags)
        if document.details:
            fields["details"] = document.details
        return {**fields, "weight": document.weight, "time": document.time}

    def times(self, owner: str) -> list[tuple[float, int]]:
        """The times and places of all texts of an owner."""
        hits = self._searcher.search(self._term("owner", owner), limit=_MOST, count=False).hits
        addresses = [address for _, address in hits]
        times = self._searcher.fast_field_values("time", addresses)
        return [(float(time), _place(each)) for time, each in zip(times, addresses, strict=True) if time is not None]

    def places(self, owner: str) -> list[int]:
        """The places of all texts of an owner."""
        return self._places(self._term("owner", owner), _MOST)

    def count_of(self, owner: str) -> int:
        """How many texts an owner has."""
        return self._number_of(self._term("owner", owner))

    def places_of(self, keys: Sequence[str]) -> list[int]:
        """The places of the texts with some keys that are there, in any order."""
        return self._places(self._tantivy.Query.term_set_query(self._schema, "key", list(keys)), len(keys))

    def _places(self, query: Query, limit: int) -> list[int]:
        return [_place(address) for _, address in self._searcher.search(query, limit=limit, count=False).hits]

    def place_of(self, key: str) -> int | None:
        """The place of a text; None if it is not there."""
        hits = self._searcher.search(self._term("key", key), limit=1, count=False).hits
        return _place(hits[0][1]) if hits else None

    def text(self, place: int) -> OwnedText:
        """What is indexed of the text at a place."""
        return self.texts([place])[0]

    def texts(self, places: Sequence[int]) -> list[OwnedText]:
        """What is indexed of the texts at some places."""
        searcher = self._searcher
        make, bits = self._tantivy.DocAddress, (1 << _DOC_BITS) - 1
        addresses = [make(place >> _DOC_BITS, place & bits) for place in places]
        weights, times = (searcher.fast_field_values(name, addresses) for name in ("weight", "time"))
        found = []
        for address, weight, time in zip(addresses, weights, times, strict=True):
            document = searcher.doc(address)
            get = document.get_first
            stems, details = (get("stems") or b"").decode(), get("details") or b""
            tags = tuple(document.get_all("tags")) if details else ()
            found.append(OwnedText(get("key") or "", stems, weight or 0.0, time or 0.0, tags, details))
        return found

    def having(self, owner: str, words: Iterable[str]) -> list[int]:
        """How many texts of an owner have each of some words."""
        return [self._number_of(self._term("words", f"{owner}:{word}")) for word in words]

    def search(
        self, owner: str, asked: QueryWords, min_weight: float, limit: int, tag: str = ""
    ) -> list[tuple[int, float]]:
        """The places of texts with one of the words and at least this weight, with their scores, best first.

        Args:
            owner: of the texts.
            asked: the words.
            min_weight: from 0 to 1.
            limit: of the places.
            tag: that they must have; none if it is empty.
        """
        query, occur = self._tantivy.Query, self._tantivy.Occur
        every = zip(asked.words, asked.weights, strict=True)
        of_words = [each for word, weight in every if (each := self._of_word(f"{owner}:{word}", weight)) is not None]
        if not of_words:
            return []
        wanted = query.boolean_query([(occur.Should, each) for each in of_words])
        also = [self._term("tags", tag)] if tag else []
        if min_weight > 0:
            kind = self._tantivy.FieldType.Float
            also.append(query.range_query(self._schema, "weight", kind, min_weight, None))
        if also:
            unscored = [(occur.Must, query.const_score_query(each, 0.0)) for each in also]
            wanted = query.boolean_query([(occur.Must, wanted), *unscored])
        hits = self._searcher.search(wanted, limit=limit, count=False).hits
        return [(_place(address), float(score)) for score, address in hits]

    def _of_word(self, term: str, weight: float) -> Query | None:
        """What matches a word, with its weight among the texts of its owner in place of that among all."""
        having = self._searcher.doc_freq("words", term)
        if not having:
            return None
        query = self._tantivy.Query
        of_term = query.term_query(self._schema, "words", term, "freq")
        boosted: Query = query.boost_query(of_term, weight / rarity(having, self._searcher.num_docs))
        return boosted


def _place(address: Any) -> int:
    return (int(address.segment_ord) << _DOC_BITS) | int(address.doc)
