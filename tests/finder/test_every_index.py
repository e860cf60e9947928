"""Damaged files, files of another version, a full disk: each index finds everything, or states what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_skills.features.finder import index_follower
from cortex_skills.features.finder.entity_documents import EntityDocuments
from cortex_skills.features.finder.kept_documents import DocumentsState
from cortex_skills.features.finder.owned_documents import OwnedDocuments
from tests.finder.three_indexes import INDEXES, OneIndex
from tests.graph.shared.processes import ended, line_of, owner_of, python

DAMAGES = ("term", "idx", "store", "fieldnorm", "meta.json", "missing", "cut", "all")
DAMAGED = [
    *(("resources", damage) for damage in DAMAGES),
    *((name, damage) for name in ("memories", "skills") for damage in ("store", "missing")),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "store"


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest) -> OneIndex:
    return INDEXES[request.param]


def found(folder: Path, index: OneIndex, add: str = "") -> list[str]:
    """What is found after a start of a process that adds something first."""
    store = open_store(str(folder))
    if add:
        index.add(store, add)
    names = index.found(store)
    store.close()
    return names


def place_of(folder: Path, index: OneIndex) -> Path:
    (place,) = (folder / ".find").glob(f"*/v{index.documents.version}")
    return place


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_damaged_files_are_made_again(folder: Path, name: str, damage: str) -> None:
    index = INDEXES[name]
    assert found(folder, index, "first") == ["first"]
    place = place_of(folder, index)
    if damage == "all":
        for path in place.iterdir():
            path.unlink()
    else:
        kind = damage if damage not in ("missing", "cut") else "idx"
        file = next(path for path in sorted(place.iterdir()) if path.name.endswith(kind))
        data = file.read_bytes()
        middle = len(data) // 3
        match damage:
            case "missing":
                file.unlink()
            case "cut":
                file.write_bytes(data[:middle])
            case _:
                file.write_bytes(data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :])
    assert found(folder, index) == ["first"]
    assert found(folder, index, "second") == ["first", "second"]


def test_files_of_an_earlier_version_are_removed_and_those_of_a_later_one_stay(
    folder: Path, index: OneIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = index.documents.version
    assert found(folder, index, "first") == ["first"]
    root = place_of(folder, index).parent
    (root / "version").mkdir()  # not a folder of an index
    monkeypatch.setattr(index.documents, "version", now + 1)
    assert found(folder, index, "second") == ["first", "second"]
    assert sorted(path.name for path in root.iterdir()) == [f"v{now + 1}", "version"]
    monkeypatch.setattr(index.documents, "version", now)  # an earlier release leaves what it cannot read
    assert found(folder, index) == ["first", "second"]
    assert sorted(path.name for path in root.iterdir()) == [f"v{now}", f"v{now + 1}", "version"]


def test_files_of_another_schema_are_made_again(folder: Path, index: OneIndex) -> None:
    store = open_store(str(folder))
    index.add(store, "first")
    kind = f"urn:cortex:m{index.follower.kind}"
    place = folder / ".find" / index_follower._key(kind) / f"v{index.documents.version}"
    other = OwnedDocuments if index.documents is EntityDocuments else EntityDocuments
    with other(place).writing() as writer:
        writer.commit(DocumentsState(store.changes_since("").position))
    store.close()
    assert found(folder, index) == ["first"]


FULL = """
import resource, sys
from cortex_graph import open_store
from cortex_skills.features.finder import index_follower
from tests.finder.three_indexes import INDEXES

def files_of(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def found(index):
    names = index.found(store)
    for follower in index_follower._followers[store].values():
        if follower._thread is not None:
            follower._thread.join()
    return names

index_follower.MOVED_AT = 2
store = open_store(sys.argv[1])
for name, index in INDEXES.items():
    index.add(store, "n0")
    files_of(100)
    made = found(index)
    files_of(resource.RLIM_INFINITY)
    index_follower._followers.clear()  # as in another process
    kept = found(index)
    files_of(100)
    for number in range(1, 5):
        index.add(store, f"n{number}")
    moved = [found(index) for _ in range(2)]
    files_of(resource.RLIM_INFINITY)
    index_follower._followers.clear()
    print([made, kept, *moved, found(index)], flush=True)
store.close()
"""


def test_on_a_full_disk_everything_is_found_and_later_it_is_in_files(folder: Path) -> None:
    with owner_of(folder):  # which writes the store: only the index is written by a process whose files must be small
        process = python(FULL, folder)
        every = [f"n{number}" for number in range(5)]
        for _ in INDEXES:
            assert line_of(process) == str([["n0"], ["n0"], every, every, every])
        assert ended(process)[0] == 0
    for index in INDEXES.values():
        assert found(folder, index) == every
    assert len(list((folder / ".find").glob("*/v*/meta.json"))) == len(INDEXES)
