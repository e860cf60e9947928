"""A rule of the scanner as data, and what a rule reports.

Rules kept here:
- this module decides nothing; `docs/scanner.md`, SARIF and the tests are generated from this data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from cortex_skills.scanner.tree import SyntaxNode

Severity = Literal["critical", "warning"]


@dataclass(frozen=True)
class Rule:
    """One pattern that is forbidden in a skill, or that its author should review.

    Attributes:
        id: the stable name, such as `dynamic-code`.
        severity: `critical` stops the load, `warning` does not.
        title: the pattern in a few words.
        finds: what is reported, and what is not.
        remedy: how to correct the skill.
        trips: the shortest example that is reported.
        passes: a similar example that is not reported.
        written_in: the language of the examples: code of a skill, SKILL.md, or a sentence about a folder.
    """

    id: str
    severity: Severity
    title: str
    finds: str
    remedy: str
    trips: str
    passes: str
    written_in: Literal["ts", "md", "text"] = "ts"

    @property
    def name(self) -> str:
        """The title as one word in Pascal case, which differs from the id.

        >>> Rule("x", "warning", "A change of an object", "", "", "", "").name
        'ChangeOfAnObject'
        """
        words = re.findall(r"[A-Za-z0-9]+", self.title.replace("'s", "s"))
        return "".join(word[0].upper() + word[1:] for word in words[words[0] in ("A", "An", "The") :])


@dataclass(frozen=True)
class Hit:
    """A node that breaks a rule; an empty hint means the remedy of the rule."""

    rule: Rule
    node: SyntaxNode
    message: str
    hint: str = ""
