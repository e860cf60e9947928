"""Copies of a store go with the store that made them, and with no other."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_graph import NamespacedGraph
from cortex_graph.stores.embedded import OxigraphStore


def asked(store: OxigraphStore) -> bytes:
    return b"".join(NamespacedGraph(store, "mayros").query("ASK { ?s ?p ?o }").chunks)


def test_a_store_that_was_closed_does_not_take_the_copies_of_the_next_one_along(tmp_path: Path) -> None:
    first = OxigraphStore(tmp_path / "store")
    NamespacedGraph(first, "mayros").create_triple({"subject": "a", "predicate": "p", "object": 1})
    asked(first)
    first.close()
    second = OxigraphStore(tmp_path / "store")
    asked(second)
    copies = sorted((tmp_path / "store").rglob("CURRENT"))
    assert len(copies) == 2  # the store's own, and that of its copy
    del first
    gc.collect()
    assert sorted((tmp_path / "store").rglob("CURRENT")) == copies
    assert asked(second) == asked(second)
    second.close()
    assert sorted((tmp_path / "store").rglob("CURRENT")) == [tmp_path / "store/CURRENT"]


ASKS = """
import sys
from cortex_graph import NamespacedGraph, open_store
graph = NamespacedGraph(open_store("memory:"), "mayros")
b"".join(graph.query("ASK { ?s ?p ?o }").chunks)
print("asked", flush=True)
sys.stdin.read()
"""


def test_copies_that_a_killed_process_has_left_go_and_those_of_a_living_one_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed, living = (
        subprocess.Popen(
            [sys.executable, "-c", ASKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for _ in range(2)
    )
    with killed, living:
        for process in (killed, living):
            assert process.stdout
            assert process.stdout.readline() == b"asked\n"
        assert len(list(tmp_path.glob("cortex-queries-*"))) == 2
        killed.kill()
        killed.wait()
        store = OxigraphStore()
        asked(store)
        assert len(list(tmp_path.glob("cortex-queries-*/*-1"))) == 2  # of the living one, and our own
        store.close()
        living.communicate()
    assert list(tmp_path.glob("cortex-queries-*")) == []
