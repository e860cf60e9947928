"""What the tests of transfer share."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, parse

from cortex_graph import GraphUnavailable, NamespacedGraph, Provenance, export_rdf
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.transfer.read_worker import FileReader

GRAPH = NamedNode("urn:cortex:mayros")
RECORDS = NamedNode("urn:cortex:mayros/provenance")


def exported(graph: NamespacedGraph, form: str = "n-quads", *, with_provenance: bool = False) -> bytes:
    written = io.BytesIO()
    export_rdf(graph, written, form, with_provenance=with_provenance)
    return written.getvalue()


def lines(graph: NamespacedGraph) -> list[bytes]:
    """Everything that a namespace holds, its provenance included, in order."""
    return sorted(exported(graph, with_provenance=True).splitlines())


def read_here(content: bytes, form: str, folder: Path, *, guessed: bool = False) -> tuple[dict[str, Any], set[Triple]]:
    """What the reader of files finds, in this process: its counts, and the triples."""
    file = folder / "source"
    file.write_bytes(content)
    job = {"file": str(file), "format": form, "guessed": guessed, "most": 1 << 20, "base_iri": None}
    job |= {"folder": str(folder), "namespace": "mayros", "base": "urn:cortex:", "with_provenance": False}
    found = FileReader(job).run()
    return found, {quad.triple for quad in parse((folder / "data.nt").read_bytes(), RdfFormat.N_TRIPLES)}


def assert_some(graph: NamespacedGraph, count: int = 3) -> list[str]:
    """Assert some triples; their ids."""
    origin = Provenance(skill="greeter", skill_version="1.2.0", agent="a1")
    rows = [{"subject": f"s{number}", "predicate": "p", "object": number} for number in range(count)]
    return [row["id"] for row in graph.create_triples(rows, origin)]


def write_triples(file: Path, count: int) -> Path:
    with file.open("w") as output:
        output.writelines(
            f'<urn:cortex:mayros:s{n}> <urn:cortex:mayros:p{n % 7}> "value {n}" .\n' for n in range(count)
        )
    return file


# Before a program: it never puts what it has written in its place, so that it is killed before that, however late.
UNFINISHED = """
import time
from pathlib import Path
def never(way):
    return lambda path, target: time.sleep(600) if path.name.endswith(".part") else way(path, target)
Path.rename, Path.replace = never(Path.rename), never(Path.replace)
"""


class Sliced(OxigraphStore):
    """A store whose bulk load is not atomic, like that of a server, and that fails on request."""

    bulk_is_atomic = False

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.loads = 0
        self.fails_at = 0

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        self.loads += 1
        if self.loads == self.fails_at:
            raise GraphUnavailable("the server went away")
        super().bulk_load(path, graph)


class Dying(OxigraphStore):
    """A store that goes away in the middle of a stream."""

    def quads(self, pattern) -> Iterator[Quad]:
        for number, quad in enumerate(super().quads(pattern)):
            if number == 50:
                raise GraphUnavailable("the server went away")
            yield quad


def python(code: str, *arguments: object, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A process that runs some code, with `sys.argv[1:]` the arguments."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | (env or {})
    )


def kill_when(process: subprocess.Popen[bytes], happened: Callable[[], object]) -> bool:
    """Kill a process as soon as something has happened; whether it still ran then."""
    end = time.monotonic() + 100
    try:
        while process.poll() is None and not happened():
            assert time.monotonic() < end
            time.sleep(0.01)
        return process.poll() is None
    finally:
        process.kill()
        process.communicate()


def left_in(folder: Path, beginnings: Sequence[str] = ("cortex-",)) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(tuple(beginnings)))
