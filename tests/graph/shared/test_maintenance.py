"""The maintenance lock over processes."""

from __future__ import annotations

import signal
from pathlib import Path

from cortex_graph import open_store
from cortex_graph.stores.shared import protocol_limits
from tests.graph.shared.processes import ended, line_of, owner_of, python, running

HOLDING = """
import sys
from pathlib import Path
from cortex_graph import open_store
store = open_store(Path(sys.argv[1]))
store.maintenance.acquire()
print("held", flush=True)
for line in sys.stdin:
    store.flush()
    print("flushed", flush=True)
store.maintenance.release()
"""

TRYING = """
import sys
from pathlib import Path
from cortex_graph import open_store
store = open_store(Path(sys.argv[1]))
print(store.maintenance.acquire(blocking=False))
"""


def test_one_process_at_a_time_holds_the_lock_for_any_owner(tmp_path: Path) -> None:
    with running(HOLDING, tmp_path) as owner:
        store = open_store(tmp_path)
        assert store.maintenance.acquire(blocking=False) is False
        assert store.maintenance.acquire(timeout=0.3) is False
        ended(owner)
        assert store.maintenance.acquire(timeout=60) is True
        store.maintenance.release()
    store.close()


def test_one_client_excludes_another_and_the_owner(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with running(HOLDING, tmp_path) as first:
        assert store.maintenance.acquire(blocking=False) is False
        assert ended(python(TRYING, tmp_path)) == (0, "False\n", "")
        ended(first)
        with store.maintenance:
            assert store.maintenance.acquire(blocking=False) is False
    store.close()


def test_a_killed_holder_releases_the_lock(tmp_path: Path) -> None:
    with owner_of(tmp_path):
        store = open_store(tmp_path)
        with running(HOLDING, tmp_path) as holder:
            assert store.maintenance.acquire(blocking=False) is False
            holder.send_signal(signal.SIGKILL)
            assert store.maintenance.acquire(timeout=60) is True
        store.maintenance.release()
        store.close()


def test_a_holder_whose_owner_dies_keeps_it(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner, running(HOLDING, tmp_path) as holder:
        store = open_store(tmp_path)
        assert store.maintenance.acquire(blocking=False) is False
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        assert holder.stdin is not None
        holder.stdin.write("\n")
        holder.stdin.flush()
        assert line_of(holder) == "flushed"
        assert store.maintenance.acquire(timeout=protocol_limits.GRACE_S + 1) is False
        ended(holder)
        assert store.maintenance.acquire(timeout=60) is True
        store.maintenance.release()
        store.close()


def test_it_can_be_given_back_when_the_owner_has_died(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner:
        store = open_store(tmp_path)
        with store.maintenance:
            owner.send_signal(signal.SIGKILL)
            owner.wait()
        assert store.maintenance.acquire(timeout=60) is True
        store.maintenance.release()
        store.close()
