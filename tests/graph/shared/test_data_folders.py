"""Folders: long names, read-only ones, full disks, other formats, systems without Unix sockets."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import Dataset, GraphUnavailable, Pattern, StoreLocked, open_store
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared import protocol_limits
from cortex_graph.stores.shared import rendezvous as places_of_owners
from cortex_graph.stores.shared.format_version import NAME
from tests.graph.shared.processes import ENVIRONMENT, ended, owner_of, python, record_of

GRAPH = NamedNode("urn:g")


def quad(number: int, text: str = "") -> Quad:
    return Quad(GRAPH, GRAPH, Literal(f"{number}{text}"), GRAPH)


COUNTING = """
import sys
from pathlib import Path
from pyoxigraph import NamedNode
from cortex_graph import Pattern, open_store
store = open_store(Path(sys.argv[1]))
print(store.count(Pattern(NamedNode("urn:g"))), type(store._finder._owner).__name__)
"""


def test_a_long_path_has_its_socket_elsewhere_and_takes_it_away(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 25) / "store"
    store = open_store(folder)
    store.insert([[quad(1)]])
    address = Path(record_of(folder)["address"])  # type: ignore[index]
    assert not address.is_relative_to(folder)
    assert address.is_absolute()
    assert address.parent.stat().st_mode & 0o777 == 0o700
    assert address.stat().st_mode & 0o777 == 0o600
    assert ended(python(COUNTING, folder)) == (0, "1 RemoteOwner\n", "")
    store.close()
    assert not address.parent.exists()


def test_a_socket_that_a_dead_owner_left_elsewhere_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 25) / "store"
    with owner_of(folder) as owner:
        address = Path(record_of(folder)["address"])  # type: ignore[index]
        owner.kill()
        owner.wait()
    assert address.exists()
    open_store(folder).close()
    assert not address.parent.exists()


PORT = "from cortex_graph.stores.shared import rendezvous\nrendezvous.HAS_UNIX_SOCKETS = False\n"


def test_without_unix_sockets_a_loopback_port_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places_of_owners, "HAS_UNIX_SOCKETS", False)
    store = open_store(tmp_path)
    store.insert([[quad(1)]])
    assert isinstance(record_of(tmp_path)["address"], int)  # type: ignore[index]
    assert ended(python(PORT + COUNTING, tmp_path)) == (0, "1 RemoteOwner\n", "")
    store.close()


def test_a_folder_may_be_called_by_several_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to("store")
    monkeypatch.chdir(tmp_path)
    first, second, third = open_store(tmp_path / "store"), open_store("link"), open_store("./x/../store")
    first.insert([[quad(1)]])
    assert second.contains(quad(1))
    monkeypatch.chdir("/")
    assert third.contains(quad(1))
    for store in (first, second, third):
        store.close()
    OxigraphStore(tmp_path / "store").close()


def test_a_collected_store_releases_its_folder(tmp_path: Path) -> None:
    assert open_store(tmp_path).insert([[quad(1)]]) == [True]
    assert record_of(tmp_path) is None
    OxigraphStore(tmp_path).close()


@pytest.mark.parametrize(
    ("mark", "said"),
    [('{"format": 3}', "format 3"), ("", "damaged"), ("garbage", "damaged"), ('{"format": "x"}', "damaged")],
)
def test_a_newer_or_a_damaged_format_is_not_touched(tmp_path: Path, mark: str, said: str) -> None:
    open_store(tmp_path).close()
    (tmp_path / NAME).write_text(mark)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(GraphUnavailable, match=said) as caught:
        open_store(tmp_path)
    assert caught.value.hint
    assert caught.value.details == {"folder": str(tmp_path)}
    assert sorted(tmp_path.iterdir()) == before


def test_a_store_of_before_the_marks_is_marked(tmp_path: Path) -> None:
    OxigraphStore(tmp_path).close()
    assert not (tmp_path / NAME).exists()
    open_store(tmp_path).close()
    assert (tmp_path / NAME).read_text() == '{"format":2}'


@pytest.mark.parametrize("place", ["file", "file/below", "link"])
def test_a_file_in_the_place_of_a_folder_is_no_full_disk(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(GraphUnavailable) as raised:
        open_store(tmp_path / place)
    assert (
        raised.value.hint
        == "there is a file, or a link that leads nowhere: name a folder, or one that does not exist yet"
    )
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("x")
    with pytest.raises(GraphUnavailable, match="other files"):
        open_store(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["letter.txt"]


# --- read-only

READING = """
import sys
from pathlib import Path
from pyoxigraph import NamedNode, Literal, Quad
from cortex_graph import GraphError, Pattern, open_store
from cortex_graph.stores.shared import protocol_limits
from cortex_graph.stores.shared import rendezvous as places_of_owners
protocol_limits.FOREIGN_S = 0.5
G = NamedNode("urn:g")
try:
    store = open_store(Path(sys.argv[1]))
    print(store.count(Pattern(G)), len(list(store.quads(Pattern(G)))), type(store._finder._owner).__name__, flush=True)
    for change in (
        lambda: store.insert([[Quad(G, G, Literal("new"), G)]]),
        lambda: store.remove(Quad(G, G, Literal("0"), G)),
        lambda: store.apply(),
        lambda: store.bulk_insert([]),
        lambda: store.bulk_load(Path("x"), G),
    ):
        try:
            change()
            print("changed", flush=True)
        except GraphError as error:
            print(error.code, "read-only" in error.message, bool(error.hint), flush=True)
except GraphError as error:
    print(error.code, bool(error.hint), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts a file system for the test."""
    places: list[Path] = []

    def mount(*options: str, source: str = "tmpfs") -> Path:
        place = tmp_path / f"mounted{len(places)}"
        place.mkdir()
        if not shutil.which("mount"):
            pytest.skip("there is no `mount`")
        done = subprocess.run(["mount", *options, source, str(place)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"mounting needs root and the right to: {done.stderr.strip()}")
        places.append(place)
        return place

    yield mount
    for mounted_place in reversed(places):
        subprocess.run(["umount", "-l", str(mounted_place)], check=True)  # a failed test may still have files open


def test_a_store_on_a_read_only_file_system_can_be_read(tmp_path: Path, mounted: Callable[..., Path]) -> None:
    store = open_store(tmp_path / "store")
    store.insert([[quad(number)] for number in range(3)])
    store.close()
    place = mounted("--bind", "-o", "ro", source=str(tmp_path / "store"))
    reader = python(READING, place)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "3 3 ReadOnlyStore\n"
    assert [reader.stdout.readline() for _ in range(5)] == ["graph_unavailable True True\n"] * 5
    second = python(READING, place)  # readers do not exclude each other
    assert ended(second)[1].startswith("3 3 ReadOnlyStore\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(protocol_limits, "FOREIGN_S", 0.5)
        with pytest.raises(StoreLocked):  # no process may write while it is read
            open_store(tmp_path / "store")
    ended(reader)
    open_store(tmp_path / "store").close()


def test_a_read_only_folder_is_read_and_written_through_its_owner(tmp_path: Path, mounted: Callable[..., Path]) -> None:
    store = open_store(tmp_path / "store")
    store.insert([[quad(number)] for number in range(3)])
    place = mounted("--bind", "-o", "ro", source=str(tmp_path / "store"))
    assert ended(python(READING, place))[1].startswith("3 3 RemoteOwner\nchanged\n")
    assert store.contains(quad(0, "")) is False or store.count(Pattern(GRAPH)) >= 3
    store.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to become somebody else")
def test_a_user_who_may_only_read_a_folder_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = open_store(folder)
    store.insert([[quad(number)] for number in range(3)])
    store.flush()

    def as_nobody() -> list[str]:
        for parent in [*tmp_path.parents, tmp_path]:
            if parent.stat().st_mode & 0o005 != 0o005:
                opened.append((parent, parent.stat().st_mode))
                parent.chmod(parent.stat().st_mode | 0o005)
        code = READING.replace(
            "protocol_limits.FOREIGN_S", "import os; os.setgid(65534); os.setuid(65534); protocol_limits.FOREIGN_S"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder)],
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            input="",
            check=False,
        )
        return done.stdout.splitlines() or [done.stderr]

    opened: list[tuple[Path, int]] = []
    try:
        folder.chmod(0o755)
        for file in folder.iterdir():
            if file.is_file():
                file.chmod(0o644)
        while_open = as_nobody()
        store.close()
        afterwards = as_nobody()
    finally:
        for parent, mode in opened:
            parent.chmod(mode)
    assert while_open == ["store_locked True"]
    assert afterwards == ["3 3 ReadOnlyStore", *["graph_unavailable True True"] * 5]


# --- full disks


def fill(place: Path) -> None:
    with (place / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(b"x" * 4096)


def failure(operation: Callable[[], object]) -> GraphUnavailable | None:
    """How an operation fails. A kept error does not keep the store open."""
    try:
        operation()
    except GraphUnavailable as error:
        return error
    return None


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_what_was_answered_can_be_read(mounted: Callable[..., Path]) -> None:
    place = mounted("-t", "tmpfs", "-o", "size=64m")
    folder = place / "store"
    store = open_store(folder)
    for number in range(100):
        store.insert([[quad(number)]])
    fill(place)
    written = [number for number in range(100, 2000) if not failure(lambda: store.insert([[quad(number)]]))]  # noqa: B023
    assert len(written) < 1900
    reported = failure(lambda: store.insert([[quad(-1)]]))
    assert reported is not None
    assert "No space left" in reported.message
    assert str(os.getpid()) in reported.hint
    assert store.count(Pattern(GRAPH)) == 100 + len(written)
    assert ended(python(COUNTING, folder)) == (0, f"{100 + len(written)} RemoteOwner\n", "")
    (place / "filler").unlink()
    store.close()
    store = open_store(folder)
    assert store.insert([[quad(-1)]]) == [True]
    assert all(store.contains(quad(number)) for number in [*range(100), *written])
    store.close()
    fill(place)
    store = open_store(folder)  # opening it to write would take room
    assert store.count(Pattern(GRAPH)) == 101 + len(written)
    asked = store.query("ASK { GRAPH <urn:g> { ?s ?p ?o } }", Dataset((), (GRAPH,)))
    assert b"true" in b"".join(asked.chunks)
    reported = failure(lambda: store.insert([[quad(-2)]]))
    assert reported is not None
    assert "the disk was full" in reported.message
    assert str(os.getpid()) in reported.hint
    assert ended(python(COUNTING, folder)) == (0, f"{101 + len(written)} ReadOnlyStore\n", "")
    store.close()
    (place / "filler").unlink()
    store = open_store(folder)
    assert store.insert([[quad(-2)]]) == [True]
    store.close()


@pytest.mark.parametrize(("closed", "free"), [(False, 0), (False, 600 << 10), (True, 200 << 10)])
def test_a_new_process_reads_at_any_amount_of_free_space(
    tmp_path: Path, mounted: Callable[..., Path], closed: bool, free: int
) -> None:
    counting = """
answer = store.query("SELECT ?o { GRAPH <urn:g> { ?s ?p ?o } }", Dataset((), (NamedNode("urn:g"),)))
print(len(json.loads(b"".join(answer.chunks))["results"]["bindings"]))
"""
    code = "import json\nfrom cortex_graph import Dataset" + COUNTING + counting
    store = OxigraphStore(tmp_path / "store")
    for number in range(200):
        store.insert([[quad(number, "x" * 4000)]])
    if closed:
        store.close()
    place = mounted("-t", "tmpfs", "-o", "size=32m")
    shutil.copytree(tmp_path / "store", place / "store")
    status = os.statvfs(place)
    (place / "filler").write_bytes(b"x" * (status.f_bavail * status.f_frsize - free))
    assert ended(python(code, place / "store")) == (0, "200 ReadOnlyStore\n200\n", "")
    store.close()
