"""What callers read of the graph by a pattern, and what is verified, is the same through every interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from cortex_graph import Provenance
from cortex_skills import Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.features.graph.looking.pattern_query import query
from cortex_skills.features.graph.looking.statement_checks import verify
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests.configs import config
from tests.server.serving import Running, served

ROWS = [{"subject": "shop", "predicate": "inStock", "object": value} for value in (3, 4, "5")]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("reads")
    plugin = Plugin.open(config(cortex={"tokenFile": str(root / "tokens.json")}))
    plugin.load(builtin_skill(NOTEBOOK))
    plugin.graph.create_triples(ROWS, Provenance(agent="ada"))
    with served(root, plugin=plugin) as running:
        yield running


@pytest.mark.parametrize("holder", ["person", "agent"])
def test_a_pattern_matches_the_same_statements_through_every_interface(running: Running, holder: str) -> None:
    pattern: dict[str, Any] = {"subject": "shop", "predicate": "inStock"}
    found = running.plugin.operate(query, **pattern, provenance=True)
    assert sorted(str(row["object"]) for row in found["matches"]) == ["3", "4", "5"]
    ids = {row["id"] for row in found["matches"]}
    assert (len(ids), found["total"], found["totalIsExact"]) == (3, 3, True)
    assert {row["provenance"]["agent"] for row in found["matches"]} == {"ada"}
    client = running.client(running.token(f"reads-{holder}", permissions=("read",), holder=holder))  # type: ignore[arg-type]
    assert {row["id"] for row in client.post("/api/v1/query", json=pattern).json()["matches"]} == ids
    assert {row["id"] for row in client.get("/api/v1/triples", params=pattern).json()["triples"]} == ids
    tool = running.plugin.call("skill_graph_query", pattern)
    assert {row["id"] for row in tool.details["matches"]} == ids


@pytest.mark.parametrize("path", ["/api/v1/query", "/api/v1/assertions/verify-batch"])
def test_who_may_not_read_is_refused(running: Running, path: str) -> None:
    body = {"subject": "shop"} if path.endswith("query") else {"assertions": [ROWS[0]]}
    client = running.client(running.token("writes-only", permissions=("write",)))
    assert client.post(path, json=body).json()["code"] == "permission_denied"


def test_the_memories_of_an_agent_are_asked_about_with_their_permission_only(running: Running) -> None:
    given = {"memoriesOf": "a2"}
    client = running.client(running.token("no-memories", permissions=("read",)))
    assert client.get("/api/v1/triples", params=given).json()["code"] == "permission_denied"
    client = running.client(running.token("memories", permissions=("read", "memories")))
    assert client.get("/api/v1/triples", params=given).json()["total"] == 0
    refused = client.get("/api/v1/triples", params={**given, "asOf": "2026-01-01"})
    assert refused.json()["code"] == "invalid_arguments"


def test_a_verdict_is_the_same_word_through_every_interface(running: Running) -> None:
    given = {"subject": "shop", "predicate": "inStock", "object": 3}
    answer = running.plugin.operate(verify, **given)
    document = answer.document()
    assert (document["found"], document["verdict"], document["total"]) == (True, "not checked", 1)
    assert answer.text().splitlines()[1].startswith("NOT VERIFIED (not checked)")
    tool = running.plugin.call("skill_verify_assertion", given)
    assert {name: tool.details[name] for name in ("found", "verdict", "total")} == {
        "found": True,
        "verdict": "not checked",
        "total": 1,
    }
    client = running.client(running.token("verifies", permissions=("read",)))
    (result,) = client.post("/api/v1/assertions/verify-batch", json={"assertions": [given]}).json()["results"]
    assert (result["verified"], result["verdict"], result["found"]) == (False, "not checked", True)


def test_another_form_of_a_value_is_taken_and_named_but_not_over_rest(running: Running) -> None:
    given = {"subject": "shop", "predicate": "inStock", "object": 5}
    assert running.plugin.operate(verify, **given).note.startswith("No triple has exactly")
    client = running.client(running.token("verifies", permissions=("read",)))
    (result,) = client.post("/api/v1/assertions/verify-batch", json={"assertions": [given]}).json()["results"]
    assert (result["found"], result["details"]) == (False, ["there is no such statement"])


def test_the_commands_answer_what_the_operations_do(tmp_path: Path) -> None:
    with Plugin.open(config(store=str(tmp_path / "g"))) as plugin:
        plugin.graph.create_triples(ROWS, Provenance(agent="ada"))
    common = ["--store", str(tmp_path / "g"), "--json"]
    answer = CliRunner().invoke(program, ["graph", "query", "--subject", "shop", "--object", "3", *common])
    assert [row["object"] for row in json.loads(answer.stdout)["matches"]] == [3]
    answer = CliRunner().invoke(program, ["graph", "query", "--object", '"5"', *common])
    assert [row["object"] for row in json.loads(answer.stdout)["matches"]] == ["5"]
    answer = CliRunner().invoke(program, ["graph", "verify", "shop", "inStock", "--object", "3", *common])
    assert json.loads(answer.stdout)["verdict"] == "not checked"
    refused = CliRunner().invoke(program, ["graph", "query", "--limit", "0", *common])
    assert (refused.exit_code, "invalid_arguments" in refused.stderr) == (1, True)


def test_commands_that_write_statements_leave_one_record_with_what_they_wrote(tmp_path: Path) -> None:
    (tmp_path / "facts.ttl").write_text("<urn:a> <urn:p> 1, 2 .")
    settings = {"audit": {"folder": str(tmp_path / "audit")}}
    (tmp_path / "cortex.yaml").write_text(yaml.safe_dump(settings))
    store, other, backup = (str(tmp_path / name) for name in ("store", "other", "backup"))
    of = ["--config", str(tmp_path / "cortex.yaml"), "--store", store]
    for words in (
        ["graph", "import", str(tmp_path / "facts.ttl"), *of],
        ["graph", "sparql", "--update", "INSERT DATA { <urn:b> <urn:p> 3 }", *of],
        ["graph", "backup", backup, *of],
        ["graph", "copy", "--from", store, "--to", other, *of],
        ["graph", "restore", backup, *of, "--replace"],
    ):
        done = CliRunner().invoke(program, words)
        assert done.exit_code == 0, done.output
    with Plugin.open(config(**settings, store=store)) as plugin:
        records = [each.record for each in plugin.audit.calls.page(limit=20).calls][::-1]
    found = {record.event: record.data for record in records}
    assert list(found) == ["graph.import", "graph.update", "graph.copy", "graph.restore"]
    assert len(records) == len(found)
    assert {record.data["door"] for record in records} == {"command"}
    assert (found["graph.import"]["before"], found["graph.import"]["after"]) == ("0 statements", "2 statements")
    assert (found["graph.update"]["object"], found["graph.update"]["inserted"]) == ("mayros", 1)
    assert (found["graph.update"]["before"], found["graph.update"]["after"]) == ("2 statements", "3 statements")
    assert found["graph.copy"]["object"] == other
    assert found["graph.restore"]["object"] == store


def test_an_update_by_the_protocol_is_recorded_with_the_holder_of_the_token_also_when_it_is_refused(
    running: Running,
) -> None:
    client = running.client(running.token("updates", permissions=("read", "write")))
    answer = client.post("/sparql", data={"update": "INSERT DATA { <urn:a> <urn:p> 1 }"})
    record = running.plugin.recent_calls.page(limit=1).calls[0].record
    assert (answer.json()["inserted"], record.event, record.agent) == (1, "graph.update", "updates")
    refused = client.post("/sparql", data={"update": "INSERT DATA { GRAPH <urn:other> { <urn:a> <urn:p> 1 } }"})
    record = running.plugin.recent_calls.page(limit=1).calls[0].record
    assert (record.event, record.outcome) == ("graph.update", refused.json()["code"])


@pytest.mark.parametrize("permissions", [("read",), ("read", "write")])
def test_a_change_of_records_needs_the_permission_provenance(running: Running, permissions: tuple[str, ...]) -> None:
    client = running.client(running.token("-".join(permissions), permissions=permissions))
    refused = client.post("/api/v1/changes", json={"insert": {"triples": [ROWS[0]]}})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
