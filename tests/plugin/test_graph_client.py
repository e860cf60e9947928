"""`graphClient` in a skill: the rules of a tool call apply, and no other namespace can be reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import NamespacedGraph
from cortex_skills import Plugin
from cortex_skills.enrichment import read_block
from tests.time_limits import queries_stop_after


@pytest.fixture
def plugin(opened: Callable[..., Plugin]) -> Plugin:
    """A plugin without the scanner, which would refuse the code of these tests."""
    return opened(verification={"autoScan": False})


Opened = Callable[..., Plugin]
Written = Callable[..., Path]
Ran = Callable[..., Any]


@pytest.fixture
def run(skill: Written) -> Ran:
    """Loads a skill whose async function has this body, and returns its result; for an exception its code."""

    def ran(plugin: Plugin, body: str, *, agent: str | None = None, **semantic: Any) -> Any:
        code = f"""// @ts-nocheck
        const attempt = async (f) => {{ try {{ return await f(); }} catch (e) {{ return e.code ?? String(e); }} }};
        const run = async () => {{ {body} }};
        export default {{
          name: "probe",
          onQuery: async () => ({{ additionalContext: JSON.stringify({{ got: await attempt(run) }}) }}),
        }};"""
        if "probe" in plugin.skills:
            plugin.unload("probe")
        plugin.load(skill("probe", code, **semantic))
        result = plugin.call("skill_graph_query", {"scope": "namespace"}, skill="probe", agent=agent)
        assert result.details["enrichment"]["status"] == "ok", result.details["enrichment"]
        return read_block(result.text)["got"]

    return ran


CREATE = "const t = await graphClient.createTriple({ subject: 's', predicate: 'note', object: 1 });"


# --- operations


def test_a_skill_writes_finds_and_deletes_triples(plugin: Plugin, run: Ran) -> None:
    got = run(
        plugin,
        """const t = await graphClient.createTriple({ subject: 's', predicate: 'note', object: { node: 'o' } });
        const again = await graphClient.createTriple({ subject: 's', predicate: 'note', object: { node: 'o' } });
        const listed = await graphClient.listTriples({ subject: 's' });
        const matched = await graphClient.patternQuery({ predicate: 'note', object: { node: 'o' } });
        const deleted = [await graphClient.deleteTriple(t.id), await graphClient.deleteTriple(t.id)];
        const left = await graphClient.listTriples();
        return [t.id.length, t.subject, t.created, again.created, again.id === t.id, listed.triples.length,
                listed.total, matched.matches[0].object.node, deleted, left.total, left.nextCursor];""",
    )
    assert got == [64, "mayros:s", True, False, True, 1, 1, "mayros:o", [True, False], 0, None]


def test_provenance_names_the_skill_and_the_calling_agent(plugin: Plugin, run: Ran) -> None:
    triple_id = run(plugin, f"{CREATE} return t.id", agent="bob")
    record = plugin.graph.provenance_of(triple_id)
    assert record is not None
    assert (record["agent"], record["skill"], record["skillVersion"]) == ("bob", "probe", "1.2.3")


def test_writes_during_activation_belong_to_the_plugins_agent(plugin: Plugin, skill: Written) -> None:
    hook = "async () => { await graphClient.createTriple({ subject: 's', predicate: 'note', object: 1 }) }"
    plugin.load(skill("probe", f"export default {{ name: 'probe', onActivate: {hook} }}"))
    (triple,) = plugin.graph.list_triples()["triples"]
    record = plugin.graph.provenance_of(triple["id"])
    assert record is not None
    assert record["agent"] == "a1"


def test_surplus_arguments_are_ignored_as_in_javascript(plugin: Plugin, run: Ran) -> None:
    rows = "[1, 2].map((object) => ({ subject: 's', predicate: 'note', object }))"
    got = run(plugin, f"return (await Promise.all({rows}.map(graphClient.createTriple))).map((t) => t.created)")
    assert got == [True, True]


# --- the same rules as for a tool call


@pytest.mark.parametrize(
    ("granted", "expected"),
    [
        (["read"], {"create": "permission_denied", "list": 0, "pattern": 0, "delete": "permission_denied"}),
        (["read", "write"], {"create": True, "list": 1, "pattern": 1, "delete": False}),
    ],
)
def test_graph_calls_of_a_skill_need_its_permissions(
    plugin: Plugin, run: Ran, granted: list[str], expected: dict[str, Any]
) -> None:
    got = run(
        plugin,
        """return {
          create: await attempt(async () => { const triple = { subject: 's', predicate: 'note', object: 1 };
            return (await graphClient.createTriple(triple)).created; }),
          list: await attempt(async () => (await graphClient.listTriples({})).total),
          pattern: await attempt(async () => (await graphClient.patternQuery({})).total),
          delete: await attempt(() => graphClient.deleteTriple('0'.repeat(64))),
        };""",
        permissions={"graph": granted, "proofs": ["request"]},
        assertions=[{"predicate": "note"}] if "write" in granted else [],
    )
    assert got == expected


def test_without_the_permission_to_read_activation_reads_nothing(plugin: Plugin, skill: Written) -> None:
    code = """// @ts-nocheck
    const codes = [];
    const keep = (e) => { codes.push(e.code); };
    export default { name: "probe", async onActivate() {
      await graphClient.listTriples().catch(keep);
      await graphClient.patternQuery({}).catch(keep);
      await graphClient.createTriple({ subject: "codes", predicate: "note", object: codes.join() });
    } };"""
    plugin.load(skill("probe", code, permissions={"graph": ["write"]}, assertions=[{"predicate": "note"}]))
    assert [t["object"] for t in plugin.graph.list_triples()["triples"]] == ["permission_denied,permission_denied"]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("spelling", ["{}", "mayros:{}", "urn:cortex:mayros:{}", "<urn:cortex:mayros:{}>"])
def test_declarations_and_declared_predicates_apply_to_graph_calls_in_every_spelling(
    opened: Opened, run: Ran, spelling: str, strict: bool
) -> None:
    plugin = opened(strictDeclarations=strict)
    names = {name: spelling.format(name) for name in ("note", "sealed", "other")}
    body = f"""const names = {json.dumps(names)}, got = {{}};
    for (const name in names)
      got[name] = await attempt(async () =>
        (await graphClient.createTriple({{ subject: 's', predicate: names[name], object: 1 }})).created);
    return got;"""
    expected = {"note": True, "sealed": "proof_required", "other": "undeclared_predicate" if strict else True}
    assert run(plugin, body) == expected
    predicates = {t["predicate"] for t in plugin.graph.list_triples()["triples"]}
    assert predicates == ({"mayros:note"} if strict else {"mayros:note", "mayros:other"})


def test_a_skill_cannot_delete_a_triple_that_it_may_not_write(plugin: Plugin, run: Ran) -> None:
    others = [
        plugin.graph.create_triple({"subject": "s", "predicate": predicate, "object": 1})["id"]
        for predicate in ("undeclared", "sealed")
    ]
    got = run(plugin, f"return [{', '.join(f'await attempt(() => graphClient.deleteTriple({i!r}))' for i in others)}];")
    assert got == ["undeclared_predicate", "proof_required"]
    assert plugin.graph.count() == 2


def test_the_write_budget_is_limited_and_returns_slots_of_writes_without_effect(opened: Opened, run: Ran) -> None:
    plugin = opened(sandbox={"maxWrites": 3})
    got = run(
        plugin,
        """const write = (object, predicate = 'note') => attempt(async () =>
          (await graphClient.createTriple({ subject: 's', predicate, object })).created);
        const remove = () => attempt(() => graphClient.deleteTriple('0'.repeat(64)));
        const got = [await write(1), await write(1)];
        got.push(await write(2, 'other'), await write(2, 'sealed'), await write({}));
        got.push(await remove(), await write(2), await write(3), await write(4), await remove());
        return got;""",
    )
    refused = ["undeclared_predicate", "proof_required", "invalid_arguments"]
    assert got == [True, False, *refused, False, True, True, "write_limit", "write_limit"]
    assert plugin.graph.count() == 3
    assert plugin.status()["skills"][0]["writesUsed"] == 3


def test_the_write_budget_is_per_skill_and_outlives_its_sandbox(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxWrites": 1})
    code = """// @ts-nocheck
    export default { name: "NAME", async onQuery({ agentId }) {
      const triple = { subject: agentId, predicate: "note", object: "NAME" };
      const got = await graphClient.createTriple(triple).catch((e) => e);
      if (agentId === "loop") for (;;);
      return { additionalContext: { got: got.code ?? got.created } };
    } };"""
    for name in ("one", "two"):
        plugin.load(skill(name, code.replace("NAME", name)))
    with queries_stop_after(1):
        everything = {"scope": "namespace"}
        answers = [plugin.call("skill_graph_query", everything, skill="one", agent="loop").text.splitlines()[2:3]]
    answers += [
        plugin.call("skill_graph_query", {}, skill=name, agent=agent).text.splitlines()[-2:-1]
        for name, agent in (("one", "a"), ("two", "a"), ("two", "b"))
    ]
    limit, created = ['{"got":"write_limit"}'], ['{"got":true}']
    assert answers == [[], limit, created, limit]


# --- other namespaces


@pytest.fixture
def other(plugin: Plugin) -> tuple[NamespacedGraph, str]:
    """Another namespace on the same store, and the id of its only triple."""
    graph = NamespacedGraph(plugin.graph.store, "other")
    return graph, graph.create_triple({"subject": "s", "predicate": "note", "object": "theirs"})["id"]


REACHING = [
    "graphClient.listTriples()",
    "graphClient.listTriples({})",
    "graphClient.listTriples({ subject: 'other:s' })",
    "graphClient.listTriples({ subject: 'urn:cortex:other:s' })",
    "graphClient.listTriples({ subject: '<urn:cortex:other:s>', limit: 1000 })",
    "graphClient.listTriples({ subject: '../other:s' })",
    "graphClient.patternQuery({ predicate: 'urn:cortex:other:note' })",
    "graphClient.patternQuery({ object: 'theirs' })",
    "graphClient.patternQuery({ subject: 'urn:cortex:other/provenance' })",
]


@pytest.mark.parametrize("reach", REACHING)
def test_no_query_returns_a_triple_of_another_namespace(
    plugin: Plugin, run: Ran, other: tuple[NamespacedGraph, str], reach: str
) -> None:
    assert run(plugin, f"const page = await {reach}; return [page.total, (page.triples ?? page.matches).length]") == [
        0,
        0,
    ]


@pytest.mark.parametrize("subject", ["other:s", "urn:cortex:other:s", "<urn:cortex:other:s>", "../other:s"])
def test_no_write_changes_another_namespace(
    plugin: Plugin, run: Ran, other: tuple[NamespacedGraph, str], subject: str
) -> None:
    theirs, triple_id = other
    triple = json.dumps({"subject": subject, "predicate": "note", "object": "theirs"})
    assert run(plugin, f"const t = await graphClient.createTriple({triple}); return [t.created, t.id]") != [
        True,
        triple_id,
    ]
    assert [t["id"] for t in theirs.list_triples()["triples"]] == [triple_id]
    assert plugin.graph.count() == 1


def test_no_delete_by_hash_reaches_another_namespace(
    plugin: Plugin, run: Ran, other: tuple[NamespacedGraph, str]
) -> None:
    theirs, triple_id = other
    assert run(plugin, f"{CREATE} return await graphClient.deleteTriple('{triple_id}')") is False
    assert theirs.count() == 1
    assert theirs.delete_triple(triple_id) is True


# --- hostile arguments

HOSTILE = {
    "nothing": ("graphClient.createTriple()", "invalid_arguments"),
    "null": ("graphClient.createTriple(null)", "invalid_arguments"),
    "a list": ("graphClient.createTriple(['s', 'note', 1])", "invalid_arguments"),
    "a key too many": (
        "graphClient.createTriple({ subject: 's', predicate: 'note', object: 1, graph: 'other' })",
        "invalid_arguments",
    ),
    "a predicate that is no name": (
        "graphClient.createTriple({ subject: 's', predicate: { node: 'note' }, object: 1 })",
        "invalid_arguments",
    ),
    "a predicate that changes when it is read": (
        "graphClient.createTriple({ subject: 's', n: 0, get predicate() { return this.n++ ? 'sealed' : 1; } })",
        "invalid_arguments",
    ),
    "a lone surrogate": ("graphClient.createTriple({ subject: '\\ud800', predicate: 'note', object: 1 })", True),
    "NaN": ("graphClient.createTriple({ subject: 's', predicate: 'note', object: NaN })", "invalid_arguments"),
    "a bigint": ("graphClient.createTriple({ subject: 's', predicate: 'note', object: 1n })", "TypeError"),
    "what holds itself": (
        "(() => { const object = {}; object.o = object; return graphClient.createTriple({ object }); })()",
        "TypeError",
    ),
    "a getter that throws": (
        "graphClient.listTriples({ get subject() { throw new RangeError('no'); } })",
        "RangeError: no",
    ),
    "a proxy": (
        "graphClient.listTriples(new Proxy({}, { ownKeys() { throw new RangeError('no'); } }))",
        "RangeError: no",
    ),
    "what is too deep": (
        "(() => { let o = {}; for (let i = 0; i < 3000; i++) o = { o }; return graphClient.listTriples(o); })()",
        None,
    ),
    "what is too large": (
        "graphClient.createTriple({ subject: 's', predicate: 'note', object: 'x'.repeat(2 ** 21) })",
        None,
    ),
    "a prototype": ('graphClient.listTriples(JSON.parse(\'{"__proto__": {"subject": 1}}\'))', None),
    "a limit too high": ("graphClient.listTriples({ limit: 1e9 })", "invalid_arguments"),
    "a limit of half a triple": ("graphClient.listTriples({ limit: 0.5 })", "invalid_arguments"),
    "a forged cursor": ("graphClient.listTriples({ cursor: 'AAAA' })", "invalid_arguments"),
    "false for a query": ("graphClient.listTriples(false)", "invalid_arguments"),
    "zero for a pattern": ("graphClient.patternQuery(0)", "invalid_arguments"),
    "an id that is none": ("graphClient.deleteTriple('../' + '0'.repeat(61))", "invalid_arguments"),
    "an object for an id": ("graphClient.deleteTriple({ toString: () => '0'.repeat(64) })", "invalid_arguments"),
}


@pytest.mark.parametrize(("call", "expected"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_arguments_reach_the_skill_as_an_error_and_change_nothing(
    plugin: Plugin, run: Ran, call: str, expected: Any, caplog: pytest.LogCaptureFixture
) -> None:
    got = run(plugin, f"const t = await {call}; return t.created ?? t")
    if expected is True:
        assert (got, plugin.graph.list_triples()["triples"][0]["subject"]) == (True, "mayros:\ufffd")
        return
    assert isinstance(got, str)
    assert expected is None or got.startswith(expected)
    assert plugin.graph.count() == 0
    assert "failed in the host" not in got
    assert "the host function" not in caplog.text


def test_a_skill_cannot_replace_its_host_functions(plugin: Plugin, run: Ran) -> None:
    got = run(
        plugin,
        """const got = [];
        for (const change of [
          () => { graphClient.createTriple = () => 1; }, () => { globalThis.graphClient = {}; },
          () => { delete graphClient.listTriples; }, () => { delete globalThis.graphClient; },
          () => { logger.info = () => 1; }, () => { Object.setPrototypeOf(graphClient, {}); },
        ]) try { change(); got.push('changed'); } catch (e) { got.push(e.name); }
        return [got, Object.keys(graphClient).length];""",
    )
    assert got == [["TypeError"] * 6, 4]


def test_no_other_globals_exist(plugin: Plugin, run: Ran) -> None:
    names = """require process fetch setTimeout setInterval Worker WebAssembly eval Atomics SharedArrayBuffer
        performance queueMicrotask XMLHttpRequest Deno Bun std os"""
    got = run(plugin, f"return `{names}`.split(/\\s+/).filter((name) => name in globalThis)")
    assert got == []


def test_a_graph_call_does_not_start_after_the_deadline(opened: Opened, skill: Written) -> None:
    code = """// @ts-nocheck
    export default { name: "probe", async onQuery() {
      for (let object = 0; ; object++) await graphClient.createTriple({ subject: "s", predicate: "note", object });
    } };"""
    plugin = opened(sandbox={"maxWrites": 1000})
    plugin.load(skill("probe", code))
    with queries_stop_after(1):
        result = plugin.call("skill_graph_query", {})
    assert result.details["enrichment"]["code"] in ("skill_timeout", "write_limit", "skill_error")
    count = plugin.graph.count()
    assert plugin.status()["skills"][0]["writesUsed"] == count > 0
    for triple in plugin.graph.list_triples({"limit": 1000})["triples"]:
        assert plugin.graph.provenance_of(triple["id"]) is not None


def test_what_the_code_of_a_skill_changes_is_recorded_as_the_operations_of_its_agent(plugin: Plugin, run: Ran) -> None:
    body = "const made = await graphClient.createTriple({ subject: 's', predicate: 'note', object: 1 });"
    body += "await memory.remember('Ada prefers tea.'); await graphClient.deleteTriple(made.id); return true;"
    permissions = {"graph": ["read", "write"], "memory": ["remember"], "proofs": ["request"]}
    assert run(plugin, body, agent="a7", permissions=permissions) is True
    records = [each.record for each in plugin.recent_calls.page(limit=4).calls]
    assert [each.event for each in records] == ["tool.call", "graph.withdraw", "memory.remember", "graph.assert"]
    assert {(each.outcome, each.agent, each.skill) for each in records} == {("ok", "a7", "probe")}
    assert plugin.graph.count() == 0
