"""A graph in which everything that has a name has one of 300 characters, or the longest that it may have.

A name is one word; a word of another direction; letters with marks and pictures. What limits names to letters of ASCII
has the first one only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from cortex_skills import Plugin
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.graph.saved_query_operations import save_query
from cortex_skills.features.memory.remembering import recall
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import SkillKey
from tests.configs import config
from tests.installed.samples import NETWORK, artifact, install
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served

LONG = 300
NAMES = {
    "word": "Harbourmaster" * LONG,
    "hebrew": "\u05e9\u05dc\u05d5\u05dd" * LONG,
    "marks": "\U0001f680e\u0301\u0302\u00e9\U0001f9ed" * LONG,
}
NAMES = {kind: text[:LONG] for kind, text in NAMES.items()}
SLUG = "harbour-master-" * LONG
PREDICATE = NAMES["word"][:256]  # the longest that a manifest has
NAMESPACE = "N" * 64
ROOT = f"/explore/{NAMESPACE}"
_OF_AGENT, _OF_SLUG = 256, 64
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def slug(most: int) -> str:
    """A name in small letters of ASCII."""
    return SLUG[:most].rstrip("-")


@contextlib.contextmanager
def long_named(folder: Path) -> Iterator[tuple[Running, dict[str, str]]]:
    """The server, and what the addresses of pages need: ids by their words."""
    settings = config(
        store=str(folder / "store"),
        agentNamespace=NAMESPACE,
        proofs={"keys": str(folder / "keys")},
        audit={"folder": str(folder / "audit")},
        cortex={"tokenFile": str(folder / "tokens.json")},
        actions={"workspace": str(folder)},
    )
    plugin = Plugin.open(settings)
    skill = slug(_OF_SLUG)
    may = {"graph": ["read", "write"], "memory": ["remember", "recall"]}
    plugin.load(write_skill(folder / skill, permissions=may, assertions=[{"predicate": PREDICATE}]))
    with served(folder, plugin=plugin) as running:
        ids = {kind: _filled(plugin, skill, name) for kind, name in NAMES.items()}["word"]
        install(
            plugin.installed, artifact("1.2.0", NETWORK, name=slug(_OF_SLUG).replace("-", "_")), allow_untrusted=True
        )
        for number in range(2):
            given = {"name": skill, "description": NAMES["word"][:LONG], "body": f"{NAMES['word']} {number}"}
            plugin.registry.register(inline_document(given, NAMESPACE), actor=NAMES["word"][:_OF_AGENT], origin="human")
        plugin.registry.outcome(SkillKey(NAMESPACE, skill), success=True, actor=NAMES["word"][:_OF_AGENT])
        yield running, ids


def _filled(plugin: Plugin, skill: str, name: str) -> dict[str, str]:
    """Everything that has a name, with this one."""
    agent, graph = name[:_OF_AGENT], plugin.graph
    graph.create_triples(
        [
            {"subject": name, "predicate": _TYPE, "object": {"node": f"{name}C"}},
            {"subject": name, "predicate": name, "object": {"node": f"{name}O"}},
            {"subject": f"{name}O", "predicate": name, "object": name},
            {"subject": f"{name}O", "predicate": _TYPE, "object": {"node": f"{name}C"}},
            {"subject": f"labelled-{len(name)}-{ord(name[0])}", "predicate": _LABEL, "object": name},
            {"subject": f"labelled-{len(name)}-{ord(name[0])}", "predicate": name, "object": {"node": name}},
        ]
    )
    asserted = plugin.call("skill_assert", {"subject": name, "predicate": PREDICATE, "object": name}, agent=agent)
    assert asserted.code is None, asserted.text
    plugin.call("skill_retract", {"tripleHash": asserted.details["tripleHash"]}, agent=agent)
    asserted = plugin.call("skill_assert", {"subject": name, "predicate": PREDICATE, "object": 1}, agent=agent)
    plugin.call("skill_graph_query", {"predicate": name, "scope": "namespace"}, agent=agent)
    memory, _ = plugin.memories.remember(new_memory(name, {"tags": [name[:40]]}), agent=agent)
    plugin.operate(recall, text=name, agent=agent)
    plugin.operate(recall, agent=agent)
    inputs = {"path": f"out/{name[:200]}", "content": name, name[:100]: name}
    request = ActionRequest("fs_write", "v1", inputs, agent, NAMESPACE, skill, "high", name, f"+{name}", agent)
    approval = plugin.approvals.request(request).id
    query = f"{NAMES['word'][:70]}{ord(name[0])}"
    plugin.operate(
        save_query,
        name=query,
        query="SELECT ?p ?o { $part ?p ?o }",
        description=name,
        parameters=[f"part name {name[:200]}"],
    )
    session = next(each.record.session for each in plugin.audit.calls.page().calls if each.record.session)
    return {
        "TRIPLE": asserted.details["tripleHash"],
        "MEMORY": memory,
        "APPROVAL": approval,
        "QUERY": query,
        "SESSION": session or "",
    }
