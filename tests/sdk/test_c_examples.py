"""The C examples: compiled, made components, and run with real host functions."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wasmtime import wat2wasm

from cortex_sandbox.wasm import (
    Grants,
    HostRefusal,
    HttpRequest,
    HttpResponse,
    PluginHost,
    ToolAnswer,
    WasmSandbox,
    make_component,
)
from cortex_sandbox.wasm.plugin_world import FUNCTIONS
from cortex_skills.features.artifacts.package import ArtifactError, read_skill_toml
from cortex_skills.features.artifacts.package.build import build_artifact
from cortex_skills.features.artifacts.package.project import read_project
from cortex_skills.keys import Key
from tests.sdk.c_examples import SDK, compiled

_NO_MEMORY = '(module (func (export "run") (param i32 i32 i32 i32) (result i32) unreachable))'
ENGINE = SDK.parents[1] / "sandbox" / "guest" / "engine"


class Storage:
    """The storage of one plugin, in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def read(self, prefix: str, key: str) -> bytes:
        if f"{prefix}/{key}" not in self.kept:
            raise HostRefusal("storage_not_found", f"nothing is stored under {key}")
        return self.kept[f"{prefix}/{key}"]

    def write(self, prefix: str, key: str, value: bytes) -> None:
        self.kept[f"{prefix}/{key}"] = value


@pytest.fixture(scope="module")
def pages() -> Iterator[tuple[int, dict[str, bytes]]]:
    """A server on loopback: its port, and its pages by path, which need a token."""
    content = {"/": b"first"}

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = self.headers["authorization"] == "Bearer s3cret"
            self.send_response((200 if self.path in content else 404) if allowed else 401)
            self.end_headers()
            self.wfile.write(content.get(self.path, b"") if allowed else b"")

        def log_message(self, *arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port, content
    server.shutdown()
    server.server_close()
    thread.join()


def fetch_from(port: int, request: HttpRequest) -> HttpResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(request.method, request.path, request.body, dict(request.headers))
        response = connection.getresponse()
        return HttpResponse(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


def test_the_hello_example_greets_and_counts_in_its_storage(hello: WasmSandbox) -> None:
    storage = Storage()
    host = PluginHost(Grants(storage=["greeted"]), storage_read=storage.read, storage_write=storage.write)
    box = WasmSandbox(make_component(compiled("hello")), host=host)
    for times in (1, 2):
        answer = box.call_tool("acme.hello.greet", '{"name": "Ada"}')
        assert (json.loads(answer.text), answer.failed) == ({"greeting": "Hello, Ada", "times": times}, False)
    assert storage.kept == {"greeted/Ada": b"2"}
    assert json.loads(hello.call_tool("acme.hello.greet", '{"name": "Ada"}').text)["times"] == 1


@pytest.fixture(scope="module")
def hello() -> WasmSandbox:
    """The example without grants."""
    return WasmSandbox(make_component(compiled("hello")))


@given(name=st.text(max_size=40), ascii_only=st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_text_of_any_characters_comes_back_from_c(hello: WasmSandbox, name: str, ascii_only: bool) -> None:
    name = name.encode("utf-8", "replace").decode()
    argument = json.dumps({"a": [{"name": "no"}, "}"], "name": name}, ensure_ascii=ascii_only)
    assert json.loads(hello.call_tool("acme.hello.greet", argument).text)["greeting"] == f"Hello, {name}"


@given(text=st.text(alphabet='{}[]":,\\ nu0a', max_size=30))
@settings(max_examples=60, deadline=None)
def test_an_input_that_is_no_json_never_ends_in_a_trap(hello: WasmSandbox, text: str) -> None:
    answer = hello.call_tool("acme.hello.greet", text)
    assert json.loads(answer.text)["greeting"].startswith("Hello, ")


def test_the_page_watch_example_fetches_keeps_state_asserts_and_reads_a_secret(
    pages: tuple[int, dict[str, bytes]],
) -> None:
    port, content = pages
    storage, asserted, lines, secrets = Storage(), [], [], {"skill:acme.page_watch/token": "s3cret"}

    def graph_assert(arguments: str) -> str:
        asserted.append(json.loads(arguments))
        return "{}"

    host = PluginHost(
        Grants(http=["localhost"], secret=list(secrets), storage=["pages"]),
        http_fetch=lambda host, request: fetch_from(port, request),
        secret_read=lambda name: secrets[name],
        storage_read=storage.read,
        storage_write=storage.write,
        graph_assert=graph_assert,
        log=lambda level, message: lines.append((level, message)),
    )
    box = WasmSandbox(make_component(compiled("page-watch")), host=host)

    def check(path: str) -> ToolAnswer:
        return box.call_tool("acme.page_watch.check", json.dumps({"path": path, "subject": "page:1"}))

    first = {"status": 200, "first": True, "changed": False, "body": "first"}
    assert json.loads(check("/").text) == first
    assert json.loads(check("/").text) == {**first, "first": False}
    content["/"] = b'"second"\n'
    assert json.loads(check("/").text) == {"status": 200, "first": False, "changed": True, "body": '"second"\n'}
    assert json.loads(check("/none").text)["status"] == 404
    assert asserted[0] == {"subject": "page:1", "predicate": "pageStatus", "object": 200}
    assert [each["object"] for each in asserted] == [200, 200, 200, 404]
    assert lines[0] == ("info", "the page was checked")
    secrets["skill:acme.page_watch/token"] = "other"
    assert json.loads(check("/").text)["status"] == 401
    ungranted = WasmSandbox(make_component(compiled("page-watch")))
    refused = ungranted.call_tool("acme.page_watch.check", '{"path": "/", "subject": "page:1"}')
    assert refused == ToolAnswer("-1 is not a handle of a granted secret", failed=True)


def test_the_example_of_the_first_abi_counts_its_handles() -> None:
    grants = Grants(http=["a.test", "b.test"], secret=["global/key"])
    assert WasmSandbox(compiled("handles"), host=PluginHost(grants)).call() == 201


def test_the_header_declares_every_function_of_the_world_with_its_type(tmp_path: Path) -> None:
    header = (SDK / "palyra.h").read_text()
    declared = dict(
        re.findall(r'PALYRA_IMPORT\("([a-z-]+)"\)\s*\w+ (palyra_\w+)\(', header),
    )
    assert set(declared) == set(FUNCTIONS)
    uses = "".join(f"  used = (void *){function};\n" for function in declared.values())
    source = tmp_path / "all.c"
    source.write_text(
        f'#include "palyra.h"\nvoid *volatile used;\npalyra_answer palyra_run(palyra_text tool, palyra_text input) {{\n'
        f"  (void)tool;\n{uses}  return (palyra_answer){{false, input}};\n}}\n"
    )
    component = make_component(compiled(source))  # refuses a wrong type
    assert WasmSandbox(component).call_tool("acme.all.echo", '{"a": 1}') == ToolAnswer('{"a": 1}', failed=False)


@pytest.mark.parametrize("example", ["hello", "page-watch", "handles"])
def test_the_manifest_of_an_example_is_valid_without_warnings(example: str) -> None:
    manifest = read_skill_toml((SDK / example / "skill.toml").read_bytes())
    assert manifest.warnings == {}
    assert manifest.plugin["default_tool_id"] == manifest.tools[0].id


def test_the_examples_are_compiled_by_the_compiler_of_the_build() -> None:
    pinned = re.search(r"^ziglang==\S+", (ENGINE / "compiler.txt").read_text(), re.MULTILINE)
    assert pinned is not None
    for file in (SDK / "README.md", SDK.parents[1] / "pyproject.toml"):
        assert pinned[0] in file.read_text()


def test_a_project_in_c_is_built_as_a_component_and_one_of_the_first_abi_as_it_is(tmp_path: Path) -> None:
    for name, is_component in (("hello", True), ("handles", False)):
        folder = tmp_path / name
        (folder / "modules").mkdir(parents=True)
        (folder / "skill.toml").write_bytes((SDK / name / "skill.toml").read_bytes())
        (folder / "modules" / "tool.wasm").write_bytes(compiled(name))
        built = build_artifact(read_project(folder), Key("acme", bytes([1]) * 32), 1_760_000_000_000)
        packed = built.report.entries["modules/tool.wasm"]
        assert packed == (make_component(compiled(name)) if is_component else compiled(name))
        assert WasmSandbox(packed).is_component is is_component


def test_a_module_that_cannot_become_a_component_is_not_built(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "skill.toml").write_bytes((SDK / "hello" / "skill.toml").read_bytes())
    for module, message in ((b"\0asm\1\0\0\0\xff", "not a WebAssembly"), (wat2wasm(_NO_MEMORY), "memory")):
        (tmp_path / "modules" / "tool.wasm").write_bytes(module)
        with pytest.raises(ArtifactError, match=message) as caught:
            read_project(tmp_path)
        assert "modules/tool.wasm" in caught.value.message
