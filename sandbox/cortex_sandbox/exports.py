"""What the default export of a module is, as its host sees it.

Rules kept here:
- the bootstrap told it from inside the guest, beside the module's own code: it is checked like anything else that
  comes from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import SandboxError


@dataclass(frozen=True, slots=True)
class Exports:
    """What the default export of a module is.

    Attributes:
        type: its JavaScript type: `object`, `function`, `number`, `undefined`, `null`, …
        functions: the names of its functions, inherited ones too.
        values: its other properties: strings, numbers and booleans as they are, None for whatever else.

    """

    type: str = "undefined"
    functions: frozenset[str] = frozenset()
    values: Mapping[str, Any] = field(default_factory=dict)


def exports_from(told: Any) -> Exports:
    """What the bootstrap's `inspect` told.

    Raises:
        SandboxError: when it is not of the form agreed on.

    """
    if (
        isinstance(told, dict)
        and isinstance(kind := told.get("type"), str)
        and isinstance(functions := told.get("functions"), list)
        and all(isinstance(name, str) for name in functions)
        and isinstance(values := told.get("values"), dict)
    ):
        return Exports(kind, frozenset(functions), values)
    raise SandboxError("the module's exports could not be read", "TypeError")
