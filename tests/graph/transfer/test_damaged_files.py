"""Stores with damaged, missing or too many files: real bytes flipped in real files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import Dataset, GraphCorrupt, GraphUnavailable, InvalidArguments, Pattern, open_store
from cortex_graph.index.index_check import check_indexes
from cortex_graph.transfer import back_up, check, restore
from tests.graph.shared.processes import ENVIRONMENT, owner_of

GRAPHS = [NamedNode("urn:cortex:mayros"), NamedNode("urn:cortex:other")]
TRIPLES = 200  # of each graph: several blocks in each index


def quad(number: int, graph: NamedNode) -> Quad:
    subject, predicate = NamedNode(f"urn:s{number % 70}"), NamedNode(f"urn:p{number % 3}")
    return Quad(subject, predicate, Literal(f"the value with the number {number}"), graph)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "store"
    store = open_store(folder)
    for graph in GRAPHS:
        store.insert([[quad(number, graph)] for number in range(TRIPLES)])
    store.close()
    return folder


def copied(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".owner"))
    return target


def flip(file: Path, part: float) -> None:
    content = bytearray(file.read_bytes())
    start = int(len(content) * part)
    for place in range(start, min(start + 32, len(content))):
        content[place] ^= 0xFF
    file.write_bytes(content)


def large(folder: Path) -> list[Path]:
    """The files of the terms and of the six indexes of named graphs."""
    return sorted(file for file in folder.glob("*.sst") if file.stat().st_size > 8192)


def test_a_sound_store_is_read_completely(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path / "store")
    reports = []
    checked = check(folder, lambda *report: reports.append(report))
    assert checked.graphs == {graph.value: TRIPLES for graph in GRAPHS}
    assert checked.triples == 2 * TRIPLES
    assert checked.changes == 2 * TRIPLES
    with owner_of(folder):  # through another process, too; nothing is left in the folder
        assert check(folder) == checked
        assert not list((folder / ".owner").glob("cortex-*"))


@pytest.mark.parametrize("part", [0.0, 0.4, 0.97])
def test_a_check_finds_flipped_bytes_in_each_file(sound: Path, tmp_path: Path, part: float) -> None:
    folder = copied(sound, tmp_path / "store")
    assert len(large(folder)) == 7
    assert check_indexes(folder, folder) == {graph.value: TRIPLES for graph in GRAPHS}
    for file in sorted(folder.glob("*.sst")):
        whole = file.read_bytes()
        flip(file, part)
        with pytest.raises(GraphCorrupt, match="is damaged") as caught:
            check_indexes(folder, Path("/the/store"))
        if len(whole) > 8192:  # of a file of one block the engine names the manifest
            assert caught.value.details == {"folder": "/the/store", "file": f"/the/store/{file.name}"}
        assert "--store /the/store" in caught.value.hint
        file.write_bytes(whole)


def test_a_damaged_block_ends_each_operation_that_meets_it(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path / "store")
    for file in large(folder):
        flip(file, 0.2)
    store = open_store(folder)
    everything = Pattern(GRAPHS[0])
    for operation in (
        lambda: store.count(everything),  # counted without end, before
        lambda: store.count(everything, 10_000),
        lambda: list(store.quads(everything)),
        lambda: store.match(everything, 1000),
        lambda: list(
            store.query("SELECT * { GRAPH ?g { ?s ?p ?o } }", Dataset((), tuple(GRAPHS))).chunks,
        ),
        lambda: back_up(store, tmp_path / "backup"),
    ):
        with pytest.raises(GraphCorrupt) as caught:
            operation()
        assert caught.value.code == "graph_corrupt"
        assert caught.value.details["folder"] == str(folder)
        assert Path(caught.value.details["file"]).parent == folder
    assert not (tmp_path / "backup").exists()
    store.close()


def test_a_check_and_a_backup_read_all_indexes(sound: Path, tmp_path: Path) -> None:
    index = large(sound)[3]  # which the digests of a backup do not read
    folder = copied(sound, tmp_path / "store")
    flip(folder / index.name, 0.5)
    store = open_store(folder)
    assert store.count(Pattern(GRAPHS[0])) == TRIPLES
    with pytest.raises(GraphCorrupt, match=index.name) as caught:
        back_up(store, tmp_path / "backup")
    assert caught.value.details["file"] == str(folder / index.name)
    assert not (tmp_path / "backup").exists()
    with pytest.raises(GraphCorrupt, match=index.name):
        check(folder)
    store.close()


@pytest.mark.parametrize("kind", ["MANIFEST-*", "CURRENT", "*.sst"])
def test_a_missing_file_is_named_and_nothing_is_changed(sound: Path, tmp_path: Path, kind: str) -> None:
    folder = copied(sound, tmp_path / "store")
    gone = max(folder.glob(kind))
    gone.unlink()
    before = {file.name: file.read_bytes() for file in folder.glob("*.sst")}
    for _ in range(2):
        with pytest.raises(GraphCorrupt, match=f"{gone.name} is missing") as caught:
            open_store(folder)
        assert caught.value.details == {"folder": str(folder), "file": str(gone)}
    assert {file.name: file.read_bytes() for file in folder.glob("*.sst")} == before


def test_a_store_without_some_files_is_replaced_by_a_backup_only_on_request(sound: Path, tmp_path: Path) -> None:
    with_all = copied(sound, tmp_path / "sound")
    store = open_store(with_all)
    back_up(store, tmp_path / "backup")
    store.close()
    for gone in ("CURRENT", large(sound)[0].name):
        folder = copied(sound, tmp_path / "store")
        (folder / gone).unlink()
        with pytest.raises((GraphUnavailable, InvalidArguments)):
            restore(tmp_path / "backup", folder)
        restore(tmp_path / "backup", folder, replace=True)
        assert check(folder).triples == 2 * TRIPLES


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_too_few_file_descriptors_are_named(sound: Path, tmp_path: Path) -> None:
    folder = copied(sound, tmp_path / "store")
    code = (
        "import resource, sys; from pathlib import Path; from cortex_graph import GraphError, open_store\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))\n"
        "try: open_store(Path(sys.argv[1]))\n"
        "except GraphError as error: print(error.code, error.hint)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("graph_unavailable ")
    assert "ulimit -n" in done.stdout


def test_only_a_store_in_a_folder_can_be_checked(tmp_path: Path) -> None:
    for where in ("memory:", "http://127.0.0.1:9"):
        with pytest.raises(InvalidArguments, match="no files"):
            check(where)
    with pytest.raises(GraphUnavailable, match="there is no store"):
        check(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()
