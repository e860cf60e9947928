"""The documents of an index of entities.

Rules kept here:
- a document has the IRI of a resource, its classes, and words and stems, and no text: what an answer shows is read from
  the graph;
- a search is exact: which documents match is what `entity_match` defines, and `weights` order them as it does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from cortex_skills.features.finder.entity_match import OF_IRI, OF_NAME, OF_TEXT, PREFIX, STEM, TYPO, QueryWord
from cortex_skills.features.finder.entity_texts import EntityTexts
from cortex_skills.features.finder.kept_documents import ANALYZER, STATE, KeptDocuments
from cortex_skills.features.finder.subject_shapes import Shape, shape_in

if TYPE_CHECKING:
    from tantivy import Query, SchemaBuilder

_FIELDS = {"names": OF_NAME, "iri": OF_IRI, "texts": OF_TEXT}
_SHARE = 0.01  # of BM25 in an order that is otherwise that of the weights
_READ_TOGETHER = 1_000  # documents
_FEW = 200  # keys that are looked up one by one
_WHOLE = 100  # characters of a name that is found first by all its words


class EntityDocuments(KeptDocuments):
    """An index of entities."""

    version = 3

    def _add_fields(self, schema: SchemaBuilder) -> None:
        schema.add_text_field("class", fast=True, tokenizer_name="raw", index_option="basic")
        for field in _FIELDS:
            schema.add_text_field(field, tokenizer_name=ANALYZER, index_option="basic")
            schema.add_text_field(f"{field}_stems", tokenizer_name=ANALYZER, index_option="basic")
        schema.add_text_field("whole", tokenizer_name="raw", index_option="basic")
        schema.add_text_field("cut", tokenizer_name="raw", index_option="basic")
        schema.add_bytes_field("shape", stored=True, indexed=False)

    def fields_of(self, document: EntityTexts) -> dict[str, Any]:
        """The words of a resource, its classes and its IRI."""
        words: dict[str, dict[str, None]] = {field: {} for field in _FIELDS}
        stems: dict[str, set[str]] = {field: set() for field in _FIELDS}
        wholes = set()
        for text in document.texts:
            field = "iri" if text.predicate is None else "names" if text.is_name else "texts"
            words[field].update(dict.fromkeys(text.words))
            stems[field] |= text.stems
            if text.is_name:
                wholes.add(" ".join(text.words)[:_WHOLE])
        fields: dict[str, Any] = {field: " ".join(each) for field, each in words.items()}
        fields |= {f"{field}_stems": " ".join(each) for field, each in stems.items()}
        fields |= {"key": document.subject.value, "class": [each.value for each in document.classes]}
        if document.shape is not None:
            fields["shape"] = document.shape.written()
        return fields | {"whole": sorted(wholes), "cut": ["1"] if document.is_cut else []}

    def shapes(self, iris: Collection[str]) -> dict[str, Shape]:
        """The shapes of the resources that are there and have one, by their IRIs."""
        should, found = self._tantivy.Occur.Should, {}
        wanted = iter(iris)
        while some := [(should, self._term("key", iri)) for iri in islice(wanted, _READ_TOGETHER)]:
            query = self._tantivy.Query.boolean_query(some)
            for _, address in self._searcher.search(query, limit=len(some), count=False).hits:
                get = self._searcher.doc(address).get_first
                if (shape := get("shape")) and (iri := get("key")):
                    found[iri] = shape_in(shape)
        return found

    def languages_of(self, entity: EntityTexts) -> set[str]:
        """The languages of the texts of a resource."""
        return {text.language for text in entity.texts}

    def search(
        self,
        words: Sequence[QueryWord],
        limit: int,
        *,
        typos: bool = False,
        fewer: bool = False,
        of_class: str | None = None,
        without: Collection[str] = (),
    ) -> tuple[list[str], int]:
        """The IRIs of the best documents for a query, and how many match.

        Args:
            words: at least one.
            limit: of the IRIs.
            typos: as in `entity_match.match`.
            fewer: as in `entity_match.match`.
            of_class: the IRI of a class that they must have.
            without: IRIs that are not searched.
        """
        occur = self._tantivy.Occur
        parts = self._matching(words, typos=typos, fewer=fewer, without=without)
        parts += [(occur.Should, each) for each in self._order(words)]
        query = self._tantivy.Query
        if of_class is not None:
            parts.append((occur.Must, query.const_score_query(self._term("class", of_class), 0.0)))
        searcher = self._searcher
        found = searcher.search(query.boolean_query(parts), limit=limit, count=True)
        keys = [searcher.doc(address).get_first("key") for _, address in found.hits]
        return [key for key in keys if isinstance(key, str)], int(found.count)  # type: ignore[attr-defined]

    def classes(
        self,
        words: Sequence[QueryWord],
        most: int,
        *,
        typos: bool = False,
        fewer: bool = False,
        without: Collection[str] = (),
    ) -> dict[str, int]:
        """The most frequent classes of the documents that match, by IRI; arguments as in `search`."""
        matching = self._matching(words, typos=typos, fewer=fewer, without=without)
        asked = {"classes": {"terms": {"field": "class", "size": most}}}
        found = self._searcher.aggregate(self._tantivy.Query.boolean_query(matching), asked)
        return {each["key"]: int(each["doc_count"]) for each in found["classes"]["buckets"]}

    def _matching(
        self, words: Sequence[QueryWord], *, typos: bool, fewer: bool, without: Collection[str]
    ) -> list[tuple[Any, Query]]:
        query, occur = self._tantivy.Query, self._tantivy.Occur
        of_words = occur.Should if fewer else occur.Must
        matching = query.boolean_query([(of_words, self._of_word(word, typos=typos)) for word in words])
        # A set of many is an automaton for each segment, which takes longer than a few terms.
        keys = [STATE, *without]
        others = [self._term("key", key) for key in keys] if len(keys) <= _FEW else [self._keys(keys)]
        return [(occur.Must, matching), *((occur.MustNot, other) for other in others)]

    def _keys(self, keys: list[str]) -> Query:
        found: Query = self._tantivy.Query.term_set_query(self._schema, "key", keys)
        return found

    def cut(self) -> int:
        """How many resources have more texts, or longer ones, than are in it."""
        return self._number_of(self._term("cut", "1"))

    def _of_word(self, word: QueryWord, *, typos: bool) -> Query:
        """What matches a word of a query: the weight of the best way in which it does."""
        query, schema = self._tantivy.Query, self._schema
        ways = []
        stems = [stem for language in self.state.languages for stem in sorted(word.stems_in(language))]
        for field, weight in _FIELDS.items():
            ways.append((self._term(field, word.folded), weight))
            # A set of them would be an automaton for each segment, which takes longer.
            ways += [(self._term(f"{field}_stems", stem), weight * STEM) for stem in stems]
            if word.begins:
                begins = query.fuzzy_term_query(schema, field, word.folded, distance=0, prefix=True)
                ways.append((begins, weight * PREFIX))
            if typos and word.may_differ:
                near = query.fuzzy_term_query(schema, field, word.folded, distance=1, transposition_cost_one=True)
                ways.append((near, weight * TYPO))
        best: Query = query.disjunction_max_query([query.const_score_query(way, weight) for way, weight in ways])
        return best

    def _order(self, words: Sequence[QueryWord]) -> Iterator[Query]:
        """What puts those first whose name has all the words and no other, or few others."""
        query = self._tantivy.Query
        whole = " ".join(word.folded for word in words)
        yield query.const_score_query(self._term("whole", whole[:_WHOLE]), 1.0)
        for word in words:
            yield query.boost_query(self._term("names", word.folded), _SHARE)
