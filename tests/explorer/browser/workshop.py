"""A bicycle workshop: a server whose graph, agents, requests and skills look like those of a place that works.

All of it is invented. The pictures of the documentation, and those of every page, are taken of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cortex_graph import NamespacedGraph, Provenance, import_rdf
from cortex_skills import Plugin
from cortex_skills.audit.call_records import AuditRecord, Removed
from cortex_skills.features.graph.saved_query_operations import save_query
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.proofs.signing.credentials import sign_assertion
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.keys.folder import key_folder
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import sign_for_others
from tests.configs import config
from tests.installed.samples import NETWORK, artifact, install
from tests.server.serving import Running, served

EXAMPLES = Path(__file__).parents[3] / "examples"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
THINGS = {
    "Part": ("Chain", "Rim 28″", "Tube 700 × 25", "Cassette 11–34", "Spoke 292 mm", "Brake pad", "Quick link"),
    "Supplier": ("Nordkette", "Rota & Filho"),
    "Bicycle": ("Touring 0117", "Cargo 0093", "Racer 0204"),
    "Order": ("Order 340", "Order 352", "Order 366"),
}
LINKS = "suppliedBy Part Supplier, fits Part Bicycle, contains Order Part, sentTo Order Supplier"
LABELS = {**{name: name for name in THINGS}, "suppliedBy": "supplied by", "sentTo": "sent to", "inStock": "in stock"}
CALLS = ("skill_graph_query", "skill_graph_query", "skill_assert", "hub_search", "skill_memory_recall")
MEMORIES = (
    ("clerk", "Nordkette delivers on Tuesdays and Fridays, and not in the first week of January.", ("suppliers",)),
    ("clerk", "Order 352 came with two tubes too few; Rota & Filho sends them with the next order.", ("orders",)),
    ("mechanic", "The rim of Touring 0117 was trued on Monday; look at the spokes again after 200 km.", ("jobs",)),
    ("mechanic", "Customers with cargo bicycles want to be called before a part is replaced.", ("customers", "jobs")),
)
SKILLS = (
    ("read-price-list", "Reads the price list of a supplier into the graph.", "learned", 6, 0),
    ("true-a-wheel", "Trues a wheel to half a millimetre. Use it for rims that are not round.", "human", 11, 1),
    ("order-parts", "Orders what is short, by supplier. Use it when the stock of a part is low.", "human", 4, 0),
    ("call-customer", "Calls a customer before a part is replaced.", "learned", 2, 3),
)


def workshop(graph: NamespacedGraph, now: datetime | None = None) -> None:
    """State a bicycle workshop: things of four classes, their labels, and links between them.

    Args:
        graph: where.
        now: the links are asserted by agents within the day before; without it no agent is recorded.
    """
    stated: list[dict[str, Any]] = []
    linked: list[dict[str, Any]] = []
    for kind, names in THINGS.items():
        for place, name in enumerate(names):
            thing = f"{kind.lower()}:{place}"
            stated.append({"subject": thing, "predicate": LABEL, "object": name})
            stated.append({"subject": thing, "predicate": TYPE, "object": {"node": kind}})
            linked.append({"subject": thing, "predicate": "inStock", "object": 7 * place + 3})
    for link in LINKS.split(", "):
        predicate, one, other = link.split()
        for place in range(len(THINGS[one])):
            node = f"{other.lower()}:{place % len(THINGS[other])}"
            linked.append({"subject": f"{one.lower()}:{place}", "predicate": predicate, "object": {"node": node}})
        linked.append({"subject": f"{one.lower()}:1", "predicate": predicate, "object": {"node": f"{other.lower()}:0"}})
    stated += [{"subject": name, "predicate": LABEL, "object": label} for name, label in LABELS.items()]
    graph.create_triples(stated)
    for place, each in enumerate(linked):
        by = None
        if now is not None:
            agent, skill = ("clerk", "order-parts") if place % 3 else ("mechanic", "true-a-wheel")
            by = Provenance(skill, "1.2.0", agent, now - timedelta(minutes=29 * (len(linked) - place)))
        graph.create_triples([each], by)


@contextmanager
def open_workshop(folder: Path) -> Iterator[Running]:
    """A server with the workshop, and with something on every page."""
    notes = folder / "notes"
    (notes / "out").mkdir(parents=True)
    (notes / "out" / "index.md").write_text("# Notes\n- chain\n- rims\n- tubes\n", encoding="utf-8")
    plugin = Plugin.open(
        config(
            store=str(folder / "store"),
            proofs={"keys": str(folder / "keys")},
            cortex={"tokenFile": str(folder / "tokens.json")},
            tools={"profiles": ["operator"]},
            actions={"trustLevel": "supervised_auto", "workspace": str(notes)},
            audit={"journal": "on", "folder": str(folder / "journal")},
            host={"name": "desk.example.org"},
        )
    )
    with served(folder, plugin=plugin) as server:
        _fill(plugin, folder)
        yield server


def _fill(plugin: Plugin, folder: Path) -> None:
    now = datetime.now(UTC)
    workshop(plugin.graph, now)
    (wrong,) = plugin.graph.list_triples({"subject": "part:1", "predicate": "inStock"})["triples"]
    by = Provenance(agent="ada", time=now)
    plugin.graph.withdraw(wrong["id"], by)
    plugin.graph.create_triples([{"subject": "part:1", "predicate": "inStock", "object": 13}], by)
    _calls(plugin, now)
    _skills(plugin, folder)
    for agent, text, tags in MEMORIES:
        plugin.memories.remember(new_memory(text, {"tags": list(tags), "importance": 0.7}), agent=agent)
    _registered(plugin)
    install(plugin.installed, artifact("1.2.0", NETWORK), allow_untrusted=True)
    parameters = ["part name The part"]
    plugin.operate(save_query, name="stock of", query="SELECT ?n { $part mayros:inStock ?n }", parameters=parameters)
    plugin.graph.schema.latest(wait_s=60)


def _skills(plugin: Plugin, folder: Path) -> None:
    """Load two skills and call them: one asserts with a proof, the other has to ask a person."""
    kyc = EXAMPLES / "verify-kyc"
    import_rdf(plugin.graph, kyc / "customers.ttl")
    skill = _allowing_all(kyc, folder)
    key = key_folder(plugin.config).open_or_create("kyc")
    sign_for_others(skill, load_manifest(skill), key, "kyc.example", datetime.now(UTC))
    plugin.load(skill)
    plugin.load(_allowing_all(EXAMPLES / "operator" / "tidy-notes", folder))
    refused = folder / "count-stock"
    refused.mkdir()
    (refused / "SKILL.md").write_text("---\nname: count-stock\ntype: semantic\n---\n", encoding="utf-8")
    plugin.load(refused, strict=False)
    for customer in ("customer:boris", "customer:dolores"):  # the rules refuse the second
        arguments = {"subject": customer, "predicate": "isVerified", "object": True, "proofType": "pol"}
        done = plugin.call("skill_assert", arguments, skill="verify-kyc", agent="clerk", session="morning").details
        if "tripleHash" in done:
            sign_assertion(plugin.graph, done["tripleHash"], key, datetime.now(UTC))
    index = "# Notes\n- chains and quick links\n- rims\n- spokes\n- tubes\n"
    for path, text in (("out/index.md", index), ("out/jobs.md", "# Jobs\n- true the rim of Touring 0117\n")):
        given = {"path": path, "content": text, **({"overwrite": True} if path == "out/index.md" else {})}
        plugin.call("fs_write", given, skill="tidy-notes", agent="clerk", session="morning")
    plugin.call("skill_graph_query", {"predicate": "hasStatus"}, skill="verify-kyc", agent="clerk", session="morning")


def _allowing_all(skill: Path, folder: Path) -> Path:
    """A copy of a skill that allows every tool: a call is refused if one of the loaded skills does not allow it."""
    manifest = shutil.copytree(skill, folder / skill.name) / "SKILL.md"
    text = re.sub(r"allowedTools:(?: \[.*\]|(?:\n    - \w+)+)", 'allowedTools: ["*"]', manifest.read_text("utf-8"))
    manifest.write_text(text, encoding="utf-8")
    return manifest.parent


def _calls(plugin: Plugin, now: datetime) -> None:
    """Record the calls of the hour before."""
    for place in range(150):
        began = now - timedelta(seconds=24 * (150 - place) - 7 * (place % 3))
        outcome = "permission_denied" if place % 17 == 5 else "ok"
        agent = "mechanic" if place % 4 == 1 else "clerk"
        cleaned = (Removed("instruction", "/note", 1),) if place % 31 == 8 else ()
        for _ in range(1 + place * 7 % 4):
            plugin.audit.record(
                AuditRecord(
                    began.isoformat(timespec="milliseconds"),
                    CALLS[place % len(CALLS)],
                    "order-parts" if place % 5 else None,
                    agent,
                    outcome,
                    1.5 + place % 9,
                    len(cleaned),
                    cleaned,
                )
            )


def _registered(plugin: Plugin) -> None:
    for name, text, origin, good, bad in SKILLS:
        needs = ["read-price-list"] if name == "order-parts" else []
        given = {"name": name, "description": text, "body": "1. Look.\n2. Do it.\n3. Check.", "depends_on": needs}
        actor = "ada" if origin == "human" else "mechanic"
        plugin.registry.register(inline_document(given, "mayros"), actor=actor, origin=origin)
        for outcome in [True] * good + [False] * bad:
            plugin.registry.outcome(SkillKey("mayros", name), success=outcome, actor="host")
    plugin.registry.deprecate(SkillKey("mayros", "call-customer"), "a person calls", actor="ada")
