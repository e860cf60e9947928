"""A word index in memory, with tantivy: stems, BM25 scores, and which words of a query a text has.

Rules kept here:
- the index contains words, numbers and weights, and no text: the text of an answer is read from the graph;
- additions and removals are searchable when the call returns. A few additions are only compared with the words of each
  query, and are written together later: a commit takes longer than all else.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from cortex_skills.features.finder.query_words import QueryWords, rarity
from cortex_skills.features.finder.word_stems import asked_stems, stems_of

if TYPE_CHECKING:
    from tantivy import Query, Searcher

_HEAP_BYTES = 15_000_000  # the minimum of tantivy
_STEMS = "stems"
_FEW = 64  # additions that are not written yet


class WordIndex:
    """Finds numbers by the words that were added with them. Not safe for concurrent use."""

    def __init__(self) -> None:
        import tantivy

        self._tantivy = tantivy
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("key", tokenizer_name="raw", index_option="basic")
        schema.add_integer_field("number", fast=True)
        schema.add_float_field("weight", indexed=True, fast=True)
        schema.add_text_field("words", tokenizer_name=_STEMS, index_option="freq")
        self._schema = schema.build()
        self._index = tantivy.Index(self._schema)
        self._index.config_reader("manual")
        apart = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer(_STEMS, apart)
        self._writer = self._index.writer(_HEAP_BYTES, 1)
        self._searcher: Searcher = self._index.searcher()
        self._stem_numbers: dict[str, int] = {}
        self._stems_in: dict[int, array[int]] = {}
        self._having: Counter[int] = Counter()
        self._unwritten: dict[int, dict[str, Any]] = {}  # fields of documents

    def change(self, add: Iterable[tuple[int, str, float]] = (), discard: Collection[int] = ()) -> None:
        """Add numbers, each with a text and a weight, and discard others."""
        written = [number for number in discard if self._unwritten.pop(number, None) is None]
        for number in discard:
            self._having.subtract(self._stems_in.pop(number, ()))
        documents = self._documents(add)
        for fields in documents:
            self._unwritten[fields["number"]] = fields
            if len(self._unwritten) > _FEW:
                break
        if written or len(self._unwritten) > _FEW:
            for number in written:
                self._writer.delete_documents_by_term("key", str(number))
            for fields in chain(self._unwritten.values(), documents):
                self._writer.add_document(self._tantivy.Document(**fields))
            self._writer.commit()
            self._index.reload()
            self._searcher = self._index.searcher()
            self._unwritten = {}

    def asked(self, query: str) -> QueryWords:
        """The words to search for: those of a query that are not only there to ask, or else all, with their weights."""
        found, numbers = asked_stems(query), self._stem_numbers
        having = [self._having[numbers[word]] if word in numbers else 0 for word in found]
        return QueryWords.of(found, having, len(self._stems_in))

    def masks(self, asked: Sequence[str], numbers: Iterable[int]) -> dict[int, int]:
        """Which of the words each of some numbers has (`QueryWords`); those with none are left out."""
        known = self._stem_numbers
        bits = {known[word]: 1 << n for n, word in enumerate(asked) if word in known}
        found = {}
        for number in numbers:
            mask = 0
            for stem in bits.keys() & self._stems_in.get(number, ()):
                mask |= bits[stem]
            if mask:
                found[number] = mask
        return found

    def search(self, asked: QueryWords, min_weight: float, limit: int) -> list[tuple[int, float]]:
        """The numbers with one of the words and at least this weight, with their scores.

        Args:
            asked: the words, from `asked`.
            min_weight: from 0 to 1.
            limit: the maximum number of results, best first.
        """
        query, occur, searcher = self._tantivy.Query, self._tantivy.Occur, self._searcher
        every = zip(asked.words, asked.weights, strict=True)
        of_words = [each for word, weight in every if (each := self._of_word(searcher, word, weight)) is not None]
        found = self._unwritten_with(asked, min_weight)
        if not of_words:
            return found[:limit]
        any_word = query.boolean_query([(occur.Should, each) for each in of_words])
        wanted = (
            any_word
            if min_weight <= 0
            else query.boolean_query([(occur.Must, any_word), (occur.Must, self._at_least(min_weight))])
        )
        hits = searcher.search(wanted, limit=limit, count=False).hits
        numbers = searcher.fast_field_values("number", [address for _, address in hits])
        found += [(int(number), score) for number, (score, _) in zip(numbers, hits, strict=True) if number is not None]
        return sorted(found, key=lambda hit: -hit[1])[:limit]

    def _unwritten_with(self, asked: QueryWords, min_weight: float) -> list[tuple[int, float]]:
        """The same of what is not written yet, with the weight of the words, which is near the score."""
        masks = self.masks(asked.words, self._unwritten)
        found = [
            (number, asked.coverage(mask))
            for number, mask in masks.items()
            if self._unwritten[number]["weight"] >= min_weight
        ]
        return sorted(found, key=lambda hit: -hit[1])

    def _of_word(self, searcher: Searcher, word: str, weight: float) -> Query | None:
        """What matches a word, with its weight among all texts in place of that among the written ones."""
        having = searcher.doc_freq("words", word)
        if not having:
            return None
        query = self._tantivy.Query
        of_term = query.term_query(self._schema, "words", word, "freq")
        boosted: Query = query.boost_query(of_term, weight / rarity(having, searcher.num_docs))
        return boosted

    def _at_least(self, weight: float) -> Query:
        query, kind = self._tantivy.Query, self._tantivy.FieldType.Float
        unscored: Query = query.const_score_query(query.range_query(self._schema, "weight", kind, weight, None), 0.0)
        return unscored

    def _documents(self, add: Iterable[tuple[int, str, float]]) -> Iterator[dict[str, Any]]:
        known = self._stem_numbers
        for number, text, weight in add:
            stems = stems_of(text)
            different = array("I", {known.setdefault(stem, len(known)) for stem in stems})
            self._stems_in[number] = different
            self._having.update(different)
            yield {"key": str(number), "number": number, "weight": weight, "words": " ".join(stems)}
