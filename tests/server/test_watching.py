"""What orchestrators, Prometheus and readers of logs get from a server."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from cortex_graph import GraphCorrupt, NamespacedGraph, open_store
from cortex_graph.store import Pattern
from cortex_graph.stores.shared.read_only import ReadOnlyStore
from cortex_skills import Config, Plugin
from cortex_skills.doors.http import store_health
from cortex_skills.doors.http.store_health import DAMAGED, READ_ONLY, SILENT, WITHHELD, StoreHealth
from cortex_skills.doors.server import metrics
from cortex_skills.keys import Key
from cortex_skills.signatures.fleet_trust import LIST
from tests.server.serving import Running
from tests.server.test_queries import Stuck


def numbers(client: httpx.Client) -> dict[tuple[str, ...], float]:
    """The samples of `/metrics`: by name and values of the labels `tool`, `code` and others."""
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    families = text_string_to_metric_families(answer.text)
    samples = [one for family in families for one in family.samples]
    return {(one.name, *(value for _, value in sorted(one.labels.items(), reverse=True))): one.value for one in samples}


@pytest.mark.parametrize(("path", "text"), [("/livez", "live\n"), ("/readyz", "ready\n")])
def test_a_probe_is_answered_without_a_token_whatever_host_it_names(server: Running, path: str, text: str) -> None:
    for host in ("10.1.2.3:19090", "cortex.default.svc", "x" * 300):
        answer = server.client().get(path, headers={"Host": host})
        assert (answer.status_code, answer.text) == (200, text)
        assert answer.headers["cache-control"] == "no-store"
    assert server.client().post(path).status_code == 405
    assert server.client().get("/api/v1/health", headers={"Host": "10.1.2.3"}).status_code == 421


def test_a_server_whose_store_hangs_is_alive_and_not_ready(serve, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(store_health, "_TIMEOUT_S", 0.1)
    plugin = Plugin.open(Config(cortex={"tokenFile": str(tmp_path / "tokens.json")}))
    store = Stuck()
    plugin.graph.store = plugin.graph.index._store = store
    client = serve(plugin=plugin).client()
    store.go.clear()
    try:
        assert client.get("/livez").status_code == 200
        answer = client.get("/readyz")
        assert (answer.status_code, answer.text) == (503, SILENT + "\n")
        assert client.get("/api/v1/health").json()["components"]["graph"] == {"status": "degraded", "message": SILENT}
    finally:
        store.go.set()


@pytest.mark.parametrize(("damage", "said"), [(GraphCorrupt("lost in /secret"), DAMAGED), (None, READ_ONLY)])
def test_a_store_that_cannot_be_written_to_is_said_without_its_place(tmp_path: Path, damage, said: str) -> None:
    open_store(str(tmp_path / "store")).close()
    store, health = ReadOnlyStore(tmp_path / "store", damage), StoreHealth()
    try:
        store.is_read_only = True  # as `SharedStore` says of it
        graph = NamespacedGraph(store, "mayros")
        with Plugin(Config(), graph, "a") as plugin:
            assert health.wrong_with(plugin) == said
    finally:
        health.close()
        store.close()


def test_a_server_is_not_ready_while_the_store_withholds_whom_its_hosts_trust(
    serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    owner = Key("owner", bytes(range(2, 34)))
    settings = {"owner": owner.did, "trustStore": str(tmp_path / "trust.json")}
    config = Config(cortex={"tokenFile": str(tmp_path / "tokens.json")}, verification=settings)
    plugin = Plugin.open(config)
    fleet = plugin.host_of(plugin.graph).fleet
    running = serve(plugin=plugin)
    client, token = running.client(), running.client(running.token("a", permissions=("read",)))
    assert (fleet.share(owner).number, client.get("/readyz").text) == (1, "ready\n")
    graph = plugin.graph.names.publishers_graph
    (quad,) = plugin.graph.store.quads(Pattern(graph, graph, LIST))
    plugin.graph.store.apply(remove=[quad])
    for _ in range(2):
        answer = client.get("/readyz")
        assert (answer.status_code, answer.text) == (503, WITHHELD + "\n")
    assert token.get("/api/v1/health").json()["components"]["graph"] == {"status": "degraded", "message": WITHHELD}
    refused = plugin.call("skill_graph_query", {"pattern": {}})
    assert (refused.code, refused.details["details"]) == ("signature_invalid", {"sharedTrust": "missing"})
    plugin.graph.store.apply([quad])
    assert client.get("/readyz").text == "ready\n"
    said = [record.message for record in caplog.records if record.name.endswith("fleet_trust")]
    assert said == [
        "every call is refused: what the hosts of this store trust is missing in the store, and list 1 was accepted "
        "here before",
        "calls are answered again: what the hosts of this store trust is there",
    ]


def test_calls_are_counted_by_tool_and_code_and_their_durations_are_kept(serve, tmp_path: Path) -> None:
    running = serve(store=str(tmp_path / "store"))
    client = running.client(running.token("watch", permissions=("read", "write", "audit")))
    for number in range(3):
        body = {"subject": "ada", "predicate": "knows", "object": f"b{number}"}
        assert client.post("/api/v1/triples", json=body).status_code == 201
    assert client.delete(f"/api/v1/triples/{'0' * 64}").status_code == 404
    found = numbers(client)
    counted = {key: value for key, value in found.items() if key[0] == "cortex_calls_total"}
    assert counted[("cortex_calls_total", "graph.assert", "ok")] == 3
    assert counted[("cortex_calls_total", "graph.withdraw", "not_found")] == 1
    assert found[("cortex_call_seconds_count", "graph.assert")] >= 3
    assert found[("cortex_requests_under_way", "quick")] >= 1
    assert found[("cortex_store_bytes",)] > 10_000
    assert found[("cortex_approvals_waiting",)] == 0
    assert found[("cortex_audit_missing_records",)] == 0


@pytest.mark.parametrize(("permissions", "status"), [(None, 401), (("read", "write", "approve"), 403)])
def test_the_numbers_need_the_permission_for_the_audit(server: Running, permissions, status: int) -> None:
    token = server.token("no-audit", permissions=permissions) if permissions else None
    assert server.client(token).get("/metrics").status_code == status


def test_a_client_that_calls_many_tools_does_not_make_many_numbers(serve, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(metrics, "MOST_TOOLS", 2)
    running = serve()
    plugin = running.plugin
    for name in ("a", "b", "c", "d", "a"):
        plugin.audit.event(f"host.{name}", facts={"id": name})
    found = numbers(running.client(running.token("watch", permissions=("audit",))))
    counted = {key[1]: value for key, value in found.items() if key[0] == "cortex_calls_total"}
    assert counted == {"host.a": 2, "host.b": 1, "other": 2}


def test_the_log_is_json_with_times_and_has_a_line_for_each_request(process) -> None:
    one = process("--log-format", "json", "--access-log")
    httpx.get(f"{one.url}/livez?secret=1", trust_env=False)
    one.signal(signal.SIGTERM)
    status, errors = one.wait()
    lines = [json.loads(line) for line in errors.splitlines()]
    (request,) = [line for line in lines if "/livez" in line.get("message", "")]
    assert status == 0
    assert set(request) == {"time", "level", "logger", "message"}
    assert request["time"].endswith("+00:00")
    assert "GET /livez 200" in request["message"]
    assert "secret" not in errors
