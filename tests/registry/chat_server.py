"""A chat-completions endpoint on loopback that answers as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer:
    """What was asked, and what is answered: the content of the message, or the whole body as bytes."""

    def __init__(self) -> None:
        self.answer: Callable[[], str | bytes] = lambda: '{"skip": true}'
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        self.url = ""


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    state = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            state.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            state.keys.append(self.headers["Authorization"])
            answer = state.answer()
            if isinstance(answer, str):
                message = {"role": "assistant", "content": answer}
                answer = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            with suppress(OSError):  # the other side has gone
                self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
