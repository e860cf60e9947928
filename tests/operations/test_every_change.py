"""Whatever changes the graph or the registry through an interface is an operation, and one record has it.

A new endpoint, tool, page action or command that changes something fails here until it runs an operation, or its reason
is in `tests/docs/not_operations.py`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import NamedNode

from cortex_graph import Provenance
from cortex_graph.stores.embedded import OxigraphStore
from cortex_skills import Plugin
from cortex_skills.doors.explorer.page import pages
from cortex_skills.doors.server.app import api
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.operations.operation import OperationCall, all_operations
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools.catalog import own_tools
from tests.configs import config
from tests.docs.not_operations import NOT_OPERATIONS
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running, served

ALL = ("read", "write", "registry", "approve", "provenance", "memories")
_NUMBERS = itertools.count()
_RUNNING: ContextVar[bool] = ContextVar("_RUNNING", default=False)


@dataclass
class Watch:
    """A server, and what was written to its store beside operations."""

    running: Running
    unrecorded: list[list[str]] = field(default_factory=list)

    @property
    def plugin(self) -> Plugin:
        return self.running.plugin

    def changes(self) -> list[str]:
        """The operations that changed something, as the records have them, the latest first."""
        changing = {name for name, each in all_operations().items() if each.effect == "changes"}
        found = (each.record.acts for each in self.plugin.recent_calls.page(limit=1000).calls)
        return [act.event for acts in found for act in reversed(acts) if act.event in changing]

    def statement(self) -> dict[str, Any]:
        return {"subject": f"s{next(_NUMBERS)}", "predicate": "note", "object": 1}

    def written(self) -> str:
        """The id of a new statement."""
        made: str = self.plugin.graph.create_triple(self.statement(), Provenance(agent="ada"))["id"]
        self.unrecorded.clear()
        return made

    def query(self, client: httpx.Client) -> str:
        """The name of a saved query."""
        name = f"counted-n{next(_NUMBERS)}"
        assert client.post("/api/v1/graph/queries", json={"name": name, "query": "ASK {}"}).is_success
        return name

    def skill(self, client: httpx.Client) -> dict[str, str]:
        """The name of a new skill, as a body."""
        name = f"kept-n{next(_NUMBERS)}"
        made = client.post("/api/skills", json={"name": name, "content": f"Do {name}.\n", "description": "d"})
        assert made.status_code == 200, made.text
        return {"name": name}

    def failing(self) -> str:
        """The page that proposes maintenance: a learned skill fails."""
        key = SkillKey("mayros", f"fails-n{next(_NUMBERS)}")
        document = inline_document({"name": key.name, "description": "d", "body": "b"}, key.namespace)
        self.plugin.registry.register(document, actor="ada", origin="learned")
        for _ in range(5):
            self.plugin.registry.outcome(key, success=False, actor="a1")
        return "/explore/registry?check=yes"


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    root = tmp_path_factory.mktemp("changes")
    (root / "out").mkdir()
    settings: dict[str, Any] = {
        "cortex": {"tokenFile": str(root / "tokens.json")},
        "registry": {"exportRoot": str(root / "out")},
        "artifacts": {"auditHours": 0},  # the task of the server writes when it is due, beside any operation
    }
    plugin = Plugin.open(config(**settings, skillSandbox={"maxCallsPerMinute": 1000}))
    plugin.load(builtin_skill(NOTEBOOK))
    plugin.operate(all_operations()["graph.save_query"], name="kept", query="ASK {}")
    write, operations = OxigraphStore._change, all_operations()
    own: dict[str, Any] = {name: each.run for name, each in operations.items()}
    with served(root, plugin=plugin) as running:
        watching = Watch(running)

        def watched(store: OxigraphStore, graphs: set[NamedNode] | None, *given: Any, **more: Any) -> None:
            names = sorted(graph.value for graph in graphs or ())
            is_derived = names and all(name.endswith("/index") for name in names)
            if store is plugin.graph.store and not (_RUNNING.get() or is_derived):
                watching.unrecorded.append(names)
            write(store, graphs, *given, **more)

        def within(run: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(run)
            def watching(call: OperationCall, given: Any) -> Any:
                token = _RUNNING.set(True)
                try:
                    return run(call, given)
                finally:
                    _RUNNING.reset(token)

            return watching

        OxigraphStore._change = watched  # type: ignore[method-assign]
        for name, each in operations.items():
            object.__setattr__(each, "run", within(own[name]))
        try:
            yield watching
        finally:
            OxigraphStore._change = write  # type: ignore[method-assign]
            for name, each in operations.items():
                object.__setattr__(each, "run", own[name])


Request = Callable[[Watch, httpx.Client], httpx.Response]


def post(path: str, make: Callable[[Watch, httpx.Client], Any]) -> Request:
    return lambda watch, client: (body := make(watch, client), watch.unrecorded.clear(), client.post(path, json=body))[
        2
    ]


def named(path: str, **more: Any) -> Request:
    return post(path, lambda watch, client: {**watch.skill(client), **more})


def promoted(watch: Watch, client: httpx.Client) -> httpx.Response:
    body = watch.skill(client)
    client.post("/api/skills/deprecate", json={**body, "reason": "r"})
    return client.post("/api/skills/promote", json=body)


def merged(watch: Watch, client: httpx.Client) -> httpx.Response:
    target, source = watch.skill(client)["name"], watch.skill(client)["name"]
    return client.post("/api/skills/merge", json={"target": target, "source": source})


def remembered(client: httpx.Client) -> str:
    body = {"entry_type": "fact", "data": f"Fact {next(_NUMBERS)}."}
    made: str = client.post("/api/v1/memory/remember", json=body).json()["id"]
    return made


def sandbox_with_a_statement(client: httpx.Client) -> str:
    made: dict[str, str] = client.post("/api/v1/skills/sandbox", json={"namespace": "mayros"}).json()
    tried = {"subject": f"{made['namespace']}:x", "predicate": "note", "object": 1}
    assert client.post("/api/v1/triples", json=tried).status_code == 201
    return made["id"]


# Requests that change something, each by one operation, which is the last to be recorded.
CHANGES: dict[str, tuple[str, Request]] = {
    "POST /api/v1/triples": ("graph.assert", post("/api/v1/triples", lambda w, c: w.statement())),
    "POST /api/v1/triples/batch": (
        "graph.assert",
        post("/api/v1/triples/batch", lambda w, c: {"triples": [w.statement(), w.statement()]}),
    ),
    "POST /api/v1/events": (
        "graph.assert",
        post(
            "/api/v1/events",
            lambda w, c: {
                "events": [
                    {
                        "id": f"e{next(_NUMBERS)}",
                        "type": "t",
                        "agentId": "a",
                        "timestamp": "2026-01-31T12:00:00Z",
                    }
                ]
            },
        ),
    ),
    "DELETE /api/v1/triples/{id}": (
        "graph.withdraw",
        lambda w, c: c.delete(f"/api/v1/triples/{w.written()}"),
    ),
    "POST /api/v1/changes": (
        "graph.change",
        post("/api/v1/changes", lambda w, c: {"insert": {"triples": [w.statement()]}}),
    ),
    "POST /sparql": (
        "graph.update",
        lambda w, c: c.post("/sparql", data={"update": "INSERT DATA { <urn:a> <urn:p> 1 }"}),
    ),
    "POST /api/v1/graph/queries": (
        "graph.save_query",
        post("/api/v1/graph/queries", lambda w, c: {"name": f"saved-n{next(_NUMBERS)}", "query": "ASK {}"}),
    ),
    "DELETE /api/v1/graph/queries/{name}": (
        "graph.forget_query",
        lambda w, c: c.delete(f"/api/v1/graph/queries/{w.query(c)}"),
    ),
    "POST /api/v1/memory/remember": (
        "memory.remember",
        post("/api/v1/memory/remember", lambda w, c: {"entry_type": "fact", "data": f"Fact {next(_NUMBERS)}."}),
    ),
    "POST /api/v1/memory/reflect": (
        "memory.reflect",
        post("/api/v1/memory/reflect", lambda w, c: {"text": "So.", "reflects_on": [remembered(c)]}),
    ),
    "POST /api/v1/memory/{id}/correct": (
        "memory.correct",
        lambda w, c: c.post(f"/api/v1/memory/{remembered(c)}/correct", json={"text": f"Fact {next(_NUMBERS)}."}),
    ),
    "DELETE /api/v1/memory/{id}": ("memory.forget", lambda w, c: c.delete(f"/api/v1/memory/{remembered(c)}")),
    "POST /api/skills": (
        "registry.register",
        post("/api/skills", lambda w, c: {"name": f"new-n{next(_NUMBERS)}", "content": "Do.\n", "description": "d"}),
    ),
    "DELETE /api/skills": ("registry.delete", lambda w, c: c.delete("/api/skills", params=w.skill(c))),
    "POST /api/skills/deprecate": ("registry.deprecate", named("/api/skills/deprecate", reason="r")),
    "POST /api/skills/promote": ("registry.promote", promoted),
    "POST /api/skills/merge": ("registry.merge", merged),
    "POST /api/skills/trust": ("registry.trust", named("/api/skills/trust", tier=2)),
    "POST /api/skills/maintain": ("registry.maintain", post("/api/skills/maintain", lambda w, c: {})),
    "POST /api/v1/skill/register": (
        "registry.register",
        post(
            "/api/v1/skill/register",
            lambda w, c: {"inline_skill": f"---\nname: inline-n{next(_NUMBERS)}\ndescription: d\n---\nDo.\n"},
        ),
    ),
    "DELETE /api/v1/skills/sandbox/{id}": (
        "sandboxes.empty",
        lambda w, c: c.delete(f"/api/v1/skills/sandbox/{sandbox_with_a_statement(c)}"),
    ),
    "POST /api/v1/trust-level": (
        "actions.trust_level.set",
        post("/api/v1/trust-level", lambda w, c: {"level": "observe"}),
    ),
}

# Requests with a body that only read.
READS: dict[str, Request] = {
    "POST /api/v1/triples/check": post("/api/v1/triples/check", lambda w, c: {**w.statement(), "object": 2}),
    "POST /api/v1/resources/merge/preview": lambda w, c: c.post(
        "/api/v1/resources/merge/preview",
        json={"merged": w.plugin.graph.get_triple(w.written())["subject"], "kept": "other"},
    ),
    "POST /api/v1/query": post("/api/v1/query", lambda w, c: {"predicate": "note"}),
    "POST /api/v1/verify": post(
        "/api/v1/verify", lambda w, c: {"proof_hash": "0", "statements": [{**w.statement(), "object": 2}]}
    ),
    "POST /api/v1/graph/sparql": post("/api/v1/graph/sparql", lambda w, c: {"query": "ASK {}"}),
    "POST /api/v1/graph/queries/{name}": lambda w, c: c.post("/api/v1/graph/queries/kept", json={}),
    "POST /api/v1/assertions/verify-batch": post(
        "/api/v1/assertions/verify-batch", lambda w, c: {"assertions": [w.statement()]}
    ),
    "POST /api/v1/memory/recall": post("/api/v1/memory/recall", lambda w, c: {"text": "fact"}),
    "POST /api/v1/objects": post("/api/v1/objects", lambda w, c: {"objects": [1]}),
    "POST /api/v1/proofs/verify/batch": post("/api/v1/proofs/verify/batch", lambda w, c: {"proof_ids": ["0" * 64]}),
    "POST /api/v1/validate": post("/api/v1/validate", lambda w, c: {"triples": [w.statement()]}),
    "POST /api/skills/preview": post("/api/skills/preview", lambda w, c: {"change": "delete", "names": ["x"]}),
    "POST /api/skills/preview/document": post(
        "/api/skills/preview/document", lambda w, c: {"name": "previewed", "content": "Do.\n", "description": "d"}
    ),
    "POST /api/v1/skills/validate": post("/api/v1/skills/validate", lambda w, c: {"manifest_json": "{}"}),
}

# Endpoints whose example takes what another test makes: there each interface leaves one record of the operation.
TESTED_IN = {
    "POST /api/v1/approvals/{id}/approve": "test_action_operations.py",
    "POST /api/v1/approvals/{id}/edit": "test_action_operations.py",
    "POST /api/v1/approvals/{id}/edit/preview": "test_action_operations.py",
    "POST /api/v1/approval-rules": "test_rule_operations.py",
    "POST /api/v1/approval-rules/preview": "test_rule_operations.py",
    "POST /api/v1/approval-rules/{rule}/end": "test_rule_operations.py",
    "POST /api/v1/triples/{triple}/correct": "test_corrections.py",
    "POST /api/v1/resources/merge": "test_corrections.py",
    "POST /api/v1/approvals/{id}/reject": "test_action_operations.py",
    "POST /api/v1/artifacts/{id}/enable": "test_artifact_parity.py",
    "POST /api/v1/artifacts/{id}/quarantine": "test_artifact_parity.py",
    "POST /api/v1/proofs": "test_proof_operations.py",
    "POST /api/v1/proofs/batch": "test_proof_operations.py",
    "DELETE /api/v1/proofs/{id}": "test_proof_operations.py",
    "POST /api/skills/export": "test_parity.py",
    "POST /api/skills/load-human": "test_parity.py",
    "POST /api/v1/skill/{id}/compose": "test_parity.py",
    "POST /api/v1/skill/{id}/export": "test_parity.py",
    "POST /api/v1/skill/{id}/promote": "test_parity.py",
}


def test_every_endpoint_that_may_change_something_has_an_example_or_a_reason() -> None:
    endpoints = {f"{each.method} {each.path}" for each in api() if each.method != "GET"} | {"POST /sparql"}
    reasons = {name for name in NOT_OPERATIONS if " /" in name}
    assert endpoints == {*CHANGES, *READS, *TESTED_IN, *reasons}
    assert all(len(reason.split()) > 6 for reason in NOT_OPERATIONS.values())
    folder = Path(__file__).parent
    assert [name for name in set(TESTED_IN.values()) if not (folder / name).is_file()] == []


@pytest.mark.parametrize("endpoint", CHANGES)
def test_an_endpoint_changes_by_one_operation_and_writes_nothing_beside_it(watch: Watch, endpoint: str) -> None:
    operation, request = CHANGES[endpoint]
    client = watch.running.client(watch.running.token("changes", ("mayros",), ALL, "person"))
    watch.unrecorded.clear()
    answer = request(watch, client)
    assert answer.is_success, answer.text
    assert watch.changes()[0] == operation
    assert watch.unrecorded == []


@pytest.mark.parametrize("endpoint", READS)
def test_what_reads_writes_nothing_and_leaves_no_record_of_a_change(watch: Watch, endpoint: str) -> None:
    client = watch.running.client(watch.running.token("changes", ("mayros",), ALL, "person"))
    before = len(watch.changes())
    watch.unrecorded.clear()
    answer = READS[endpoint](watch, client)
    assert answer.status_code in (200, 400), answer.text
    assert (len(watch.changes()), watch.unrecorded) == (before, [])


def test_tools_change_by_one_operation_and_write_nothing_beside_it(watch: Watch) -> None:
    memory = watch.plugin.call("skill_memory_remember", {"text": "Ada prefers tea."}).details["id"]
    asserted = watch.plugin.call("skill_assert", watch.statement()).details["tripleHash"]
    examples: dict[str, tuple[str, dict[str, Any]]] = {
        "skill_assert": ("graph.assert", watch.statement()),
        "skill_retract": ("graph.withdraw", {"tripleHash": asserted}),
        "skill_memory_remember": ("memory.remember", {"text": "Ada prefers short answers."}),
        "skill_memory_reflect": ("memory.reflect", {"text": "Ada is a morning person.", "reflects_on": [memory]}),
    }
    # Tools of the registry and of proofs: test_parity.py and test_proof_operations.py.
    elsewhere = {
        *("skill_feedback", "skill_write", "skill_learn", "skill_request_zk_proof", "memory_skill_register"),
        *("memory_skill_export", "memory_skill_promote_from_reflection"),
    }
    assert {name for name, tool in own_tools().items() if not tool.read_only} == {*examples, *elsewhere}
    for name, (operation, arguments) in examples.items():
        before = watch.plugin.audit.calls.counts().total
        watch.unrecorded.clear()
        answer = watch.plugin.call(name, arguments)
        assert not answer.is_error, answer.text
        record = watch.plugin.recent_calls.page(limit=1).calls[0].record
        assert (record.event, record.tool, [act.event for act in record.acts]) == ("tool.call", name, [operation])
        assert (watch.plugin.audit.calls.counts().total, watch.unrecorded) == (before + 1, [])


# Actions on pages, by page and name: the operation, the address of the page, and the other fields of the form.
PAGE_ACTIONS: dict[str, tuple[str, Callable[[Watch, httpx.Client], str], dict[str, str]]] = {
    "/explore/{namespace}/memories/{id} correct": (
        "memory.correct",
        lambda w, c: f"/explore/mayros/memories/{remembered(c)}",
        {"text": "Something else.", "importance": "0.9", "tags": ""},
    ),
    "/explore/{namespace}/memories/{id} forget": (
        "memory.forget",
        lambda w, c: f"/explore/mayros/memories/{remembered(c)}",
        {},
    ),
    "/explore/{namespace}/t/{id} remove": (
        "graph.withdraw",
        lambda w, c: f"/explore/mayros/t/{w.written()}",
        {"reason": "counted again"},
    ),
    "/explore/{namespace}/queries save": (
        "graph.save_query",
        lambda w, c: "/explore/mayros/queries?query=ASK%20%7B%7D",
        {"name": "saved-on-a-page", "query": "ASK {}", "description": "", "parameters": ""},
    ),
    "/explore/{namespace}/queries/{name} forget": (
        "graph.forget_query",
        lambda w, c: f"/explore/mayros/queries/{w.query(c)}",
        {},
    ),
    "/explore/registry maintain": ("registry.maintain", lambda w, c: w.failing(), {}),
    "/explore/registry promote": ("registry.promote", lambda w, c: "/explore/registry", {}),
    "/explore/registry deprecate": (
        "registry.deprecate",
        lambda w, c: "/explore/registry",
        {"reason": "r"},
    ),
    "/explore/registry retire": ("registry.retire", lambda w, c: "/explore/registry", {}),
    "/explore/registry delete": ("registry.delete", lambda w, c: "/explore/registry", {}),
    "/explore/new-skill save": (
        "registry.register",
        lambda w, c: "/explore/new-skill",
        {"name": "written-on-a-page", "description": "d", "body": "Do it."},
    ),
}
# Each is done there, and leaves one record of the operation of its name.
PAGES_TESTED_IN = {
    "/explore/approvals/{id} approve": "test_action_operations.py",
    "/explore/approvals/{id} reject": "test_action_operations.py",
    "/explore/approvals/{id}/edit edit": "test_action_operations.py",
    "/explore/approvals/{id}/edit approve": "../explorer/http/test_approval_pages.py",
    "/explore/approvals/{id}/rule rule": "test_rule_operations.py",
    "/explore/approvals end-rule": "test_rule_operations.py",
    "/explore/{namespace}/write save": "../explorer/http/test_write_page.py",
    "/explore/approvals approve": "../explorer/http/test_approval_pages.py",
    "/explore/approvals reject": "../explorer/http/test_approval_pages.py",
    "/explore/artifacts/{id} quarantine": "test_artifact_parity.py",
    "/explore/artifacts/{id} enable": "test_artifact_parity.py",
    "/explore/registry/{name} promote": "test_parity.py",
    "/explore/registry/{name} deprecate": "test_parity.py",
    "/explore/registry/{name} delete": "test_parity.py",
    "/explore/registry/{name}/edit save": "test_parity.py",
    **{
        f"/explore/install {name}": "../explorer/http/test_install_page.py"
        for name in ("offers", "download", "install")
    },
    "/explore/skill-folders load": "../explorer/http/test_skill_folders.py",
}


def test_every_action_of_a_page_has_an_example() -> None:
    actions = {f"{page.path} {name}": each.changes for page in pages() for name, each in page.actions.items()}
    assert {name for name, changes in actions.items() if changes} == {*PAGE_ACTIONS, *PAGES_TESTED_IN}
    folder = Path(__file__).parent
    assert [name for name in set(PAGES_TESTED_IN.values()) if not (folder / name).is_file()] == []


@pytest.mark.parametrize("action", PAGE_ACTIONS)
def test_an_action_of_a_page_changes_by_one_operation(watch: Watch, action: str) -> None:
    operation, address, fields = PAGE_ACTIONS[action]
    token = watch.running.token("acts", ("mayros",), ALL, "person")
    client, name = watch.running.client(token), action.rpartition(" ")[2]
    chosen: dict[str, str] = {}
    if action.startswith("/explore/registry ") and name != "maintain":
        skill = watch.skill(client)["name"]
        state = watch.plugin.registry.degrade(SkillKey("mayros", skill), "r", actor="ada").standing.lifecycle
        chosen = {f"skill:{skill}": state}
    path, browser = address(watch, client), signed_in(watch.running, token)
    forms = re.findall(r"<form.*?</form>", browser.get(path, headers=CLICKED).text, re.DOTALL)
    shown = "preview" if chosen else name
    (form,) = (each for each in forms if re.search(rf'name="action" value="{shown}"', each))
    before = watch.changes()
    watch.unrecorded.clear()
    answer = submitted(browser, path, {**fields_of(form), **fields, **chosen, "action": name, "token": token})
    assert answer.status_code == (200 if chosen else 303), answer.text
    after = watch.changes()
    assert (after[: len(after) - len(before)], watch.unrecorded) == ([operation], [])


def test_a_write_beside_an_operation_is_noticed(watch: Watch) -> None:
    watch.unrecorded.clear()
    watch.plugin.graph.create_triple(watch.statement())
    assert watch.unrecorded == [["urn:cortex:mayros"]]
