"""Which protections confine the workers, for a person to read.

Rules kept here:
- a worker says it once, before it has touched anything that is not trusted;
- what is lacking is told as one warning a process, by name and reason; nothing else depends on it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from .wire import WireError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Protection:
    """One thing that keeps a worker from the rest of the machine.

    Attributes:
        name: what it is called.
        in_force: whether it holds in this process.
        detail: what it holds, or why it does not.

    """

    name: str
    in_force: bool
    detail: str


def protections_from(told: list[Any]) -> tuple[Protection, ...]:
    """What a worker says of itself.

    Raises:
        WireError: when it is not of the form agreed on.

    """
    found = []
    for item in told:
        match item:
            case [str(name), bool(in_force), str(detail)]:
                found.append(Protection(name, in_force, detail))
            case _:
                raise WireError("a protection is not of the form agreed on")
    return tuple(found)


class _Warning:
    """Whether this process has warned."""

    given = False


def warn_once(protections: tuple[Protection, ...]) -> None:
    """Tell of what is lacking, the first time that anything is."""
    lacking = [f"{protection.name} ({protection.detail})" for protection in protections if not protection.in_force]
    if lacking and not _Warning.given:
        _Warning.given = True
        log.warning("sandbox workers run with less protection than they could have, without %s", "; ".join(lacking))
