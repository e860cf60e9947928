"""One server for the tests of the explorer over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.serving import Running, served


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that answers; tests use other namespaces, or only read."""
    with served(tmp_path_factory.mktemp("explorer")) as server:
        yield server
