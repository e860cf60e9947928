"""An embeddings endpoint on loopback that answers as a test wants, with real vectors by default."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cortex_skills.features.finder.static_vectors import StaticVectors

Answer = Callable[[list[str]], bytes]


def as_answer(rows: list[Any]) -> bytes:
    entries = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
    return json.dumps({"object": "list", "data": entries[::-1], "model": "m"}).encode()


def honest(texts: list[str]) -> bytes:
    return as_answer(StaticVectors().embed(texts, 1.0).tolist())


class EmbeddingServer:
    """What was asked, and how to answer."""

    def __init__(self) -> None:
        self.answer: Answer = honest
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""

    @property
    def texts(self) -> list[str]:
        return [text for request in self.asked for text in request["input"]]


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    state = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.asked.append(body)
            state.keys.append(self.headers["Authorization"])
            data = state.answer(body["input"])
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
