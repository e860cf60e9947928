"""A thousand clients of the proofs at once, some hostile: each gets an answer, or 503 with `Retry-After`."""

from __future__ import annotations

import asyncio
import json
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from cortex_skills.tokens import TokenFile, new_token
from tests.server.proof_cases import PROOFS, TRIPLE, Elsewhere
from tests.server.serving import FAST, WAIT_S

CLIENTS = 1000
HOSTILE = [
    b'{"proof_type": "pol", "proof_data": ' + b'{"a":' * 3_000 + b"1" + b"}" * 3_000 + b"}",
    b'{"proof_type": "range", "proof_data": {"proofType": "range", "version": 1e999}}',
    b'{"proof_type": "schnorr", "proof_data": {"version": ' + b"9" * 4_400 + b"}}",
    b'{"proof_type": "pol", "proof_data": {}, "proof_data": {}}',
    b'{"proof_type": "pol", "proof_data": {"rules": [' + b"0," * 50_000 + b"0]}}",
    '{"proof_type": "ｐｏｌ", "proof_data": {}}'.encode(),
    b"[" * 100_000,
    b"\xff" * 1_000,
]


@pytest.fixture(autouse=True)
def descriptors() -> Iterator[None]:
    """Room for as many connections, here and in the server."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * CLIENTS:
        pytest.skip(f"a process may have no more than {hard} files open here")
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * CLIENTS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_clients_get_an_answer_or_a_retry_after(process, tmp_path: Path) -> None:
    served = process()
    token, text = new_token("all", ("mayros",), ("read", "write", "provenance"), None, datetime.now(UTC))
    TokenFile(tmp_path / "tokens.json").add(token)
    head = f"Host: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {text}\r\nConnection: close\r\n"
    good = json.dumps({"proof_type": "schnorr", "proof_data": Elsewhere("mayros", tmp_path).zk("schnorr")}).encode()

    def request(number: int) -> bytes:
        if number % 3 == 0:
            return f"GET {PROOFS} HTTP/1.1\r\n{head}\r\n".encode()
        body = good if number % 3 == 1 else HOSTILE[number % len(HOSTILE)]
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"POST {PROOFS} HTTP/1.1\r\n{head}{kind}\r\n".encode() + body

    async def answer(number: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        try:
            writer.write(request(number))
            return await reader.read()
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def answers() -> list[bytes]:
        return await asyncio.gather(*map(answer, range(CLIENTS)))

    with httpx.Client(base_url=served.url, trust_env=False, timeout=WAIT_S, **FAST) as client:
        client.headers["Authorization"] = f"Bearer {text}"
        assert client.post("/api/v1/triples", json=TRIPLE).status_code == 201
        reported = asyncio.run(answers())
        counted = Counter(int(answer[9:12]) for answer in reported)
        assert sum(counted.values()) == CLIENTS
        assert set(counted) <= {200, 201, 400, 503}
        assert counted[201] <= 1
        assert all(b"retry-after" in answer.lower() for answer in reported if answer[9:12] == b"503")
        assert all(b'"code":"server_busy"' in answer for answer in reported if answer[9:12] == b"503")
        assert all(answer[9:12] in (b"400", b"503") for answer in reported[2::3])  # none of the hostile ones was taken
        assert client.post(PROOFS, content=good, headers={"Content-Type": "application/json"}).is_success
        assert client.get(PROOFS).json()["count"] == 1
