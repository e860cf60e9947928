"""`skill_graph_query`: triples of the namespace, with what the acting skill has to say about them.

Rules kept here:
- scope `agent` (the default) asks about the agent's own subject, whatever was passed; `namespace` and `global` about
  the own namespace, and never more;
- what agents remember is not shown: that is `skill_memory_context`'s;
- what is shown as a triple came from the graph: a skill may leave results out or reorder them, not add or alter one;
- proofs are shown with what came of checking them just now, and none is made here (`proofs.logic.showing`);
- an instruction to the model in a name or a literal is withheld from the text, and the line says so (`enrichment`);
- a skill that fails, or has nothing to say, never costs the triples: `details.enrichment` says what became of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.memory.hiding import without_memories
from cortex_skills.tools.arguments import MATCH, NAME, VALUE
from cortex_skills.tools.base import ENRICHMENT_S, Call, Outcome, Tool
from cortex_skills.tools.triples import lines_shown

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "Only triples about this name."},
        "predicate": {**NAME, "description": "Only triples with this predicate."},
        "object": {**VALUE, "description": 'Only triples with this value, or with this node: {"node": "name"}.'},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20},
        "scope": {
            "enum": ["agent", "namespace", "global"],
            "default": "agent",
            "description": "agent: about the calling agent. namespace, global: about anything in the namespace.",
        },
        "cursor": {"type": "string", "maxLength": 4096, "description": "nextCursor of the page before."},
        "prove": {"enum": ["none", "pol"], "default": "none", "description": "Proofs to return with the triples."},
    },
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "total": {"type": "integer", "minimum": 0},
        "totalIsExact": {"type": "boolean"},
        "matches": {"type": "array", "items": MATCH},
        "withheld": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "The places in `matches` that a model is not shown whole.",
        },
        "enrichment": {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]},
        "proofs": {"type": "array"},
        "proofRequests": {"type": "array"},
        "nextCursor": {"type": ["string", "null"]},
        "queriesUsed": {"type": "integer", "minimum": 0},
    },
    "required": ["total", "totalIsExact", "matches", "enrichment", "proofs", "proofRequests", "nextCursor"],
}


@dataclass(frozen=True, slots=True)
class _Said:
    """What a skill said of a query."""

    matches: list[dict[str, Any]]
    context: Any = None
    report: dict[str, Any] = field(default_factory=lambda: {"status": "none"})
    requests: Sequence[Any] = ()


def _run(call: Call) -> Outcome:
    arguments = call.arguments
    scope = arguments.get("scope", "agent")
    pattern: dict[str, Any] = {
        key: arguments[key] for key in ("subject", "predicate", "object", "limit", "cursor") if key in arguments
    }
    if scope == "agent":
        pattern["subject"] = f"{call.graph.namespace}:agent:{call.agent}"
    found_page = call.graph.pattern_query(pattern)
    page = without_memories(found_page, "matches", call.skill.semantic, call.graph.names)
    said = _ask(call, scope, page["matches"]) if call.enrich else _Said(page["matches"])
    narrowed = len(said.matches) != len(page["matches"])
    found = len(said.matches) if narrowed else page["total"]
    shown = lines_shown(said.matches, call.cleaning)
    text = "\n".join([f"{found} triples found:", *(line for line, _ in shown)]) if shown else "No matching triples."
    details = {
        "total": page["total"],
        "totalIsExact": page["totalIsExact"],
        "matches": said.matches,
        "withheld": [place for place, (_, is_whole) in enumerate(shown) if not is_whole],
        "enrichment": said.report,
        "proofs": [],
        "proofRequests": [],
        "nextCursor": page["nextCursor"],
    }
    if said.requests or arguments.get("prove", "none") != "none":
        text += _add_proofs(call, said, details)
    return Outcome(text, details, said.context)


def _add_proofs(call: Call, said: _Said, details: dict[str, Any]) -> str:
    """Put the proofs of the matches and those that the skill asks for into an answer; what to tell a model of them."""
    from cortex_skills.proofs.logic.showing import MAX_REQUESTS, Shower

    shower = Shower.of(call)
    may_request = shower is not None and call.skill.manifest.has_permission("proofs:request")
    if said.requests:
        ignored = len(said.requests) - (MAX_REQUESTS if may_request else 0)
        if ignored > 0:
            said.report["ignoredProofRequests"] = ignored
        if may_request and shower is not None:
            details["proofRequests"] = shower.requests(said.requests)
    if shower is None or call.arguments.get("prove", "none") == "none":
        return ""
    details["proofs"] = shower.proofs(said.matches)
    verdicts = Counter(entry["verdict"] for entry in details["proofs"])
    return f"\nproofs: {', '.join(f'{count} {verdict}' for verdict, count in sorted(verdicts.items())) or 'none'}"


def _ask(call: Call, scope: str, matches: list[dict[str, Any]]) -> _Said:
    """What the skill's `onQuery` makes of the matches."""
    runtime = call.skill.runtime
    if runtime is None or "onQuery" not in runtime.hooks:
        return _Said(matches)
    predicate, names = call.arguments.get("predicate"), call.graph.names
    rows = [{key: triple[key] for key in ("subject", "predicate", "object")} for triple in matches]
    context = {
        "namespace": call.graph.namespace,
        "agentId": call.agent,
        "predicate": names.name(names.node(predicate, "predicate").value) if predicate else "",
        "scope": scope,
        "results": rows,
    }
    try:
        answer = runtime.query(context, ENRICHMENT_S, call.stop)
    except CortexError as error:
        if call.stop is not None:
            call.stop.check()
        failure = {"status": "failed", "code": error.code, "message": error.message[:500]}
        return _Said(matches, report={**failure, "excerpt": error.details.get("excerpt", "")})
    if answer is None:
        return _Said(matches)
    if not isinstance(answer, dict):
        return _Said(matches, report={"status": "failed", "code": "skill_error", "message": "onQuery gave no object"})
    report: dict[str, Any] = {"status": "ok"}
    if isinstance(answer.get("results"), list):
        matches, ignored = _narrowed(matches, rows, answer["results"])
        if ignored:
            report["ignoredResults"] = ignored
    requests = answer.get("proofRequests")
    return _Said(matches, answer.get("additionalContext"), report, requests if isinstance(requests, list) else ())


def _narrowed(
    matches: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]], wanted: Sequence[Any]
) -> tuple[list[dict[str, Any]], int]:
    """The matches that a skill kept, in its order, each at most once; and how many it named that are none.

    A skill gives back either the rows that it got, which are known by identity, or rows of its own that say the same.
    """
    places = {id(row): place for place, row in enumerate(rows)}
    by_content: dict[str, list[int]] = {}
    kept: list[dict[str, Any]] = []
    taken: set[int] = set()
    for item in wanted:
        place = places.get(id(item))
        if place is None and isinstance(item, dict):
            by_content = by_content or _by_content(rows)
            place = next((p for p in by_content.get(_key(item), ()) if p not in taken), None)
        if place is not None and place not in taken:
            taken.add(place)
            kept.append(matches[place])
    return kept, len(wanted) - len(kept)


def _by_content(rows: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    """The places of the rows by what they say: one place each, but for numbers that are one number in JavaScript."""
    found: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        found.setdefault(_key(row), []).append(place)
    return found


def _key(triple: dict[str, Any]) -> str:
    """What makes a triple that one; numbers as JavaScript has them, and hands them back: doubles, and -0 as 0.

    Empty for what is nested deeper than JSON can be written, as no triple is.
    """
    value: Any = triple.get("object")
    if type(value) in (int, float):
        try:
            value = float(value) + 0.0
        except OverflowError:
            value = None
    try:
        return json.dumps([triple.get("subject"), triple.get("predicate"), value], sort_keys=True)
    except RecursionError:
        return ""


SKILL_GRAPH_QUERY = Tool(
    name="skill_graph_query",
    description=(
        "Find triples in the knowledge graph of this namespace by subject, predicate or object. By default only those "
        'about the calling agent; use scope "namespace" for all of it. The acting skill may add what it knows.'
    ),
    input_schema=_SCHEMA,
    permissions=("graph:read",),
    budget="query",
    output_schema=_ANSWER,
    run=_run,
)
