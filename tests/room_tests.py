"""Print the folders of tests of a room and of the rooms that import it: `make check ROOM=registry` runs them.

Rules kept here:
- the tests of a room are in the folder of its name, those of a package in that of its last word; some rooms have more.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.rooms import rooms

HERE = Path(__file__).parent
_MORE = {"server": ("mcp", "explorer"), "cortex_sandbox": ("wasm", "isolation", "direct"), "lifecycle": ("reload",)}


def folders_of(room: str) -> list[str]:
    """The folders, relative to the checkout; raises SystemExit for a room that does not exist."""
    imports = rooms()
    if room not in imports:
        raise SystemExit(f"there is no room {room}; there are: {', '.join(sorted(imports))}")
    wanted = [room, *sorted(other for other, imported in imports.items() if room in imported)]
    names = [name for each in wanted for name in (each.removeprefix("cortex_"), *_MORE.get(each, ()))]
    return [f"tests/{name}" for name in names if (HERE / name).is_dir()]


if __name__ == "__main__":
    sys.stdout.write(" ".join(folders_of(sys.argv[1])) + "\n")
