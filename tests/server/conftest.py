"""One server for the tests that leave it as it was, and makers of others."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.serving import Process, Running, served

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that all tests share; each test uses a separate namespace."""
    with served(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts servers of a test's own."""
    with ExitStack() as stack:

        def start(**settings: Any) -> Running:
            return stack.enter_context(served(tmp_path, **settings))

        yield start


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts servers as processes."""
    with ExitStack() as stack:

        def start(*words: str, port: int = 0) -> Process:
            one = Process(tmp_path, *words, port=port)
            stack.callback(one.end)
            return one

        yield start


@pytest.fixture
def namespace() -> str:
    """A namespace that no other test uses."""
    return f"ns{next(_NUMBERS)}"


@pytest.fixture
def client(server: Running, namespace: str) -> httpx.Client:
    """A client that may do everything in its namespace."""
    return server.client(server.token(f"of-{namespace}", (namespace,), ("read", "write", "provenance")))
