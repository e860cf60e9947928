"""A skill that declares nothing gets the same answers with and without the memories of other agents."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_graph.naming import vocabulary
from cortex_graph.transfer import copy_store
from cortex_skills import Plugin
from cortex_skills.enrichment import read_block
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.tools import own_tools
from tests.proofs.logic.conftest import PREFIXES

TEXTS = ["the code of the safe is 1234", *(f"note {number} of the other agent" for number in range(149))]
TEXT = vocabulary.MEMORY_TEXT.value
# Times, and the records that are written once where they are of one second.
TIME = re.compile(r"202\d-\d\d-\d\dT[\d:.]+Z?|\\n\[\d+\] asserted by [^\\\"]*| \[\d+\]")
# An ID as earlier versions made it: without a key, so that one who guesses the text knows it.
GUESSED = hashlib.sha256(json.dumps(["a2", TEXTS[0]]).encode()).hexdigest()[:32]
COUNTING = f"""{PREFIXES}:S a sh:NodeShape ; sh:targetSubjectsOf :sealed ; sh:sparql [ sh:message "too many" ;
  sh:select "SELECT $this {{ {{ SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o }} }} FILTER(?n > 100000) }}" ] ."""
CODE = r"""
export default {
  name: "nosy",
  async onQuery() {
    const tell = [];
    const attempt = async (call: () => Promise<unknown>) => {
      try { tell.push(JSON.stringify(await call())); } catch (error) { tell.push(String((error as GraphError).code)); }
    };
    for (const limit of [1, 7, 100]) {
      await attempt(() => graphClient.listTriples({ limit }));
      await attempt(() => graphClient.patternQuery({ limit }));
    }
    for (const predicate of PREDICATES) await attempt(() => graphClient.patternQuery({ predicate }));
    for (const subject of SUBJECTS) await attempt(() => graphClient.listTriples({ subject }));
    for (const id of IDS) await attempt(() => graphClient.deleteTriple(id));
    await attempt(() => graphClient.patternQuery({ object: "TEXT" }));
    await attempt(() => graphClient.createTriple({ subject: SUBJECTS[0], predicate: "note", object: "mine" }));
    await attempt(() => memory.recall("code safe"));
    let sum = 7n; // a digest of everything that the code learnt
    for (const char of tell.join("\n")) sum = (sum * 1000003n + BigInt(char.codePointAt(0) ?? 0)) % (1n << 61n);
    return { additionalContext: { told: `${tell.length} answers, ${sum}` } };
  },
} satisfies Skill;
"""


@pytest.fixture
def pair(opened: Callable[..., Plugin], skill: Callable[..., Path]) -> tuple[Plugin, Plugin, list[str]]:
    """Two plugins with the same triples; the second one has memories of another agent. And ids and nodes of those."""
    source, plain, full = opened(), opened(), opened()
    source.load(skill("nosy", files={"shapes.ttl": COUNTING}))
    source.graph.create_triples(
        {"subject": f"s{number}", "predicate": "note", "object": number} for number in range(40)
    )
    source.call("skill_assert", {"subject": "agent:a1", "predicate": "note", "object": "of a1"})
    proved = source.call("skill_assert", {"subject": "s0", "predicate": "sealed", "object": "yes"})
    assert proved.details["verified"] is True
    for plugin in (plain, full):
        copy_store(source.graph.store, plugin.graph.store)
    for text in TEXTS:
        full.memories.remember(new_memory(text, {"tags": ["private"]}), agent="a2", skill="diary")
    ids = [triple["id"] for triple in full.memories.graph_of("a2").list_triples({"limit": 1000})["triples"]]
    names = sorted({triple["subject"] for triple in full.memories.graph_of("a2").list_triples()["triples"]})
    predicates = [TEXT, vocabulary.MEMORY_OWNER.value, vocabulary.MEMORY_KEY.value, "note"]
    subjects = [f"memory:{GUESSED}", "agent:a2", *names[:3], "<urn:cortex:mayros/memories/a2>"]
    code = CODE.replace("PREDICATES", json.dumps(predicates)).replace("SUBJECTS", json.dumps(subjects))
    code = code.replace("IDS", json.dumps(ids[:5])).replace("TEXT", TEXTS[0])
    folder = skill(
        "nosy",
        code,
        files={"shapes.ttl": COUNTING},
        permissions={"graph": ["read", "write"], "proofs": ["request", "verify"]},
        queries=[{"predicate": "note", "scope": "namespace"}],
    )
    for plugin in (plain, full):
        plugin.load(folder)
    return plain, full, [*subjects, *ids[:5]]


# Tools of the registry, which knows no memory.
REGISTRY: dict[str, dict[str, Any]] = {
    "load_skill": {"name": TEXTS[0]},
    "skill_read": {},
    "skill_find": {"query": TEXTS[0]},
    "skill_feedback": {"name": "safe", "success": True},
    "skill_write": {"operation": "delete", "name": "safe"},
    "memory_skill_list": {},
    "memory_skill_get": {"skill_id": "safe"},
    "memory_skill_resource": {"skill_id": "safe", "resource_path": "a"},
    "memory_skill_export": {"skill_id": "safe", "target_folder": "out"},
    "memory_skill_register": {"folder_path": "safe"},
    "skill_learn": {"name": "open-the-safe"},
    "approval_status": {"approval": "0" * 32},
    "skill_memory_reflect": {"text": TEXTS[0], "reflects_on": [GUESSED]},
    "memory_skill_promote_from_reflection": {"reflection_id": GUESSED, "skill_name": "s", "skill_description": "s"},
    "memory_skill_compositional_context": {"skill_id": "safe"},
}


def calls(known: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Arguments of every tool that name what a skill might guess or learn of memories."""
    subjects = [one for one in known if len(one) != 64]
    statement = {"proofType": "schnorr", "subject": subjects[0], "predicate": TEXT}
    return {
        "skill_graph_query": [
            *({"scope": scope} for scope in ("agent", "namespace", "global")),
            *({"scope": "namespace", "limit": limit} for limit in (1, 20, 1000)),
            *({"scope": "namespace", "predicate": predicate} for predicate in ("note", TEXT)),
            *({"scope": "namespace", "subject": subject} for subject in subjects),
            {"scope": "namespace", "object": TEXTS[0]},
            {"scope": "namespace", "predicate": "sealed", "prove": "pol"},
        ],
        "skill_verify_assertion": [
            *({"subject": subject, "predicate": TEXT} for subject in subjects),
            *({"subject": subject, "predicate": TEXT, "object": TEXTS[0]} for subject in subjects),
            {"subject": "s0", "predicate": "sealed"},
        ],
        "skill_assert": [
            {"subject": subjects[0], "predicate": "note", "object": TEXTS[0]},
            {"subject": subjects[0], "predicate": TEXT, "object": TEXTS[0]},
            {"subject": "agent:a2", "predicate": "note", "object": 1},
        ],
        "skill_retract": [{"tripleHash": one} for one in known if len(one) == 64],
        "skill_memory_context": [{"query": "code of the safe"}],
        "skill_memory_remember": [{"text": TEXTS[0]}],
        "skill_request_zk_proof": [statement, {**statement, "object": TEXTS[0]}],
        "skill_verify_zk_proof": [{"proofId": one} for one in known if len(one) == 64],
        "graph_find": [{"text": text} for text in (TEXTS[0], "agent a2", "code of the safe", subjects[0])],
        "graph_overview": [{}, {"class": TEXT}],
        "graph_describe": [{"name": name} for name in (*subjects, TEXT, "agent:a2", "s0")],
        "graph_sparql": [
            {"query": "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }", "limit": 1000},
            {"query": f'SELECT * {{ ?s ?p ?o FILTER(CONTAINS(STR(?o), "{TEXTS[0]}")) }}'},
            {"query": f"DESCRIBE <{TEXT}>"},
        ],
        "graph_difference": [
            *(
                {"since": "24h", **pattern}
                for pattern in ({}, {"predicate": TEXT}, {"subject": subjects[0]}, {"by": "a2"})
            ),
            {"since": "24h", "query": "SELECT * { ?s ?p ?o }", "limit": 1000},
        ],
        **{tool: [arguments] for tool, arguments in REGISTRY.items()},
    }


def pages(plugin: Plugin, size: int) -> Iterator[str]:
    """All pages of the namespace, with their cursors."""
    arguments: dict[str, Any] = {"scope": "namespace", "limit": size}
    for _ in range(100):
        page = plugin.call("skill_graph_query", arguments).details
        yield json.dumps(page)
        if page["nextCursor"] is None:
            return
        arguments["cursor"] = page["nextCursor"]
    raise AssertionError("the pages do not end")


# Times, and what a description says of the records of one second: each of the two plugins asserts in other seconds.
CLOCK = r'202\d-\d\d-\d\dT[\d:.]+Z?| \[\d+\](?=\\n|")|\\n\[\d+\] asserted by [^\\"]*'


def answers(plugin: Plugin, known: list[str]) -> list[str]:
    asked = calls(known)
    assert asked.keys() == own_tools().keys(), "a new tool needs its arguments here"
    plugin.graph.schema.latest(60.0)
    found = [
        re.sub(CLOCK, "", json.dumps([tool, arguments, result.code, result.text, result.details]))
        for tool, each in asked.items()
        for arguments in each
        for result in [plugin.call(tool, arguments)]
    ]
    found += [*pages(plugin, 7), TIME.sub("", plugin.context(agent="a1")), TIME.sub("", plugin.context())]
    for query in ("SELECT (COUNT(*) AS ?n) {?s ?p ?o}", "SELECT DISTINCT ?g {GRAPH ?g {?s ?p ?o}} ORDER BY ?g"):
        found.append(b"".join(plugin.graph.query(query).chunks).decode())
    return [*found, str(plugin.graph.count())]


def test_every_answer_is_the_same_with_and_without_the_memories_of_another_agent(
    pair: tuple[Plugin, Plugin, list[str]],
) -> None:
    plain, full, known = pair
    first, second = answers(plain, known), answers(full, known)
    for one, other in zip(first, second, strict=True):
        assert one == other
    shown = "\n".join(second)
    assert "24 answers, " in shown  # the code ran, with all of its queries
    assert '"total": 42' in shown  # the triples are counted, and not the memories
    assert '"verdict": "verified"' in shown
    assert not any(text in shown for text in TEXTS[1:])


@pytest.fixture
def inspecting(plugin: Plugin, skill: Callable[..., Path]) -> Plugin:
    """A plugin with a skill that may inspect memories, and memories of two agents."""
    inspects = {"graph": ["read", "write"], "memory": ["inspect"]}
    plugin.load(skill("auditor", permissions=inspects, assertions=[], queries=[{"predicate": TEXT, "scope": "global"}]))
    for agent in ("a1", "a2"):
        plugin.memories.remember(new_memory(f"the memory of {agent}"), agent=agent)
    return plugin


@pytest.mark.parametrize("agent", ["a1", "a2"])
@pytest.mark.parametrize("scope", ["agent", "namespace", "global"])
def test_inspecting_shows_the_memories_of_the_calling_agent_only(inspecting: Plugin, agent: str, scope: str) -> None:
    found = inspecting.call("skill_graph_query", {"predicate": TEXT, "scope": scope}, agent=agent)
    assert [match["object"] for match in found.details["matches"]] == [f"the memory of {agent}"]
    assert (found.details["total"], found.details["totalIsExact"]) == (1, True)
    key = inspecting.call("skill_graph_query", {"predicate": vocabulary.MEMORY_KEY.value, "scope": scope}, agent=agent)
    assert key.details["matches"] == []


def test_the_context_of_an_agent_has_no_memories(inspecting: Plugin) -> None:
    assert inspecting.context(agent="a1") == ""


def test_the_code_of_a_skill_inspects_the_memories_of_its_agent(plugin: Plugin, skill: Callable[..., Path]) -> None:
    code = f"""export default {{ name: "auditor", async onQuery() {{
      const {{ triples }} = await graphClient.listTriples({{ predicate: "{TEXT}" }});
      return {{ additionalContext: {{ said: triples.map(({{ object }}) => object) }} }};
    }} }} satisfies Skill;"""
    plugin.load(skill("auditor", code, permissions={"graph": ["read"], "memory": ["inspect"]}, assertions=[]))
    for agent in ("a1", "a2"):
        plugin.memories.remember(new_memory(f"of {agent}"), agent=agent)
    for agent in ("a1", "a2"):
        answer = plugin.call("skill_graph_query", {}, agent=agent)
        assert read_block(answer.text)["said"] == [f"of {agent}"]
