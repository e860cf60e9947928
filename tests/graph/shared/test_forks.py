"""Processes that are forked while a folder is open."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.graph.shared.processes import ended, owner_of, python, record_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

FORKING = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of each fork beside threads
from pathlib import Path
from cortex_graph import NamespacedGraph, open_store
store = open_store(Path(sys.argv[1]))
graph = NamespacedGraph(store, "mayros")
graph.create_triple({"subject": "parent", "predicate": "p", "object": 1})
child = os.fork()
if child == 0:
    graph.create_triple({"subject": "child", "predicate": "p", "object": 2})
    again = NamespacedGraph(open_store(Path(sys.argv[1])), "mayros")
    assert again.count() == 2, again.count()
    with again.store.maintenance:
        pass
    if sys.argv[2] == "close":
        again.store.close()
        store.close()
    sys.exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
graph.create_triple({"subject": "parent", "predicate": "p", "object": 3})
print(graph.count())
"""


@pytest.mark.parametrize("way", ["close", "leave open"])
@pytest.mark.parametrize("parent", ["owner", "client"])
def test_a_forked_child_goes_through_the_owner_and_ends_in_order(tmp_path: Path, parent: str, way: str) -> None:
    if parent == "owner":
        assert ended(python(FORKING, tmp_path, way)) == (0, "3\n", "")
        return
    with owner_of(tmp_path):
        assert ended(python(FORKING, tmp_path, way)) == (0, "3\n", "")


ORPHAN = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from pathlib import Path
from cortex_graph import NamespacedGraph, open_store
graph = NamespacedGraph(open_store(Path(sys.argv[1])), "mayros")
graph.create_triple({"subject": "parent", "predicate": "p", "object": 1})
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.close(writing)
    os.read(reading, 1)  # until the parent has gone
    graph.create_triple({"subject": "child", "predicate": "p", "object": 2})
    print(graph.count(), flush=True)
    graph.store.close()
    sys.exit(0)
print("forked", flush=True)
sys.stdin.readline()
"""


def test_a_forked_child_whose_parent_dies_has_another_process_own_the_folder(tmp_path: Path) -> None:
    process = python(ORPHAN, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "forked\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout.readline() == "2\n"
    process.communicate()  # the child has ended, too, and closed its streams
    assert record_of(tmp_path) is None


MULTIPROCESSING = """
import sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from multiprocessing import get_context
from pathlib import Path
from cortex_graph import NamespacedGraph, open_store
graph = NamespacedGraph(open_store(Path(sys.argv[1])), "mayros")
def write(number):
    return graph.create_triple({"subject": "s", "predicate": "p", "object": number})["created"]
if __name__ == "__main__":
    with get_context("fork").Pool(3) as pool:
        print(pool.map(write, range(30)) == [True] * 30, graph.count())
"""


def test_a_pool_of_forked_workers_writes_through_its_parent(tmp_path: Path) -> None:
    assert ended(python(MULTIPROCESSING, tmp_path)) == (0, "True 30\n", "")
