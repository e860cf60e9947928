"""Draw the rooms of the product and the imports between them: `python -m tests.docs.rooms` writes docs/rooms.svg.

Rules kept here:
- a room is a folder of `cortex_skills`, of its `doors` or of its `features`, or a file at its root; `cortex_graph` and
  `cortex_sandbox` are one room each;
- every import counts, at the top, inside a function, and for types alone, but the exceptions of the contracts;
- a room is drawn one row above the highest room that it imports; an arrow that follows from two others is not drawn;
- the picture holds names and arrows only, so that it changes when the structure does.
"""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "rooms.svg"
FLOORS = {
    "cortex_skills": ROOT / "cortex_skills",
    "cortex_graph": ROOT / "graph" / "cortex_graph",
    "cortex_sandbox": ROOT / "sandbox" / "cortex_sandbox",
}
GROUPS = ("doors", "features")
_NO_ROOMS = ("cortex_skills", *GROUPS)
_WIDTH, _BOX, _HIGH, _ROW = 1000, 116, 30, 74


def modules() -> dict[str, Path]:
    """The files of the product by module name."""
    found = {}
    for package, folder in FLOORS.items():
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def _parsed() -> dict[str, tuple[set[str], set[str]]]:
    """What each module imports, and the public classes that it defines at top level; each file is parsed once."""
    known = modules()
    found = {}
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        wanted: set[str] = set()
        for node in _with_imports(tree):
            if isinstance(node, ast.Import):
                wanted.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                members = (f"{node.module}.{alias.name}" for alias in node.names)
                wanted.update(member if member in known else node.module for member in members)
        classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
        found[name] = {module for module in wanted if module in known and module != name}, classes
    return found


def _with_imports(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement of a module; expressions, which contain no import, are not visited."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, field, ())


def imports() -> dict[str, set[str]]:
    """The modules that each module imports, of the product's own."""
    return {name: wanted for name, (wanted, _) in _parsed().items()}


def room_of(module: str) -> str:
    """The room of a module: `cortex_skills.gate.hooks` is in `gate`."""
    parts = module.split(".")
    if parts[0] != "cortex_skills" or len(parts) == 1:
        return parts[0]
    return "/".join(parts[1:3]) if parts[1] in GROUPS and len(parts) > 2 else parts[1]


def excepted(module: str, other: str) -> bool:
    """Whether the contracts of `pyproject.toml` name an import as an exception."""
    return any(fnmatchcase(module, who) and fnmatchcase(other, whom) for who, whom in _exceptions())


@functools.cache
def _exceptions() -> list[tuple[str, str]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    ignored = {line for contract in settings["contracts"] for line in contract.get("ignore_imports", ())}
    pairs = (line.replace("**", "*").split(" -> ") for line in ignored)
    return [(who, whom) for who, whom in pairs]


def rooms() -> dict[str, set[str]]:
    """The rooms that each room imports. The package's own `__init__` and `__main__` are left out."""
    found: dict[str, set[str]] = {}
    for module, wanted in imports().items():
        room = room_of(module)
        if room in (*_NO_ROOMS, "__main__"):
            continue
        found.setdefault(room, set()).update(room_of(other) for other in wanted if not excepted(module, other))
    return {room: {other for other in wanted if other not in (room, *_NO_ROOMS)} for room, wanted in found.items()}


def repeated_modules(most: int) -> dict[str, list[str]]:
    """The modules whose last name occurs more than `most` times, by that name; packages are left out, and `feature`."""
    return _repeated(
        (
            (name.rpartition(".")[2], name)
            for name, path in modules().items()
            if path.stem[0] != "_" and path.stem != "feature"
        ),
        most,
    )


def repeated_classes(most: int) -> dict[str, list[str]]:
    """The modules that define a public class at top level, by names that occur more than `most` times."""
    return _repeated(((class_name, name) for name, (_, classes) in _parsed().items() for class_name in classes), most)


def _repeated(places: Iterable[tuple[str, str]], most: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, module in places:
        found.setdefault(name, []).append(module)
    return {name: defined for name, defined in sorted(found.items()) if len(defined) > most}


def rows(graph: dict[str, set[str]]) -> dict[str, int]:
    """The row of each room, from 0 at the ground.

    Raises:
        graphlib.CycleError: rooms import each other in a circle.

    """
    found: dict[str, int] = {}
    for room in TopologicalSorter(graph).static_order():
        found[room] = 1 + max((found[other] for other in graph[room]), default=-1)
    return found


def direct(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The arrows that do not follow from others (transitive reduction)."""
    reached: dict[str, set[str]] = {}
    for room in TopologicalSorter(graph).static_order():
        reached[room] = set().union(*({other} | reached[other] for other in graph[room]))
    return sorted(
        (room, other)
        for room, wanted in graph.items()
        for other in wanted
        if not any(other in reached[between] for between in wanted)
    )


def picture() -> str:
    """The picture as SVG."""
    graph = rooms()
    row_of = rows(graph)
    top = max(row_of.values())
    members = {row: sorted(room for room, at in row_of.items() if at == row) for row in range(top + 1)}
    places = {
        room: (_WIDTH * (number + 0.5) / len(names), (top - row) * _ROW + 24)
        for row, names in members.items()
        for number, room in enumerate(names)
    }
    height = (top + 1) * _ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for room, other in direct(graph):
        (x1, y1), (x2, y2) = places[room], places[other]
        lines.append(f'<path d="M{x1:.0f} {y1 + _HIGH:.0f}L{x2:.0f} {y2:.0f}" stroke="#9ab" fill="none"/>')
    for room, (x, y) in sorted(places.items()):
        lines.append(
            f'<rect x="{x - _BOX / 2:.0f}" y="{y:.0f}" width="{_BOX}" height="{_HIGH}" rx="6" '
            'fill="#eef4fa" stroke="#357"/>'
            f'<text x="{x:.0f}" y="{y + 20:.0f}" text-anchor="middle">{room}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
