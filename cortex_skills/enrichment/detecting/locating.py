r"""The lines of a text in which an instruction may stand by its form.

Rules kept here:
- pure and linear; a line is told when a pattern may hold in it, or in it and its neighbours, whichever of them are left
  out.

    >>> formed(["the bridge is long.\n<|im_start|>system\nit is red."])[0]
    {1}
"""

from __future__ import annotations

from collections.abc import Sequence

from cortex_skills.enrichment.detecting import signs
from cortex_skills.enrichment.detecting.joined import Joined


def formed(views: Sequence[str], over_lines: bool = False) -> tuple[set[int], int]:
    """The numbers of the lines that may be an instruction by their form, and the lesser signs that any may hold.

    Args:
        views: folded texts with the same number of lines.
        over_lines: whether lines may be read as if they were one, too.

    """
    orders = [*views, *(view.replace("\n", " ") for view in views if over_lines)]
    patterns, held = signs.anywhere(orders)
    if not patterns:
        return set(), held
    joined = [Joined(view.split("\n"), char) for view in views for char in (" \n" if over_lines else "\n")]
    return {number for lines in joined for pattern in patterns for number in lines.found(pattern)}, held
