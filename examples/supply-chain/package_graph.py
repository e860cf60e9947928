"""Packages as triples, and an update of the graph to match them.

    package:click      hasVersion       "8.3.0"
    package:click      hasLicense       "BSD-3-Clause"           an SPDX expression
    package:old        statesLicense    "BSD"                    in its place, when it names no SPDX licence
    package:rich       dependsOn        {"node": "package:pygments"}
    license:MPL-2.0    licenseCategory  "Copyleft Limited"

Rules kept here:
- new facts are written in one batch; facts that are no longer true are deleted, so that a store can be reused;
- nothing else in the namespace is changed: asserted findings stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import spdx
from distributions import Package

from cortex_graph import NamespacedGraph

PREDICATES = ("hasVersion", "hasLicense", "statesLicense", "dependsOn", "licenseCategory")


@dataclass(frozen=True, slots=True)
class Written:
    """The numbers of facts that were added, already present, and deleted."""

    new: int
    kept: int
    removed: int


def write(graph: NamespacedGraph, packages: Iterable[Package]) -> Written:
    """Update the facts about packages in a namespace to match these packages."""
    written = graph.create_triples(facts(packages))
    current = {triple["id"] for triple in written}
    new = sum(triple["created"] for triple in written)
    stale = [triple["id"] for triple in _facts_in(graph) if triple["id"] not in current]
    for triple_id in stale:
        graph.delete_triple(triple_id)
    return Written(new, len(current) - new, len(stale))


def facts(packages: Iterable[Package]) -> Iterator[dict[str, Any]]:
    """The triples that describe packages, each once."""
    categories: dict[str, str] = {}
    for package in packages:
        subject = f"package:{package.name}"
        yield _triple(subject, "hasVersion", package.version)
        if package.license is not None:
            yield _triple(subject, "hasLicense", package.license)
            categories |= spdx.categories(package.license)
        elif package.statement is not None:
            yield _triple(subject, "statesLicense", package.statement)
        for name in package.requirements:
            yield _triple(subject, "dependsOn", {"node": f"package:{name}"})
    for license_, category in categories.items():
        yield _triple(f"license:{license_}", "licenseCategory", category)


def _triple(subject: str, predicate: str, object_: Any) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": object_}


def _facts_in(graph: NamespacedGraph) -> Iterator[dict[str, Any]]:
    for predicate in PREDICATES:
        cursor = None
        while True:
            page = graph.list_triples({"predicate": predicate, "limit": 1000, "cursor": cursor})
            yield from page["triples"]
            cursor = page["nextCursor"]
            if cursor is None:
                break
