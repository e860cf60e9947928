"""`composes_with_reflections`: the namespaces whose reflections a skill is read together with.

Rules kept here:
- it is a list of `{namespace, min_depth}`, or one mapping `{namespace or namespaces, min_depth}`; the least depth is 0,
  which admits observations, to the depth that reflections have, and 0 when it is not given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cortex_graph.naming.names import is_namespace
from cortex_skills.safe_io.schemas import Problem

KEY = "composes_with_reflections"
MAX_DEPTH = 3  # of a reflection
MAX_ENTRIES = 100
_HINT = f"write a list of {{namespace: NAME, min_depth: 0 to {MAX_DEPTH}}}"


def entries_of(given: Any) -> list[Any] | None:
    """The entries, each as it is given; None for what is neither a list nor a mapping."""
    if isinstance(given, Mapping):
        names = given.get("namespaces", [given.get("namespace")])
        return [{**given, "namespace": name} for name in (names if isinstance(names, list | tuple) else [names])]
    return list(given) if isinstance(given, list | tuple) else None


def reflection_problems(given: Any) -> Iterator[Problem]:
    """What is wrong with a declaration; nothing without one."""
    entries = [] if given is None else entries_of(given)
    if entries is None or len(entries) > MAX_ENTRIES:
        what = "must be a list or a mapping" if entries is None else f"has more than {MAX_ENTRIES} entries"
        yield Problem((KEY,), what, _HINT)
        return
    for place, entry in enumerate(entries):
        name = entry.get("namespace") if isinstance(entry, Mapping) else None
        if not isinstance(name, str) or not is_namespace(name):
            yield Problem((KEY, place), "has no `namespace` that is the name of one", _HINT)
            continue
        least = entry.get("min_depth", 0)
        if isinstance(least, bool) or not isinstance(least, int) or not 0 <= least <= MAX_DEPTH:
            yield Problem((KEY, place, "min_depth"), f"is not a whole number from 0 to {MAX_DEPTH}", _HINT)
