"""Many processes that write to one folder at once, and whose owner dies."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from cortex_graph import NamespacedGraph, Provenance, open_store
from tests.graph.shared.processes import END_S, Lines, ended, line_of, owner_of, python, record_of, running

WRITER = """
import sys, threading
from pathlib import Path
from cortex_graph import NamespacedGraph, Provenance, open_store
folder, name, count, namespace = sys.argv[1:]
graph = NamespacedGraph(open_store(Path(folder)), namespace)
print("open", flush=True)
sys.stdin.readline()
enough = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), enough.set()), daemon=True).start()
for number in range(int(count)):
    made = graph.create_triple(
        {"subject": f"thing:{name}", "predicate": "p", "object": number},
        Provenance(skill="s", skill_version="1.0.0", agent=name),
    )
    print(made["id"], flush=True)
    if enough.is_set():
        break
"""
MOST = 1_000_000  # more than a writer writes until the test stops it


def written(folder: Path, namespace: str = "mayros") -> set[str]:
    """The ids of all triples, each seen to have its provenance."""
    graph = NamespacedGraph(open_store(folder), namespace)
    found: set[str] = set()
    cursor = None
    while True:
        page = graph.list_triples({"limit": 1000, "cursor": cursor})
        for triple in page["triples"]:
            record = graph.provenance_of(triple["id"])
            assert record is not None
            assert triple["subject"] == f"{namespace}:thing:{record['agent']}"
            found.add(triple["id"])
        cursor = page["nextCursor"]
        if cursor is None:
            graph.store.close()
            return found


def go(process: object) -> None:
    process.stdin.write("go\n")  # type: ignore[attr-defined]
    process.stdin.flush()  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_eight_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    more = threading.Condition()
    processes = [
        python(WRITER, tmp_path / "store", name, 100, ("mayros", "may")[number % 2])
        for number, name in enumerate("abcdefgh")
    ]
    for process in processes:
        assert line_of(process) == "open" or pytest.fail(str(ended(process)))
    readers = [Lines(process, more) for process in processes]
    for process in processes:
        go(process)
    assert [reader.end() for reader in readers] == [0] * 8
    for first, namespace in ((0, "mayros"), (1, "may")):
        ids = {line for reader in readers[first::2] for line in reader.lines}
        assert len(ids) == 400
        assert written(tmp_path / "store", namespace) == ids


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("owners", [1, pytest.param(3, marks=pytest.mark.extended)])
def test_what_was_acknowledged_survives_dead_owners_and_the_others_go_on(tmp_path: Path, owners: int) -> None:
    folder, more = tmp_path / "store", threading.Condition()
    alive: dict[int, Lines] = {}
    dead: list[Lines] = []

    def start(name: str) -> None:
        process = python(WRITER, folder, name, MOST, "mayros")
        assert line_of(process) == "open" or pytest.fail(str(ended(process)))
        alive[process.pid] = Lines(process, more)
        go(process)

    for number in range(owners + 1):
        start(f"first{number}")
    for kill in range(owners):
        before = {pid: len(reader.lines) for pid, reader in alive.items()}
        with more:  # every death comes in the middle of writing
            assert more.wait_for(lambda: owner_that_writes(folder, alive, before), END_S)  # noqa: B023
        victim = owner_that_writes(folder, alive, before)
        os.kill(victim, signal.SIGKILL)
        dead.append(alive.pop(victim))
        assert dead[-1].end() == -signal.SIGKILL
        start(f"later{kill}")
    before = {pid: len(reader.lines) for pid, reader in alive.items()}
    with more:  # and after the last death they all go on
        assert more.wait_for(lambda: owner_that_writes(folder, alive, before), END_S)
    for reader in alive.values():
        go(reader.process)
    assert [reader.end() for reader in alive.values()] == [0] * (owners + 1)
    acknowledged = {line for reader in [*alive.values(), *dead] for line in reader.lines}
    assert len(acknowledged) == sum(len(reader.lines) for reader in [*alive.values(), *dead])
    assert all(reader.lines for reader in dead)
    found = written(folder)
    assert acknowledged <= found
    assert len(found) <= len(acknowledged) + owners  # writes of a killed owner without an answer


def owner_that_writes(folder: Path, alive: dict[int, Lines], before: dict[int, int]) -> int:
    """The pid of the owner, once it and all others have written something since; 0 until then."""
    record = record_of(folder)
    pid = record["pid"] if record else 0
    some = all(len(reader.lines) > before.get(other, 0) for other, reader in alive.items())
    return pid if pid in alive and some else 0


OPENING = """
import sys
from pathlib import Path
from cortex_graph import NamespacedGraph, open_store
print("ready", flush=True)
sys.stdin.readline()
graph = NamespacedGraph(open_store(Path(sys.argv[1])), "mayros")
made = graph.create_triple({"subject": sys.argv[2], "predicate": "p", "object": 1})
print(made["created"], flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_eight_processes_that_start_at_once_agree_on_one_owner(tmp_path: Path) -> None:
    processes = [python(OPENING, tmp_path / "store", f"s{number}") for number in range(8)]
    assert {line_of(process) for process in processes} == {"ready"}
    for process in processes:
        go(process)
    assert [line_of(process) for process in processes] == ["True"] * 8
    record = record_of(tmp_path / "store")
    assert record is not None
    assert record["pid"] in {process.pid for process in processes}
    store = open_store(tmp_path / "store")
    assert NamespacedGraph(store, "mayros").count() == 8
    store.close()
    assert [ended(process)[0] for process in processes] == [0] * 8


THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from cortex_graph import NamespacedGraph, open_store
store = open_store(Path(sys.argv[1]))
print("open", flush=True)
graph = NamespacedGraph(store, "mayros")
def write(thread):
    rows = [{"subject": "shared", "predicate": "p", "object": f"{thread}-{number}"} for number in range(100)]
    return sum(graph.create_triple(row)["created"] for row in rows)
with ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(write, range(4))), flush=True)
"""


def test_of_all_threads_of_all_processes_one_has_created_a_triple(tmp_path: Path) -> None:
    processes = [python(THREADS, tmp_path / "store") for _ in range(3)]
    for process in processes:
        assert line_of(process) == "open"
    created = [int(line_of(process)) for process in processes]
    assert sum(created) == 400
    assert [ended(process)[0] for process in processes] == [0] * 3


def test_a_client_goes_on_when_its_owner_is_killed(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner:
        graph = NamespacedGraph(open_store(tmp_path), "mayros")
        first = graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, Provenance(agent="x"))
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        second = graph.create_triple({"subject": "a", "predicate": "p", "object": 2})
    record = record_of(tmp_path)
    assert record is not None
    assert record["pid"] == os.getpid()
    assert (first["created"], second["created"], graph.count()) == (True, True, 2)
    graph.store.close()


def test_an_owner_that_is_terminated_leaves_the_folder_to_another(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner:
        graph = NamespacedGraph(open_store(tmp_path), "mayros")
        graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
        owner.terminate()
        owner.wait()
        assert graph.create_triple({"subject": "a", "predicate": "p", "object": 1})["created"] is False
    graph.store.close()


CLOSING = """
import sys
from pathlib import Path
from cortex_graph import open_store
store = open_store(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.readline()
if sys.argv[2] == "close":
    store.close()
    print("closed", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("way", ["close", "exit"])
def test_an_owner_that_goes_while_others_write_answers_what_it_began(tmp_path: Path, way: str) -> None:
    """Each write is created exactly once: none is answered `created: False` because it was made twice."""
    with running(CLOSING, tmp_path, way) as owner:
        graph = NamespacedGraph(open_store(tmp_path), "mayros")
        begun, results = threading.Event(), []

        def write() -> None:
            for number in range(2000):
                results.append(graph.create_triple({"subject": "a", "predicate": "p", "object": number})["created"])
                if number == 200:
                    begun.set()

        writer = threading.Thread(target=write)
        writer.start()
        assert begun.wait(END_S)
        go(owner)
        writer.join(END_S)
    assert results == [True] * 2000
    assert record_of(tmp_path)["pid"] == os.getpid()  # type: ignore[index]
    graph.store.close()
