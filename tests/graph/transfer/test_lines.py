"""N-Triples and N-Quads are read in blocks, and what comes out is what the engine reads in the whole file."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from cortex_graph import InvalidArguments
from cortex_graph.transfer import lines
from cortex_graph.transfer.read_worker import FileReader

NQ = RdfFormat.N_QUADS
TRIPLE = '<urn:s{n}> <urn:p> "value {n}"'
DATA, RECORDS, INDEX = "<urn:g>", "<urn:cortex:mayros/provenance>", "<urn:cortex:other/index>"

TERMS = ["<urn:s>", "<urn:g>", "<urn:s#f>", "_:b", '"v"', '"a <urn:g> ."', '"é"@fr', '"1"^^<urn:d>', r'"\" \u00e9 #"']
GRAPHS = ["", " <urn:g>", " <urn:h>", f" {RECORDS}", f" {INDEX}", " _:g", r" <urn:\u0067>"]
ENDS = [
    " .\n",
    ".\n",
    "\t.\n",
    " .\r\n",
    " .\r",
    " . # <urn:g> .\n",
    " .\n\n",
    " .\n# <urn:g> .\n",
    "\n",
    " <urn:g> .\n",
]
LINES = st.builds(
    lambda subject, object_, graph, end: f"{subject} <urn:p> {object_}{graph}{end}",
    st.sampled_from(TERMS[:4]),
    st.sampled_from(TERMS),
    st.sampled_from(GRAPHS),
    st.sampled_from(ENDS),
)


def is_data(graph: NamedNode) -> bool:
    return "/" not in graph.value


def read(folder: Path, content: bytes) -> tuple[FileReader, dict[str, Any], bytes]:
    """What the reader makes of a file, without the process around it."""
    file = folder / "file.nq"
    file.write_bytes(content)
    job: dict[str, Any] = {"file": str(file), "format": "n-quads", "base_iri": None, "folder": str(folder)}
    job |= {"namespace": "mayros", "base": "urn:cortex:", "with_provenance": False, "guessed": False, "most": 1 << 20}
    reading = FileReader(job)
    return reading, reading.run(), (folder / "data.nt").read_bytes()


def many(count: int, graph: str = DATA) -> bytes:
    return "".join(f"{TRIPLE.format(n=n)} {graph} .\n" for n in range(count)).encode()


@pytest.mark.parametrize("end", [" .\n", " .\r\n", "\t.\n", ".\n"])
def test_a_plain_block_is_unchanged_except_for_its_graph(end: str) -> None:
    block = "".join(f"{TRIPLE.format(n=n)} {DATA}{end}" for n in range(3)).encode()
    assert lines.plain(block, NQ, is_data) == (
        b"".join(b'<urn:s%d> <urn:p> "value %d" .\n' % (n, n) for n in range(3)),
        3,
    )


@pytest.mark.parametrize(
    "block",
    [
        b"_:b <urn:p> <urn:o> <urn:g> .\n",
        b"<urn:s> <urn:p> <<( <urn:s> <urn:p> <urn:o> )>> <urn:g> .\n",
        b"<urn:s> <urn:p> <urn:o> <urn:cortex:mayros/provenance> .\n",
        b"<urn:s> <urn:p> <urn:o> <urn:g> .\n<urn:s> <urn:p> <urn:o> <urn:h> .\n",
        b"<urn:s> <urn:p> <urn:o> <urn:g> .\n<urn:s> <urn:p> <urn:g> .\n",  # the second is in no graph
        b"<urn:s> <urn:p> <urn:o> <urn:g> .\n<urn:s> <urn:p> <urn:o> <urn:g> <urn:g> .\n",  # nor is this one valid
        b"<urn:s> <urn:p> <urn:o> <urn:g> .\n<urn:s> <urn:g> .\n",
        b"<urn:s> <urn:p> <urn:o> <urn:g> .\n# <urn:g> .\n",
        b"<urn:s> <urn:p> <urn:o> <urn:g> .\n\n",
        b"<urn:s> <urn:p> <urn:o> <urn:g> .",
        b"<urn:s> <urn:p> <urn:o> .\r<urn:s> <urn:p> <urn:o> .\n",
        b"\n",
    ],
)
def test_what_is_not_plain_is_taken_statement_by_statement(block: bytes) -> None:
    assert lines.plain(block, NQ, is_data) is None


@given(st.lists(LINES, max_size=6).map("".join))
def test_a_plain_block_is_what_the_engine_reads_in_it(text: str) -> None:
    found = lines.plain(text.encode(), NQ, is_data)
    if found is not None:
        quads = list(parse(text.encode(), NQ))
        assert [quad.triple for quad in parse(found[0], RdfFormat.N_TRIPLES)] == [quad.triple for quad in quads]
        assert found[1] == len(quads) == found[0].count(b"\n")
        assert not any(isinstance(quad.graph_name, NamedNode) and not is_data(quad.graph_name) for quad in quads)


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"bcd"]), max_size=40).map(b"".join))
def test_blocks_are_whole_lines_and_nothing_is_lost(content: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", 4)
        found = list(lines.blocks(io.BytesIO(content)))
    assert b"".join(found) == content
    assert all(block.endswith(b"\n") for block in found[:-1])
    assert sum(map(lines.breaks, found)) == len(re.findall(rb"\r\n|\r|\n", content))


@given(st.lists(LINES, max_size=8).map("".join), st.sampled_from([1, 40, 1 << 20]))
def test_a_file_has_the_same_content_for_every_block_size(
    tmp_path_factory: pytest.TempPathFactory, text: str, size: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "blocks"
    folder.mkdir(exist_ok=True)
    content = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", size)
        try:
            quads: list[Quad] | SyntaxError = list(parse(content, NQ))
        except SyntaxError as error:
            quads = error
        if isinstance(quads, SyntaxError):
            with pytest.raises(SyntaxError) as caught:
                read(folder, content)
            assert f"line {caught.value.lineno} " in caught.value.msg
            assert (
                abs((caught.value.lineno or 0) - (quads.lineno or 0)) <= 1
            )  # what ends too early may end with its block
            return
        reading, done, written = read(folder, content)
    kept = [quad for quad in quads if str(quad.graph_name) not in (RECORDS, INDEX)]
    assert (done["statements"], done["ignored"]) == (len(kept), len(quads) - len(kept))
    named = [quad.triple for quad in parse(written, RdfFormat.N_TRIPLES)]
    assert [t.predicate for t in named] == [quad.predicate for quad in kept]
    assert [t for t in named if "genid" not in str(t)] == [q.triple for q in kept if "_:" not in str(q.triple)]
    assert reading.statements == len(kept)


def test_a_line_that_breaks_is_named_by_its_place_in_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", 1000)
    content = many(500) + b"<urn:s> <urn:p> <not an iri> .\n" + many(500)
    with pytest.raises(SyntaxError, match="at line 501 between columns 17 and") as caught:
        read(tmp_path, content)
    with pytest.raises(SyntaxError) as whole:
        list(parse(content, NQ))
    assert caught.value.args == whole.value.args


def test_terms_that_nest_too_deep_are_named_by_their_place_in_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", 1000)
    deep = b"<urn:a> <urn:p> " + b"<<( <urn:a> <urn:p> " * 50_000 + b"1" + b" )>>" * 50_000 + b" .\n"
    with pytest.raises(InvalidArguments) as caught:
        read(tmp_path, many(500) + deep)
    assert caught.value.details["line"] == 501


def test_records_among_data_are_put_aside_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 1000)
    content = many(100) + many(50, RECORDS) + many(25, INDEX) + many(100, "<urn:h>")
    _, done, written = read(tmp_path, content)
    assert done == {"statements": 200, "ignored": 75, "records": 0, "members": {}, "prefixes": {}}
    assert written.count(b"\n") == 200
    assert b"urn:cortex" not in written


def test_a_line_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", 1000)
    monkeypatch.setattr(lines, "LONGEST", 5000)
    with pytest.raises(InvalidArguments, match="a line of more than 5000 bytes"):
        read(tmp_path, many(10) + b"# " + b"x" * 10_000)


def test_a_reader_starts_without_the_stores() -> None:
    """It starts for every file; what it has no use for would take as long as 100,000 statements."""
    import subprocess
    import sys

    code = (
        "import sys, cortex_graph.transfer.read_worker\n"
        "print([m for m in sys.modules if 'stores' in m or 'sparql' in m])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
