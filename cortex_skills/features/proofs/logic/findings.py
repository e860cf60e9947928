"""The findings of rules.

Rules kept here:
- a message may come from the author of shapes, or quote the graph: it is reduced to one line of bounded length, and is
  omitted when it reads like an instruction to a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cortex_skills.injection.quoted_instructions import instructs
from cortex_skills.safe_io.display import one_line

MAX_MESSAGE = 300
MAX_IRI = 8192
_LEFT_OUT = "(left out: this message of the shapes reads like an instruction)"


def safe_message(text: str, most: int = MAX_MESSAGE) -> str:
    """A message of shapes, or an error about them, as people and models may read it: at most `most` characters."""
    return _LEFT_OUT if instructs(text) else one_line(text)[:most]


def safe_iri(text: str) -> str:
    """An IRI of a finding; empty for one that is too long, or hides characters."""
    return "" if len(text) > MAX_IRI or one_line(text) != text else text


class Severity(StrEnum):
    """The severity of a finding; only a violation prevents a proof."""

    VIOLATION = "violation"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, order=True)
class RuleFinding:
    """One finding.

    Attributes:
        rule: the name of a core rule, or of a SHACL constraint component.
        message: a text for people.
        severity: the severity.
        node: the IRI of the focus node; empty for the statement itself.
        path: the IRI of the SHACL path; may be empty.
    """

    rule: str
    message: str
    severity: Severity = Severity.VIOLATION
    node: str = ""
    path: str = ""

    def to_json(self) -> dict[str, Any]:
        """The finding in a proof."""
        document = {"rule": self.rule, "severity": self.severity.value, "message": self.message}
        return document | {key: value for key, value in (("node", self.node), ("path", self.path)) if value}
