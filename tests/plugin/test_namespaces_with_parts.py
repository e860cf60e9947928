"""A namespace such as `foo/observations` works through every interface, beside `foo`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_skills import Plugin
from tests.configs import config
from tests.plugin.skills import write_skill
from tests.server.serving import served


@pytest.mark.parametrize("namespace", ["foo/observations", "foo.v2"])
def test_an_agent_remembers_reflects_and_recalls(tmp_path: Path, namespace: str) -> None:
    write_skill(tmp_path / "learner", permissions={"memory": ["recall", "remember"]}, assertions=[])
    with Plugin.open(config(agentNamespace=namespace), agent="a1", registers=False) as plugin:
        plugin.load(tmp_path)
        seen = plugin.call("skill_memory_remember", {"text": "It rained in Leeds."})
        given = {"text": "Rain is likely in Leeds.", "reflects_on": [seen.details["id"]]}
        reflected = plugin.call("skill_memory_reflect", given)
        assert (reflected.is_error, reflected.details["depth"]) == (False, 1)
        found = plugin.call("skill_memory_context", {"query": "rain in Leeds"})
        assert "It rained in Leeds." in found.text


def test_its_statements_are_its_own_over_http_sparql_and_in_pages(tmp_path: Path) -> None:
    with served(tmp_path, agentNamespace="foo/observations") as running:
        everything = ("read", "write", "provenance")
        own = running.client(running.token("own", ("foo/observations",), everything))
        both = running.client(running.token("both", ("foo/observations", "foo"), everything))
        triple = {"subject": "foo/observations:agent:a1", "predicate": "rdfs:label", "object": "Ada"}
        made = own.post("/api/v1/triples", json=triple)
        assert made.status_code == 201, made.text
        assert made.json()["subject"] == "foo/observations:agent:a1"
        assert own.get("/api/v1/triples").json()["total"] == 1
        assert both.get("/api/v1/triples", params={"namespace": "foo"}).json()["total"] == 0
        assert own.get("/api/v1/triples", params={"namespace": "foo"}).status_code == 403
        assert both.get("/api/v1/namespaces").json()["namespaces"] == ["foo/observations"]
        ask = "ASK { <urn:cortex:foo%2Fobservations:agent:a1> ?p 'Ada' }"
        answer = own.get("/sparql", params={"query": ask}, headers={"Accept": "application/sparql-results+json"})
        assert answer.json()["boolean"] is True
        for page in ("", "/r?name=foo/observations:agent:a1"):
            shown = own.get(f"/explore/foo~observations{page}")
            assert (shown.status_code, "Ada" in shown.text or page == "") == (200, True), page
        assert own.get("/explore/foo/observations").status_code == 404
