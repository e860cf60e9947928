"""What a skill's declared queries found, as the block that a model reads before it starts.

Rules kept here:
- one `<semantic-skill-context skill="...">` element of well-formed XML 1.0 for any names and literals: one
  triple per line, `subject predicate object`, the object as JSON;
- no triples, no block; triples with an instruction in a name or a literal are left out (`triples`);
- at most 4096 characters: what does not fit is dropped by whole lines, and a last line reports how many are missing,
  those that the queries did not read included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from cortex_skills.enrichment.block import BLOCK_LIMIT
from cortex_skills.enrichment.limits import STRING_LIMIT, cut, limit
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.removal import NOTHING
from cortex_skills.enrichment.triples import why_withheld
from cortex_skills.safe_io.display import json_text, one_line

_TAG = "semantic-skill-context"
_LONGEST_NAME = 200
_AT_ONCE = 32  # triples, about as many as fit
_LONGEST_NOTE = len("\n(1000000000000+ more triples are not shown)")


def context_block(
    skill: str, triples: Sequence[Mapping[str, Any]], policy: Policy = RULE, unread: int = 0, *, exact: bool = True
) -> str:
    """The block of the triples that the declared queries of `skill` found.

    Args:
        skill: the name of the skill.
        triples: mappings with `subject`, `predicate` (texts) and `object` (a JSON value).
        policy: what is removed beyond the rule.
        unread: how many triples match beyond these.
        exact: whether there are not more than that.

    Returns:
        The block, at most 4096 characters; empty when there are no triples.
    """
    if not triples:
        return ""
    opening = f'<{_TAG} skill="{_attribute(skill)}">'
    closing = f"\n</{_TAG}>"
    left = BLOCK_LIMIT - len(opening) - len(closing) - _LONGEST_NOTE
    lines: list[str] = []
    # A line has at least four characters, so no more than this many can fit.
    for first in range(0, min(len(triples), BLOCK_LIMIT // 4), _AT_ONCE):
        some = [(triple, f"\n{_line(triple, policy)}") for triple in triples[first : first + _AT_ONCE]]
        some = [(triple, line) for triple, line in some if len(line) <= left]
        withheld = why_withheld([triple for triple, _ in some], policy)
        for (_, line), why in zip(some, withheld, strict=True):
            if why is None and len(line) <= left:
                lines.append(line)
                left -= len(line)
    missing, more = len(triples) - len(lines) + unread, "" if exact else "+"
    if missing or more:
        lines.append(f"\n({missing}{more} more triple{' is' if missing == 1 and not more else 's are'} not shown)")
    return f"{opening}{''.join(lines)}{closing}"


def _line(triple: Mapping[str, Any], policy: Policy) -> str:
    found = policy.marked(limit(triple["object"]).value)
    object_ = json_text(None if found is NOTHING else found)
    return f"{_name(triple['subject'])} {_name(triple['predicate'])} {object_}"


def _name(name: str) -> str:
    return escape(one_line(cut(name, STRING_LIMIT)), quote=False)


def _attribute(text: str) -> str:
    return escape(one_line(cut(text, _LONGEST_NAME)))
