"""Each operation on the graph has one verdict for a caller, through each interface, and a record where it changes.

Rules kept here:
- the operations, the callers and the interfaces are those of the tables: a new operation needs its arguments here, a
  new endpoint its request in `tests/server/api_requests.py`;
- what an endpoint runs is observed, not stated.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import pytest

from cortex_skills import Plugin
from cortex_skills.doors.server.app import api
from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import OWNER, Caller, Door, Kind, owner
from cortex_skills.operations.operation import OperationCall, all_operations
from cortex_skills.operations.run import run
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tokens import PERMISSIONS
from tests.actions.conftest import operator
from tests.configs import config
from tests.every_case import check_every
from tests.server.api_requests import EveryRight, every_right

__all__ = ["operator"]

GRAPH = {name: each for name, each in all_operations().items() if name.startswith("graph.")}
# The requests change a query that a person saved, which no agent does.
OF_A_PERSON = ("graphSaveQuery", "graphForgetQuery")
_NUMBERS = itertools.count()


def row() -> dict[str, Any]:
    return {"subject": f"s{next(_NUMBERS)}", "predicate": "note", "object": next(_NUMBERS)}


def triple(plugin: Plugin) -> str:
    return str(plugin.graph.create_triple(row())["id"])


def saved(plugin: Plugin) -> str:
    """A query that the callers saved: an agent forgets no other."""
    name = f"query-n{next(_NUMBERS)}"
    own = Caller("c1", "agent", "python", frozenset(PERMISSIONS), namespace="mayros")
    run(GRAPH["graph.save_query"], own, {"name": name, "query": "ASK {}"}, plugin._host)
    return name


# The arguments of each operation, made for each run. Those of the owner alone read and write files: their verdicts
# for others are here, what they do is in tests/operations/test_graph_operations.py.
GIVEN: dict[str, Callable[[Plugin], dict[str, Any]]] = {
    "graph.assert": lambda _: {"statements": [row()]},
    "graph.change": lambda _: {},
    "graph.check_change": lambda _: row(),
    "graph.consistency": lambda _: {"agent": "ada"},
    "graph.correct": lambda plugin: {"triple": triple(plugin), "object": next(_NUMBERS)},
    "graph.describe": lambda _: {"name": "shop"},
    "graph.difference": lambda _: {"since": "24h"},
    "graph.find": lambda _: {"text": "shop"},
    "graph.forget_query": lambda plugin: {"name": saved(plugin)},
    "graph.merge": lambda plugin: {"merged": plugin.graph.create_triple(row())["subject"], "kept": "shop"},
    "graph.overview": lambda _: {},
    "graph.preview_correction": lambda plugin: {"triple": triple(plugin), "object": 2},
    "graph.preview_merge": lambda plugin: {"merged": plugin.graph.create_triple(row())["subject"], "kept": "shop"},
    "graph.query": lambda _: {"subject": "shop"},
    "graph.run_query": lambda plugin: {"name": saved(plugin)},
    "graph.save_query": lambda _: {"name": f"query-n{next(_NUMBERS)}", "query": "ASK {}"},
    "graph.saved_queries": lambda _: {},
    "graph.sparql": lambda _: {"query": "ASK {}"},
    "graph.suggest_predicates": lambda _: {"subject": "shop"},
    "graph.suggest_values": lambda _: {"predicate": "inStock"},
    "graph.update": lambda _: {"update": f"INSERT DATA {{ <urn:s{next(_NUMBERS)}> <urn:p> 1 }}"},
    "graph.verify": lambda _: {"subject": "shop", "predicate": "inStock"},
    "graph.withdraw": lambda plugin: {"triple": triple(plugin)},
    **{name: lambda _: {} for name, each in GRAPH.items() if each.permission == OWNER},
}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    settings = {"audit": {"folder": str(tmp_path_factory.mktemp("matrix") / "audit"), "fsync": "never"}}
    with Plugin.open(config(**settings)) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        plugin.graph.create_triple({"subject": "shop", "predicate": "inStock", "object": 3})
        yield plugin


def callers(permission: str, door: Door) -> Iterator[tuple[Caller, str]]:
    """Each kind of caller with the permission and without it, and the verdict."""
    yield owner("ada", door, "mayros"), "ok"
    for kind in get_args(Kind):
        if kind != "owner":
            most = frozenset(PERMISSIONS)
            yield Caller("c1", kind, door, most - {permission}, namespace="mayros"), "permission_denied"
            allowed = "permission_denied" if permission == OWNER else "ok"
            yield Caller("c1", kind, door, most, namespace="mayros"), allowed


def test_every_operation_of_the_graph_has_arguments_here() -> None:
    assert GIVEN.keys() == GRAPH.keys()


@pytest.mark.parametrize("name", sorted(GRAPH))
def test_a_caller_has_one_verdict_whatever_the_interface(plugin: Plugin, name: str) -> None:
    operation = GRAPH[name]
    assert operation.permission is not None
    for door in get_args(Door):
        for caller, expected in callers(operation.permission, door):
            if caller.kind == "owner" and operation.permission == OWNER:
                continue
            try:
                run(operation, caller, GIVEN[name](plugin), plugin._host)
                verdict = "ok"
            except CortexError as error:
                verdict = error.code
            assert (door, caller.kind, verdict) == (door, caller.kind, expected)
            if operation.effect == "changes":
                record = plugin.audit.calls.page(limit=1).calls[0].record
                assert (record.event, record.outcome, record.agent) == (name, verdict, caller.name)
                assert (record.data["door"], record.data["kind"]) == (door, caller.kind)
                assert record.data["object"] or expected != "ok"


# --- REST: requests of real clients


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory, operator: Path) -> Iterator[EveryRight]:
    with every_right(tmp_path_factory.mktemp("everything"), operator) as server:
        yield server


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The operations on the graph that were run."""
    names: list[str] = []

    def noted(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(own)
        def noting(call: OperationCall, given: Any) -> Any:
            names.append(name)
            return own(call, given)

        return noting

    own = {name: each.run for name, each in GRAPH.items()}
    for name, each in GRAPH.items():
        object.__setattr__(each, "run", noted(name, own[name]))
    yield names
    for name, each in GRAPH.items():
        object.__setattr__(each, "run", own[name])


def test_persons_and_agents_have_the_verdict_of_the_operation_at_each_endpoint(
    everything: EveryRight, ran: list[str]
) -> None:
    known = {each.name: each for each in api()}
    found: dict[str, str] = {}
    verdicts: dict[str, dict[str, str]] = defaultdict(dict)

    def ask(name: str, request: dict[str, Any], token: str) -> str:
        path = known[name].path.format(**request.get("path_parameters", {}))
        body = {"json": request["body"]} if "body" in request else {}
        answer = everything.running.client(token).request(
            known[name].method, path, params=request.get("query", {}), **body
        )
        return "ok" if answer.is_success else str(answer.json()["code"])

    for name, request in everything.requests().items():
        del ran[:]
        if ask(name, request, everything.token) == "ok" and len(set(ran)) == 1:
            found[name] = ran[0]
    assert len(set(found.values())) > 10, found
    for holder in ("person", "agent"):
        for lacks in ("", "read", "write"):
            requests = everything.requests()
            permissions = tuple(each for each in PERMISSIONS if each != lacks)
            token = everything.running.token(f"{holder}-lacks-{lacks}", permissions=permissions, holder=holder)  # type: ignore[arg-type]
            for name in found:
                verdicts[name][f"{holder} without {lacks}"] = ask(name, requests[name], token)

    def check(name: str) -> None:
        needs = {GRAPH[found[name]].permission, known[name].permission}
        for each, verdict in verdicts[name].items():
            is_refused = each.rpartition(" ")[2] in needs or (name in OF_A_PERSON and each.startswith("agent "))
            assert (each, verdict) == (each, "permission_denied" if is_refused else "ok")

    check_every({name: name for name in found}, check)
