"""A word index in memory, with tantivy: stems, BM25 scores, and which words of a query a text has.

Rules kept here:
- the index contains words, numbers and weights, and no text: the text of an answer is read from the graph;
- English stop words and stems; words of other languages are indexed without their accents, so that `zoe` finds `Zoë`.
  Stop words are removed first: `thé` is none;
- a query is searched without its question words (`question_words`), unless it has no others: `who` finds `The Who`;
- additions and removals are searchable when the call returns; the threads of the one writer merge segments.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.question_words import asked_words
from cortex_skills.features.finder.words import words

if TYPE_CHECKING:
    from tantivy import Query

MAX_QUERY_WORDS = 32
_HEAP_BYTES = 15_000_000  # the minimum of tantivy
_STEMS = "stems"


class WordIndex:
    """Finds numbers by the words that were added with them. Not safe for concurrent use."""

    def __init__(self) -> None:
        import tantivy

        self._tantivy = tantivy
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("number", indexed=True, fast=True)
        schema.add_float_field("weight", indexed=True, fast=True)
        schema.add_text_field("words", tokenizer_name=_STEMS, index_option="freq")
        self._schema = schema.build()
        self._index = tantivy.Index(self._schema)
        apart = tantivy.Tokenizer.whitespace()
        self._index.register_tokenizer(_STEMS, tantivy.TextAnalyzerBuilder(apart).build())
        builder = tantivy.TextAnalyzerBuilder(apart)
        for step in (
            tantivy.Filter.stopword("english"),
            tantivy.Filter.ascii_fold(),
            tantivy.Filter.stemmer("english"),
        ):
            builder = builder.filter(step)
        self._analyzer = builder.build()
        self._writer = self._index.writer(_HEAP_BYTES, 1)
        self._searcher = self._index.searcher()
        self._stem_numbers: dict[str, int] = {}
        self._stems_in: dict[int, array[int]] = {}

    def change(self, add: Iterable[tuple[int, str, float]] = (), discard: Iterable[int] = ()) -> None:
        """Add numbers, each with a text and a weight, and discard others."""
        numbers = self._stem_numbers
        for number in discard:
            self._writer.delete_documents_by_term("number", number)
            self._stems_in.pop(number, None)
        for number, text, weight in add:
            stems = self._analyzer.analyze(" ".join(words(text)))
            self._stems_in[number] = array("I", {numbers.setdefault(stem, len(numbers)) for stem in stems})
            self._writer.add_document(self._tantivy.Document(number=number, weight=weight, words=" ".join(stems)))
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def words_of(self, text: str) -> list[str]:
        """The indexed forms of the words of a text, without stop words, each once."""
        return list(dict.fromkeys(self._analyzer.analyze(" ".join(words(text)))))

    def asked(self, query: str) -> QueryWords:
        """The words to search for: those of a query that are not only there to ask, or else all, with their weights."""
        asked = self._analyzer.analyze(" ".join(asked_words(query)))
        found = list(dict.fromkeys(asked or self.words_of(query)))[:MAX_QUERY_WORDS]
        having = [self._searcher.doc_freq("words", word) for word in found]
        return QueryWords.of(found, having, self._searcher.num_docs)

    def masks(self, asked: Sequence[str], numbers: Iterable[int]) -> dict[int, int]:
        """Which of the words each of some numbers has (`QueryWords`); those with none are left out."""
        bits = {self._stem_numbers[word]: 1 << n for n, word in enumerate(asked) if word in self._stem_numbers}
        found = {}
        for number in numbers:
            mask = 0
            for stem in bits.keys() & self._stems_in.get(number, ()):
                mask |= bits[stem]
            if mask:
                found[number] = mask
        return found

    def search(self, found: Sequence[str], min_weight: float, limit: int) -> list[tuple[int, float]]:
        """The numbers with one of the words and at least this weight, with their BM25 scores.

        Args:
            found: words from `asked`.
            min_weight: from 0 to 1.
            limit: the maximum number of results, best first.
        """
        if not found:
            return []
        query, occur = self._tantivy.Query, self._tantivy.Occur
        any_word = query.boolean_query(
            [(occur.Should, query.term_query(self._schema, "words", word, "freq")) for word in found]
        )
        asked = (
            any_word
            if min_weight <= 0
            else query.boolean_query([(occur.Must, any_word), (occur.Must, self._at_least(min_weight))])
        )
        hits = self._searcher.search(asked, limit=limit, count=False).hits
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        return [(int(number), score) for number, (score, _) in zip(numbers, hits, strict=True) if number is not None]

    def _at_least(self, weight: float) -> Query:
        query, kind = self._tantivy.Query, self._tantivy.FieldType.Float
        return query.const_score_query(query.range_query(self._schema, "weight", kind, weight, None), 0.0)
