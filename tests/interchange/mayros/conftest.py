"""A server for the TypeScript client of Mayros, and that client in Python: the same paths, bodies and headers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.server.serving import FAST, WAIT_S, Running, served

_NUMBERS = count()
PERMISSIONS = ("read", "write", "audit")


class CortexError(Exception):
    """An answer that is no success, as the client reads it: `error`, `status`, `code`, `details`."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(body.get("error"))
        self.status, self.code, self.details = status, body.get("code"), body.get("details")


class CortexClient:
    """Sends what `cortex-client.ts` sends, and reads answers as it does."""

    def __init__(self, url: str, auth_token: str) -> None:
        headers = {"Content-Type": "application/json", "Authorization": auth_token}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=WAIT_S, trust_env=False, **FAST)

    def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        content = None if body is None else json.dumps(body)
        given = {name: value for name, value in query.items() if value is not None}
        answer = self.http.request(method, path, content=content, params=given)
        if answer.status_code == 204:
            return None
        if not answer.is_success:
            raise CortexError(answer.status_code, answer.json())
        return answer.json()

    def create_triple(self, subject: str, predicate: str, value: Any) -> Any:
        triple = {"subject": subject, "predicate": predicate, "object": value}
        return self.request("POST", "/api/v1/triples", triple)

    def submit_proof(self, **given: Any) -> Any:
        return self.request("POST", "/api/v1/proofs", given)

    def of_proof(self, proof_id: str, more: str = "", method: str = "GET") -> Any:
        return self.request(method, f"/api/v1/proofs/{quote(proof_id, safe='')}{more}")

    def validate(self, *statements: dict[str, Any]) -> Any:
        return self.request("POST", "/api/v1/validate", {"statements": statements})

    def verify(self, proof_hash: str, *statements: dict[str, Any]) -> Any:
        more = {"statements": statements} if statements else {}
        return self.request("POST", "/api/v1/verify", {"proof_hash": proof_hash, **more})

    def get_consistency(self, agent: str) -> Any:
        return self.request("GET", f"/api/v1/agents/{quote(agent, safe='')}/consistency")

    def emit_events(self, *events: dict[str, Any]) -> httpx.Response:
        return self.http.post("/api/v1/events", content=json.dumps({"events": events}))

    def get_events(self, **query: Any) -> Any:
        return self.request("GET", "/api/v1/events", **query)

    def get_event(self, event_id: str) -> Any:
        return self.request("GET", f"/api/v1/events/{quote(event_id, safe='')}")


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("mayros")) as server:
        yield server


@pytest.fixture
def name() -> str:
    """A namespace of its own for each test, which is the name of the agent, too."""
    return f"mayros{next(_NUMBERS)}"


@pytest.fixture
def cortex(running: Running, name: str) -> Iterator[CortexClient]:
    client = CortexClient(running.url, f"Bearer {running.token(name, (name,), PERMISSIONS)}")
    with client.http:
        yield client


@pytest.fixture
def elsewhere_folder(tmp_path: Path) -> Path:
    """Where proofs are made that are not of the server."""
    return tmp_path
