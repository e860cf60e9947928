"""Makes `pictures/land.txt`, the outline of the land for charts of coordinates, which is committed.

    python -m build_steps.land_outline land-110m.json

The file is that of the npm package `world-atlas` 2.0.2: Natural Earth 1:110m, public domain, as TopoJSON. The outline
is a path of SVG in a plate carrée projection, two units a degree, from 180° W and 90° N.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import accumulate, pairwise
from pathlib import Path

_TARGET = Path(__file__).parent.parent / "cortex_skills" / "doors" / "explorer" / "pictures" / "land.txt"
_WIDTH = 720
_NEAR, _SMALL = 0.7, 3.0  # units that a simplified line may be off; the area of what is left out

Point = tuple[float, float]


def outline(topology: dict[str, object]) -> str:
    """The path of all polygons of a topology."""
    scale, move = (topology["transform"][name] for name in ("scale", "translate"))  # type: ignore[index]
    arcs = []
    for arc in topology["arcs"]:  # type: ignore[attr-defined]
        steps = accumulate(arc, lambda at, step: (at[0] + step[0], at[1] + step[1]))
        arcs.append([((x * scale[0] + move[0] + 180) * 2, (90 - y * scale[1] - move[1]) * 2) for x, y in steps])
    parts = []
    for geometry in topology["objects"]["land"]["geometries"]:  # type: ignore[index]
        polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
        for ring in (ring for polygon in polygons for ring in polygon):
            points = [point for number in ring for point in (arcs[number] if number >= 0 else arcs[~number][::-1])]
            for shifted in _within(points):
                kept = [(round(x), round(y)) for x, y in _simplified(shifted)]
                kept = [point for place, point in enumerate(kept) if point != kept[place - 1]]
                if len(kept) > 2 and abs(_area(kept)) > _SMALL:
                    moves = [f"{x - px} {y - py}" for (px, py), (x, y) in pairwise(kept)]
                    parts.append(f"M{kept[0][0]} {kept[0][1]}l{' '.join(moves)}z".replace(" -", "-"))
    return "".join(parts)


def _within(points: list[Point]) -> list[list[Point]]:
    """A ring that may cross 180°, as the parts of it that are on the map."""
    whole, turns = [points[0]], 0.0
    for (before, _), (x, y) in pairwise(points):
        turns += _WIDTH * ((before - x > _WIDTH / 2) - (x - before > _WIDTH / 2))
        whole.append((x + turns, y))
    parts = ([(min(max(x + shift, 0), _WIDTH), y) for x, y in whole] for shift in (0, -_WIDTH, _WIDTH))
    return [part for part in parts if len({x for x, _ in part}) > 1]


def _simplified(points: list[Point]) -> list[Point]:
    """The points without those that are near to the line between others (Douglas, Peucker 1973)."""
    if len(points) < 3:
        return points
    (x, y), (to_x, to_y) = points[0], points[-1]
    length = math.dist(points[0], points[-1])

    def far(point: Point) -> float:
        if length < 1e-9:
            return math.dist(point, (x, y))
        return abs((to_x - x) * (y - point[1]) - (x - point[0]) * (to_y - y)) / length

    middle = max(range(1, len(points) - 1), key=lambda place: far(points[place]))
    if far(points[middle]) <= _NEAR:
        return [points[0], points[-1]]
    return [*_simplified(points[: middle + 1]), *_simplified(points[middle:])[1:]]


def _area(points: list[tuple[int, int]]) -> float:
    following = [*points[1:], points[0]]
    return sum(x * to_y - to_x * y for (x, y), (to_x, to_y) in zip(points, following, strict=True)) / 2


if __name__ == "__main__":
    _TARGET.write_text(outline(json.loads(Path(sys.argv[1]).read_text())) + "\n")
