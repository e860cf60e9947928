"""A name that the author declared, and what it is known to hold.

Rules kept here:
- a constant counts only when it is the one value ever written;
- a global or a function counts whenever any write gives it;
- two different globals in one variable, one of them an object that leads to others, make it a member of the global
  object that is not known.
"""

from __future__ import annotations

from cortex_skills.scanner.values import Global, Value, is_notable, leads_on

_AMBIGUOUS = Global((None,))


class Binding:
    """A declared name; `value` is what is known of it (None: not known)."""

    __slots__ = ("_constant", "_notable", "_sites")

    def __init__(self) -> None:
        self._sites: set[int] = set()
        self._constant: Value = None
        self._notable: Value = None

    def write(self, site: int, value: Value) -> None:
        """Take note that the node with index `site` writes `value`; told again, the newer value stands."""
        self._sites.add(site)
        self._constant = value if len(self._sites) == 1 else None
        if is_notable(value) and value != self._notable:
            clash = self._notable is not None and (leads_on(value) or leads_on(self._notable))
            self._notable = _AMBIGUOUS if clash else value

    @property
    def value(self) -> Value:
        """What the name holds wherever it is read."""
        return self._notable if self._notable is not None else self._constant
