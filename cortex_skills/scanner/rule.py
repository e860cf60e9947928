"""A rule as data: what it is called, what it looks for, and an example of either kind.

Rules kept here:
- nothing is decided here; `docs/scanner.md`, SARIF and the tests are made from this data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cortex_skills.scanner.findings import Severity


@dataclass(frozen=True)
class Rule:
    """One thing that no skill may do, or that its author should look at.

    Attributes:
        id: the stable name, such as `dynamic-code`.
        severity: `critical` stops the load, `warning` does not.
        title: what is found, in a few words.
        finds: what counts, and what does not.
        remedy: what to do about it.
        trips: the shortest example that is found.
        passes: one like it that is not.
        written_in: what the examples are: the code of a skill, its SKILL.md, or a sentence about a folder.

    """

    id: str
    severity: Severity
    title: str
    finds: str
    remedy: str
    trips: str
    passes: str
    written_in: Literal["ts", "md", "text"] = "ts"
