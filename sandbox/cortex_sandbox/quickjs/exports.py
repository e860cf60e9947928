"""The host's description of a module's default export.

Rules kept here:
- the description comes from the guest, where the module's own code runs: it is checked like all data from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cortex_sandbox.errors import SandboxError


@dataclass(frozen=True, slots=True)
class Exports:
    """The default export of a module.

    Attributes:
        type: its JavaScript type: `object`, `function`, `number`, `undefined`, `null`, …
        functions: the names of its functions, inherited ones included.
        values: its other properties: strings, numbers and booleans as they are, None for all other values.
    """

    type: str = "undefined"
    functions: frozenset[str] = frozenset()
    values: Mapping[str, Any] = field(default_factory=dict)


def exports_from(described: Any) -> Exports:
    """The exports that the bootstrap's `inspect` described.

    Raises:
        SandboxError: when the description is malformed.
    """
    if (
        isinstance(described, dict)
        and isinstance(kind := described.get("type"), str)
        and isinstance(functions := described.get("functions"), list)
        and all(isinstance(name, str) for name in functions)
        and isinstance(values := described.get("values"), dict)
    ):
        return Exports(kind, frozenset(functions), values)
    raise SandboxError("the module's exports could not be read", "TypeError")
