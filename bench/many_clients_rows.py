"""Rows of 32 clients at once over HTTP: queries a second beside an empty route with the same bytes, and their slowest.

Rules kept here:
- the reference is a Starlette route without middleware, access control or threads, under uvicorn as the server uses it;
- each client has one connection and sends the next request when the answer has arrived; the clients write bytes and
  read the announced number of bytes, so that they take little of the processors that they share with the server;
- the sides alternate, and every answer is compared with the first.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from bench.mcp_rows import COMMAND, TOKEN, environment, free_port, running
from bench.measure import Row

CLIENTS = 32
TURNS, TURN_S = 8, 2.0
THROUGHPUT, SLOWEST = 1 / 3, 10
ROWS = 20
BODY = json.dumps({"predicate": "hasStatus", "limit": ROWS})
EMPTY = """
import pathlib, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

answer = pathlib.Path(sys.argv[1]).read_bytes()

async def constant(request):
    await request.body()
    return Response(answer, media_type="application/json")

app = Starlette(routes=[Route("/api/v1/query", constant, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[2]), http="h11", loop="asyncio", access_log=False, log_level="error")
"""


def rows() -> list[Row]:
    """All rows."""
    mine, other = free_port(), free_port()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        program, answer = folder / "empty.py", folder / "answer.json"
        program.write_text(EMPTY)
        serve = [COMMAND, "serve", "--port", str(mine)]
        with running(serve, environment(folder), mine):
            for number in range(ROWS):
                triple = {"subject": f"s{number}", "predicate": "hasStatus", "object": "open"}
                _post(mine, "/api/v1/triples", json.dumps(triple))
            answer.write_bytes(_post(mine, "/api/v1/query", BODY))
            with running([sys.executable, str(program), str(answer), str(other)], dict(os.environ), other):
                ours, theirs = asyncio.run(_in_turn(mine, other, answer.read_bytes()))
    seconds = TURNS * TURN_S
    figure, reference = f"{CLIENTS} clients at once over HTTP", "an empty route with the same bytes, uvicorn"
    slowest = statistics.quantiles(ours, n=100)[-1]
    return [
        Row(
            f"{figure}, queries a second",
            len(ours) / seconds,
            reference,
            len(theirs) / seconds,
            THROUGHPUT,
            unit="/s",
            at_least=True,
        ),
        Row(f"{figure}, the 99th percentile", slowest, "their median", statistics.median(ours), SLOWEST),
    ]


def _post(port: int, path: str, body: str) -> bytes:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body.encode(), headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        return bytes(answer.read())


async def _in_turn(mine: int, other: int, expected: bytes) -> tuple[list[float], list[float]]:
    """The seconds of each request on both sides, measured alternately after one turn of warm-up."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(TURNS + 1):
        for port, kept in ((mine, times[0]), (other, times[1])):
            end = time.perf_counter() + TURN_S
            taken = await asyncio.gather(*(_client(port, expected, end) for _ in range(CLIENTS)))
            if turn:
                kept += [seconds for each in taken for seconds in each]
    return times


async def _client(port: int, expected: bytes, end: float) -> list[float]:
    """One client: the seconds of each of its requests until a moment."""
    request = (
        f"POST /api/v1/query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}"
    ).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times = []
    try:
        while (start := time.perf_counter()) < end:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length: ")[2].partition(b"\r")[0])
            if not head.startswith(b"http/1.1 200 ") or await reader.readexactly(length) != expected:
                raise RuntimeError(f"another answer: {head!r}")
            times.append(time.perf_counter() - start)
    finally:
        writer.close()
        await writer.wait_closed()
    return times
