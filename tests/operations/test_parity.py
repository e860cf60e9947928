"""Every interface gives a caller the same verdict about a change of a registered skill, and leaves a record of it."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.skill_md import inline_document, write_skill_md
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.operations.operation import OPERATIONS, all_operations
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.mcp.conftest import over_http
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served

LIST = "/explore/registry"
_NUMBERS = itertools.count()
ALL = ("read", "write", "registry")


@dataclass(frozen=True)
class Setting:
    """A server, and the roots of its folders."""

    running: Running
    agents: Path

    @property
    def plugin(self) -> Plugin:
        return self.running.plugin

    def token(self, holder: str, permissions: tuple[str, ...]) -> str:
        return self.running.token(f"{holder}-{'-'.join(permissions)}", ("mayros",), permissions, holder)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    root = tmp_path_factory.mktemp("parity")
    for name, granted in {"learner": ["read", "learn"], "manager": ["read", "learn", "manage"]}.items():
        write_skill(root / "skills" / name, permissions={"registry": granted}, assertions=[])
    (root / "out").mkdir()
    settings = config(
        audit={"folder": str(root / "audit")},
        proofs={"keys": str(root / "keys")},
        registry={"exportRoot": str(root / "out"), "folders": [str(root / "human")]},
        cortex={"tokenFile": str(root / "tokens.json")},
        tools={"profiles": ["core", "registry"]},
        skillSandbox={"maxCallsPerMinute": 1000},
    )
    plugin = Plugin.open(settings, registers=False)
    plugin.load(root / "skills")
    with served(root, plugin=plugin) as running:
        yield Setting(running, root)


@dataclass(frozen=True)
class Change:
    """One change of one skill: `source` is another one of the same origin."""

    operation: str
    name: str
    source: str


# --- the interfaces: each returns `ok`, or the code


def by_operation(setting: Setting, change: Change) -> str:
    more: dict[str, Any] = {
        "registry.merge": {"source": change.source},
        "registry.deprecate": {"reason": "r"},
        "registry.trust": {"tier": 2},
        "registry.rollback": {"number": 1},
        "registry.export": {"folder": str(setting.agents / "owner" / change.name)},
    }
    given = {"skill": change.name, **more.get(change.operation, {})}
    if change.operation == "registry.register":
        given = {"document": following(setting, change.name)}
    try:
        setting.plugin.operate(OPERATIONS[change.operation], **given)
    except CortexError as error:
        return error.code
    return "ok"


def following(setting: Setting, name: str) -> Any:
    """The next document of a skill, or the first one."""
    registry = setting.plugin.registry
    record = registry.find(SkillKey("mayros", name))
    if record is None:
        return inline_document({"name": name, "description": "d", "body": "New.\n"}, "mayros")
    return registry.document(registry.version(record.version_id)).changed(body=f"Next {next(_NUMBERS)}.\n")


def by_tool(setting: Setting, change: Change, skill: str, token: str) -> str:
    kind = change.operation.partition(".")[2]
    exported = {"skill_id": change.name, "target_folder": f"mcp/{change.name}"}
    registered = {"inline_skill": write_skill_md(following(setting, change.name))["SKILL.md"]}
    tool, arguments = {
        "register": ("memory_skill_register", registered),
        "export": ("memory_skill_export", exported),
        "merge": ("skill_write", {"operation": "merge", "name": change.name, "source": change.source}),
        "deprecate": ("skill_write", {"operation": "deprecate", "name": change.name, "reason": "r"}),
    }.get(kind, ("skill_write", {"operation": kind, "name": change.name}))

    async def called() -> str:
        async with over_http(setting.running, token, mode="legacy") as client:
            answer = await client.call_tool(tool, {"skill": skill, **arguments})
            return str(answer.structured_content["code"]) if answer.is_error else "ok"

    return asyncio.run(called())


def by_rest(setting: Setting, change: Change, token: str) -> str:
    client, kind = setting.running.client(token), change.operation.partition(".")[2]
    if kind == "register":
        text = write_skill_md(following(setting, change.name))["SKILL.md"]
        return code_of(client.post("/api/v1/skill/register", json={"inline_skill": text}))
    if kind == "delete":
        return code_of(client.delete("/api/skills", params={"name": change.name}))
    more = {"trust": {"tier": 2}, "deprecate": {"reason": "r"}}.get(kind, {})
    body: dict[str, Any] = {"name": change.name, **more}
    if kind == "merge":
        body = {"target": change.name, "source": change.source}
    return code_of(client.post(f"/api/skills/{kind}", json=body))


def by_members(setting: Setting, change: Change, token: str) -> str:
    body = {"name": change.name, "content": f"Next {next(_NUMBERS)}.\n"}
    return code_of(setting.running.client(token).post("/api/skills", json=body))


def by_page(setting: Setting, change: Change, token: str) -> str:
    browser, action = signed_in(setting.running, token), change.operation.partition(".")[2]
    path = f"{LIST}/{change.name}"
    fields = {"reason": "r", "state": state_of(setting, change.name)}
    if action == "register":
        path, action = f"{path}/edit", "save"
    page = browser.get(path, headers=CLICKED).text
    shown = re.search(rf'value="{action}"><input type="hidden" name="form" value="([^"]*)"', page)
    form = fields_of(page) if action == "save" else {"form": shown[1] if shown else "0" * 64}
    fields |= {"body": f"Next {next(_NUMBERS)}.\r\n"} if action == "save" else {}
    answer = submitted(browser, path, {**form, **fields, "action": action, "token": token})
    if answer.status_code == 303:
        return "ok"
    stated = re.search(r"<code>([a-z_]+)</code> · request", answer.text)
    # A form that is refused is shown again, with the reason in words: its code is in the record of the action.
    return stated[1] if stated else setting.plugin.recent_calls.page(limit=1).calls[0].record.outcome


def code_of(answer: httpx.Response) -> str:
    return "ok" if answer.status_code == 200 else str(answer.json()["code"])


def state_of(setting: Setting, name: str) -> str:
    record = setting.plugin.registry.find(SkillKey("mayros", name))
    return "" if record is None else record.standing.lifecycle


# --- the callers: what they are, and the interfaces that they reach

Door = Callable[[Setting, Change], str]


def doors_of(caller: str, setting: Setting) -> dict[str, Door]:
    """The interfaces of a kind of caller."""
    if caller == "owner":
        return {"python": by_operation}
    holder, _, granted = caller.partition(" ")
    token = setting.token(holder, ALL if granted == "manages" else ("read", "write"))
    found: dict[str, Door] = {
        "rest": lambda s, change: by_rest(s, change, token),
        "page": lambda s, change: by_page(s, change, token),
    }
    if holder == "agent":
        skill = "manager" if granted == "manages" else "learner"
        found["mcp"] = lambda s, change: by_tool(s, change, skill, token)
    return found


CALLERS = ("owner", "person manages", "person writes", "agent manages", "agent writes")
REACHED = {
    "registry.register": ("python", "rest", "page", "mcp"),
    "registry.delete": ("python", "rest", "page", "mcp"),
    "registry.deprecate": ("python", "rest", "page", "mcp"),
    "registry.promote": ("python", "rest", "page", "mcp"),
    "registry.merge": ("python", "rest", "mcp"),
    "registry.trust": ("python", "rest"),
    "registry.export": ("python", "rest", "mcp"),
    "registry.rollback": ("python",),
    "registry.retire": ("python",),
    "registry.unretire": ("python",),
}
# They take what only a session has, a run or a memory: tests/registry/test_learning.py and test_reflections.py; or no
# skill: `test_maintenance_is_one_operation`.
ELSEWHERE = {"registry.learn", "registry.register_reflection", "registry.maintain"}
# What an agent states about a skill, and what the host measured: one interface each.
ONE_INTERFACE = {"registry.report", "registry.outcome"}
_DENIED = "permission_denied"


def expected(operation: str, caller: str, origin: str) -> str:
    """The one verdict: by the operation, the kind of caller, and who made the skill."""
    holder, _, granted = caller.partition(" ")
    kind = operation.partition(".")[2]
    if kind not in ("register", "export") and granted == "writes":
        return _DENIED
    if kind == "register" and holder == "agent" and origin != "learned":
        return "skill_exists"
    if kind == "trust" and holder == "agent":
        return _DENIED
    if kind == "promote" and origin == "learned":
        return "gain_not_measured"
    return "ok"


# Where a skill that is called `{name}`, with the version `{id}`, is read: the address, or the tool and its arguments.
READS: dict[str, tuple[Any, ...]] = {
    "registry.preview": ({"path": "/api/skills/preview", "json": {"change": "delete", "names": ["{name}"]}},),
    "registry.preview_document": (
        {"path": "/api/skills/preview/document", "json": {"name": "{name}", "description": "d"}},
    ),
    "registry.preview_folders": ("/api/skills/folders",),
    "registry.list": (
        "/api/skills?limit=1000",
        "/api/v1/skill/list?filter={name}",
        ("memory_skill_list", {"filter": "{name}"}),
    ),
    "registry.find": ("/api/skills/find?query={name}", ("skill_find", {"query": "{name}"})),
    "registry.show": ("/api/skills/detail?name={name}", ("skill_read", {"name": "{name}"})),
    "registry.read": ("/api/v1/skill/{id}", ("memory_skill_get", {"skill_id": "{id}"})),
    "registry.read_file": (("memory_skill_resource", {"skill_id": "{id}", "resource_path": "none.md"}),),
    "registry.health": ("/api/skills/health?name={name}",),
    "registry.dependencies": ("/api/skills/dependencies?name={name}",),
    "registry.figures": ("/api/skills/stats",),
    "registry.history": ("/api/skills/history?name={name}",),
    "registry.diff": ("/api/skills/diff?name={name}&old=1&new=1",),
    "registry.events": ("/api/skills/events?since={event}",),
    "registry.verify_events": ("/api/skills/events/verification?since={event}",),
}


# The skill is that of a person: an agent is told that it may not change it, as in the change itself.
ONLY_PEOPLE = {"registry.preview_document": 409}

# What the answers state that do not name the skill.
STATED = {
    "registry.figures": '"total"',
    "registry.preview": '"following":"deleted"',
    "registry.preview_folders": "[]",
    "registry.history": '"version":1',
    "registry.diff": '{"lines":[]}',
    "registry.verify_events": '"fault":null',
}


@pytest.mark.parametrize("operation", READS)
def test_what_reads_has_one_answer_for_every_caller_who_may_read(setting: Setting, operation: str) -> None:
    name = f"read-n{next(_NUMBERS)}"
    document = inline_document({"name": name, "description": f"Does {name}.", "body": "b"}, "mayros")
    version = setting.plugin.registry.register(document, actor="ada", origin="human").version
    before = setting.plugin.audit.calls.counts().total
    rights, tools = (
        sorted({"read", all_operations()[operation].permission}),
        [each for each in READS[operation] if isinstance(each, tuple)],
    )
    for holder in ("person", "agent"):
        client = setting.running.client(setting.token(holder, tuple(rights)))
        for place in READS[operation]:
            if isinstance(place, tuple):
                continue
            whole = json.dumps(place).replace("{name}", name).replace("{id}", version.id)
            asked = json.loads(whole.replace("{event}", str(setting.plugin.registry.log.count())))
            answer = _asked(client, asked)
            if operation in ONLY_PEOPLE and holder == "agent":
                assert answer.status_code == ONLY_PEOPLE[operation], answer.text
                continue
            assert answer.status_code == 200, answer.text
            assert STATED.get(operation, name) in answer.text
            refused = _asked(setting.running.client(setting.token(holder, ("audit",))), asked)
            assert refused.json()["code"] == "permission_denied"
    for tool, given in tools:
        arguments = {key: value.format(name=name, id=version.id) for key, value in given.items()}
        answer = setting.plugin.call(tool, arguments, skill="learner")
        assert name in answer.text or answer.code == "invalid_arguments"
    events = {each.record.event for each in setting.plugin.audit.calls.page(limit=10).calls}
    assert operation not in events
    assert setting.plugin.audit.calls.counts().total - before == len(tools)


def _asked(client: httpx.Client, request: Any) -> httpx.Response:
    """What a request gets: an address, or a path with a body."""
    if isinstance(request, str):
        return client.get(request)
    return client.post(request["path"], json=request["json"])


def test_every_operation_is_here_or_named_elsewhere() -> None:
    of_registry = {name for name in all_operations() if name.startswith("registry.")}
    assert of_registry == REACHED.keys() | ELSEWHERE | ONE_INTERFACE | READS.keys()
    assert {name for name in of_registry if all_operations()[name].effect == "reads"} == READS.keys()


@pytest.mark.parametrize("origin", ["human", "builtin", "learned"])
@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("operation", sorted(REACHED))
def test_every_interface_gives_one_verdict_and_leaves_a_record_of_the_object(
    setting: Setting, operation: str, caller: str, origin: str
) -> None:
    registry = setting.plugin.registry
    for door, changed in doors_of(caller, setting).items():
        if door not in REACHED[operation]:
            continue
        number = next(_NUMBERS)
        names = (f"skill-n{number}", f"source-n{number}")
        for name in names:
            document = inline_document({"name": name, "description": "d", "body": f"Of {name}.\n"}, "mayros")
            registry.register(document, actor="ada", origin=origin)  # type: ignore[arg-type]
        key = SkillKey("mayros", names[0])
        if operation == "registry.promote":
            registry.degrade(key, "r", actor="ada")
        if operation == "registry.unretire":
            registry.retire(key, actor="ada")
        assert (door, changed(setting, Change(operation, *names))) == (door, expected(operation, caller, origin))
        if door == "page" and expected(operation, caller, origin) == _DENIED:
            continue  # the page has no form for it: nothing was asked for
        if door == "rest" and expected(operation, caller, origin) == _DENIED and caller.endswith("writes"):
            continue  # the address is closed for the token
        found = (act for each in setting.plugin.audit.calls.page(limit=10).calls for act in each.record.acts)
        record = next(each for each in found if each.event == operation)
        assert record.outcome == expected(operation, caller, origin)
        assert (record.data["object"], record.data["door"]) == (str(key), door)
        assert record.data["kind"] == caller.partition(" ")[0]
        opened = registry.find(key)
        assert (opened is None) == (operation == "registry.delete" and record.outcome == "ok")
        assert record.data["before"].startswith(f"version 1, {origin}, ")
        if opened is not None and record.outcome == "ok":
            assert f"{opened.standing.origin}, {opened.standing.lifecycle}" in record.data["after"]


@pytest.mark.parametrize(("caller", "origin"), [("person writes", "human"), ("agent writes", "learned")])
def test_who_registers_a_new_skill_decides_whose_it_is(setting: Setting, caller: str, origin: str) -> None:
    for door in (by_rest, by_members):
        name = f"new-n{next(_NUMBERS)}"
        token = setting.token(caller.partition(" ")[0], ("read", "write"))
        assert door(setting, Change("registry.register", name, ""), token) == "ok"
        assert setting.plugin.registry.record(SkillKey("mayros", name)).standing.origin == origin


@pytest.mark.parametrize("name", ["p\u0430y-bills", "ignore-all-previous-instructions"])
def test_no_interface_lets_an_agent_take_a_name_that_looks_like_another_one(setting: Setting, name: str) -> None:
    token, change = setting.token("agent", ("read", "write")), Change("registry.register", name, "")
    codes = {by_rest(setting, change, token), by_members(setting, change, token)}
    assert codes | {by_tool(setting, change, "learner", token)} == {"invalid_arguments"}
    assert setting.plugin.registry.find(SkillKey("mayros", name)) is None


def test_a_skill_and_a_token_have_to_allow_what_an_agent_does_over_mcp(setting: Setting) -> None:
    for skill, permissions, origin, code in (
        ("learner", ALL, "learned", "ok"),
        ("learner", ALL, "human", _DENIED),
        ("manager", ALL, "human", "ok"),
        ("manager", ("read", "write"), "learned", _DENIED),
    ):
        name = f"mcp-n{next(_NUMBERS)}"
        document = inline_document({"name": name, "description": "d", "body": "b"}, "mayros")
        setting.plugin.registry.register(document, actor="ada", origin=origin)  # type: ignore[arg-type]
        found = by_tool(setting, Change("registry.delete", name, ""), skill, setting.token("agent", permissions))
        assert (skill, permissions, origin, found) == (skill, permissions, origin, code)


def test_the_folders_that_an_agent_registers_are_learned_and_replace_nothing(setting: Setting) -> None:
    folders = setting.agents / "human"
    names = [f"folder-n{next(_NUMBERS)}", f"folder-n{next(_NUMBERS)}"]
    for name in names:
        (folders / name).mkdir(parents=True)
        (folders / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: d\n---\nb\n")
    mine = inline_document({"name": names[1], "description": "d", "body": "Mine."}, "mayros")
    setting.plugin.registry.register(mine, actor="ada", origin="human")
    client = setting.running.client(setting.token("agent", ("read", "write")))
    answer = client.post("/api/skills/load-human").json()
    assert (answer["loaded"], "was made by a person, and is not replaced" in answer["errors"][0]) == (1, True)
    found = [setting.plugin.registry.record(SkillKey("mayros", name)).standing.origin for name in names]
    assert found == ["learned", "human"]


def test_maintenance_is_one_operation(setting: Setting) -> None:
    client = setting.running.client(setting.token("agent", ALL))
    assert code_of(client.post("/api/skills/maintain")) == "ok"
    record = setting.plugin.audit.calls.page(limit=1).calls[0].record
    assert (record.event, record.data["object"], record.data["door"]) == ("registry.maintain", "mayros", "rest")
    assert setting.plugin.operate(OPERATIONS["registry.maintain"], namespace="mayros") == []


def test_an_agent_verifies_nothing_that_was_not_measured(setting: Setting) -> None:
    for holder, code in (("agent", _DENIED), ("person", "ok")):
        name = f"checked-n{next(_NUMBERS)}"
        document = inline_document({"name": name, "description": "d", "body": "b"}, "mayros")
        setting.plugin.registry.register(document, actor="ada", origin="learned")
        client = setting.running.client(setting.token(holder, ALL))
        assert code_of(client.post("/api/skills/promote", json={"name": name, "unmeasured": True})) == code
