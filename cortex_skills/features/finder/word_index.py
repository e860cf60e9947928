"""A word index in memory, with tantivy: stems, BM25 scores, and which words of a query a text has.

Rules kept here:
- the index contains words, numbers and weights, and no text: the text of an answer is read from the graph;
- several owners share one index (`SharedWords`), with one writer. The owner is a part of each indexed word, so that a
  query of one cannot match a text of another. How frequent a word is, and how many texts there are, is counted for
  each owner: both decide scores, which must not depend on others. What all have in common is only the mean length of a
  text, which has a part in the order of equal words where more texts match than are asked for;
- English stop words and stems; words of other languages are indexed without their accents, so that `zoe` finds `Zoë`.
  Stop words are removed first: `thé` is none;
- a query is searched without its question words (`question_words`), unless it has no others: `who` finds `The Who`;
- additions and removals are searchable when the call returns; the threads of the one writer merge segments. A few
  additions are only compared with the words of each query, and are written together later: a commit takes longer than
  all else.
"""

from __future__ import annotations

import threading
import weakref
from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from cortex_skills.features.finder.query_words import QueryWords, rarity
from cortex_skills.features.finder.question_words import asked_words
from cortex_skills.features.finder.words import words

if TYPE_CHECKING:
    from tantivy import Query, Searcher

MAX_QUERY_WORDS = 32
_HEAP_BYTES = 15_000_000  # the minimum of tantivy
_STEMS = "stems"
_FEW = 64  # additions of an owner that are not written yet


class SharedWords:
    """The words of the texts of several owners. Safe to use from several threads."""

    def __init__(self) -> None:
        import tantivy

        self.tantivy = tantivy
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("key", tokenizer_name="raw", index_option="basic")
        schema.add_text_field("owner", tokenizer_name="raw", index_option="basic")
        schema.add_integer_field("number", fast=True)
        schema.add_float_field("weight", indexed=True, fast=True)
        schema.add_text_field("words", tokenizer_name=_STEMS, index_option="freq")
        self.schema = schema.build()
        self._index = tantivy.Index(self.schema)
        self._index.config_reader("manual")
        apart = tantivy.Tokenizer.whitespace()
        self._index.register_tokenizer(_STEMS, tantivy.TextAnalyzerBuilder(apart).build())
        builder = tantivy.TextAnalyzerBuilder(apart)
        for step in (
            tantivy.Filter.stopword("english"),
            tantivy.Filter.ascii_fold(),
            tantivy.Filter.stemmer("english"),
        ):
            builder = builder.filter(step)
        self.analyzer = builder.build()
        self._writer = self._index.writer(_HEAP_BYTES, 1)
        self._lock = threading.Lock()
        self._owners = count()
        self._gone: deque[str] = deque()
        self.searcher: Searcher = self._index.searcher()
        self.stem_numbers: dict[str, int] = {}

    def new_owner(self) -> str:
        """A name for an owner, which no other one has."""
        return format(next(self._owners), "x")

    def forget(self, owner: str) -> None:
        """Remove what an owner has, with the next change: this may be called by the garbage collector."""
        self._gone.append(owner)

    def change(self, add: Iterable[dict[str, Any]], discard: Iterable[str]) -> None:
        """Discard the documents with some keys, and add others."""
        with self._lock:
            while self._gone:
                self._writer.delete_documents_by_term("owner", self._gone.popleft())
            for key in discard:
                self._writer.delete_documents_by_term("key", key)
            for fields in add:
                self._writer.add_document(self.tantivy.Document(**fields))
            self._writer.commit()
            self._index.reload()
            self.searcher = self._index.searcher()


class WordIndex:
    """Finds numbers by the words that were added with them. Not safe for concurrent use.

    Args:
        shared: what it shares with other owners; without it, it shares nothing.
    """

    def __init__(self, shared: SharedWords | None = None) -> None:
        self._shared = shared or SharedWords()
        self._owner = self._shared.new_owner()
        weakref.finalize(self, self._shared.forget, self._owner).atexit = False
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
            self._shared.change(chain(self._unwritten.values(), documents), map(self._key, written))
            self._unwritten = {}

    def words_of(self, text: str) -> list[str]:
        """The indexed forms of the words of a text, without stop words, each once."""
        return list(dict.fromkeys(self._shared.analyzer.analyze(" ".join(words(text)))))

    def asked(self, query: str) -> QueryWords:
        """The words to search for: those of a query that are not only there to ask, or else all, with their weights."""
        asked = self._shared.analyzer.analyze(" ".join(asked_words(query)))
        found = list(dict.fromkeys(asked or self.words_of(query)))[:MAX_QUERY_WORDS]
        numbers = self._shared.stem_numbers
        having = [self._having[numbers[word]] if word in numbers else 0 for word in found]
        return QueryWords.of(found, having, len(self._stems_in))

    def masks(self, asked: Sequence[str], numbers: Iterable[int]) -> dict[int, int]:
        """Which of the words each of some numbers has (`QueryWords`); those with none are left out."""
        known = self._shared.stem_numbers
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
        query, occur = self._shared.tantivy.Query, self._shared.tantivy.Occur
        searcher = self._shared.searcher
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
        """What matches a word, with its weight among the texts of this owner in place of that among all."""
        term = f"{self._owner}:{word}"
        having = searcher.doc_freq("words", term)
        if not having:
            return None
        query = self._shared.tantivy.Query
        of_term = query.term_query(self._shared.schema, "words", term, "freq")
        boosted: Query = query.boost_query(of_term, weight / rarity(having, searcher.num_docs))
        return boosted

    def _at_least(self, weight: float) -> Query:
        query, kind = self._shared.tantivy.Query, self._shared.tantivy.FieldType.Float
        within = query.range_query(self._shared.schema, "weight", kind, weight, None)
        unscored: Query = query.const_score_query(within, 0.0)
        return unscored

    def _documents(self, add: Iterable[tuple[int, str, float]]) -> Iterator[dict[str, Any]]:
        known, owner = self._shared.stem_numbers, self._owner
        for number, text, weight in add:
            stems = self._shared.analyzer.analyze(" ".join(words(text)))
            different = array("I", {known.setdefault(stem, len(known)) for stem in stems})
            self._stems_in[number] = different
            self._having.update(different)
            terms = " ".join(f"{owner}:{stem}" for stem in stems)
            yield {"key": self._key(number), "owner": owner, "number": number, "weight": weight, "words": terms}

    def _key(self, number: int) -> str:
        return f"{self._owner}:{number}"
