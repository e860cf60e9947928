"""`crypto-mining`: mining on the machine of whoever runs the skill.

Rules kept here:
- the protocol of mining pools and the names of miners are findings in identifiers and in texts, also in texts put
  together from constants; in comments they are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Node

RULE = Rule(
    id="crypto-mining",
    severity="critical",
    title="Mining on the machine of whoever runs the skill",
    finds="The protocol of mining pools and the names of miners, in identifiers and in texts, also in texts that are "
    "put together from constants. In comments they are left alone.",
    remedy="Remove it: a skill does not mine.",
    trips='const pool = "stratum+tcp://pool.example.org:3333";',
    passes='const kind = "a coin hive"; // not stratum+tcp://',
)

_MINERS = re.compile(
    r"stratum2?\+(?:tcp|ssl|tls|udp|ws|wss)://|xmrig|coin-?hive|crypto-?loot|coinimp|deep-?miner|jsecoin|minero\.cc"
    r"|minergate|nicehash|webminepool|cryptonight|randomx\.js|monerominer|minexmr|supportxmr|nanopool\.org",
    re.IGNORECASE,
)
_IDENTIFIERS = (
    "identifier",
    "private_property_identifier",
    "property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
    "type_identifier",
)
_TEXTS = ("string", "template_string", "jsx_text", "regex")
_JOINED = ("binary_expression", "call_expression")


def find(program: Program) -> Iterator[Hit]:
    """Every identifier and text that names mining."""
    tree = program.tree
    for node in tree.of_kind(*_IDENTIFIERS, *_TEXTS):
        if _MINERS.search(program.text_of(node) if node.kind in _TEXTS else tree.source(node)):
            yield _hit(node)
    for node in tree.of_kind(*_JOINED):
        text = program.facts.value(node)
        whole = node.parent is None or not isinstance(program.facts.value(node.parent), str)
        if whole and isinstance(text, str) and _MINERS.search(text) and not _named_within(program, node):
            yield _hit(node)


def _named_within(program: Program, node: Node) -> bool:
    """True when the source of `node` shows the name in one piece, so that a part of it is reported already."""
    return _MINERS.search(program.tree.source(node)) is not None


def _hit(node: Node) -> Hit:
    return Hit(RULE, node, "the protocol or the name of a miner of cryptocurrency")
