"""Attacks of other processes on an owner, and files planted where a client searches for one."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphBusy, GraphStore, GraphUnavailable, Pattern, StoreLocked, open_store
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared import protocol_limits
from cortex_graph.stores.shared.channel import (
    Channel,
    ConnectionLost,
    PeerSilent,
    ProtocolViolation,
    greet_client,
    greet_owner,
)
from cortex_graph.stores.shared.rendezvous import FOLDER, OwnerRecord, Rendezvous, connected, forget
from tests.graph.shared.processes import owner_of, record_of, running, stopped

GRAPH = NamedNode("urn:g")
QUAD = Quad(GRAPH, GRAPH, Literal(1), GRAPH)
unix = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no Unix sockets")
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no modes of files")


CLAIMS = """
import sys
from pathlib import Path
from cortex_graph.stores.shared.rendezvous import Rendezvous
place = Rendezvous(Path(sys.argv[1]))
place.prepare()
print(place.claim(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[tuple[GraphStore, Path]]:
    """A store of this process's own, and its folder."""
    store = open_store(tmp_path / "store")
    yield store, tmp_path / "store"
    store.close()


def connection(folder: Path) -> Channel:
    record = Rendezvous(folder).read()
    assert record is not None
    found = connected(record)
    assert found is not None
    return Channel(found)


def token(folder: Path) -> bytes:
    record = record_of(folder)
    assert record is not None
    return str(record["token"]).encode()


@posix
def test_a_pipe_in_place_of_the_record_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    os.mkfifo(tmp_path / FOLDER / "record.json", 0o600)
    with pytest.raises(GraphUnavailable, match="not a plain file"):
        open_store(tmp_path)


@posix
def test_a_socket_elsewhere_that_a_record_names_is_not_removed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    open_store(store).close()
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(tmp_path / "their.sock"))
        record = OwnerRecord(os.getpid(), str(tmp_path / "their.sock"), b"x" * 64)
        Rendezvous(store).write(record)
        forget(record)
        open_store(store).close()
    assert (tmp_path / "their.sock").exists()


@posix
def test_nothing_is_open_to_other_users(owned: tuple[GraphStore, Path]) -> None:
    here = owned[1] / FOLDER
    assert stat.S_IMODE(here.stat().st_mode) == 0o700
    modes = {entry.name.partition(".")[2] or entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in here.iterdir()}
    assert modes == {"json": 0o600, "sock": 0o600, "claim": 0o600}


def test_the_record_and_the_socket_go_with_the_owner(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    assert [entry.name for entry in (tmp_path / FOLDER).iterdir()] == ["claim"]


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x00" * 64,
        b"\xff" * 64,
        struct.pack(">II", 2**31, 10) + b"x" * 100,
        struct.pack(">II", 4, 40) + b"{}{}",
        struct.pack(">II", 2, 2) + b"[]",
        struct.pack(">II", 4, 4) + b"\x80\x04N.",
        struct.pack(">II", 30, 30) + b'{"nonce": 1, "mac": ["a", 22]}',
        struct.pack(">II", 100, 50) + b"half",
    ],
)
def test_garbage_on_a_connection_has_no_effect(owned: tuple[GraphStore, Path], said: bytes) -> None:
    store, folder = owned
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(next((folder / FOLDER).glob("*.sock"))))
        stranger.settimeout(60)
        assert b"nonce" in stranger.recv(1000)
        stranger.sendall(said)
        stranger.shutdown(socket.SHUT_WR)
        assert stranger.recv(1000) == b""
    assert store.insert([[QUAD]]) == [True]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["op", "sizes", "bound", "limit", "cursor", "ceiling", "path", "text", "timeout", "insert"]),
        st.one_of(
            st.none(),
            st.integers(-5, 2**40),
            st.text(max_size=9),
            st.lists(st.integers(-1, 3), max_size=3),
            st.booleans(),
        ),
    ),
    st.sampled_from(["contains", "insert", "remove", "apply", "match", "quads", "count", "maintain", "x", None]),
    st.sampled_from([b"", b"<urn:a> <urn:b> <urn:c> <urn:g> .\n", b"garbage", b'_:a <urn:b> "c" .\n' * 3]),
)
def test_malformed_requests_of_an_authenticated_peer_have_no_effect(
    owned: tuple[GraphStore, Path], header: dict[str, object], operation: str | None, body: bytes
) -> None:
    store, folder = owned
    peer = connection(folder)
    assert greet_owner(peer, token(folder)) is None
    try:
        peer.send({**header, "op": operation or header.get("op")}, body)
        answer = peer.receive(60).header
        assert {"ok", "error", "more", "end"} & set(answer)
    except ConnectionLost:
        pass  # cut off
    finally:
        peer.close()
    assert store.count(Pattern(NamedNode("urn:other"))) == 0


def test_a_wrong_token_opens_nothing(owned: tuple[GraphStore, Path]) -> None:
    peer = connection(owned[1])
    with pytest.raises((ProtocolViolation, ConnectionLost)):
        greet_owner(peer, b"0" * 64)
    peer.close()


def test_an_operation_without_a_greeting_is_not_done(owned: tuple[GraphStore, Path]) -> None:
    store, folder = owned
    peer = connection(folder)
    peer.receive(60)
    peer.send({"op": "insert", "sizes": [1]}, str(QUAD).encode() + b" .\n")
    with pytest.raises(ConnectionLost):
        peer.receive(60)
    peer.close()
    assert not store.contains(QUAD)


def test_who_does_not_greet_is_cut_off(owned: tuple[GraphStore, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_limits, "GREETING_S", 0.2)
    peer = connection(owned[1])
    peer.receive(60)
    with pytest.raises(ConnectionLost):
        peer.receive(60)
    peer.close()


def test_a_listener_without_the_token_learns_nothing() -> None:
    ours, theirs = socket.socketpair()
    client, owner = Channel(ours), Channel(theirs)
    refused = threading.Event()

    def listen() -> None:
        try:
            greet_client(owner, b"a token of its own")
        except ProtocolViolation:
            refused.set()
        owner.close()

    thread = threading.Thread(target=listen)
    thread.start()
    with pytest.raises((ConnectionLost, ProtocolViolation)):
        greet_owner(client, b"the token of the record")
    thread.join()
    client.close()
    assert refused.is_set()


def test_connections_beyond_the_limit_are_refused(
    owned: tuple[GraphStore, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol_limits, "MAX_PEERS", 2)
    peers = [connection(owned[1]) for _ in range(2)]
    for peer in peers:
        assert greet_owner(peer, token(owned[1])) is None
    last = connection(owned[1])
    refused = greet_owner(last, token(owned[1]))
    assert refused is not None
    assert refused["error"]["code"] == "graph_busy"
    for peer in [*peers, last]:
        peer.close()


def test_a_peer_that_reads_nothing_does_not_hold_up_the_others(owned: tuple[GraphStore, Path]) -> None:
    store, folder = owned
    store.bulk_insert(Quad(GRAPH, GRAPH, Literal(f"{number} " + "x" * 1000), GRAPH) for number in range(20_000))
    peer = connection(folder)
    assert greet_owner(peer, token(folder)) is None
    body = f"{GRAPH} {GRAPH} {GRAPH} {GRAPH} .\n".encode()
    peer.send({"op": "quads", "bound": ""}, body)
    for _ in range(50):
        peer.send({"op": "next"})
    assert store.insert([[QUAD]]) == [True]
    other = connection(folder)
    assert greet_owner(other, token(folder)) is None
    other.send({"op": "count", "bound": "", "ceiling": None}, body)
    assert other.receive(60).header == {"ok": 20_001}
    peer.close()
    other.close()


# Shorter than in use, except for the time that a process may take to open the store: that must not be waited for.
HASTY = {"NOTICE_S": 0.2, "SILENCE_S": 0.6, "GREETING_S": 0.4, "FIND_S": 600.0, "FRAME_S": 600.0}


@unix
def test_a_stopped_owner_is_reported_and_then_an_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    large = [Quad(GRAPH, GRAPH, Literal(f"{number} " + "x" * 10_000), GRAPH) for number in range(200)]
    with owner_of(tmp_path) as owner:
        store = open_store(tmp_path)
        store.insert([[QUAD]])
        waits = f"still waiting: process {owner.pid}, which has the store in {tmp_path} open, does not answer"
        with stopped(owner), pytest.MonkeyPatch.context() as hasty:
            for name, seconds in HASTY.items():
                hasty.setattr(protocol_limits, name, seconds)
            for operation in (
                lambda: store.contains(QUAD),
                lambda: store.insert([large]),  # more than the socket takes
                lambda: next(store.quads(Pattern(GRAPH))),
            ):
                with pytest.raises(GraphBusy, match="does not answer") as caught:
                    operation()
                assert caught.value.details == {"folder": str(tmp_path), "pid": owner.pid}
                assert caught.value.hint
            assert caplog.messages == [waits]  # once until it answers
            store.close()
            caplog.clear()
            with pytest.raises(GraphBusy, match="does not answer"):
                open_store(tmp_path)
            assert caplog.messages == [waits]
        store = open_store(tmp_path)
        assert store.contains(QUAD)
        store.close()


@unix
def test_a_stopped_owner_with_a_full_queue_of_connections_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in HASTY.items():
        monkeypatch.setattr(protocol_limits, name, seconds)
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as queue:
        path = tmp_path / FOLDER / "x.sock"
        path.parent.mkdir(mode=0o700)
        listener.bind(str(path))
        listener.listen(0)
        record = OwnerRecord(os.getppid(), str(path), b"x" * 64)
        Rendezvous(tmp_path).write(record)
        with contextlib.suppress(PeerSilent):
            for _ in range(10_000):
                waiting = connected(record)
                assert waiting is not None
                queue.enter_context(waiting)
        with pytest.raises(GraphBusy, match="does not answer") as caught:
            open_store(tmp_path)
        assert caught.value.details == {"folder": str(tmp_path), "pid": os.getppid()}


@posix
def test_a_process_that_does_not_complete_the_opening_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(protocol_limits, "NOTICE_S", 0.2)
    monkeypatch.setattr(protocol_limits, "FIND_S", 0.5)
    with running(CLAIMS, tmp_path) as opening:
        with pytest.raises(GraphBusy, match="does not complete") as caught:
            open_store(tmp_path)
        assert caught.value.details == {"folder": str(tmp_path), "pid": opening.pid}
        assert caplog.messages == [
            f"still waiting: process {opening.pid} is opening or closing the store in {tmp_path}"
        ]


def test_a_long_operation_is_no_silence(owned: tuple[GraphStore, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_limits, "PULSE_S", 0.1)
    store, folder = owned

    def is_answered() -> bool:
        peer = connection(folder)
        try:
            assert greet_owner(peer, token(folder)) is None
            peer.send({"op": "maintain", "timeout": 3})
            return peer.receive(1.5).header == {"ok": False}
        except PeerSilent:  # this process, in which the owner is, stood still for so long
            return False
        finally:
            peer.close()

    with store.maintenance:
        assert any(is_answered() for _ in range(5))


def test_a_folder_that_something_else_has_open_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_limits, "FOREIGN_S", 0.5)
    held = OxigraphStore(tmp_path)
    with pytest.raises(StoreLocked) as caught:
        open_store(tmp_path)
    assert caught.value.details == {"folder": str(tmp_path)}
    assert caught.value.hint
    held.close()
    open_store(tmp_path).close()


GARBAGE = [
    b"",
    b"garbage",
    b"[]",
    b"{}",
    b"\xff\xfe",
    b'{"pid": 1, "address": "x.sock"}',
    b"{" * 5000,
    json.dumps({"protocol": 1, "pid": "1", "address": 7, "token": "x" * 64, "folder": [0, 0]}).encode(),
]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_in_the_record_is_no_record(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / FOLDER).mkdir(mode=0o700)
    (tmp_path / FOLDER / "record.json").write_bytes(garbage)
    (tmp_path / FOLDER / "record.json").chmod(0o600)
    store = open_store(tmp_path)
    assert record_of(tmp_path)["pid"] == os.getpid()  # type: ignore[index]
    store.close()


@unix
@pytest.mark.parametrize("address", ["gone.sock", "/nowhere/at/all.sock", "../../x", "\0", "a" * 3000, 1, 65535])
def test_a_record_of_a_dead_owner_is_replaced(tmp_path: Path, address: str | int) -> None:
    status = tmp_path.stat()
    (tmp_path / FOLDER).mkdir(mode=0o700)
    record = {"protocol": 1, "pid": os.getppid(), "address": address, "token": "t" * 64}
    (tmp_path / FOLDER / "record.json").write_text(json.dumps({**record, "folder": [status.st_dev, status.st_ino]}))
    (tmp_path / FOLDER / "record.json").chmod(0o600)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(tmp_path / FOLDER / "gone.sock"))
    store = open_store(tmp_path)
    assert record_of(tmp_path)["pid"] == os.getpid()  # type: ignore[index]
    assert len(list((tmp_path / FOLDER).glob("*.sock"))) == 1
    store.close()


@unix
def test_files_that_a_record_points_to_are_not_removed(tmp_path: Path) -> None:
    precious = tmp_path / "cortex-graph-notes" / "owner.sock"
    precious.parent.mkdir()
    precious.write_text("mine")
    folder = tmp_path / "store"
    (folder / FOLDER).mkdir(mode=0o700, parents=True)
    status = folder.stat()
    record = {"protocol": 1, "pid": 1, "address": str(precious), "token": "t" * 64}
    (folder / FOLDER / "record.json").write_text(json.dumps({**record, "folder": [status.st_dev, status.st_ino]}))
    (folder / FOLDER / "record.json").chmod(0o600)
    open_store(folder).close()
    assert precious.read_text() == "mine"


@posix
def test_a_folder_of_owners_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER).chmod(0o777)
    with pytest.raises(GraphUnavailable, match="does not belong to this user") as caught:
        open_store(tmp_path)
    assert caught.value.hint


@unix
def test_a_link_in_place_of_the_folder_of_owners_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / FOLDER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GraphUnavailable, match="does not belong to this user"):
        open_store(tmp_path / "store")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@unix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_another_user_has_planted_is_refused(tmp_path: Path) -> None:
    for folder, planted in ((tmp_path / "a", FOLDER), (tmp_path / "b", f"{FOLDER}/record.json")):
        (folder / FOLDER).mkdir(mode=0o700, parents=True)
        (folder / FOLDER / "record.json").write_text("{}")
        os.chown(folder / planted, 65534, 65534)
        with pytest.raises(GraphUnavailable, match="does not belong to this user"):
            open_store(folder)


@unix
def test_a_copy_of_a_folder_does_not_lead_to_the_owner_of_the_original(tmp_path: Path) -> None:
    with owner_of(tmp_path / "store"):
        original = open_store(tmp_path / "store")
        original.snapshot(tmp_path / "copy")
        (tmp_path / "copy" / FOLDER).mkdir(mode=0o700)
        record = json.loads((tmp_path / "store" / FOLDER / "record.json").read_text())
        record["address"] = str(tmp_path / "store" / FOLDER / record["address"])
        (tmp_path / "copy" / FOLDER / "record.json").write_text(json.dumps(record))
        (tmp_path / "copy" / FOLDER / "record.json").chmod(0o600)
        copy = open_store(tmp_path / "copy")
        copy.insert([[QUAD]])
        assert not original.contains(QUAD)
        copy.close()
        original.insert([[QUAD]])
        original.close()


def test_a_closing_owner_does_not_wait_for_who_reads_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.bulk_insert(Quad(GRAPH, GRAPH, Literal(f"{number} " + "x" * 1000), GRAPH) for number in range(2000))
    peers = [connection(tmp_path) for _ in range(3)]
    for peer in peers:
        assert greet_owner(peer, token(tmp_path)) is None
    body = f"{GRAPH} {GRAPH} {GRAPH} {GRAPH} .\n".encode()
    peers[0].send({"op": "quads", "bound": ""}, body)
    assert peers[0].receive(60).header == {"more": True}
    peers[1].send({"op": "bulk_insert"})
    assert peers[1].receive(60).header == {"next": True}
    peers[2].send({"op": "maintain", "timeout": -1})
    assert peers[2].receive(60).header == {"ok": True}
    store.close()
    for peer in peers:
        with pytest.raises(ConnectionLost):
            peer.receive(60)
        peer.close()
    OxigraphStore(tmp_path).close()  # nothing of them keeps the store open
