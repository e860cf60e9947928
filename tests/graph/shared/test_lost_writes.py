"""Stores whose log lost acknowledged writes: real stores of killed processes, with real damage."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store

from cortex_graph import (
    Dataset,
    GraphCorrupt,
    GraphStore,
    NamespacedGraph,
    Pattern,
    StoreLocked,
    export_rdf,
    open_store,
)
from cortex_graph.stores.change_counter import NAME, read_record
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.transfer import back_up, check, restore
from tests.graph.shared.processes import ENVIRONMENT, owner_of

GRAPH = NamedNode("urn:cortex:mayros")
WRITES = 120

WRITING = """
import os, sys
from pathlib import Path
from pyoxigraph import Literal, NamedNode, Quad, Store
from cortex_graph import open_store
G = NamedNode("urn:cortex:mayros")
if sys.argv[2] == "counted":
    write = open_store(Path(sys.argv[1])).insert
else:
    old = Store(sys.argv[1])
    write = lambda groups: old.extend(groups[0])
for number in range(int(sys.argv[3])):
    write([[Quad(NamedNode(f"urn:s{number}"), G, Literal(number), G)]])
os._exit(0)  # as after kill -9
"""


def killed_while_writing(folder: Path, kind: str) -> Path:
    subprocess.run([sys.executable, "-c", WRITING, str(folder), kind, str(WRITES)], env=ENVIRONMENT, check=True)
    return folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose process was killed after `WRITES` answers; only its log has them."""
    return killed_while_writing(tmp_path_factory.mktemp("killed") / "store", "counted")


@pytest.fixture(scope="module")
def killed_before_counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, by a version that did not count."""
    return killed_while_writing(tmp_path_factory.mktemp("old") / "store", "not counted")


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".owner"))
    return target


def log_of(folder: Path) -> Path:
    return max(folder.glob("*.log"), key=lambda file: file.stat().st_size)


def flip(file: Path, part: float, length: int = 32) -> None:
    content = bytearray(file.read_bytes())
    start = int(len(content) * part)
    for place in range(start, min(start + length, len(content))):
        content[place] ^= 0xFF
    file.write_bytes(content)


def cut(file: Path, part: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * part)])


def quad(number: int) -> Quad:
    return Quad(NamedNode(f"urn:s{number}"), GRAPH, Literal(number), GRAPH)


def numbers(store: GraphStore) -> list[int]:
    return sorted(int(found.object.value) for found in store.quads(Pattern(GRAPH)))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: flip(log_of(folder), 0.05),
        lambda folder: flip(log_of(folder), 0.9),
        lambda folder: cut(log_of(folder), 0.5),
        lambda folder: log_of(folder).unlink(),
    ],
    ids=["flipped early", "flipped late", "cut", "removed"],
)
def test_writes_that_a_damaged_log_has_lost_are_counted_and_nothing_more_is_written(
    killed: Path, tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    folder = copied(killed, tmp_path / "store")
    damage(folder)
    before = {file.name: file.read_bytes() for file in folder.glob("*.log")}
    for _ in range(2):
        store = open_store(folder)
        left = numbers(store)
        assert left == list(range(len(left)))
        lost = f"{WRITES - len(left)} of {WRITES} acknowledged writes are missing"
        assert lost in caplog.messages[-1]
        for change in (
            lambda: store.insert([[quad(-1)]]),  # noqa: B023
            lambda: store.remove(quad(0)),  # noqa: B023
            lambda: store.apply([quad(-1)]),  # noqa: B023
            lambda: store.bulk_insert([quad(-1)]),  # noqa: B023
        ):
            with pytest.raises(GraphCorrupt, match=lost) as caught:
                change()
            assert caught.value.code == "graph_corrupt"
            assert f"--store {folder}" in caught.value.hint
            assert caught.value.details["folder"] == str(folder)
        store.close()
    assert {file.name: file.read_bytes() for file in folder.glob("*.log")} == before  # the evidence


def test_after_a_kill_every_write_is_there_and_the_store_is_written_to(killed: Path, tmp_path: Path) -> None:
    folder = copied(killed, tmp_path / "store")
    store = open_store(folder)
    assert numbers(store) == list(range(WRITES))
    assert store.insert([[quad(WRITES)], [quad(0)], [quad(WRITES + 1)]]) == [True, False, True]
    assert store.remove(quad(0))
    store.apply([quad(0)], [quad(1)])
    store.close()
    assert read_record(folder).changes == WRITES + 4  # type: ignore[union-attr]
    assert check(folder).changes == WRITES + 4


def test_after_a_clean_close_nothing_is_only_in_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    for first in (0, 40):
        store = open_store(folder)
        for number in range(first, first + 40):
            store.insert([[quad(number)]])
        store.close()
        for log in folder.glob("*.log"):
            log.write_bytes(b"\xff" * log.stat().st_size)
    store = open_store(folder)
    assert numbers(store) == list(range(80))
    assert store.insert([[quad(80)]]) == [True]
    store.close()


def test_a_process_that_ends_without_closing_leaves_nothing_only_in_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    ending = WRITING.replace("os._exit(0)", "sys.exit(0)")
    subprocess.run([sys.executable, "-c", ending, str(folder), "counted", "20"], env=ENVIRONMENT, check=True)
    for log in folder.glob("*.log"):
        log.write_bytes(b"\xff" * log.stat().st_size)
    store = open_store(folder)
    assert numbers(store) == list(range(20))
    store.close()


def test_a_store_of_an_earlier_version_is_counted_from_now_on(killed_before_counting: Path, tmp_path: Path) -> None:
    folder = copied(killed_before_counting, tmp_path / "store")
    store = open_store(folder)
    assert numbers(store) == list(range(WRITES))
    assert store.insert([[quad(WRITES)]]) == [True]
    assert read_record(folder).changes == 1  # type: ignore[union-attr]
    store.close()
    Store(str(folder)).add(quad(WRITES + 1))  # by the earlier version again
    store = open_store(folder)
    assert len(numbers(store)) == WRITES + 2
    assert store.insert([[quad(WRITES + 2)]]) == [True]
    store.close()
    assert check(folder).changes == 2


def test_an_earlier_version_s_damaged_log_is_noticed_by_the_message_of_the_engine(
    killed_before_counting: Path, tmp_path: Path
) -> None:
    folder = copied(killed_before_counting, tmp_path / "store")
    flip(log_of(folder), 0.6)  # the engine takes some damage near the end of a log for an interrupted write
    for _ in range(2):
        store = open_store(folder)
        assert len(numbers(store)) < WRITES
        with pytest.raises(GraphCorrupt, match="an unknown number of writes is missing"):
            store.insert([[quad(-1)]])
        store.close()


def test_a_count_that_is_older_than_the_log_is_no_damage(killed: Path, tmp_path: Path) -> None:
    folder = copied(killed, tmp_path / "store")
    record = json.loads((folder / NAME).read_bytes())
    (folder / NAME).write_text(json.dumps(record | {"changes": WRITES - 7}))
    store = open_store(folder)
    assert numbers(store) == list(range(WRITES))
    assert store.insert([[quad(WRITES)]]) == [True]
    store.close()
    assert read_record(folder).changes == WRITES + 1  # type: ignore[union-attr]


def test_after_a_stop_of_the_machine_the_writes_that_were_not_on_the_disk_are_named(
    killed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = copied(killed, tmp_path / "store")
    cut(log_of(folder), 0.5)
    record = json.loads((folder / NAME).read_bytes())
    (folder / NAME).write_text(json.dumps(record | {"boot": "another"}))
    caplog.set_level(logging.WARNING)
    store = open_store(folder)
    left = len(numbers(store))
    assert f"lacks its last {WRITES - left} writes" in caplog.text
    assert store.insert([[quad(WRITES)]]) == [True]
    store.close()
    assert read_record(folder).changes == left + 1  # type: ignore[union-attr]
    record = json.loads((folder / NAME).read_bytes())
    (folder / NAME).write_text(json.dumps(record | {"boot": "another", "changes": WRITES, "flushed": WRITES}))
    store = open_store(folder)  # what was flushed cannot be lost in that way
    with pytest.raises(GraphCorrupt, match="are missing"):
        store.insert([[quad(-1)]])
    store.close()


@given(st.binary(max_size=300) | st.from_regex(rb'\{"changes":[0-9-]{0,5},"flushed":[0-9]{0,5},"boot":"x"\}'))
def test_a_damaged_count_is_reported(content: bytes) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as place:
        (Path(place) / NAME).write_bytes(content)
        try:
            record = read_record(Path(place))
        except GraphCorrupt as error:
            assert error.details["file"] == str(Path(place) / NAME)  # noqa: PT017
        else:
            assert record is not None
            assert 0 <= record.flushed <= record.changes


def test_the_count_is_in_no_namespace_query_export_or_copy(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    graph = NamespacedGraph(store, "mayros")
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    assert [node.value for node in store.graph_names()] == [GRAPH.value]
    for text in ("SELECT * { ?s ?p ?o }", "SELECT * { GRAPH ?g { ?s ?p ?o } }", "DESCRIBE <urn:cortex-graph:changes>"):
        assert b"cortex-graph" not in b"".join(graph.query(text).chunks)
    for dataset in (Dataset(()), Dataset((GRAPH,)), Dataset((), (GRAPH,))):
        answer = store.query("SELECT ?s ?o { ?s <urn:cortex-graph:changes> ?o }", dataset)
        assert json.loads(b"".join(answer.chunks))["results"]["bindings"] == []
    export_rdf(graph, tmp_path / "out.nq", with_provenance=True)
    assert "cortex-graph" not in (tmp_path / "out.nq").read_text()
    made = back_up(store, tmp_path / "backup")
    assert list(made.graphs) == [GRAPH.value]
    store.close()
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = open_store(tmp_path / "restored")
    assert restored.insert([[quad(1)]]) == [True]
    restored.close()
    assert check(tmp_path / "restored").triples == 2


def test_few_numbers_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.stores.embedded._SETTLED_AFTER", 10)
    store = OxigraphStore(tmp_path / "store")
    for number in range(100):
        store.insert([[quad(number)]])
    store.close()
    assert len(Store.read_only(str(tmp_path / "store"))) == 100 + 1


def test_a_store_that_has_lost_writes_is_not_backed_up_and_can_be_replaced(killed: Path, tmp_path: Path) -> None:
    sound = open_store(copied(killed, tmp_path / "sound"))
    back_up(sound, tmp_path / "backup")
    sound.close()
    folder = copied(killed, tmp_path / "store")
    flip(log_of(folder), 0.05)
    store = open_store(folder)
    with pytest.raises(GraphCorrupt, match="are missing"):
        back_up(store, tmp_path / "never")
    assert not (tmp_path / "never").exists()
    store.close()
    with pytest.raises(GraphCorrupt, match="are missing"):
        check(folder)
    restore(tmp_path / "backup", folder, replace=True)
    store = open_store(folder)
    assert numbers(store) == list(range(WRITES))
    assert store.insert([[quad(WRITES)]]) == [True]
    store.close()


def test_a_store_that_is_in_use_is_not_taken_for_a_damaged_one(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = OxigraphStore(folder)
    store.insert([[quad(1)]])
    with pytest.raises(StoreLocked):
        OxigraphStore(folder)
    store.insert([[quad(2)]])
    store.close()
    with owner_of(folder), pytest.raises(StoreLocked):
        OxigraphStore(folder)
    OxigraphStore(folder).close()
