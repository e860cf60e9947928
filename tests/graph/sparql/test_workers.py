"""The processes that evaluate queries: they end when they must, and nothing else does."""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from cortex_graph import GraphBusy, GraphError, GraphUnavailable, NamespacedGraph, QueryLimit, QueryTimeout
from cortex_graph.sparql import query_graphs
from cortex_graph.sparql.query_run import query_pool
from cortex_graph.stores.embedded import OxigraphStore
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from tests.graph.sparql.conftest import content, rows_of

ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a mayros:p ?x . ?b mayros:p ?y . ?c mayros:p ?z FILTER(?x + ?y + ?z = -1) }"
MANY = "SELECT ?a ?b ?x ?y { ?a mayros:p ?x . ?b mayros:p ?y }"
WAIT_S = 100  # generous: only so that a test ends


@pytest.fixture(params=["memory", "disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OxigraphStore]:
    opened = OxigraphStore(None if request.param == "memory" else tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def graph(store: OxigraphStore) -> NamespacedGraph:
    graph = NamespacedGraph(store, "mayros")
    graph.create_triples([{"subject": f"s{number}", "predicate": "p", "object": number} for number in range(3000)])
    return graph


def processes(store: OxigraphStore) -> list[int]:
    return store._evaluation.workers.pids()


def is_there(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_join_that_takes_too_long_ends_and_others_go_on_meanwhile(graph: NamespacedGraph) -> None:
    def answered_during_a_join(seconds: float) -> int:
        ended: list[float] = []
        begun = time.monotonic()

        def join() -> None:
            with pytest.raises(QueryTimeout) as over:
                graph.query(ENDLESS, timeout_s=seconds)
            assert over.value.code == "query_timeout"
            ended.append(time.monotonic() - begun)

        thread = threading.Thread(target=join)
        thread.start()
        answered = 0
        while thread.is_alive():
            graph.create_triple({"subject": "other", "predicate": "q", "object": answered})
            assert rows_of(graph.query("SELECT ?o { mayros:other mayros:q ?o } ORDER BY DESC(?o) LIMIT 1"))
            answered += 1
        thread.join()
        assert 0.9 * seconds < ended[0] < WAIT_S
        return answered

    # Longer on a busy machine, where no thread progresses within a second.
    assert any(answered_during_a_join(seconds) > 0 for seconds in (1.0, 6.0, 30.0))


def test_a_process_that_answered_is_asked_again_and_one_that_was_killed_is_replaced(
    store: OxigraphStore, graph: NamespacedGraph
) -> None:
    content(graph.query("ASK {}"))
    first = processes(store)
    content(graph.query("SELECT * { ?s ?p ?o } LIMIT 1"))
    with pytest.raises(GraphError):
        graph.query("SELECT ?s { ?s ?p ?o } GROUP BY ?p")
    assert processes(store) == first
    os.kill(first[0], signal.SIGKILL)
    os.waitid(os.P_PID, first[0], os.WEXITED | os.WNOWAIT)  # until its last thread has closed its pipes
    assert content(graph.query("ASK {}"))
    assert processes(store) != first


def test_a_query_that_is_stopped_frees_its_process_and_one_that_waits_waits_no_longer(
    store: OxigraphStore, graph: NamespacedGraph
) -> None:
    workers = store._evaluation.workers
    stops = [CancelToken() for _ in range(workers.size + 1)]
    ended: queue.SimpleQueue[tuple[CancelToken, str]] = queue.SimpleQueue()

    def join(cancel: CancelToken) -> None:
        with pytest.raises(CortexError) as caught:
            query_graphs(store, [graph], ENDLESS, timeout_s=600, cancel=cancel)
        ended.put((cancel, caught.value.code))

    threads = [threading.Thread(target=join, args=(cancel,)) for cancel in stops]
    with contextlib.ExitStack() as stack:

        def begin(number: int) -> None:
            stack.callback(threads[number].join)
            stack.callback(stops[number].cancel)
            threads[number].start()

        for number in range(workers.size):
            begin(number)
        wait_for(lambda: len(workers._state.busy) == workers.size)
        begin(workers.size)
        wait_for(lambda: workers._state.waiting == 1)
        stops[-1].cancel()
        assert ended.get(timeout=WAIT_S) == (stops[-1], "cancelled")
        assert (len(workers._state.busy), workers._state.waiting) == (workers.size, 0)
        pids = processes(store)
        stops[0].cancel()
        assert ended.get(timeout=WAIT_S) == (stops[0], "cancelled")
        assert content(graph.query("ASK {}"))  # on a process in the place of that one
        assert len(set(pids) & set(processes(store))) == workers.size - 1
    wait_for(lambda: not any(map(is_there, pids)))
    assert not workers._state.busy


def test_a_stop_ends_an_answer_that_is_being_read(store: OxigraphStore, graph: NamespacedGraph) -> None:
    cancel = CancelToken()
    answer = query_graphs(store, [graph], MANY, timeout_s=600, cancel=cancel)
    next(answer.chunks)
    cancel.cancel()
    with pytest.raises(CortexError, match="cancelled"):
        content(answer)
    assert processes(store) == []


def test_a_result_that_is_closed_or_dropped_ends_its_query(store: OxigraphStore, graph: NamespacedGraph) -> None:
    closed = graph.query(MANY)
    assert len(next(closed.chunks)) > 0
    never_read = graph.query(MANY)
    dropped = graph.query(MANY, max_bytes=1 << 40) if store._evaluation.workers.size > 2 else None
    pids = processes(store)
    closed.chunks.close()
    never_read.chunks.close()
    del dropped
    gc.collect()
    wait_for(lambda: not any(map(is_there, pids)))
    assert processes(store) == []
    assert content(graph.query("ASK {}"))


def test_an_answer_that_is_read_too_slowly_ends_with_its_time(store: OxigraphStore, graph: NamespacedGraph) -> None:
    for seconds in (1.5, 10.0, 60.0):  # longer where not even the beginning comes in time
        with contextlib.suppress(QueryTimeout):
            answer = graph.query(MANY, timeout_s=seconds)
            next(answer.chunks)
            break
    wait_for(lambda: processes(store) == [])
    assert content(graph.query("ASK {}"))  # its place is free, although it was not closed
    with pytest.raises(QueryTimeout):
        content(answer)


def test_a_process_that_is_killed_in_the_middle_is_an_error(store: OxigraphStore, graph: NamespacedGraph) -> None:
    answer = graph.query(MANY)
    next(answer.chunks)
    (pid,) = processes(store)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(GraphUnavailable, match="has ended"):
        content(answer)
    assert content(graph.query("ASK {}"))


def test_more_memory_than_allowed_is_an_error_and_not_the_end_of_the_machine(
    store: OxigraphStore, graph: NamespacedGraph
) -> None:
    store._evaluation._workers = query_pool(memory_bytes=256 << 20)
    with pytest.raises(QueryLimit, match="more than 256 MiB of memory") as over:
        content(graph.query("SELECT DISTINCT * { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z } ORDER BY ?z", timeout_s=60))
    assert over.value.code == "query_limit"
    assert content(graph.query("ASK {}"))


def test_beyond_those_that_run_and_wait_is_busy(store: OxigraphStore, graph: NamespacedGraph) -> None:
    store._evaluation._workers = query_pool(size=1, waiting=1)
    running = graph.query(MANY)
    waiting = threading.Thread(target=lambda: content(graph.query("ASK {}", timeout_s=60)))
    waiting.start()
    wait_for(lambda: store._evaluation.workers._state.waiting == 1)
    with pytest.raises(GraphBusy) as busy:
        graph.query("ASK {}")
    assert busy.value.code == "graph_busy"
    running.chunks.close()
    waiting.join(WAIT_S)
    assert not waiting.is_alive()


def test_a_closed_store_leaves_no_process_and_no_copy(tmp_path: Path) -> None:
    store = OxigraphStore(tmp_path / "store")
    graph = NamespacedGraph(store, "mayros")
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    content(graph.query("ASK {}"))
    pids = processes(store)
    assert (tmp_path / "store" / ".queries").stat().st_mode & 0o077 == 0
    store.close()
    assert not any(map(is_there, pids))
    assert not (tmp_path / "store" / ".queries").exists()


PROGRAM = """
import sys, time, threading
from cortex_graph import NamespacedGraph
from cortex_graph.stores.embedded import OxigraphStore
from pathlib import Path
store = OxigraphStore(Path(sys.argv[1]) if sys.argv[1] else None)
graph = NamespacedGraph(store, "mayros")
graph.create_triples([{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(3000)])
b"".join(graph.query("ASK {}").chunks)
for _ in range(2):
    threading.Thread(target=lambda: graph.query(sys.argv[2], timeout_s=300), daemon=True).start()
while len(store._evaluation.workers.pids()) < 2:
    time.sleep(0.02)
print(*store._evaluation.workers.pids(), flush=True)
if sys.argv[3] == "wait":
    time.sleep(300)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("where", ["memory", "disk"])
@pytest.mark.parametrize("how", ["killed", "exits"])
def test_no_process_outlives_its_parent(tmp_path: Path, where: str, how: str) -> None:
    folder = tmp_path / "store"
    arguments = [str(folder) if where == "disk" else "", ENDLESS, "wait" if how == "killed" else "exit"]
    with subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        if how == "killed":
            parent.kill()
    wait_for(lambda: not any(map(is_there, pids)))
    if where == "disk" and how == "killed":
        assert list((folder / ".queries").iterdir())
        OxigraphStore(folder).close()
        assert not (folder / ".queries").exists()


FORKING = """
import contextlib, os, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of each fork beside threads
from cortex_graph import NamespacedGraph
from cortex_graph.stores.embedded import OxigraphStore
store = OxigraphStore()
graph = NamespacedGraph(store, "mayros")
def asked():
    return b"".join(graph.query("ASK { ?s ?p 1 }").chunks).endswith(b"true}")
def pids():
    return store._evaluation.workers.pids()
graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
assert asked()
before = pids()
assert len(before) == 1
child = os.fork()
if not child:
    code = 1
    with contextlib.suppress(BaseException):
        same = pids() == [] and asked()
        store.close()
        code = 0 if same else 2
    os._exit(code)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert pids() == before
assert asked()
assert pids() == before
store.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_starts_new_processes() -> None:
    """In a separate process: a fork is not safe beside threads of other tests."""
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=WAIT_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_process_gets_no_environment_and_no_sockets(
    store: OxigraphStore, graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORTEX_TOKEN", "secret")
    content(graph.query("ASK {}"))
    (pid,) = processes(store)
    assert b"secret" not in Path(f"/proc/{pid}/environ").read_bytes()
    status = Path(f"/proc/{pid}/status").read_text()
    assert "Seccomp:\t2" in status
    assert "NoNewPrivs:\t1" in status


def test_a_full_disk_for_copies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = OxigraphStore()
    graph = NamespacedGraph(store, "mayros")
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store._evaluation._snapshots, "_take", full)
    with pytest.raises(GraphUnavailable, match="cannot be copied for a query: No space left on device"):
        graph.query("ASK {}")
    monkeypatch.undo()
    assert content(graph.query("ASK {}"))
    store.close()


def rss_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_three_million_rows_stream_in_flat_memory(store: OxigraphStore, graph: NamespacedGraph) -> None:
    answer = query_graphs(
        store, [graph], "SELECT ?x ?y { ?a mayros:p ?x . ?b mayros:p ?y } LIMIT 3000000", timeout_s=300
    )
    (pid,) = processes(store)
    received = 0
    here: list[int] = []
    there: list[int] = []
    for count, chunk in enumerate(answer.chunks):
        received += len(chunk)
        if count % 50 == 0:
            here.append(rss_kib(os.getpid()))
            there.append(rss_kib(pid))
        if received > 90 << 20:  # enough to see growth
            break
    answer.chunks.close()
    assert received > 90 << 20
    assert max(here) - here[1] < 30 << 10
    assert max(there) - there[1] < 30 << 10


def test_an_idle_process_ends(store: OxigraphStore, graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.workers.processes.IDLE_S", 0.2)
    content(graph.query("ASK {}"))
    wait_for(lambda: processes(store) == [])
    assert content(graph.query("ASK {}"))


def test_many_who_ask_at_once_share_one_copy(store: OxigraphStore, graph: NamespacedGraph) -> None:
    store._evaluation._workers = query_pool(size=2, waiting=100)
    made: list[Path] = []
    take = store._evaluation._snapshots._take

    def counted(path: Path, graphs: frozenset[NamedNode]) -> None:
        made.append(path)
        take(path, graphs)

    store._evaluation._snapshots._take = counted
    threads = [threading.Thread(target=lambda: content(graph.query("ASK {}"))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert len(made) == 1
    graph.create_triple({"subject": "a", "predicate": "p", "object": "new"})
    content(graph.query("ASK {}"))
    assert len(made) == 1  # the process makes the change itself
    store.bulk_insert([graph.quad_of({"subject": "b", "predicate": "p", "object": "new"})])
    content(graph.query("ASK {}"))
    assert len(made) == 2
    assert [path.exists() for path in made] == [False, True]
