"""An import or export that is killed, starved or fed with hostile files leaves nothing half done."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphUnavailable, InvalidArguments, NamespacedGraph, export_rdf, import_rdf, open_store
from cortex_graph.naming.vocabulary import VALUE
from cortex_graph.store import Pattern
from cortex_graph.transfer import import_file
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.progress import silent
from cortex_graph.workers.scratch import scratch_folder, sweep, whole_folder
from tests.graph.transfer.support import (
    GRAPH,
    UNFINISHED,
    Sliced,
    exported,
    kill_when,
    left_in,
    python,
    write_triples,
)

IMPORT = """
import sys
from cortex_graph import NamespacedGraph, import_rdf, open_store
import_rdf(NamespacedGraph(open_store(sys.argv[1]), "mayros"), sys.argv[2])
"""
# Before a program: it also reads what is not a regular file, such as a pipe that never ends.
ANY_FILE = """
from cortex_graph.transfer import read_process
read_process.S_ISREG = bool
"""
EXPORT = """
import sys
from cortex_graph import NamespacedGraph, export_rdf, open_store
export_rdf(NamespacedGraph(open_store(sys.argv[1]), "mayros"), sys.argv[2])
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, of this test alone."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["reading", "read", "loading"])
def test_an_import_that_is_killed_is_run_again_and_nothing_is_there_twice(
    tmp_path: Path, scratch: Path, moment: str
) -> None:
    file = write_triples(tmp_path / "large.nt", 60_000)
    place = tmp_path / "store"
    signs = {
        "reading": lambda: list(scratch.glob("cortex-transfer-*/reader.log")),
        "read": lambda: list(scratch.glob("cortex-transfer-*/data.nt")),
        "loading": lambda: list(place.glob("bulk-*.sst")),
    }
    kill_when(python(IMPORT, place, file), signs[moment])
    store = open_store(place)
    graph = NamespacedGraph(store, "mayros")
    assert graph.count() in (0, 60_000)
    assert import_rdf(graph, file) == 60_000
    assert graph.count() == 60_000
    assert left_in(scratch, ("cortex-transfer",)) == []
    assert left_in(place, ("bulk-",)) == []
    store.close()


def test_an_import_into_a_server_goes_on_where_it_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.transfer.loading.SLICE_BYTES", 10_000)
    file = write_triples(tmp_path / "some.nt", 2_000)
    server = Sliced(tmp_path / "server")
    graph = NamespacedGraph(server, "mayros")
    server.fails_at = 6
    with pytest.raises(GraphUnavailable):
        import_rdf(graph, file)
    assert 0 < graph.count() < 2_000
    server.close()
    again = Sliced(tmp_path / "server")
    graph = NamespacedGraph(again, "mayros")
    assert import_rdf(graph, file) == 2_000
    assert graph.count() == 2_000
    whole = Sliced()
    import_rdf(NamespacedGraph(whole, "mayros"), file)
    assert again.loads == whole.loads - 5
    again.close()


def test_the_reader_of_a_file_ends_with_its_parent(tmp_path: Path, scratch: Path) -> None:
    pipe = tmp_path / "endless.nt"
    os.mkfifo(pipe)
    process = python(ANY_FILE + IMPORT, tmp_path / "store", pipe)

    def readers() -> list[str]:
        found = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True, text=True
        ).stdout
        return [line.split()[0] for line in found.splitlines() if "cortex_graph.transfer.read_worker" in line]

    found: list[str] = []
    assert kill_when(process, lambda: found.extend(readers()) or found)
    end = time.monotonic() + 100
    with suppress(OSError):  # it is gone
        while "zombie" not in Path(f"/proc/{found[0]}/status").read_text():
            assert time.monotonic() < end
            time.sleep(0.01)


def _socket_file(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as listener, pytest.MonkeyPatch.context() as patched:
        patched.chdir(path.parent)  # the path of a socket has a limit
        listener.bind(path.name)
    return path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    "make",
    [
        lambda path: os.mkfifo(path) or path,
        lambda path: path.mkdir() or path,
        lambda path: path.symlink_to(os.devnull) or path,
        _socket_file,
    ],
    ids=["pipe", "folder", "device", "socket"],
)
def test_what_is_not_a_regular_file_is_refused_and_not_opened(
    tmp_path: Path, make: Callable[[Path], Path], scratch: Path
) -> None:
    source = make(tmp_path / "some.nt")
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    with pytest.raises(InvalidArguments, match="is not a regular file") as caught:
        import_rdf(graph, source)
    assert caught.value.details == {"field": "source"}
    assert "- with --format" in caught.value.hint
    assert graph.count() == 0
    assert left_in(scratch, ("cortex-transfer",)) == []


@pytest.mark.slow
def test_an_export_that_is_killed_leaves_the_file_that_was_there(tmp_path: Path, scratch: Path) -> None:
    store = open_store(tmp_path / "store")
    store.bulk_load(write_triples(tmp_path / "large.nt", 30_000), GRAPH)
    store.close()
    target = tmp_path / "out.nq"
    target.write_text("what was there")
    exporting = python(UNFINISHED + EXPORT, tmp_path / "store", target)
    assert kill_when(exporting, lambda: list(tmp_path.glob(".out.nq.*.part")))
    assert target.read_text() == "what was there"
    store = open_store(tmp_path / "store")
    export_rdf(NamespacedGraph(store, "mayros"), target)
    store.close()
    assert target.read_bytes().count(b"\n") == 30_000
    assert left_in(tmp_path, (".out",)) == []


def test_scratch_folders_of_the_dead_are_removed_and_no_others(scratch: Path) -> None:
    hold = "import sys\nfrom cortex_graph.workers.scratch import scratch_folder\nwith scratch_folder() as f:\n"
    process = python(f"{hold} print(f, flush=True); sys.stdin.read()")
    assert process.stdout is not None
    alive = Path(process.stdout.readline().decode().strip())
    killed = python(f"{hold} print(f, flush=True)\n import os; os.kill(os.getpid(), 9)")
    dead = Path(killed.communicate()[0].decode().strip())
    old = scratch / "cortex-import-old"
    old.mkdir()
    os.utime(old, (0, 0))
    young = scratch / "cortex-import-young"
    young.mkdir()
    elsewhere = scratch / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (scratch / "cortex-transfer-link").symlink_to(elsewhere)
    with scratch_folder() as mine:
        assert set(sweep(scratch)) == set()
        assert mine.is_dir()
    assert not dead.exists()
    assert not old.exists()
    assert young.exists()
    assert (elsewhere / "file").exists()
    assert alive.is_dir()
    process.kill()
    process.communicate()


def test_a_part_without_a_lock_is_removed_when_its_process_has_ended(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, alive = (tmp_path / f".new.{pid}.part" for pid in (ended.pid, os.getppid()))
    dead.mkdir()
    alive.mkdir()
    with whole_folder(tmp_path / "new"):
        pass
    assert not dead.exists()
    assert alive.exists()


def test_a_file_that_is_cut_while_it_is_read_is_refused(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_triples(tmp_path / "large.ttl", 200_000)
    whole = file.stat().st_size
    waiting = f"""
from cortex_graph.transfer import read_worker as reader
parse = reader.parse
class UntilItIsCut:
    def __init__(self, *how, **more):
        self.parser = parse(*how, **more)
        self.quads = self.read()
    def read(self):
        for number, quad in enumerate(self.parser):
            while number == 1000 and os.stat({str(file)!r}).st_size == {whole}:
                time.sleep(0.01)
            yield quad
    def __iter__(self):
        return self.quads
    @property
    def prefixes(self):
        return self.parser.prefixes
reader.parse = UntilItIsCut
reader.main()
"""
    replace_reader(waiting, monkeypatch, tmp_path)
    graph = NamespacedGraph(open_store("memory:"), "mayros")

    def cut() -> None:
        while not ended.is_set() and not list(scratch.glob("cortex-transfer-*/data.nt")):
            time.sleep(0.001)
        os.truncate(file, 1000)

    ended = threading.Event()
    cutter = threading.Thread(target=cut)
    cutter.start()
    try:
        with pytest.raises(InvalidArguments):
            import_rdf(graph, file)
    finally:
        ended.set()
        cutter.join()
    assert graph.count() == 0


def replace_reader(code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run `code` in the process that reads a file, in place of the reader."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\nimport os, sys, time, json\nsys.argv[1:] = sys.argv[-2:]\n{code}\n")
    program.chmod(0o755)
    monkeypatch.setattr("cortex_graph.workers.processes.sys.executable", str(program))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("os.abort()", "SIGABRT"),
        ("sys.exit('MemoryError')", "more memory"),
        ("report(1 << 50); time.sleep(600)", "grows"),
        ("time.sleep(600)", "no progress"),
        ("[report(1) for _ in range(9)]; time.sleep(600)", "no progress"),
    ],
)
def test_a_file_that_breaks_or_stops_its_reader_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, said: str
) -> None:
    receive_job = """
from cortex_graph.workers.worker_channel import WorkerChannel
channel = WorkerChannel()
channel.receive()
def report(written):
    channel.send(b"P", json.dumps({"read": 1, "statements": 1, "written": written}).encode())
"""
    replace_reader(receive_job + code, monkeypatch, tmp_path)
    if said == "no progress":
        monkeypatch.setattr("cortex_graph.transfer.read_process.STALLED_S", 1.0)
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    with pytest.raises(InvalidArguments, match=said):
        import_rdf(graph, io.BytesIO(b"<urn:a> <urn:b> <urn:c> ."), "turtle")
    assert graph.count() == 0


@pytest.mark.slow
def test_a_file_that_fills_the_memory_ends_its_reader_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "nodes.nt"
    with file.open("w") as output:
        output.writelines(f"_:b{number} <urn:p> _:c{number} .\n" for number in range(500_000))
    monkeypatch.setattr("cortex_graph.transfer.read_process.MAX_MEMORY", 150 << 20)
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    with pytest.raises(InvalidArguments, match=r"memory|SIGABRT|SIGSEGV"):
        import_rdf(graph, file)
    assert graph.count() == 0


@contextmanager
def small_disk(place: Path, size: str):
    """A file system in memory that is soon full."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_an_import_onto_a_full_disk_imports_nothing_and_the_store_stays_readable(tmp_path: Path) -> None:
    file = write_triples(tmp_path / "large.nt", 100_000)
    with small_disk(tmp_path / "disk", "12m") as disk:
        store = open_store(disk / "store")
        graph = NamespacedGraph(store, "mayros")
        graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
        with pytest.raises(GraphUnavailable):
            import_rdf(graph, file)
        assert graph.count() == 1
        assert left_in(disk / "store", ("bulk-",)) == []
        store.close()


def test_a_full_folder_for_temporary_files_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_triples(tmp_path / "large.nt", 100_000)
    with small_disk(tmp_path / "disk", "1m") as disk:
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        graph = NamespacedGraph(open_store("memory:"), "mayros")
        for source in (file, io.BytesIO(file.read_bytes())):
            with pytest.raises(GraphUnavailable, match="temporary files is full"):
                import_file(graph, source, "n-triples")
        assert graph.count() == 0
        assert list(disk.iterdir()) == []


def test_an_export_onto_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    graph.store.bulk_load(write_triples(tmp_path / "large.nt", 50_000), GRAPH)
    with small_disk(tmp_path / "disk", "1m") as disk:
        target = disk / "out.nq"
        target.write_text("what was there")
        with pytest.raises(InvalidArguments, match="cannot be written"):
            export_rdf(graph, target)
        assert target.read_text() == "what was there"
        assert [entry.name for entry in disk.iterdir()] == ["out.nq"]


def test_an_export_to_a_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    with small_disk(tmp_path / "disk", "1m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(InvalidArguments, match="cannot be written"):
            export_rdf(graph, disk / "out.nq")


def test_a_forged_checkpoint_skips_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.transfer.loading.SLICE_BYTES", 5_000)
    file = write_triples(tmp_path / "some.nt", 500)
    beside = NamedNode("urn:cortex:mayros/index")
    seen = Sliced()
    seen.fails_at = 2
    with pytest.raises(GraphUnavailable):
        load(seen, file, GRAPH, beside, tmp_path, silent)
    (mark,) = seen.quads(Pattern(beside))
    for offset in (str(file.stat().st_size), "99999999999999999999999", "-1", "x", "7"):
        server = Sliced()
        server.apply([Quad(mark.subject, VALUE, Literal(offset), beside)])
        load(server, file, GRAPH, beside, tmp_path, silent)
        assert server.count(Pattern(GRAPH)) == 500
        assert list(server.quads(Pattern(beside))) == []


def test_an_empty_graph_is_exported_and_imported(graph: NamespacedGraph) -> None:
    assert exported(graph, with_provenance=True) == b""
    assert import_rdf(graph, io.BytesIO(b""), "n-quads") == 0
