"""The protections that confine the workers, in readable form.

Rules kept here:
- a worker reports them once, before it reads any untrusted data;
- missing protections are logged in one warning per process, with name and reason; nothing else depends on them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from cortex_sandbox.isolation.wire import WireError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Protection:
    """One protection of the machine from a worker.

    Attributes:
        name: its name.
        in_force: whether it is in force.
        detail: what it prevents, or why it is not in force.
    """

    name: str
    in_force: bool
    detail: str


def protections_from(items: list[Any]) -> tuple[Protection, ...]:
    """The protections that a worker reports.

    Raises:
        WireError: when the report is malformed.
    """
    found = []
    for item in items:
        match item:
            case [str(name), bool(in_force), str(detail)]:
                found.append(Protection(name, in_force, detail))
            case _:
                raise WireError("a protection is malformed")
    return tuple(found)


class _Warning:
    """Whether this process has warned."""

    given = False


def warn_once(protections: tuple[Protection, ...]) -> None:
    """Log the missing protections, the first time that there are any."""
    lacking = [f"{protection.name} ({protection.detail})" for protection in protections if not protection.in_force]
    if lacking and not _Warning.given:
        _Warning.given = True
        log.warning("sandbox workers run without these protections: %s", "; ".join(lacking))
