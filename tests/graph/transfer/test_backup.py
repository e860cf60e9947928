"""A backup is whole or not there, and a restore gives back what was backed up or leaves what was there."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from cortex_graph import GraphUnavailable, InvalidArguments, NamespacedGraph, StoreLocked, export_rdf, open_store
from cortex_graph.transfer import back_up, digest_of, read_backup, restore
from cortex_graph.transfer.restoring import restore_into
from tests.graph.transfer.support import (
    UNFINISHED,
    Sliced,
    assert_some,
    exported,
    kill_when,
    left_in,
    lines,
    python,
    write_triples,
)


@pytest.fixture
def backup(graph: NamespacedGraph, tmp_path: Path) -> Path:
    assert_some(graph, 20)
    NamespacedGraph(graph.store, "shop").create_triple({"subject": "a", "predicate": "p", "object": "x"})
    back_up(graph.store, tmp_path / "backup")
    return tmp_path / "backup"


def restored(place: Path) -> list[bytes]:
    store = open_store(place)
    try:
        return lines(NamespacedGraph(store, "mayros"))
    finally:
        store.close()


def test_what_was_backed_up_comes_back(graph: NamespacedGraph, backup: Path, tmp_path: Path) -> None:
    assert backup.stat().st_mode & 0o077 == 0
    before = lines(graph)
    done = restore(backup, tmp_path / "new")
    parts = ("mayros", "mayros/provenance", "mayros/index", "shop")
    assert set(done.graphs) == {f"urn:cortex:{name}" for name in parts}
    assert done.kind == ("snapshot" if (backup / "store").exists() else "triples")
    assert restored(tmp_path / "new") == before
    assert left_in(tmp_path, (".",)) == []


def test_a_backup_replaces_nothing(graph: NamespacedGraph, backup: Path) -> None:
    with pytest.raises(InvalidArguments, match="exists already"):
        back_up(graph.store, backup)


def test_the_digests_of_a_backup_are_those_of_the_store(graph: NamespacedGraph, backup: Path) -> None:
    assert {graph_: digest_of(graph.store, NamedNode(graph_)) for graph_ in read_backup(backup).graphs} == read_backup(
        backup
    ).graphs


def test_a_store_that_holds_something_is_replaced_only_when_that_is_asked_for(backup: Path, tmp_path: Path) -> None:
    place = tmp_path / "other"
    other = open_store(place)
    NamespacedGraph(other, "mayros").create_triple({"subject": "b", "predicate": "p", "object": "mine"})
    other.close()
    before = restored(place)
    with pytest.raises(InvalidArguments, match="has urn:cortex:mayros already"):
        restore(backup, place)
    assert restored(place) == before
    restore(backup, place, replace=True)
    assert restored(place) != before
    assert left_in(tmp_path, (".",)) == []


def test_a_store_that_is_open_is_not_replaced(backup: Path, tmp_path: Path) -> None:
    place = tmp_path / "other"
    other = open_store(place)
    graph = NamespacedGraph(other, "mayros")
    graph.create_triple({"subject": "b", "predicate": "p", "object": "mine"})
    with pytest.raises(StoreLocked):
        restore(backup, place, replace=True)
    assert graph.count() == 1
    other.close()


def test_a_store_that_another_process_has_open_is_not_replaced(backup: Path, tmp_path: Path) -> None:
    code = """
import sys, time
from cortex_graph import open_store, NamespacedGraph
store = open_store(sys.argv[1])
NamespacedGraph(store, "mayros").create_triple({"subject": "b", "predicate": "p", "object": "theirs"})
print("open", flush=True); sys.stdin.read()
"""
    import subprocess
    import sys

    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "other")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(StoreLocked):
            restore(backup, tmp_path / "other", replace=True)
        process.kill()
    assert b"theirs" in b"".join(restored(tmp_path / "other"))


def test_a_folder_of_something_else_is_left_alone(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"meow")
    with pytest.raises(GraphUnavailable, match="has other files"):
        restore(backup, tmp_path / "photos", replace=True)
    assert (tmp_path / "photos" / "cat.jpg").read_bytes() == b"meow"
    (tmp_path / "file").touch()
    with pytest.raises(GraphUnavailable, match="not a folder"):
        restore(backup, tmp_path / "file", replace=True)


@pytest.mark.parametrize("holds", ["a store", "nothing", "no folder"])
def test_behind_a_link_the_store_is_restored_and_the_link_stays(backup: Path, tmp_path: Path, holds: str) -> None:
    (tmp_path / "large-disk").mkdir()
    place, link = tmp_path / "large-disk" / "store", tmp_path / "link"
    if holds == "a store":
        other = open_store(place)
        NamespacedGraph(other, "mayros").create_triple({"subject": "b", "predicate": "p", "object": "theirs"})
        other.close()
    elif holds == "nothing":
        place.mkdir()
    link.symlink_to(place)
    restore(backup, link, replace=holds == "a store")
    assert link.is_symlink()
    assert restored(place) == restored(link) != []
    assert b"theirs" not in b"".join(restored(place))
    assert left_in(tmp_path, (".",)) == []


def test_a_store_is_not_replaced_when_its_folder_has_other_files(backup: Path, tmp_path: Path) -> None:
    place = tmp_path / "other"
    open_store(place).close()
    (place / "notes.txt").write_text("mine")
    with pytest.raises(GraphUnavailable, match=r"would be lost: notes\.txt"):
        restore(backup, place, replace=True)
    (place / "notes.txt").unlink()
    backup.rename(place / "backup")
    with pytest.raises(InvalidArguments, match="in the store that it would replace"):
        restore(place / "backup", place, replace=True)
    assert (place / "backup" / "manifest.json").exists()


def test_neither_a_backup_nor_an_export_is_written_into_a_store(backup: Path, tmp_path: Path) -> None:
    place = tmp_path / "other"
    restore(backup, place)
    (tmp_path / "link").symlink_to(place)
    store = open_store(place)
    graph = NamespacedGraph(store, "mayros")
    before = lines(graph)
    for folder in (place / "backup", place / ".owner" / "backup", tmp_path / "link" / "backup"):
        with pytest.raises(InvalidArguments, match="is the folder of a store"):
            back_up(store, folder)
    for name in ("CURRENT", "new.nt"):
        with pytest.raises(InvalidArguments, match="is the folder of a store"):
            export_rdf(graph, place / name, "n-triples")
    store.close()
    assert restored(place) == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs devices and links")
def test_a_backup_whose_files_are_devices_is_refused(backup: Path, tmp_path: Path) -> None:
    graphs = list((backup / "graphs").glob("*.nt"))
    for file in [backup / "manifest.json", *graphs[:1]]:
        kept = file.read_bytes()
        file.unlink()
        file.symlink_to("/dev/zero")
        with pytest.raises(InvalidArguments, match="not a file"):
            restore(backup, tmp_path / "new")
        file.unlink()
        file.write_bytes(kept)


def damage(backup: Path, how: str) -> None:
    manifest = backup / "manifest.json"
    listing = json.loads(manifest.read_text())
    files = sorted(path for path in backup.rglob("*") if path.is_file() and path.suffix in (".sst", ".nt"))
    largest = max(files, key=lambda path: path.stat().st_size)
    if how == "no manifest":
        manifest.unlink()
    elif how == "a manifest that is no JSON":
        manifest.write_text("[" * 100_000)
    elif how == "a manifest of something else":
        manifest.write_text('{"format": 1, "graphs": {"a": 1}}')
    elif how == "a newer format":
        manifest.write_text(json.dumps(listing | {"format": 2}))
    elif how == "another hash":
        listing["graphs"][0]["sha256"] = "0" * 64
        manifest.write_text(json.dumps(listing))
    elif how == "another count":
        listing["graphs"][0]["triples"] += 1
        manifest.write_text(json.dumps(listing))
    elif how == "a graph that is not listed":
        manifest.write_text(json.dumps(listing | {"graphs": listing["graphs"][1:]}))
    elif how == "a file that is cut":
        os.truncate(largest, largest.stat().st_size // 2)
    elif how == "a file that is missing":
        largest.unlink()
    elif how == "a flipped bit":
        content = bytearray(largest.read_bytes())
        content[len(content) // 3] ^= 1
        # Not in place: in a snapshot the file is one with the store's.
        largest.unlink()
        largest.write_bytes(content)


@pytest.mark.parametrize(
    "how",
    [
        "no manifest",
        "a manifest that is no JSON",
        "a manifest of something else",
        "a newer format",
        "another hash",
        "another count",
        "a graph that is not listed",
        "a file that is cut",
        "a file that is missing",
        "a flipped bit",
    ],
)
def test_a_damaged_backup_replaces_nothing(backup: Path, tmp_path: Path, how: str) -> None:
    copy = shutil.copytree(backup, tmp_path / "copy")
    is_of_triples = read_backup(copy).kind == "triples"
    damage(copy, how)
    place = tmp_path / "other"
    other = open_store(place)
    NamespacedGraph(other, "mayros").create_triple({"subject": "b", "predicate": "p", "object": "mine"})
    other.close()
    if how == "a graph that is not listed" and is_of_triples:
        (copy / "graphs" / "0.nt").unlink()  # the files are numbered
    with pytest.raises(InvalidArguments):
        restore(copy, place, replace=True)
    assert b"mine" in b"".join(restored(place))
    assert left_in(tmp_path, (".",)) == []


def test_a_backup_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    graph = NamespacedGraph(store, "mayros")
    ended = threading.Event()
    written = []

    def write() -> None:
        while not ended.is_set():
            row = {"subject": f"s{len(written)}", "predicate": "p", "object": 1}
            written.append(graph.create_triple(row)["id"])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(written) < 200:
            time.sleep(0.001)
        known = set(written)
        back_up(store, tmp_path / "backup")
    finally:
        ended.set()
        writer.join()
    store.close()
    restore(tmp_path / "backup", tmp_path / "new")
    again = open_store(tmp_path / "new")
    copy = NamespacedGraph(again, "mayros")
    assert all(copy.get_triple(triple_id) for triple_id in known)
    assert copy.count() == read_backup(tmp_path / "backup").triples
    again.close()


@pytest.mark.parametrize("replace", [False, True])
def test_a_server_gets_what_the_backup_holds_and_loses_the_rest_only_on_demand(
    graph: NamespacedGraph, backup: Path, replace: bool
) -> None:
    server = Sliced()
    NamespacedGraph(server, "mayros").create_triple({"subject": "b", "predicate": "p", "object": "mine"})
    NamespacedGraph(server, "third").create_triple({"subject": "b", "predicate": "p", "object": "theirs"})
    if not replace:
        with pytest.raises(InvalidArguments, match="already"):
            restore_into(read_backup(backup), server, replace=False)
        assert NamespacedGraph(server, "mayros").count() == 1
        return
    restore_into(read_backup(backup), server, replace=True)
    assert lines(NamespacedGraph(server, "mayros")) == lines(graph)
    assert NamespacedGraph(server, "third").count() == 1


def test_a_restore_into_a_server_that_stops_in_the_middle_can_be_run_again(
    graph: NamespacedGraph, backup: Path
) -> None:
    server = Sliced()
    server.fails_at = 2
    with pytest.raises(GraphUnavailable, match="went away"):
        restore_into(read_backup(backup), server, replace=True)
    restore_into(read_backup(backup), server, replace=True)
    assert lines(NamespacedGraph(server, "mayros")) == lines(graph)


RESTORE = """
import sys
from cortex_graph.transfer import restore
restore(sys.argv[1], sys.argv[2], replace=True)
"""
BACKUP = """
import sys
from cortex_graph import open_store
from cortex_graph.transfer import back_up
back_up(open_store(sys.argv[1]), sys.argv[2])
"""


LARGE = 20_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that takes a while, for tests that only read it."""
    folder = tmp_path_factory.mktemp("large")
    store = open_store(folder / "store")
    store.bulk_load(write_triples(folder / "large.nt", LARGE), NamedNode("urn:cortex:mayros"))
    store.close()
    return folder / "store"


def test_a_backup_that_is_killed_is_not_there_and_the_next_one_clears_up(large: Path, tmp_path: Path) -> None:
    process = python(UNFINISHED + BACKUP, large, tmp_path / "backup")
    assert kill_when(process, lambda: list(tmp_path.glob(".backup.*.part/store/CURRENT")))
    assert not (tmp_path / "backup").exists()
    assert left_in(tmp_path, (".backup",)) != []
    store = open_store(large)
    assert back_up(store, tmp_path / "backup").triples == LARGE
    store.close()
    assert left_in(tmp_path, (".backup",)) == []


def test_a_restore_that_is_killed_at_any_time_leaves_the_old_or_the_new_store(large: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    old = open_store(place)
    NamespacedGraph(old, "mayros").create_triple({"subject": "b", "predicate": "p", "object": "old"})
    old.close()
    store = open_store(large)
    back_up(store, tmp_path / "backup")
    store.close()
    for sign in (".*.restoring*", ".*.restoring*/**/CURRENT", ".place.restoring/CURRENT"):
        process = python(RESTORE, tmp_path / "backup", place)
        kill_when(process, lambda sign=sign: list(tmp_path.glob(sign)))
        again = open_store(place)
        assert NamespacedGraph(again, "mayros").count() in (1, LARGE)
        again.close()
    restore(tmp_path / "backup", place, replace=True)
    again = open_store(place)
    assert NamespacedGraph(again, "mayros").count() == LARGE
    again.close()
    assert left_in(tmp_path, (".",)) == []


def test_a_backup_to_a_folder_without_permission_is_an_error(graph: NamespacedGraph, tmp_path: Path) -> None:
    assert_some(graph)
    (tmp_path / "file").touch()
    with pytest.raises(InvalidArguments, match="cannot be written"):
        back_up(graph.store, tmp_path / "file" / "backup")
    assert exported(graph)


@pytest.mark.parametrize(("stated", "is_read"), [("desk 5c2f", True), (None, True), (1, False), ("x" * 301, False)])
def test_a_backup_states_which_installation_made_it(
    graph: NamespacedGraph, tmp_path: Path, stated: object, is_read: bool
) -> None:
    folder = tmp_path / "backup"
    assert back_up(graph.store, folder, made_by="desk 5c2f").made_by == read_backup(folder).made_by == "desk 5c2f"
    manifest = folder / "manifest.json"
    document = json.loads(manifest.read_text()) | {"madeBy": stated}
    if stated is None:  # of an earlier version
        del document["madeBy"]
    manifest.write_text(json.dumps(document))
    if is_read:
        assert read_backup(folder).made_by == (stated or "")
    else:
        with pytest.raises(InvalidArguments, match="its manifest is not what `backup` writes"):
            read_backup(folder)
