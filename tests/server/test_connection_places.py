"""Too many connections: who has shown a token keeps the connection, and a newcomer always gets one."""

from __future__ import annotations

import contextlib
import itertools
import socket
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.doors.server.connection_places import ConnectionPlaces
from cortex_skills.doors.server.file_descriptors import SPARE, connections_within
from cortex_skills.doors.server.protocol import ConnectionLimits
from tests.server.serving import WAIT_S, drained, statuses

HOST = b"Host: localhost\r\n"
HEALTH = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"\r\n"


def connected(server) -> socket.socket:
    return socket.create_connection((server.host, server.port), timeout=WAIT_S)


def asked(connection: socket.socket, token: str | None = None) -> list[int]:
    """The status of a request on a connection, which stays open; none if it was cut off."""
    credential = b"" if token is None else b"Authorization: Bearer " + token.encode() + b"\r\n"
    with contextlib.suppress(ConnectionError):
        connection.sendall(b"HEAD /api/v1/triples HTTP/1.1\r\n" + HOST + credential + b"\r\n")
        return statuses(connection.recv(65536))
    return []


def half_open(server, stack: contextlib.ExitStack, count: int) -> list[socket.socket]:
    """Connections that begin a request, if at all, and never end it; until the server has closed all but a few."""
    opened = [stack.enter_context(connected(server)) for _ in range(count)]
    for number, connection in enumerate(opened):
        with contextlib.suppress(ConnectionError):
            connection.sendall([b"", b"G", b"GET / HTTP/1.1\r\n", HEALTH][number % 4])
    return opened


@pytest.fixture
def patient():
    """Limits under which only a displaced connection is closed."""
    return {"head_s": WAIT_S, "stall_s": WAIT_S, "idle_s": WAIT_S}


def test_half_open_connections_displace_one_another_and_lock_nobody_out(serve, patient):
    server = serve(limits=ConnectionLimits(connections=200, **patient))
    token = server.token("ada")
    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(connected(server))
        assert asked(kept, token) == [200]
        opened = half_open(server, stack, 400)
        assert asked(kept, token) == [200]
        assert drained(opened[0]) == b""
        newcomer = stack.enter_context(connected(server))
        assert asked(newcomer, server.token("eve")) == [200]
        half_open(server, stack, 400)
        assert [asked(connection, token) for connection in (kept, newcomer)] == [[200], [200]]


def test_fifteen_hundred_half_open_connections_lock_nobody_out(serve, patient, files):
    files(5000)
    server = serve(limits=ConnectionLimits(**patient))
    token = server.token("ada")
    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(connected(server))
        for _ in range(3):
            assert asked(kept, token) == [200]
            half_open(server, stack, 500)
            assert asked(stack.enter_context(connected(server)), token) == [200]


def test_the_limit_on_open_files_is_raised_for_the_connections(files):
    files(700)
    assert connections_within(1024) == 1024
    files(5000, at_least=1024 + SPARE)


def test_a_limit_on_open_files_that_cannot_be_raised_limits_the_connections():
    code = (
        "import resource; from cortex_skills.doors.server.file_descriptors import connections_within as within;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (600, 600)); print(within(1024), within(50))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_S)
    assert done.stdout.split() == ["150", "50"]
    assert "ulimit -n" in done.stderr


@pytest.fixture
def files():
    """Sets the soft limit on open files of this process, after it has checked the present one."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 5000:
        pytest.skip("too few files may be open here")

    def change(count, at_least=0):
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= at_least
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))

    yield change
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_connection_without_a_valid_token_is_displaced_and_one_with_it_is_not(serve, patient):
    server = serve(limits=ConnectionLimits(connections=8, **patient))
    with contextlib.ExitStack() as stack:
        wrong, ada = (stack.enter_context(connected(server)) for _ in range(2))
        assert asked(wrong, "cortex_wrong") == asked(wrong) == [401]
        assert asked(ada, server.token("ada")) == [200]
        half_open(server, stack, 8)
        assert drained(wrong) == b""
        assert asked(ada, server.token("ada")) == [200]


def test_one_token_with_all_connections_locks_no_other_out(serve, patient):
    server = serve(limits=ConnectionLimits(connections=12, of_token=3, **patient))
    with contextlib.ExitStack() as stack:
        greedy = [stack.enter_context(connected(server)) for _ in range(12)]
        assert all(asked(connection, server.token("greedy")) == [200] for connection in greedy)
        others = [stack.enter_context(connected(server)) for _ in range(2)]
        assert all(asked(connection, server.token("ada")) == [200] for connection in others)
        assert [asked(connection, server.token("greedy")) for connection in greedy[:3]] == [[200]] * 3
        assert [asked(connection, server.token("greedy")) for connection in greedy[3:5]] == [[], []]


@given(st.integers(1, 12), st.integers(1, 4), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), max_size=120))
def test_places_are_never_exceeded_and_those_kept_are_never_taken(places, of_token, steps):
    table, inside, kept = ConnectionPlaces[int](places, of_token), {}, {}
    arrivals = itertools.count()
    for action, number in steps:
        known = sorted(inside)
        if action == 0 or not known:
            new = next(arrivals)
            inside[new] = None
            displaced = table.enter(new)
            if displaced is not None:
                assert len(inside) == places + 1
                assert displaced not in kept
                assert displaced == min(set(inside) - set(kept))
                assert displaced != new or places == 1
                del inside[displaced]
        elif action == 1:
            one = known[number % len(known)]
            token = str(number % 3)
            table.show(one, token)
            full = len(kept) >= int(places * 3 / 4) or list(kept.values()).count(token) >= of_token
            if one not in kept and not full:
                kept[one] = token
        else:
            one = known[number % len(known)]
            table.leave(one)
            del inside[one]
            kept.pop(one, None)
        assert len(inside) <= places
