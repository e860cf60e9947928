"""Limits of the resources of a process, on systems that have them: never above those that its host has set."""

from __future__ import annotations

import resource


def allowed(kind: int, limit: int) -> int:
    """A limit, or the hard limit of this process where that is lower."""
    most = resource.getrlimit(kind)[1]
    return limit if most == resource.RLIM_INFINITY else min(limit, most)


def set_limit(kind: int, limit: int) -> None:
    """Lower a limit of this process permanently."""
    least = allowed(kind, limit)
    resource.setrlimit(kind, (least, least))
