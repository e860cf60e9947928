"""Documents of an index, with tantivy, in a folder or in memory: what an index of entities and one of memories share.

Rules kept here:
- a commit has the position in the changes of the graph up to which it is complete, so that after a kill the index is as
  of its last commit, and knows which one that is;
- one process writes at a time (the lock of tantivy, which a kill releases). Others read the last commit meanwhile;
- a folder is used after the checksums of its files were compared; what is damaged is `DocumentsDamaged`;
- each document has a key, which no other has. Words are separated by spaces.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from cortex_skills.safe_io.private_files import make_private_folder, write_whole

if TYPE_CHECKING:
    from tantivy import Index, IndexWriter, Query, SchemaBuilder

STATE = "state"  # the key of the document with the position; other keys have a colon
ANALYZER = "apart"
_HEAP_BYTES = 15_000_000  # the minimum of tantivy
_MAGIC = 1337
_META = "meta.json"
_STORED_BLOCK = 2048  # bytes; 16,384 by default
_BLOCK = 1 << 20  # bytes of a file that are read at once


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
        summary: of all documents; empty without one.
    """

    position: str = ""
    languages: tuple[str, ...] = ()
    summary: bytes = b""


class KeptDocuments:
    """An index. Reading is safe from several threads; one of them writes or reloads at a time.

    Args:
        folder: where it is; it is made if it is missing. None for memory.

    Raises:
        DocumentsDamaged: it has files that are damaged or of another version.
        OSError: the folder cannot be used.
    """

    version: ClassVar[int]

    def __init__(self, folder: Path | None) -> None:
        import tantivy

        self._tantivy = tantivy
        self._folder = folder
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
        schema.add_text_field(STATE, stored=True, tokenizer_name="raw", index_option="basic")
        schema.add_bytes_field("summary", stored=True, indexed=False)
        self._add_fields(schema)
        self._schema = schema.build()
        self._is_new = folder is not None and not (folder / _META).exists()
        if folder is not None:
            make_private_folder(folder)
            check_files(folder)
        try:
            self._index = self._opened()
            if folder is not None and self._is_new and self._set_blocks(folder):
                self._index = self._opened()
            self._index.config_reader("manual")
            analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
            self._index.register_tokenizer(ANALYZER, analyzer)
            self.reload()
        except (ValueError, KeyError) as error:
            raise DocumentsDamaged(str(error)) from error

    def _opened(self) -> Index:
        return self._tantivy.Index(self._schema, None if self._folder is None else str(self._folder))

    def _set_blocks(self, folder: Path) -> bool:
        """Have what is stored of documents in small blocks, as tantivy has no argument for; returns whether it is so.

        A document is read with its whole block, and of many documents each is in another one.
        """
        try:
            writer = self._index.writer(_HEAP_BYTES, 1)  # another process writes neither to it nor this file meanwhile
        except ValueError:
            return False
        try:
            meta = orjson.loads((folder / _META).read_bytes())
            settings = meta.get("index_settings", {})
            if meta.get("segments") != [] or "docstore_blocksize" not in settings:
                return False
            settings["docstore_blocksize"] = _STORED_BLOCK
            write_whole(folder / _META, orjson.dumps(meta), 0o600)
        finally:
            del writer
        return True

    def _add_fields(self, schema: SchemaBuilder) -> None:
        """Add the fields of a document, without its key."""
        raise NotImplementedError

    def fields_of(self, document: Any) -> dict[str, Any]:
        """The fields of a document, and its key."""
        raise NotImplementedError

    def languages_of(self, _: Any) -> set[str]:
        """The languages of the texts of a document."""
        return set()

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
        """How many documents it has."""
        return max(0, self._searcher.num_docs - 1)

    @contextmanager
    def writing(self) -> Iterator[DocumentsWriter]:
        """Write to it, in this process only; what was not committed at the end is forgotten.

        Raises:
            DocumentsBusy: another process writes, or another thread.
            OSError: the disk is full, or the folder cannot be written to.
        """
        try:
            writer = DocumentsWriter(self, self._index.writer(_HEAP_BYTES, 1), self._tantivy)
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

    def _term(self, field: str, value: str) -> Query:
        return self._tantivy.Query.term_query(self._schema, field, value, "basic")

    def _number_of(self, query: Query) -> int:
        """How many documents match."""
        return int(self._searcher.search(query, limit=1, count=True).count)  # type: ignore[attr-defined]

    def _read_state(self) -> DocumentsState:
        found = self._searcher.search(self._term("key", STATE), limit=1, count=False).hits
        if not found:
            return DocumentsState()
        document = self._searcher.doc(found[0][1])
        read = orjson.loads(document.get_first(STATE) or b"{}")
        summary = bytes(document.get_first("summary") or b"")
        return DocumentsState(str(read["position"]), tuple(map(str, read["languages"])), summary)


class DocumentsWriter:
    """Changes the documents; nothing of it is read before `commit`."""

    _writer: IndexWriter

    def __init__(self, documents: KeptDocuments, writer: IndexWriter, tantivy: Any) -> None:
        self._documents = documents
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

    def put(self, document: Any, *, is_new: bool = False) -> None:
        """Add a document in place of what was there."""
        fields = self._documents.fields_of(document)
        if not is_new:
            self.discard(fields["key"])
        self._languages |= self._documents.languages_of(document)
        self._writer.add_document(self._tantivy.Document(**fields))

    def discard(self, key: str) -> None:
        """Remove a document."""
        self._writer.delete_documents_by_term("key", key)

    def commit(self, state: DocumentsState) -> None:
        """Make the changes readable.

        Args:
            state: its position; languages are added to those of the documents that were put.
        """
        languages = sorted(self._languages.union(state.languages))
        self.discard(STATE)
        text = json.dumps({"position": state.position, "languages": languages})
        summary = {"summary": state.summary} if state.summary else {}
        self._writer.add_document(self._tantivy.Document(key=STATE, **{STATE: text}, **summary))
        self._writer.commit()


def check_files(folder: Path) -> None:
    """Compare the files of the last commit with their checksums.

    Raises:
        DocumentsDamaged: one is missing or damaged.
    """
    meta = folder / _META
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


def _check_file(path: Path) -> None:
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 8))
        length, magic = int.from_bytes(file.read(4), "little"), int.from_bytes(file.read(4), "little")
        if magic != _MAGIC or length > end - 8:
            raise DocumentsDamaged(f"{path.name} is cut")
        rest, crc = end - 8 - length, 0
        file.seek(rest)
        expected = orjson.loads(file.read(length))["crc"]
        file.seek(0)
        while rest:
            part = file.read(min(rest, _BLOCK))
            if not part:
                raise DocumentsDamaged(f"{path.name} is cut")
            crc, rest = zlib.crc32(part, crc), rest - len(part)
    if crc != expected:
        raise DocumentsDamaged(f"{path.name} is damaged")


def remove_files(folder: Path) -> None:
    """Remove the files of an index."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink(missing_ok=True)
