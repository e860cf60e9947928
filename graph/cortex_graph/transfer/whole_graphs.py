"""A copy of a graph that is one state, such as a registry: whole, or not at all.

Rules kept here:
- the target has none of it, or a part of it, as after a copy that was killed: what is missing is written. With other
  triples in the target nothing is written, unless they are to be replaced;
- what `is_left` names is neither copied, nor compared, nor removed;
- memory use is constant; what was written is compared with the source again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.transfer.comparing import quad_of, unshared
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.read_process import full
from cortex_graph.transfer.sorting import sorted_lines
from cortex_graph.workers.scratch import scratch_folder

_AT_ONCE = 5_000

IsLeft = Callable[[Quad], bool]


def nothing(_: Quad) -> bool:
    """No quad is left."""
    return False


@dataclass(frozen=True)
class GraphComparison:
    """A graph in two stores.

    Attributes:
        triples: of the source, without those that are left.
        missing: those of them that the target lacks.
        other: the triples of the target that the source does not have.
    """

    triples: int
    missing: int
    other: int


def compare_whole(source: GraphStore, target: GraphStore, graph: NamedNode, is_left: IsLeft) -> GraphComparison:
    """Compare a graph in two stores.

    Raises:
        GraphUnavailable: a store cannot be read, or there is no space for temporary files.
    """
    with _files(source, target, graph, is_left, silent) as (wanted, there):
        missing = sum(is_wanted for _, is_wanted in _differing(wanted, there))
        other = sum(not is_wanted for _, is_wanted in _differing(wanted, there))
        with wanted.open("rb") as lines:
            return GraphComparison(sum(1 for _ in lines), missing, other)


def copy_whole(
    source: GraphStore,
    target: GraphStore,
    graph: NamedNode,
    is_left: IsLeft = nothing,
    *,
    replace: bool = False,
    progress: Progress = silent,
) -> int:
    """Copy a graph, and return how many triples were written.

    Args:
        source: others may use it meanwhile.
        target: the store to write to.
        graph: which.
        is_left: whether a quad stays where it is.
        replace: whether other triples of the target are removed.
        progress: receives reports of the progress.

    Raises:
        GraphUnavailable: a store cannot be read or written; the target has other triples, or lacks some afterwards.
    """
    with _files(source, target, graph, is_left, progress) as (wanted, there):
        if not replace and any(not is_wanted for _, is_wanted in _differing(wanted, there)):
            raise _other(graph)
        new = wanted.with_name("new.nt")
        with new.open("wb") as output:
            output.writelines(line for line, is_wanted in _differing(wanted, there) if is_wanted)
        progress(f"writing {graph.value}", 0, None)
        if new.stat().st_size:
            target.bulk_load(new, graph)
        surplus = (quad_of(line, graph) for line, is_wanted in _differing(wanted, there) if not is_wanted)
        while some := list(islice(surplus, _AT_ONCE)):
            target.apply(remove=some)
        _write(target, target, graph, is_left, there, progress)
        missing = sum(is_wanted for _, is_wanted in _differing(wanted, there))
        other = sum(not is_wanted for _, is_wanted in _differing(wanted, there))
        if missing or other:
            raise GraphUnavailable(
                f"the copy of {graph.value} lacks {missing} triples, and has {other} others",
                hint="another process writes to it, or the target does not store them: stop it, and --replace them",
            )
        with new.open("rb") as lines:
            return sum(1 for _ in lines)


def _other(graph: NamedNode) -> GraphUnavailable:
    return GraphUnavailable(
        f"the target has other triples in {graph.value}, and nothing of it was copied",
        hint="replace what the target has (--replace), or copy the statements only (--only-statements)",
    )


@contextmanager
def _files(
    source: GraphStore, target: GraphStore, graph: NamedNode, is_left: IsLeft, progress: Progress
) -> Iterator[tuple[Path, Path]]:
    """The triples of a graph in both stores, as files of sorted N-Triples in the forms of the target."""
    with scratch_folder() as folder:
        wanted, there = folder / "wanted.nt", folder / "there.nt"
        _write(source, target, graph, is_left, wanted, progress)
        _write(target, target, graph, is_left, there, progress)
        yield wanted, there


def _write(
    store: GraphStore, target: GraphStore, graph: NamedNode, is_left: IsLeft, file: Path, progress: Progress
) -> None:
    def lines() -> Iterator[bytes]:
        for quad in store.quads(Pattern(graph)):
            if not is_left(quad):
                object_ = quad.object
                kept = target.as_stored(object_) if isinstance(object_, Literal) else object_
                yield f"{Quad(quad.subject, quad.predicate, kept, graph).triple} .\n".encode()

    progress(f"reading {graph.value}", 0, None)
    try:
        with TemporaryDirectory(dir=file.parent) as sorting, file.open("wb") as output:
            output.writelines(sorted_lines(lines(), Path(sorting), unique=True))
    except OSError as error:
        raise full(error) from error


def _differing(wanted: Path, there: Path) -> Iterator[tuple[bytes, bool]]:
    with wanted.open("rb") as left, there.open("rb") as right:
        yield from unshared(left, right)
