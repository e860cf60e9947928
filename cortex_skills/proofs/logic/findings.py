"""What a rule finds in a statement.

Rules kept here:
- what a finding says may come from an author of shapes, or quote the graph: it is one line, has a length, and is left
  out when it tells a model what to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cortex_skills.escaping import one_line
from cortex_skills.proofs.wording import instructs

MAX_MESSAGE = 300
_LEFT_OUT = "(what the shapes say is left out: it reads like an instruction)"


def told(text: str, most: int = MAX_MESSAGE) -> str:
    """What shapes say, or what was said about them, as a person and a model may read it.

    Args:
        text: any text.
        most: how many characters of it, at most.

    """
    return _LEFT_OUT if instructs(text) else one_line(text)[:most]


class Severity(StrEnum):
    """How bad it is: a violation keeps a statement from being proved, the others do not."""

    VIOLATION = "violation"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding.

    Attributes:
        rule: which rule: the name of a core rule, or the name of a constraint of SHACL.
        message: what it says, for a person.
        severity: how bad it is.
        node: the IRI of the node that it is about, when that is not the statement itself.
        path: the path from that node, as SHACL has it; empty when there is none.

    """

    rule: str
    message: str
    severity: Severity = Severity.VIOLATION
    node: str = ""
    path: str = ""

    def to_json(self) -> dict[str, Any]:
        """The finding as a proof has it."""
        document = {"rule": self.rule, "severity": self.severity.value, "message": self.message}
        return document | {key: value for key, value in (("node", self.node), ("path", self.path)) if value}
