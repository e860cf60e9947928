"""Many quads, in requests of a size that a server takes.

Rules kept here:
- quads are read as they are asked for, and no more of them are held than one request has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import Quad


def portions(quads: Iterable[Quad], most: int, size: int) -> Iterator[list[Quad]]:
    """Quads in lists.

    Args:
        quads: to be sent.
        most: how many a list has at most.
        size: how many characters, as N-Quads, it has at most; a quad that has more stands alone.

    """
    portion: list[Quad] = []
    room = size
    for quad in quads:
        length = len(str(quad))
        if portion and (len(portion) >= most or length > room):
            yield portion
            portion, room = [], size
        portion.append(quad)
        room -= length
    if portion:
        yield portion
