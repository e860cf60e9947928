"""What a rule finds in a statement.

Rules kept here:
- what a finding says may come from an author of shapes: it is one line, and has a length.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_MESSAGE = 300


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
