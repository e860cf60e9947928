"""`crypto-mining`: cryptocurrency mining on the host's machine.

Rules kept here:
- the protocol of mining pools and the names of miners are reported in identifiers and texts, and in texts that are
  concatenated from constants; comments are not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cortex_skills.scanner.parsed_source import ParsedSource
from cortex_skills.scanner.rule import Hit, Rule

RULE = Rule(
    id="crypto-mining",
    severity="critical",
    title="Cryptocurrency mining on the host's machine",
    finds="The protocol of mining pools and the names of miners, in identifiers and texts, and in texts that are "
    "concatenated from constants. Comments are not searched.",
    remedy="Remove it: a skill must not mine.",
    trips='const pool = "stratum+tcp://pool.example.org:3333";',
    passes='const kind = "a coin hive"; // not stratum+tcp://',
)
RULES = (RULE,)

_MINERS = re.compile(
    r"stratum2?\+(?:tcp|ssl|tls|udp|ws|wss)://|xmrig|coin-?hive|crypto-?loot|coinimp|deep-?miner|jsecoin|minero\.cc"
    r"|minergate|nicehash|webminepool|cryptonight|randomx\.js|monerominer|minexmr|supportxmr|nanopool\.org",
    re.IGNORECASE,
)
_IDENTIFIERS = (
    "identifier", "private_property_identifier", "property_identifier", "shorthand_property_identifier",
    "shorthand_property_identifier_pattern", "type_identifier",
)  # fmt: skip
_TEXTS = ("string", "template_string", "jsx_text", "regex")
_JOINED = ("binary_expression", "call_expression")
_MESSAGE = "the protocol or the name of a cryptocurrency miner"


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every identifier and text that names mining."""
    tree = source.tree
    for node in tree.of_kind(*_IDENTIFIERS, *_TEXTS):
        if _MINERS.search(source.text_of(node) if node.kind in _TEXTS else tree.source(node)):
            yield Hit(RULE, node, _MESSAGE)
    for node in tree.of_kind(*_JOINED):
        text = source.value(node)
        is_whole = node.parent is None or not isinstance(source.value(node.parent), str)
        # When the source shows the name in one piece, that piece is already reported.
        if is_whole and isinstance(text, str) and _MINERS.search(text) and not _MINERS.search(tree.source(node)):
            yield Hit(RULE, node, _MESSAGE)
