r"""What needs no words to be an instruction: turns and tags of chats, calls of tools, commands, links that carry data.

Rules kept here:
- the patterns are lines of `patterns.txt`; the reader tells which of them may stand where, by what any match holds
  (`literals`), and RE2 runs those of which that is not sure, in time linear in the text whatever it is;
- each stands for something that has no place in a fact: `<b>`, `rm(1)`, a badge with its link, `x.role === "system"`
  pass;
- the lesser signs (`URL`, `MONEY`, …) are no instruction: a rule asks for them beside words.
"""

from __future__ import annotations

from collections.abc import Mapping

from cortex_skills.enrichment.detecting import patterns
from cortex_skills.enrichment.detecting.rule import SIGNS


def seen_in(text: str, forms: Mapping[int, bool]) -> tuple[str | None, int]:
    """What a folded text is by its form.

    Args:
        text: the text.
        forms: the patterns that may stand in it, and whether they surely do, as the reader tells.

    Returns:
        Its kind, None when it is no instruction; and the lesser signs that it holds, a bit each.

    """
    names, encoded = patterns.names(), text.encode("utf-8", "replace")
    kind, signs = None, 0
    for number, is_sure in sorted(forms.items()):
        if kind is not None and names[number] not in SIGNS:
            continue
        if (is_sure and not patterns.has_anchor(number)) or patterns.stands(number, encoded):
            if names[number] in SIGNS:
                signs |= SIGNS[names[number]]
            else:
                kind = names[number]
    return kind, signs
