"""`unlimited-query`, `proof-disabled`: queries without a limit, and writes that switch a proof off.

Rules kept here:
- a query of `graphClient`, under any name, is a warning when its pattern is written at the call and has no `limit`, or
  one without effect; a pattern that cannot be followed is not reported;
- a proof that is switched off explicitly is a warning; a missing proof setting is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.scanner.parsed_source import CallSite, ParsedSource
from cortex_skills.scanner.rule import Hit, Rule
from cortex_skills.scanner.tree import SyntaxNode
from cortex_skills.scanner.values import Global, Value, truth

QUERY = Rule(
    id="unlimited-query",
    severity="warning",
    title="A query without a limit",
    finds="`graphClient.listTriples` and `patternQuery`, under any name, without a `limit`, or with one that has no "
    "effect: `undefined`, `null`, infinity, or more than the maximum of 1,000.",
    remedy="Set `limit` to the number of triples that you need, at most 1000, and request the next page with `cursor`.",
    trips='await graphClient.listTriples({ predicate: "hasStatus" });',
    passes='await graphClient.listTriples({ predicate: "hasStatus", limit: 100 });',
)
PROOF = Rule(
    id="proof-disabled",
    severity="warning",
    title="A proof that is switched off",
    finds='`requireProof: false` and `proofType: "none"`, in code or in the manifest. A call cannot switch off '
    "`requireProof: true` of a manifest, so this is a mistake or an attack.",
    remedy="Remove the setting, or require the proof.",
    trips='const order = { predicate: "isVerified", requireProof: false };',
    passes='const order = { predicate: "isVerified", requireProof: true };',
)
RULES = (QUERY, PROOF)

_QUERIES = frozenset({("graphClient", "listTriples"), ("graphClient", "patternQuery")})
_MOST = 1000


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every query without a limit, and every proof that is switched off."""
    for call in source.calls:
        if call.path in _QUERIES and _is_unlimited(source, call):
            yield Hit(QUERY, call.node, f"`{call.path[-1]}` is called without a limit")
    for node in source.tree.of_kind("pair", "assignment_expression", "public_field_definition"):
        key, value = node.child("key") or node.child("left") or node.child("name"), node.child("value")
        if key is not None and _switches_off(_name(source, key), source.value(value or node.child("right"))):
            yield Hit(PROOF, node, "a proof is switched off")


def _is_unlimited(source: ParsedSource, call: CallSite) -> bool:
    if any(argument.kind == "spread_element" for argument in call.arguments):
        return False
    pattern = call.arguments[0] if call.arguments else None
    while pattern is not None and pattern.kind in ("parenthesized_expression", "as_expression", "satisfies_expression"):
        pattern = pattern.children[0] if pattern.children else None
    if pattern is None:
        return True
    return not _has_limit(source, pattern) if pattern.kind == "object" else _is_nothing(source, pattern)


def _has_limit(source: ParsedSource, pattern: SyntaxNode) -> bool:
    """Whether an object literal has a limit, or a part that may contain one."""
    for part in pattern.children:
        if part.kind == "pair":
            key, value = part.child("key"), part.child("value")
            if key is not None and _name(source, key) == "limit":
                known = source.value(value)
                is_beyond = isinstance(known, int | float) and known > _MOST
                return not is_beyond and not (value is not None and _is_nothing(source, value))
        elif source.tree.source(part) == "limit" or part.kind == "spread_element":
            return True
    return False


def _is_nothing(source: ParsedSource, node: SyntaxNode) -> bool:
    value = source.value(node)
    is_nothing = isinstance(value, Global) and value.path in (("undefined",), ("Infinity",))
    return is_nothing or node.kind in ("null", "undefined")


def _name(source: ParsedSource, key: SyntaxNode) -> str:
    """The name of a key, a property or the last part of a member."""
    key = key.child("property") or key.child("index") or key
    if key.kind == "computed_property_name" and key.children:
        key = key.children[0]
    value = source.value(key)
    return value if isinstance(value, str) else source.tree.source(key)


def _switches_off(name: str, value: Value) -> bool:
    return truth(value) is False if name == "requireProof" else name == "proofType" and value == "none"
