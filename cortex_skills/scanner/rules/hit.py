"""What a rule reports: the node, and what to tell the author about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cortex_skills.scanner.rule import Rule
    from cortex_skills.scanner.tree import Node


@dataclass(frozen=True)
class Hit:
    """A node that breaks a rule; without a hint of its own the rule's remedy is told."""

    rule: Rule
    node: Node
    message: str
    hint: str = ""
