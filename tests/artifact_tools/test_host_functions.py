"""Components reach what they were granted and nothing else: hosts, secrets, storage, channels, the graph."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cortex_sandbox.wasm import HostRefusal, HttpRequest
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.tools.artifact_storage import ArtifactStorage
from cortex_skills.features.artifacts.tools.http_requests import fetch
from cortex_skills.features.artifacts.tools.message_channels import send_message
from cortex_skills.secrets import SecretName, SecretStore
from tests.artifact_tools.components import ASSERT, FETCH, LOG, QUERY, READ, SECRET, SEND, WRITE
from tests.artifact_tools.conftest import add

NONE = GrantAnswers(rest=False)
OPEN = lambda text: text.replace(  # noqa: E731
    'input_schema = { type = "object", properties = { text = { type = "string" } }, required = ["text"] }',
    'input_schema = { type = "object" }',
).replace('output_schema = { type = "object" }', "output_schema = {}")
SECRETS = '\n[capabilities]\nsecrets = [{ scope = "global", key_names = ["token"] }]\n'
HTTP = '\n[capabilities]\nhttp_egress_allowlist = ["api.test"]\n'
STORAGE = '\n[capabilities.filesystem]\nwrite_roots = ["notes"]\n'
CHANNEL = '\n[capabilities]\nnode_capabilities = ["alerts"]\n'
GRAPH = '\n[capabilities]\ngraph = { read = true, write = true, predicates = ["hasStatus"] }\n'


class Server(BaseHTTPRequestHandler):
    """Answers `/data` with a JSON object, `/away` with a redirect, `/large` with too much, and keeps what is posted."""

    posted: list[bytes] = []  # noqa: RUF012

    def do_GET(self):
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "http://169.254.1.1/")
            self.end_headers()
            return
        body = b"x" * ((1 << 20) + 1) if self.path == "/large" else b'{"seen": 3}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        Server.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def refusal(work) -> str:
    with pytest.raises(HostRefusal) as caught:
        work()
    return caught.value.code


def get(path="/data", *headers, method="GET", granted="api.test", server=""):
    return fetch(granted, HttpRequest(method, path, headers, b""), {"api.test": server} if server else {})


def test_a_component_fetches_from_the_granted_host_only(open_plugin, server):
    plugin = open_plugin(artifacts={"addresses": {"api.test": server}})
    add(plugin, FETCH, HTTP, NONE, tool=OPEN)
    assert "not_granted" in plugin.call("acme.echo", {}).text
    add(plugin, FETCH, HTTP, version="1.3.0", tool=OPEN)
    result = plugin.call("acme.echo", {})
    assert result.details["outputs"] == {"result": {"seen": 3}}, result.text


def test_a_redirect_is_an_answer_and_too_much_is_refused(server):
    assert get("/away", server=server).status == 302
    assert refusal(lambda: get("/large", server=server)) == "http_failed"


@pytest.mark.parametrize(
    ("path", "headers", "method"),
    [
        ("data", (), "GET"),
        ("/a b", (), "GET"),
        ("/\r\nHost: evil", (), "GET"),
        ("/" + "a" * 9000, (), "GET"),
        ("/a#b", (), "GET"),
        ("/a?b#c", (), "GET"),
        ("/", (("Host", "evil.test"),), "GET"),
        ("/", (("X", "a\r\nHost: evil"),), "GET"),
        ("/", (("Transfer-Encoding", "chunked"),), "GET"),
        ("/", (("x:y", "a"),), "GET"),
        ("/", (), "CONNECT"),
        ("/", (), "get"),
        ("/", (("a", "b"),) * 65, "GET"),
    ],
)
def test_a_request_that_could_go_elsewhere_is_refused_before_it_is_sent(server, path, headers, method):
    assert refusal(lambda: get(path, *headers, method=method, server=server)) == "http_refused"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "0.0.0.0", "169.254.169.254", "10.0.0.1"])
def test_an_address_that_is_not_public_is_refused(host):
    assert refusal(lambda: get(granted=host)) == "host_refused"


def test_a_grant_for_many_hosts_takes_the_one_that_is_named(server):
    request = HttpRequest("GET", "/data", (("Host", "a.api.test"),), b"")
    assert fetch("*.api.test", request, {"a.api.test": server}).status == 200
    other = HttpRequest("GET", "/data", (("Host", "api.test.evil"),), b"")
    assert refusal(lambda: fetch("*.api.test", other, {})) == "http_refused"
    assert refusal(lambda: get(granted="*.api.test")) == "http_refused"


@pytest.mark.parametrize("host", ["999.999.999.999", "xn--a", "xn--0.xn--zzzz"])
def test_a_name_that_is_no_host_is_refused(host):
    assert refusal(lambda: fetch("*", HttpRequest("GET", "/", (("Host", host),), b""), {})) == "http_refused"


def test_a_secret_is_read_and_hidden_in_the_answer(plugin):
    store = SecretStore.of(plugin.config.secrets)
    store.set(SecretName("global", "token"), '"swordfish-9931"')
    add(plugin, SECRET, SECRETS, NONE, tool=OPEN)
    assert "not_granted" in plugin.call("acme.echo", {}).text
    add(plugin, SECRET, SECRETS, version="1.3.0", tool=OPEN)
    result = plugin.call("acme.echo", {})
    assert result.details["outputs"] == {"result": "[secret]"}
    assert "swordfish" not in json.dumps(result.to_json())
    store.remove(SecretName("global", "token"))
    assert "secret_not_found" in plugin.call("acme.echo", {}).text


def test_a_secret_that_was_granted_is_hidden_though_it_comes_by_another_way(plugin):
    SecretStore.of(plugin.config.secrets).set(SecretName("global", "token"), "marlin-7755-xyz")
    add(plugin, LOG, SECRETS, tool=OPEN)
    result = plugin.call("acme.echo", {"text": "it is marlin-7755-xyz"})
    assert result.details["outputs"]["result"] == {"text": "it is [secret]"}


def test_state_is_kept_between_calls_and_versions(plugin):
    add(plugin, WRITE, STORAGE, tool=OPEN)
    assert plugin.call("acme.echo", {"n": 1}).details["outputs"] == {"result": {"n": 1}}
    add(plugin, READ, STORAGE, version="1.3.0", tool=OPEN)
    assert plugin.call("acme.echo", {}).details["outputs"] == {"result": {"n": 1}}


def test_a_folder_that_was_granted_for_reading_is_not_written(plugin):
    add(plugin, WRITE, STORAGE.replace("write_roots", "read_roots"), tool=OPEN)
    assert "read_only" in plugin.call("acme.echo", {}).text
    add(plugin, READ, STORAGE.replace("write_roots", "read_roots"), version="1.3.0", tool=OPEN)
    assert "not_found" in plugin.call("acme.echo", {}).text


@pytest.mark.parametrize("key", ["", "..", "a/../b", "/a", "a//b", "a\\b", "a\0b", "a\n", "k" * 513])
def test_a_key_that_is_no_plain_name_is_refused(tmp_path, key):
    storage = ArtifactStorage(tmp_path / "kept.sqlite3", 1000)
    assert refusal(lambda: storage.write("notes", key, b"x")) == "invalid_key"
    assert refusal(lambda: storage.read("notes", key)) == "invalid_key"


def test_storage_has_a_quota_lists_and_keeps_folders_apart(tmp_path):
    storage = ArtifactStorage(tmp_path / "a" / "kept.sqlite3", 100)
    assert storage.listed("notes", "") == []
    storage.write("notes", "a/1", b"x" * 40)
    storage.write("notes", "a/2", b"y")
    storage.write("other", "a/3", b"z")
    assert refusal(lambda: storage.write("notes", "b", b"x" * 40)) == "storage_full"
    storage.write("notes", "a/1", b"x" * 50)
    assert storage.listed("notes", "a/") == ["a/1", "a/2"]
    assert storage.listed("notes", "%") == []
    storage.write("notes", "a/1", b"")
    assert refusal(lambda: storage.read("notes", "a/1")) == "not_found"
    assert storage.read("other", "a/3") == b"z"
    assert storage.path.stat().st_mode & 0o077 == 0


def test_messages_go_to_a_folder_or_an_address_that_the_owner_configured(open_plugin, tmp_path, server):
    plugin = open_plugin(artifacts={"channels": {"alerts": str(tmp_path / "alerts")}})
    add(plugin, SEND, CHANNEL, tool=OPEN)
    assert not plugin.call("acme.echo", {"text": "fire"}).is_error
    (message,) = (tmp_path / "alerts").iterdir()
    assert json.loads(message.read_bytes()) == {"text": "fire"}
    send_message("alerts", b"smoke", {"alerts": f"{server}/hook"})
    assert Server.posted[-1] == b"smoke"
    assert refusal(lambda: send_message("news", b"", {"alerts": server})) == "channel_not_configured"


def test_the_graph_is_asked_and_told_as_the_skill_of_the_artifact(plugin):
    add(plugin, ASSERT, GRAPH, tool=OPEN)
    said = plugin.call("acme.echo", {"subject": "door", "predicate": "hasStatus", "object": "open"}, agent="a7")
    assert said.details["outputs"]["result"]["created"] is True, said.text
    other = plugin.call("acme.echo", {"subject": "door", "predicate": "isBroken", "object": True})
    assert "undeclared_predicate" in other.text
    add(plugin, QUERY, GRAPH, version="1.3.0", tool=OPEN)
    found = plugin.call("acme.echo", {"predicate": "hasStatus", "scope": "namespace"})
    (match,) = found.details["outputs"]["result"]["matches"]
    assert (match["subject"], match["object"]) == ("mayros:door", "open")
    record = plugin.graph.list_triples({"predicate": "hasStatus"})
    assert record["total"] == 1


def test_without_the_grant_the_graph_is_refused(plugin):
    add(plugin, QUERY, GRAPH, NONE, tool=OPEN)
    assert "permission_denied" in plugin.call("acme.echo", {"scope": "namespace"}).text
    add(plugin, ASSERT, GRAPH, NONE, version="1.3.0", tool=OPEN)
    assert "permission_denied" in plugin.call("acme.echo", {"subject": "a", "predicate": "hasStatus", "object": 1}).text


def test_a_secret_is_not_asserted(plugin):
    SecretStore.of(plugin.config.secrets).set(SecretName("global", "token"), "grouper-4411-abc")
    add(plugin, ASSERT, GRAPH, tool=OPEN)
    said = plugin.call("acme.echo", {"subject": "a", "predicate": "hasStatus", "object": "grouper-4411-abc"})
    assert "permission_denied" in said.text
    assert plugin.graph.list_triples({"predicate": "hasStatus"})["total"] == 0


def test_lines_of_the_log_name_the_artifact(plugin, caplog):
    add(plugin, LOG, tool=OPEN)
    with caplog.at_level("INFO", "cortex_skills"):
        plugin.call("acme.echo", {"text": "a\nb"})
    assert any("[skill:acme.echo_http]" in record.getMessage() for record in caplog.records)


def test_an_assertion_waits_for_a_person_where_the_trust_level_asks_for_it(open_plugin):
    plugin = open_plugin(actions={"trustLevel": "suggest"})
    add(plugin, ASSERT, GRAPH, tool=OPEN)
    waiting = plugin.call("acme.echo", {"subject": "door", "predicate": "hasStatus", "object": "open"})
    assert waiting.details["status"] == "pending_approval"
    assert plugin.graph.list_triples({"predicate": "hasStatus"})["total"] == 0
    plugin.approvals.approve(waiting.details["approval"], "ada")
    assert plugin.graph.list_triples({"predicate": "hasStatus"})["total"] == 1
