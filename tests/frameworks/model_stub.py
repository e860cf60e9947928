"""A server in place of a model: it speaks the two APIs of OpenAI, and answers each conversation with fixed calls.

Rules kept here:
- it asserts a statement with the tool that it is offered, then queries it, then answers with what the query returned:
  an answer shows that the results of both calls came back;
- it keeps what it was asked, so that a test sees which tools a framework offers to a model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CALLS = (
    ("skill_assert", {"subject": "ada", "predicate": "worksWith", "object": {"node": "grace"}}),
    ("skill_graph_query", {"subject": "ada", "predicate": "worksWith"}),
)


class ModelStub(ThreadingHTTPServer):
    """The server; `asked` has the bodies of the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def offered(self) -> set[str]:
        """The names of the tools of the last request that had any."""
        tools = next(asked["tools"] for asked in reversed(self.asked) if asked.get("tools"))
        return {tool.get("function", tool)["name"] for tool in tools}


class _Handler(BaseHTTPRequestHandler):
    server: ModelStub
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        if self.path == "/v1/responses":
            self._send(json.dumps(_response(asked)), "application/json")
            return
        whole = _completion(asked)
        if not asked.get("stream"):
            self._send(json.dumps(whole), "application/json")
            return
        (choice,) = whole["choices"]
        chunk = whole | {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": choice["message"]}]}
        last = whole | {"object": "chat.completion.chunk", "choices": [choice | {"delta": {}, "message": None}]}
        self._send(
            "".join(f"data: {json.dumps(each)}\n\n" for each in (chunk, last)) + "data: [DONE]\n\n", "text/event-stream"
        )

    def _send(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


def _next(asked: dict[str, Any], results: list[str]) -> tuple[str, str] | str:
    """The call of a tool and its arguments, or the answer after both."""
    if len(results) == len(CALLS):
        return f"The graph answers: {results[-1]}"
    name, arguments = CALLS[len(results)]
    offered = [tool.get("function", tool)["name"] for tool in asked["tools"]]
    (full,) = (each for each in offered if each.endswith(name))  # a framework may put a prefix before it
    return full, json.dumps(arguments)


def _completion(asked: dict[str, Any]) -> dict[str, Any]:
    results = [str(each["content"]) for each in asked["messages"] if each["role"] == "tool"]
    answer = _next(asked, results)
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if not isinstance(answer, str):
        function = {"name": answer[0], "arguments": answer[1]}
        call = {"index": 0, "id": f"call_{len(results)}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [
            {"index": 0, "message": message, "finish_reason": "stop" if isinstance(answer, str) else "tool_calls"}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _response(asked: dict[str, Any]) -> dict[str, Any]:
    given = asked["input"] if isinstance(asked["input"], list) else []
    results = [str(each["output"]) for each in given if each.get("type") == "function_call_output"]
    answer = _next(asked, results)
    if isinstance(answer, str):
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    else:
        number = f"{len(results)}"
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        item |= {"name": answer[0], "arguments": answer[1]}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{len(results)}",
        "object": "response",
        "created_at": 1,
        "model": asked["model"],
        "status": "completed",
        "output": [item | {"status": "completed"}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
    }


@contextmanager
def model_stub() -> Iterator[ModelStub]:
    """The server, on a free port of this machine, while the context lasts."""
    server = ModelStub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
