"""Places for things that are linked: near to what they are linked to, and none over another.

Rules kept here:
- the same input gives the same places: the order of the steps is that of a generator with a fixed seed;
- what is fixed keeps its place, so that a picture that grows does not move what was there;
- `apart` ends with no two boxes over each other, whatever it is given, unless both are fixed.

`points` minimizes the stress of the picture, the differences between distances in the picture and in the graph, by
gradient descent over single pairs (Zheng, Pawar, Goodman: Graph Drawing by Stochastic Gradient Descent, 2018).
"""

from __future__ import annotations

import cmath
import math
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

_LINK = 56.0  # pixels between two things that are linked
_WIDER = 1.25  # a screen is wider than high
_ROUNDS, _PUSHES, _SPREAD = 150, 20, 1.07
_STEPS, _FEW_STEPS, _MANY = 24, 10, 120
_STEP = 9.0  # of the search for a free place


@dataclass(frozen=True, slots=True)
class Extent:
    """What something covers, in pixels from its point."""

    left: float
    top: float
    right: float
    bottom: float


def points(count: int, links: Sequence[tuple[int, int]], fixed: Mapping[int, complex] | None = None) -> list[complex]:
    """Where things are, as complex numbers: x and y in pixels.

    Args:
        count: how many things; the first is in the middle of what is not linked to it.
        links: between them, by their numbers.
        fixed: places that are kept.
    """
    held = {place: complex(at.real / _WIDER, at.imag) for place, at in (fixed or {}).items()}
    near = _neighbours(count, links)
    at = _start(count, near, held)
    distances = [_distances(near, place) for place in range(count)]
    pairs = [
        (one, other, distances[one][other] * _LINK)
        for one, other in combinations(range(count), 2)
        if not (one in held and other in held)
    ]
    if pairs:
        _descend(at, pairs, held)
    if not held:
        turn = _main_axis(at)
        at = [each * turn for each in at]
    return [complex(each.real * _WIDER, each.imag) for each in at]


def apart(at: Sequence[complex], boxes: Sequence[Extent], fixed: Mapping[int, complex] | None = None) -> list[complex]:
    """The places, moved until no box is over another.

    Args:
        at: the places.
        boxes: what is at them.
        fixed: places that are kept.
    """
    held = fixed or {}
    moved = [held.get(place, each) for place, each in enumerate(at)]
    for number in range(_ROUNDS):
        if not _push(moved, boxes, held):
            return moved
        if not held and number % _PUSHES == _PUSHES - 1:  # there is too little room
            moved = [each * _SPREAD for each in moved]
    settled = sorted(held)
    for place in range(len(moved)):
        if place not in held:
            moved[place] = _free(moved, boxes, settled, place)
            settled.append(place)
    return moved


def _neighbours(count: int, links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The neighbours of each; a part that is not linked to the first thing gets a link to it."""
    near: list[list[int]] = [[] for _ in range(count)]
    for one, other in links:
        if one != other:
            near[one].append(other)
            near[other].append(one)
    seen = set(_distances(near, 0)) if count else set()
    for place in range(count):
        if place not in seen:
            seen.update(_distances(near, place))
            near[0].append(place)
            near[place].append(0)
    return near


def _distances(near: Sequence[Sequence[int]], start: int) -> dict[int, int]:
    found, waiting = {start: 0}, deque([start])
    while waiting:
        place = waiting.popleft()
        for other in near[place]:
            if other not in found:
                found[other] = found[place] + 1
                waiting.append(other)
    return found


def _start(count: int, near: Sequence[Sequence[int]], held: Mapping[int, complex]) -> list[complex]:
    """A spiral; beside what is fixed, outwards from the fixed neighbours."""
    at = [cmath.rect(20 * math.sqrt(place), place * 2.4) for place in range(count)]
    for place, known in held.items():
        at[place] = known
    middle = sum(held.values()) / len(held) if held else 0j
    for place in range(count):
        beside = [held[other] for other in near[place] if other in held]
        if held and place not in held:
            base = beside[0] if beside else middle
            outwards = base - middle or 1 + 0j
            at[place] = base + cmath.rect(_LINK, cmath.phase(outwards) + (place % 5 - 2) * 0.5)
    return at


def _descend(at: list[complex], pairs: list[tuple[int, int, float]], held: Mapping[int, complex]) -> None:
    steps = _STEPS if len(at) <= _MANY else _FEW_STEPS
    chance = random.Random(1)  # noqa: S311 - the order of steps, not a secret
    longest = max(distance for _, _, distance in pairs)
    largest, smallest = longest**2, 0.1 * _LINK**2
    decay = math.log(largest / smallest) / max(1, steps - 1)
    for step in range(steps):
        rate = largest * math.exp(-decay * step)
        chance.shuffle(pairs)
        for one, other, distance in pairs:
            between = at[one] - at[other]
            length = abs(between)
            if length < 1e-6:
                between, length = cmath.rect(1.0, one + 2.4 * other), 1.0
            part = min(1.0, rate / (distance * distance)) * (length - distance) / length * between
            if one in held:
                at[other] += part
            elif other in held:
                at[one] -= part
            else:
                at[one] -= part / 2
                at[other] += part / 2


def _main_axis(at: Sequence[complex]) -> complex:
    """The turn that makes the longest extent horizontal, with the first thing in the middle."""
    middle = sum(at) / len(at) if at else 0j
    angle = cmath.phase(sum((each - middle) ** 2 for each in at) or 1 + 0j) / 2
    return cmath.rect(1.0, -angle)


def _push(at: list[complex], boxes: Sequence[Extent], held: Mapping[int, complex]) -> bool:
    """Push boxes that are over each other apart, in the shorter direction; whether there were any."""
    left = [each.real + box.left for each, box in zip(at, boxes, strict=True)]
    right = [each.real + box.right for each, box in zip(at, boxes, strict=True)]
    top = [each.imag + box.top for each, box in zip(at, boxes, strict=True)]
    bottom = [each.imag + box.bottom for each, box in zip(at, boxes, strict=True)]
    order = sorted(range(len(at)), key=left.__getitem__)
    was_over = False
    for position, one in enumerate(order):
        for other in order[position + 1 :]:
            if left[other] >= right[one]:
                break
            if top[other] >= bottom[one] or top[one] >= bottom[other] or left[one] >= right[other]:
                continue
            if one in held and other in held:
                continue
            was_over = True
            across = min(right[one] - left[other], right[other] - left[one])
            down = min(bottom[one] - top[other], bottom[other] - top[one])
            share = 1.0 if one in held else 0.0 if other in held else 0.5
            if across < down:
                step = math.copysign(across + 0.5, left[other] + right[other] - left[one] - right[one])
                left[other], right[other] = left[other] + step * share, right[other] + step * share
                left[one], right[one] = left[one] - step * (1 - share), right[one] - step * (1 - share)
            else:
                step = math.copysign(down + 0.5, top[other] + bottom[other] - top[one] - bottom[one])
                top[other], bottom[other] = top[other] + step * share, bottom[other] + step * share
                top[one], bottom[one] = top[one] - step * (1 - share), bottom[one] - step * (1 - share)
    at[:] = [complex(x - box.left, y - box.top) for x, y, box in zip(left, top, boxes, strict=True)]
    for place, kept in held.items():
        at[place] = kept
    return was_over


def _free(at: Sequence[complex], boxes: Sequence[Extent], settled: Sequence[int], place: int) -> complex:
    """The nearest place on a spiral where a box is over none of those that are settled."""
    box = boxes[place]
    taken = [
        (
            x.real + b.left - box.right,
            x.real + b.right - box.left,
            x.imag + b.top - box.bottom,
            x.imag + b.bottom - box.top,
        )
        for x, b in ((at[other], boxes[other]) for other in settled)
    ]
    turn, found = 0, at[place]
    while any(left < found.real < right and top < found.imag < bottom for left, right, top, bottom in taken):
        turn += 1
        found = at[place] + cmath.rect(_STEP * math.sqrt(turn), turn * 2.4)
    return found
