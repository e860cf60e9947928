"""What a rule reports: the node, and what to tell the author about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cortex_skills.scanner.findings import Severity
    from cortex_skills.scanner.tree import Node


@dataclass(frozen=True)
class Hit:
    """A node that breaks a rule."""

    rule: str
    node: Node
    message: str
    hint: str
    severity: Severity = "critical"
