"""The documents of an index of entities, with tantivy, in a folder or in memory.

Rules kept here:
- a document has the IRI of a resource, its classes, and words and stems, and no text: what an answer shows is read from
  the graph;
- a commit has the position in the changes of the graph up to which it is complete, so that after a kill the index is as
  of its last commit, and knows which one that is;
- one process writes at a time (the lock of tantivy, which a kill releases). Others read the last commit meanwhile;
- a folder is used after the checksums of its files were compared; what is damaged is `DocumentsDamaged`;
- a search is exact: which documents match is what `entity_match` defines, and `weights` order them as it does.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from cortex_skills.features.finder.entity_match import OF_IRI, OF_NAME, OF_TEXT, PREFIX, STEM, TYPO, QueryWord
from cortex_skills.features.finder.entity_texts import EntityTexts
from cortex_skills.safe_io.private_files import make_private_folder

if TYPE_CHECKING:
    from tantivy import IndexWriter, Query

VERSION = 2
_HEAP_BYTES = 15_000_000  # the minimum of tantivy
_ANALYZER = "folded"
_STATE = "state"  # the key of the document with the position; an IRI has a colon
_FIELDS = {"names": OF_NAME, "iri": OF_IRI, "texts": OF_TEXT}
_SHARE = 0.01  # of BM25 in an order that is otherwise that of the weights
_WHOLE = 100  # characters of a name that is found first by all its words
_MAGIC = 1337


class DocumentsDamaged(Exception):
    """The files of an index cannot be used; they are to be made again."""


class DocumentsBusy(Exception):
    """Another process, or another thread, writes to the index."""


@dataclass(frozen=True, slots=True)
class DocumentsState:
    """What a commit has.

    Attributes:
        position: in the changes of the graph; empty if it was never complete.
        languages: of the texts, whose stems are in it.
    """

    position: str = ""
    languages: tuple[str, ...] = ()


class EntityDocuments:
    """An index of entities. Reading is safe from several threads; one of them writes or reloads at a time.

    Args:
        folder: where it is; it is made if it is missing. None for memory.

    Raises:
        DocumentsDamaged: it has files that are damaged or of another version.
        OSError: the folder cannot be used.
    """

    def __init__(self, folder: Path | None) -> None:
        import tantivy

        self._tantivy = tantivy
        self._folder = folder
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
        schema.add_text_field("class", fast=True, tokenizer_name="raw", index_option="basic")
        for field in _FIELDS:
            schema.add_text_field(field, tokenizer_name=_ANALYZER, index_option="basic")
            schema.add_text_field(f"{field}_stems", tokenizer_name=_ANALYZER, index_option="basic")
        schema.add_text_field("whole", tokenizer_name="raw", index_option="basic")
        schema.add_text_field("cut", tokenizer_name="raw", index_option="basic")
        schema.add_text_field(_STATE, stored=True, tokenizer_name="raw", index_option="basic")
        self._schema = schema.build()
        if folder is not None:
            make_private_folder(folder)
            check_files(folder)
        try:
            self._index = tantivy.Index(self._schema, None if folder is None else str(folder))
            self._index.config_reader("manual")
            analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
            self._index.register_tokenizer(_ANALYZER, analyzer)
            self.reload()
        except (ValueError, KeyError) as error:
            raise DocumentsDamaged(str(error)) from error

    def reload(self) -> None:
        """Read the last commit, of any process.

        Raises:
            DocumentsDamaged: it cannot be read.
        """
        try:
            self._index.reload()
            self._searcher = self._index.searcher()
            self.state = self._read_state()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DocumentsDamaged(str(error)) from error

    @property
    def count(self) -> int:
        """How many resources it has."""
        return max(0, self._searcher.num_docs - 1)

    @contextmanager
    def writing(self) -> Iterator[DocumentsWriter]:
        """Write to it, in this process only; what was not committed at the end is forgotten.

        Raises:
            DocumentsBusy: another process writes, or another thread.
            OSError: the disk is full, or the folder cannot be written to.
        """
        try:
            writer = DocumentsWriter(self._index.writer(_HEAP_BYTES, 1), self._tantivy)
        except ValueError as error:
            if "lock" in str(error).lower():
                raise DocumentsBusy(str(error)) from error
            raise OSError(str(error)) from error
        try:
            yield writer
            writer.wait()
        except ValueError as error:
            raise OSError(str(error)) from error
        finally:
            writer.release()

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
        others = query.term_set_query(self._schema, "key", [_STATE, *without])
        return [(occur.Must, matching), (occur.MustNot, others)]

    def cut(self) -> int:
        """How many resources have more texts, or longer ones, than are in it."""
        return int(self._searcher.search(self._term("cut", "1"), limit=1, count=True).count)  # type: ignore[attr-defined]

    def _of_word(self, word: QueryWord, *, typos: bool) -> Query:
        """What matches a word of a query: the weight of the best way in which it does."""
        query, schema = self._tantivy.Query, self._schema
        ways = []
        stems = [stem for language in self.state.languages for stem in sorted(word.stems_in(language))]
        for field, weight in _FIELDS.items():
            ways.append((self._term(field, word.folded), weight))
            if stems:
                ways.append((query.term_set_query(schema, f"{field}_stems", stems), weight * STEM))
            if word.begins:
                begins = query.fuzzy_term_query(schema, field, word.folded, distance=0, prefix=True)
                ways.append((begins, weight * PREFIX))
            if typos and word.may_differ:
                near = query.fuzzy_term_query(schema, field, word.folded, distance=1, transposition_cost_one=True)
                ways.append((near, weight * TYPO))
        return query.disjunction_max_query([query.const_score_query(way, weight) for way, weight in ways])

    def _order(self, words: Sequence[QueryWord]) -> Iterator[Query]:
        """What puts those first whose name has all the words and no other, or few others."""
        query = self._tantivy.Query
        whole = " ".join(word.folded for word in words)
        yield query.const_score_query(self._term("whole", whole[:_WHOLE]), 1.0)
        for word in words:
            yield query.boost_query(self._term("names", word.folded), _SHARE)

    def _term(self, field: str, value: str) -> Query:
        return self._tantivy.Query.term_query(self._schema, field, value, "basic")

    def _read_state(self) -> DocumentsState:
        found = self._searcher.search(self._term("key", _STATE), limit=1, count=False).hits
        if not found:
            return DocumentsState()
        read = orjson.loads(self._searcher.doc(found[0][1]).get_first(_STATE) or b"{}")
        return DocumentsState(str(read["position"]), tuple(map(str, read["languages"])))


class DocumentsWriter:
    """Changes the documents; nothing of it is read before `commit`."""

    _writer: IndexWriter

    def __init__(self, writer: IndexWriter, tantivy: Any) -> None:
        self._writer = writer
        self._tantivy = tantivy
        self._languages: set[str] = set()

    def wait(self) -> None:
        """Wait for the threads that merge segments."""
        self._writer.wait_merging_threads()

    def release(self) -> None:
        """Release the lock of the index, also while an error refers to this."""
        del self._writer

    def clear(self) -> None:
        """Remove all documents."""
        self._writer.delete_all_documents()

    def put(self, entity: EntityTexts, *, is_new: bool = False) -> None:
        """Add a resource in place of what was there."""
        if not is_new:
            self.discard(entity.subject.value)
        self._writer.add_document(self._tantivy.Document(**self._fields(entity)))

    def discard(self, iri: str) -> None:
        """Remove a resource."""
        self._writer.delete_documents_by_term("key", iri)

    def commit(self, state: DocumentsState) -> None:
        """Make the changes readable.

        Args:
            state: its position; languages are added to those of the documents that were put.
        """
        languages = sorted(self._languages.union(state.languages))
        self.discard(_STATE)
        text = json.dumps({"position": state.position, "languages": languages})
        self._writer.add_document(self._tantivy.Document(key=_STATE, state=text))
        self._writer.commit()

    def _fields(self, entity: EntityTexts) -> dict[str, Any]:
        words: dict[str, dict[str, None]] = {field: {} for field in _FIELDS}
        stems: dict[str, set[str]] = {field: set() for field in _FIELDS}
        wholes = set()
        for text in entity.texts:
            field = "iri" if text.predicate is None else "names" if text.is_name else "texts"
            words[field].update(dict.fromkeys(text.words))
            stems[field] |= text.stems
            if text.is_name:
                wholes.add(" ".join(text.words)[:_WHOLE])
            self._languages.add(text.language)
        fields: dict[str, Any] = {field: " ".join(each) for field, each in words.items()}
        fields |= {f"{field}_stems": " ".join(each) for field, each in stems.items()}
        fields |= {"key": entity.subject.value, "class": [each.value for each in entity.classes]}
        return fields | {"whole": sorted(wholes), "cut": ["1"] if entity.is_cut else []}


def check_files(folder: Path) -> None:
    """Compare the files of the last commit with their checksums.

    Raises:
        DocumentsDamaged: one is missing or damaged.
    """
    meta = folder / "meta.json"
    if not meta.exists():
        return
    try:
        segments = [str(each["segment_id"]).replace("-", "") for each in orjson.loads(meta.read_bytes())["segments"]]
        for segment in segments:
            files = [path for path in folder.glob(f"{segment}.*") if path.suffix != ".lock"]
            if len(files) < 6:  # terms, postings, positions, norms, fast values, stored values
                raise DocumentsDamaged(f"files of the segment {segment} are missing")
            for file in files:
                _check_file(file)
    except FileNotFoundError:
        return  # merged meanwhile by another process
    except (ValueError, KeyError, TypeError) as error:
        raise DocumentsDamaged(str(error)) from error


def _check_file(file: Path) -> None:
    data = file.read_bytes()
    length, magic = int.from_bytes(data[-8:-4], "little"), int.from_bytes(data[-4:], "little")
    if magic != _MAGIC or length > len(data) - 8:
        raise DocumentsDamaged(f"{file.name} is cut")
    end = len(data) - 8 - length
    if zlib.crc32(memoryview(data)[:end]) != orjson.loads(data[end:-8])["crc"]:
        raise DocumentsDamaged(f"{file.name} is damaged")


def remove_files(folder: Path) -> None:
    """Remove the files of an index."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink(missing_ok=True)
