"""What features keep in a store beside the statements of a namespace, and how `graph copy` takes it along.

Rules kept here:
- a feature names its parts (`Feature.copies`); a part is one graph, which is copied whole (`whole_graphs`);
- all parts of all namespaces are compared before anything is written: one that has other content in the target is a
  conflict, and then nothing is copied, unless it is to be replaced;
- what belongs to a process or a host of the source, such as a lease, stays there, and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph.naming.names import Names, namespace_of
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.claims import has_claims
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.whole_graphs import IsLeft, compare_whole, copy_whole, nothing
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.feature import functions


@dataclass(frozen=True, slots=True)
class StorePair:
    """Two open stores, as two configurations of this host name them.

    Attributes:
        source: the store to read.
        target: the store to write.
        source_config: the configuration of the source.
        target_config: that of the target.
        progress: receives reports of the progress.
    """

    source: GraphStore
    target: GraphStore
    source_config: Config
    target_config: Config
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class LeftThere:
    """What of a part stays in the source: a predicate of its quads, and a sentence for each thing that people miss."""

    is_left: IsLeft = nothing
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CopiedFiles:
    """What a part has outside its graph: how many things the target lacks, and a sentence for each that stays."""

    missing: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StorePart:
    """One graph beside the statements of a namespace.

    Attributes:
        name: for people.
        graph: which, of the names of a namespace.
        left: what of it stays in the source.
        files: copies what it has outside that graph, before it, or with `False` only counts it.
    """

    name: str
    graph: Callable[[Names], NamedNode]
    left: Callable[[GraphStore, Names], LeftThere] = lambda _store, _names: LeftThere()
    files: Callable[[StorePair, Names, bool], CopiedFiles] = lambda _pair, _names, _writes: CopiedFiles()


@dataclass(frozen=True, slots=True)
class CopiedPart:
    """A part of a namespace, as it was copied, or would be.

    Attributes:
        namespace: which.
        name: of the part.
        triples: of the source, without those that stay.
        missing: those that the target lacked.
        other: those that only the target had; they are removed where `replace` is set.
        files: how many artifacts the target lacked.
        notes: what stays in the source, and why.
    """

    namespace: str
    name: str
    triples: int
    missing: int
    other: int
    files: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "namespace": self.namespace,
            "part": self.name,
            "triples": self.triples,
            "missing": self.missing,
            "other": self.other,
            "files": self.files,
            "notes": list(self.notes),
        }


QUERIES = StorePart("saved queries", lambda names: names.queries_graph)
PUBLISHERS = StorePart("the list of the owner", lambda names: names.publishers_graph)


def compare_parts(pair: StorePair, names: Names) -> Iterator[CopiedPart]:
    """What a copy of a namespace would do; parts that the source does not have are left out.

    Raises:
        GraphError: a store cannot be read.
        CortexError: what a part has outside the store cannot be read.
    """
    for part in _parts(pair, names):
        if not has_claims(pair.target):
            note = f"a store behind another Cortex keeps no {part.name}"
            yield CopiedPart(names.namespace, part.name, 0, 0, 0, 0, (note,))
            continue
        left = part.left(pair.source, names)
        found = compare_whole(pair.source, pair.target, part.graph(names), left.is_left)
        files = part.files(pair, names, False)
        if found.triples or files.missing or left.notes or files.notes:
            notes = (*left.notes, *files.notes)
            yield CopiedPart(
                names.namespace, part.name, found.triples, found.missing, found.other, files.missing, notes
            )


def copy_parts(pair: StorePair, names: Names, *, replace: bool) -> None:
    """Copy all parts of a namespace; see `copy_whole`.

    Raises:
        GraphError: a store cannot be read or written, or the target has other content.
        CortexError: what a part has outside the store cannot be read or written.
    """
    if not has_claims(pair.target):
        return
    for part in _parts(pair, names):
        left = part.left(pair.source, names)
        with pair.target.maintenance:
            part.files(pair, names, True)
            copy_whole(
                pair.source,
                pair.target,
                part.graph(names),
                left.is_left,
                replace=replace,
                progress=pair.progress,
            )


def check_no_conflict(found: list[CopiedPart]) -> None:
    """Refuse a copy that would mix two states.

    Raises:
        CortexError: `state_conflict`.
    """
    conflicts = [f"{each.name} of {each.namespace}" for each in found if each.other]
    if conflicts:
        raise CortexError(
            "state_conflict",
            f"the target has other content in {', '.join(conflicts)}, and nothing was copied",
            hint="replace that (--replace), or copy the statements only (--only-statements); --preview shows both",
            details={"parts": [each.to_json() for each in found if each.other]},
        )


def namespaces_with_parts(store: GraphStore, base: str) -> set[str]:
    """The namespaces of which a store has a part."""
    found = set()
    for graph in store.graph_names():
        segment = graph.value.removeprefix(base).partition("/")[0]
        namespace = namespace_of(segment) if graph.value.startswith(base) else None
        if namespace is not None and graph in {part.graph(Names(namespace, base)) for part in functions("copies")}:
            found.add(namespace)
    return found


def _parts(pair: StorePair, names: Names) -> Iterator[StorePart]:
    """The parts of a namespace that the source has."""
    if has_claims(pair.source):
        yield from (part for part in functions("copies") if pair.source.count(Pattern(part.graph(names)), 1))
