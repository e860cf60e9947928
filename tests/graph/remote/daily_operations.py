"""What agents and people do every day with a store on a server, and how many requests each costs.

Rules kept here:
- each is done until the process has seen what it reads, and then counted once. Requests of threads that look for
  something every few seconds are not counted, those of threads that an operation waits for are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cortex_graph.stores.http.client import HttpClient
from cortex_skills import Plugin
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.operations.operation import all_operations
from tests.approvals.approver import APPEND
from tests.configs import config
from tests.plugin.skills import write_skill

PERMISSIONS = {
    "graph": ["read", "write"],
    "proofs": ["request", "verify"],
    "memory": ["remember", "recall"],
    "registry": ["read", "learn"],
}
_POLLING = ("cortex-approvals", "cortex-graph-")
_TIMES = 3

Act = Callable[[], object]


class Requests:
    """Counts the requests of operations."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[str] = []
        send: Callable[..., Any] = HttpClient.send

        def counted(client: HttpClient, method: str, url: str, **given: Any) -> Any:
            body = given.get("body", b"")
            if b"artifactsChanged" not in body and not threading.current_thread().name.startswith(_POLLING):
                self.sent.append(body.decode())
            return send(client, method, url, **given)

        monkeypatch.setattr(HttpClient, "send", counted)

    def of(self, act: Act) -> int:
        """How many requests an act sends, once it was done before."""
        for _ in range(_TIMES):
            self.sent.clear()
            act()
        return len(self.sent)


def counted(store: Any, namespace: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The requests of each of the acts."""
    requests = Requests(monkeypatch)
    settings = config(
        store=store,
        agentNamespace=namespace,
        tools={"profiles": ["operator"]},
        skillSandbox={"maxAssertions": 1_000, "maxCallsPerMinute": 1_000},
        audit={"journal": "on"},
    )
    with Plugin.open(settings, agent="a1") as plugin:
        plugin.actions.register(APPEND, lambda _: {"size": 1}, preview=lambda _: "+")
        plugin.load(write_skill(folder / "probe", permissions=PERMISSIONS, allowedTools=["*"]))
        return {name: requests.of(act) for name, act in _acts(plugin)}


def _acts(plugin: Plugin) -> Iterator[tuple[str, Act]]:
    numbers, operations = count(), all_operations()

    def call(tool: str, **arguments: Any) -> Any:
        result = plugin.call(tool, arguments)
        assert not result.is_error, (tool, result.text)
        return result.details

    def operate(operation: str, **given: Any) -> Any:
        return plugin.operate(operations[operation], **given)

    def written(predicate: str = "note") -> str:
        hash_: str = call("skill_assert", subject="saw", predicate=predicate, object=f"n{next(numbers)}")["tripleHash"]
        return hash_

    def several() -> list[dict[str, Any]]:
        return [{"subject": "nails", "predicate": "note", "object": f"n{next(numbers)}"} for _ in range(5)]

    yield "`skill_assert`", written
    yield "… of what is there", lambda: call("skill_assert", subject="saw", predicate="note", object="n0")
    yield "… with a proof", lambda: written("sealed")
    yield "… of five statements", lambda: call("skill_assert", statements=several())
    yield "`graph.assert`, without a record", lambda: operate("graph.assert", statements=several(), provenance=None)
    yield (
        "`skill_graph_query`, with marks of proofs and total",
        lambda: call("skill_graph_query", subject="saw"),
    )
    yield "`graph.query`", lambda: operate("graph.query", subject="saw", predicate="note")
    yield "… with who asserted each", lambda: operate("graph.query", subject="saw", provenance=True)
    yield "`graph.find`", lambda: operate("graph.find", text="saw")
    yield (
        "`skill_graph_query` with `prove`, of three statements",
        lambda: call("skill_graph_query", subject="saw", predicate="sealed", prove="pol"),
    )
    yield (
        "`skill_verify_assertion`, of three statements",
        lambda: call("skill_verify_assertion", subject="saw", predicate="sealed"),
    )
    yield "`graph.verify`, of one", lambda: operate("graph.verify", subject="saw", predicate="note", object="n0")
    yield "`graph.describe`", lambda: operate("graph.describe", name="saw")
    kept = iter([written() for _ in range(4 * _TIMES)])
    yield "`skill_retract`", lambda: call("skill_retract", tripleHash=next(kept))
    yield "`graph.withdraw`", lambda: operate("graph.withdraw", triple=next(kept))
    yield "`graph.correct`", lambda: operate("graph.correct", triple=next(kept), object=f"n{next(numbers)}")

    def remembered() -> str:
        id_: str = call("skill_memory_remember", text=f"The nails {next(numbers)} are in the shed.")["id"]
        return id_

    yield "`skill_memory_remember`", remembered
    memory = remembered()
    yield "… of what is remembered", lambda: call("skill_memory_remember", text="The saw is in the shed.")
    yield "`skill_memory_context`", lambda: call("skill_memory_context", query="nails")
    yield "… of the latest (`memory.recall`)", lambda: operate("memory.recall", agent="a1")
    yield (
        "`skill_memory_reflect`",
        lambda: call("skill_memory_reflect", text=f"So {next(numbers)}.", reflects_on=[memory]),
    )
    yield "`memory.list`", lambda: operate("memory.list", agent="a1")
    yield "`memory.show`", lambda: operate("memory.show", id=memory, agent="a1")
    yield "`memory.correct`", lambda: operate("memory.correct", id=memory, agent="a1", importance=next(numbers) / 1e6)
    gone = iter([remembered() for _ in range(_TIMES)])
    yield "`memory.forget`", lambda: operate("memory.forget", id=next(gone), agent="a1")

    def document(name: str) -> SkillDocument:
        text = f"Do it {next(numbers)}.\n"
        return SkillDocument.checked(
            namespace=plugin.part(_namespace), name=name, description=f"Sorts {name}.", body=text
        )

    def registered(name: str) -> Any:
        return operate("registry.register", document=document(name))

    yield "`registry.register`", lambda: registered(f"skill-{next(numbers)}")
    yield "… of the next version", lambda: registered("same")
    version = registered("same").version.id
    yield "`registry.find`", lambda: operate("registry.find", query="sorts same")
    yield "`registry.list`", lambda: operate("registry.list")
    yield "`registry.show`", lambda: operate("registry.show", skill="same")
    yield "`registry.read`", lambda: operate("registry.read", version=version)
    yield "`skill_find`", lambda: call("skill_find", query="sorts same")
    yield "`skill_read`", lambda: call("skill_read", name="same")
    yield "`registry.outcome`", lambda: operate("registry.outcome", skill="same", success=True)

    def asked() -> str:
        id_: str = call("append_line", text=f"n{next(numbers)}")["approval"]
        return id_

    yield "an action that waits for a person", asked
    waiting = iter([asked() for _ in range(2 * _TIMES + 1)])
    first = next(waiting)
    yield "`approval_status`", lambda: call("approval_status", approval=first)
    yield "`approvals.list`", lambda: operate("approvals.list")
    yield "… of those that wait", lambda: operate("approvals.list", state="pending")
    yield "`approvals.reject`", lambda: operate("approvals.reject", approval=next(waiting))
    yield (
        "`approvals.approve`, with the run of the action here",
        lambda: operate("approvals.approve", approval=next(waiting)),
    )


def _namespace(host: Any) -> str:
    name: str = host.graph.namespace
    return name
