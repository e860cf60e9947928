"""The process that reads an untrusted file; see `cortex_graph.workers.processes`.

Rules kept here:
- one job per process: it receives a frame of JSON and sends frames of JSON: `P` for progress (`{"read", "statements",
  "written"}`), then `D` for the result or `E` for an error;
- the output is N-Triples in the folder of the job: `data.nt`, and with provenance `records.nt` and `recorded.nt`, the
  triples that the records describe and that the file does not contain itself;
- its memory is bounded, so that a file made to fill it ends this process only;
- a byte order mark at the beginning is no part of a text (RFC 3629 §6); a relative IRI without a base is an error, in
  JSON-LD as well, whose parser would leave its statement out;
- blank nodes get names, triple terms are refused, and the graphs that stores keep beside a namespace (provenance,
  index) are never mixed into its triples.
"""

from __future__ import annotations

import json
import mmap
import os
import threading
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse, serialize

from cortex_graph.checks.size_limits import MOST_BYTES, long_line, too_long
from cortex_graph.exceptions import GraphError, InvalidArguments, invalid
from cortex_graph.naming.names import Names, kept_beside
from cortex_graph.transfer import lines
from cortex_graph.transfer.encodings import NOT_UTF8, first_bytes, plain_file, with_line_feeds
from cortex_graph.transfer.formats import FORMATS, format_in
from cortex_graph.transfer.json_ld import ignored_members
from cortex_graph.transfer.precheck import check_file, check_terms
from cortex_graph.transfer.references import check_iris, explained, relative_iri
from cortex_graph.workers.worker_channel import WorkerChannel

MOST_PREFIXES = 1000  # that are looked at
_PROGRESS_S = 0.2
_PARTS = "nothing was imported; import it in parts, as N-Triples if it is in another format"
_NOWHERE_SCHEME = "cortex-nowhere:"
_NOWHERE = f"{_NOWHERE_SCHEME}///"


class FileReader:
    """Reads one file.

    Args:
        job: `{file, format, guessed, most, base_iri, folder, namespace, base, with_provenance}`: `guessed` is whether
            the format is that of the file's name, and `most` how many bytes the file may have without compression.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self.statements = 0
        self.ignored = 0
        self.members: dict[str, int] = {}
        self.prefixes: dict[str, str] = {}
        self.steps = 0
        self.file = Path(job["file"])
        self.form = FORMATS[job["format"]]
        self._job = job
        self._base_iri: str | None = job["base_iri"]
        self._folder = Path(job["folder"])
        self._names = Names(job["namespace"], job["base"])
        self._wants_records: bool = job["with_provenance"]
        self._input: IO[bytes] | None = None
        self._nodes: dict[str, int] = {}
        self._digest = ""

    def run(self) -> dict[str, Any]:
        """Read the file and return the counts of its content."""
        source = self.file
        before = _state(source)
        self._recognise()
        found = self._folder / "found.nt"
        with self.file.open("rb") as self._input, found.open("wb", buffering=1 << 20) as records:
            if self._input.read(len(BOM_UTF8)) != BOM_UTF8:
                self._input.seek(0)
            if self.form in lines.FORMATS:
                self._read_lines(self._input, records)
            else:
                check_file(self.file, self.form, self._step)
                if self.form == RdfFormat.JSON_LD:
                    self.members = ignored_members(self.file, self._base_iri or _NOWHERE, self._step)
                triples = self._triples(self._parsed(self._input), records)
                serialize(triples, self._folder / "data.nt", RdfFormat.N_TRIPLES)
        if _state(source) != before:
            raise invalid("source", "was changed while it was read", hint="nothing was imported; try again")
        for written in ("data.nt", "found.nt"):
            _check_lengths(self._folder / written)
            check_iris(self._folder / written, self.file)
        records_found = 0
        if self._wants_records:
            from cortex_graph.transfer.record_check import check_records

            records_found = check_records(found, self._folder, self._names, self._step)
        return {
            "statements": self.statements,
            "ignored": self.ignored,
            "records": records_found,
            "members": self.members,
            "prefixes": self.prefixes,
        }

    def _recognise(self) -> None:
        """Replace the file by one in UTF-8 without compression, and the format by the one that it has."""
        name = self._job["format"]
        self.file = plain_file(self.file, name, self._folder, self._job["most"], self._step)
        head = first_bytes(self.file).removeprefix(BOM_UTF8)
        self.form = FORMATS[format_in(head, name, guessed=self._job["guessed"])]
        if self.form == RdfFormat.RDF_XML:
            self.file = with_line_feeds(self.file, self._folder, self._job["most"], self._step)

    def progress(self) -> dict[str, int]:
        """Return how many bytes were read and written, and how many statements."""
        read = 0
        with suppress(OSError, ValueError, AttributeError):
            read = self._input.tell()  # type: ignore[union-attr]
        return {"read": read, "statements": self.statements + self.steps, "written": _size(self._folder)}

    def _step(self) -> None:
        self.steps += 1

    def _parsed(self, file: IO[bytes]) -> Iterator[Quad]:
        is_of_nowhere = self.form == RdfFormat.JSON_LD and self._base_iri is None
        # Without a base, statements with relative IRIs are dropped (JSON-LD 1.1 API §8.2).
        parser = parse(file, self.form, base_iri=_NOWHERE if is_of_nowhere else self._base_iri)
        quads = map(self._absolute, parser) if is_of_nowhere else parser
        for quad in islice(quads, 1):
            self._declared(parser.prefixes)  # those of an element end with it
            yield quad
        yield from quads
        self._declared(parser.prefixes)

    def _declared(self, prefixes: Mapping[str, str]) -> None:
        self.prefixes = {**dict(islice(prefixes.items(), MOST_PREFIXES)), **self.prefixes}

    def _absolute(self, quad: Quad) -> Quad:
        if _NOWHERE_SCHEME in str(quad):
            kind = [quad.object.datatype] if isinstance(quad.object, Literal) else []
            for term in (quad.subject, quad.predicate, quad.object, quad.graph_name, *kind):
                if isinstance(term, NamedNode) and term.value.startswith(_NOWHERE_SCHEME):
                    relative = term.value.removeprefix(_NOWHERE).removeprefix(_NOWHERE_SCHEME)
                    raise relative_iri(relative, self.file, self.form)
        return quad

    def _read_lines(self, file: IO[bytes], records: IO[bytes]) -> None:
        before = 0
        with (self._folder / "data.nt").open("wb") as data:
            for block in lines.blocks(file):
                # With records, triples are compared line by line, in the form of the serialiser.
                found = None if self._wants_records else lines.plain(block, self.form, self._is_data)
                if found is not None:
                    triples, count = found
                    self.statements += count
                    before += lines.breaks(block, count)
                else:
                    triples = self._block(block, before, records)
                    before += lines.breaks(block)
                data.write(triples)

    def _block(self, block: bytes, before: int, records: IO[bytes]) -> bytes:
        check_terms(block, before)
        try:
            return serialize(self._triples(parse(block, self.form), records), format=RdfFormat.N_TRIPLES) or b""
        except SyntaxError as error:
            raise lines.moved(error, before) from None

    def _is_data(self, graph: NamedNode) -> bool:
        return not kept_beside(graph.value, self._names.base)

    def _triples(self, quads: Iterator[Quad], records: IO[bytes]) -> Iterator[Triple]:
        """Yield the triples that are data; those of other graphs are written to `records` or ignored."""
        beside: dict[Any, bool] = {}
        own = self._names.provenance_graph
        for quad in quads:
            graph = quad.graph_name
            is_beside = beside.get(graph)
            if is_beside is None:
                is_beside = isinstance(graph, NamedNode) and not self._is_data(graph)
                if len(beside) < 1000:
                    beside[graph] = is_beside
            if not is_beside:
                self.statements += 1
                subject, object_ = quad.subject, quad.object
                if type(subject) is NamedNode and type(object_) in (Literal, NamedNode):
                    yield quad.triple
                else:
                    yield self._named(quad)
            elif self._wants_records and graph == own:
                records.write(f"{quad.triple} .\n".encode())
            else:
                self.ignored += 1

    def _named(self, quad: Quad) -> Triple:
        subject, object_ = quad.subject, quad.object
        if isinstance(subject, Triple) or isinstance(object_, Triple):
            raise invalid("source", f"has a triple term, in {quad.triple}", hint="use reification (rdf:Statement)")
        return Triple(self._node(subject), quad.predicate, self._node(object_))  # type: ignore[arg-type]

    def _node(self, term: NamedNode | BlankNode | Literal) -> NamedNode | Literal:
        if not isinstance(term, BlankNode):
            return term
        number = self._nodes.setdefault(term.value, len(self._nodes) + 1)
        if not self._digest:
            import hashlib

            with self.file.open("rb") as file:
                self._digest = hashlib.file_digest(file, "sha256").hexdigest()[:32]
        return self._names.node(f"{self._names.prefix}genid:{self._digest}-{number}")


def main() -> None:
    """Do one job."""
    channel = WorkerChannel()
    job = json.loads(channel.receive()[1])
    channel.watch_parent()
    reader = FileReader(job)
    ended = threading.Event()
    sending = (channel, reader, ended)
    progress = threading.Thread(target=_send_progress, args=sending, name="cortex-progress", daemon=True)
    progress.start()
    kind, result = _result(reader)
    ended.set()
    progress.join()
    channel.send(kind, json.dumps(result).encode())
    os._exit(0)  # ending the interpreter takes a tenth of the time of a small file


def _result(reader: FileReader) -> tuple[bytes, dict[str, Any]]:
    try:
        return b"D", reader.run()
    except SyntaxError as error:
        if (known := explained(error, reader.file, reader.form)) is not None:
            return b"E", _as_document(known)
        problem = f"is not valid {reader.form.name}: {error.msg}"
        found = {"problem": problem, "line": error.lineno, "column": error.offset}
        return b"E", found | ({"hint": NOT_UTF8} if "Invalid UTF-8" in error.msg else {})
    except InvalidArguments as error:
        return b"E", _as_document(error)
    except GraphError as error:
        return b"E", {"message": error.message, "hint": error.hint, "details": {"field": "source"}}
    except OSError as error:
        return b"E", {"os": str(error), "errno": error.errno}
    except MemoryError as error:
        if "buffer" in str(error):
            return b"E", {"problem": f"has a term of more than {MOST_BYTES >> 20} MiB, or one that does not end"}
        return b"E", {"problem": "needs more memory than the reader of a file may have", "hint": _PARTS}


def _as_document(error: InvalidArguments) -> dict[str, Any]:
    return {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}


def _send_progress(channel: WorkerChannel, reader: FileReader, ended: threading.Event) -> None:
    while not ended.wait(_PROGRESS_S):
        channel.send(b"P", json.dumps(reader.progress()).encode())


def _check_lengths(file: Path) -> None:
    if file.stat().st_size > MOST_BYTES:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if long_line(content) is not None:
                raise too_long("source", "has a triple of")


def _state(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _size(folder: Path) -> int:
    with suppress(OSError):
        return sum(entry.stat().st_size for entry in folder.rglob("*") if entry.is_file())
    return 0
