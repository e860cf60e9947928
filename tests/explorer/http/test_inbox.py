"""What waits for a person is in one inbox, for those who may see it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from cortex_graph.exceptions import GraphCorrupt
from cortex_skills import Plugin
from cortex_skills.features.explorer.audit_check import JournalCheck
from cortex_skills.features.finder.embedder_choice import embedder_of
from cortex_skills.features.memory.model import MemoryQuery
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import SkillKey
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, signed_in
from tests.server.serving import Running, served

ALL = ("read", "write", "audit", "registry", "approve")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("inbox")
    settings: dict[str, Any] = {"audit": {"journal": "on", "folder": str(folder / "journal")}}
    cortex = {"tokenFile": str(folder / "tokens.json")}
    plugin = Plugin.open(config(store=str(folder / "store"), cortex=cortex, **settings))
    with served(folder, plugin=plugin) as server:
        yield server


def inbox(client: httpx.Client) -> str:
    page = client.get("/explore/mayros", headers=CLICKED)
    assert page.status_code == 200, page.text
    within = page.text.partition("Waiting for you")[2].partition("</section>")[0]
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", within))


def test_a_candidate_that_works_may_rise_for_those_who_may_promote_it(running: Running) -> None:
    registry = running.plugin.registry
    for name in ("boil-eggs", "fry-eggs"):
        document = inline_document({"name": name, "description": f"It can {name}.", "body": "Do it."}, "mayros")
        registry.register(document, actor="a1", origin="learned")
    for _ in range(6):
        registry.outcome(SkillKey("mayros", "boil-eggs"), success=True, actor="host")
    person = signed_in(running, running.token("owner", permissions=ALL))
    assert "May rise The learned skill boil-eggs 6 of 6 succeeded" in inbox(person)
    assert "fry-eggs" not in inbox(person)
    reader = signed_in(running, running.token("reads", permissions=("read",)))
    assert "Nothing at the moment" in inbox(reader)


def test_a_broken_chain_of_the_audit_is_named(running: Running) -> None:
    auditor = signed_in(running, running.token("audits", permissions=("read", "audit")))
    for _ in range(3):
        running.plugin.call("skill_graph_query", {"predicate": "p", "scope": "namespace"}, agent="a1")
    journal = running.plugin.audit.journal
    assert journal is not None
    check = running.plugin.part(JournalCheck)
    check.look()
    assert "audit" not in inbox(auditor)
    (file,) = [path for path in Path(journal.folder).iterdir() if path.suffix == ".ndjson"]
    before = file.read_bytes()
    file.write_bytes(before.replace(b'"a1"', b'"a2"', 1))
    check.look()
    assert re.search(r"Broken The chain of the audit Record \d+ ", inbox(auditor))
    file.write_bytes(before)
    check.look()
    assert "audit" not in inbox(auditor)


def test_a_damaged_store_and_a_full_disk_are_named(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    auditor = signed_in(running, running.token("audits", permissions=("read", "audit")))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 << 20))
    assert "Disk nearly full 3 MB are free on the disk of the store" in inbox(auditor)
    monkeypatch.setattr(type(running.plugin.graph.store), "damage", GraphCorrupt("lost"), raising=False)
    assert "Damaged Something is wrong with the store The store has lost acknowledged writes" in inbox(auditor)


def test_skills_that_were_refused_are_named(running: Running, tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "broken-notes"
    folder.mkdir(parents=True)
    front = "name: broken-notes\ndescription: No.\ntype: semantic\nsemantic: {version: 1, skillVersion: 1.0.0}"
    (folder / "SKILL.md").write_text(f"---\n{front}\n---\n")
    (folder / "skill.ts").write_text("export default { name: 'broken-notes', onQuery: () => eval('1') };\n")
    assert running.plugin.load(tmp_path / "skills", strict=False) == []
    reader = signed_in(running, running.token("looks", permissions=("read",)))
    assert "Not loaded The skill broken-notes" in inbox(reader)


def test_an_embedder_that_fails_is_named_until_it_answers(tmp_path: Path) -> None:
    endpoint = "http://127.0.0.1:9/v1"  # the port of `discard`: nothing answers there
    finder = {"embedder": "http", "endpoint": endpoint, "model": "m"}
    cortex = {"tokenFile": str(tmp_path / "tokens.json")}
    plugin = Plugin.open(config(finder=finder, cortex=cortex))
    with served(tmp_path, plugin=plugin) as server:
        auditor = signed_in(server, server.token("audits", permissions=("read", "audit")))
        reader = signed_in(server, server.token("reads", permissions=("read",)))
        assert "Embedder failed" not in inbox(auditor)
        plugin.memories.remember(new_memory("It rained."), agent="a1")
        plugin.memories.recall(MemoryQuery("rain", 5, 0.0), agent="a1")
        assert "Embedder failed Words alone are found, without their meaning, by find" in inbox(auditor)
        assert "127.0.0.1:9" in inbox(auditor)
        assert "127.0.0.1:9" not in inbox(reader)
        embedder = plugin.part(embedder_of)
        assert embedder is not None
        embedder.problem = ""
        assert "Embedder failed" not in inbox(auditor)
