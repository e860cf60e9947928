"""`unlimited-query`, `proof-disabled`: queries that do not say how much they want, and writes that ask for no proof.

Rules kept here:
- a query of `graphClient`, under any name, is a warning when what it asks with is written there and has no `limit`, or
  one that is no limit; what cannot be followed is left alone;
- a proof that is switched off in words is a warning; one that was never asked for is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit
from cortex_skills.scanner.values import Global, Value, truth

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Node

QUERY = Rule(
    id="unlimited-query",
    severity="warning",
    title="A query without a limit",
    finds="`graphClient.listTriples` and `patternQuery`, under any name, without a `limit`, or with one that is none: "
    "`undefined`, `null`, infinity, more than the 1,000 that are given at a time.",
    remedy="Say how many triples you need, `limit: 1000` at most, and ask for the next page with `cursor`.",
    trips='await graphClient.listTriples({ predicate: "hasStatus" });',
    passes='await graphClient.listTriples({ predicate: "hasStatus", limit: 100 });',
)
PROOF = Rule(
    id="proof-disabled",
    severity="warning",
    title="A proof that is switched off",
    finds='`requireProof: false` and `proofType: "none"`, in code or in the manifest. A manifest\'s `requireProof: '
    "true` cannot be switched off by a call, so this is a mistake or an attempt.",
    remedy="Leave the setting out, or require the proof.",
    trips='const order = { predicate: "isVerified", requireProof: false };',
    passes='const order = { predicate: "isVerified", requireProof: true };',
)
RULES = (QUERY, PROOF)

_QUERIES = frozenset({("graphClient", "listTriples"), ("graphClient", "patternQuery")})
_MOST = 1000


def find(program: Program) -> Iterator[Hit]:
    """Every query without a limit, and every proof that is switched off."""
    for call in program.calls:
        yield from _of_call(program, call)
    for node in program.tree.of_kind("pair", "assignment_expression", "public_field_definition"):
        key, value = node.child("key") or node.child("left") or node.child("name"), node.child("value")
        if key is not None and _switches_off(_name(program, key), program.facts.value(value or node.child("right"))):
            yield Hit(PROOF, node, "a proof is switched off")


def _of_call(program: Program, call: Node) -> Iterator[Hit]:
    callee = program.callee(call)
    value = program.facts.value(callee) if callee is not None else None
    path = value.path if isinstance(value, Global) else ()
    arguments = program.arguments(call)
    if path[-1:] == ("call",):
        path, arguments = path[:-1], arguments[1:]
    if path not in _QUERIES or any(argument.kind == "spread_element" for argument in arguments):
        return
    wanted = arguments[0] if arguments else None
    while wanted is not None and wanted.kind in ("parenthesized_expression", "as_expression", "satisfies_expression"):
        wanted = wanted.children[0] if wanted.children else None
    if wanted is None or (wanted.kind == "object" and not _has_limit(program, wanted)) or _is_nothing(program, wanted):
        yield Hit(QUERY, call, f"`{path[-1]}` is asked without a limit")


def _has_limit(program: Program, pattern: Node) -> bool:
    """Whether a pattern that is written out gives a limit, or holds something that may."""
    for part in pattern.children:
        if part.kind == "pair":
            key, value = part.child("key"), part.child("value")
            if key is not None and _name(program, key) == "limit":
                known = program.facts.value(value)
                beyond = isinstance(known, int | float) and known > _MOST
                return not beyond and not (value is not None and _is_nothing(program, value))
        elif program.tree.source(part) == "limit" or part.kind == "spread_element":
            return True
    return False


def _is_nothing(program: Program, node: Node) -> bool:
    value = program.facts.value(node)
    nothing = isinstance(value, Global) and value.path in (("undefined",), ("Infinity",))
    return nothing or node.kind in ("null", "undefined")


def _name(program: Program, key: Node) -> str | None:
    """The name that a key, a property or the end of a member stands for."""
    key = key.child("property") or key.child("index") or key
    if key.kind == "computed_property_name" and key.children:
        key = key.children[0]
    value = program.facts.value(key)
    return value if isinstance(value, str) else program.tree.source(key)


def _switches_off(name: str | None, value: Value) -> bool:
    if name == "requireProof":
        return truth(value) is False
    return name == "proofType" and value == "none"
