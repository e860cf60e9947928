"""Print the folders of tests of a room and of the rooms that import it: `make check ROOM=registry` runs them.

Rules kept here:
- the tests of a room are in the folder of its name, those of a package in that of its last word; some rooms have more;
- the interfaces find features by their entry points, so that the tests of the interfaces belong to each feature.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.rooms import rooms

HERE = Path(__file__).parent
_MORE = {
    "cortex_sandbox": ("wasm", "isolation", "direct"),
    "lifecycle": ("reload",),
    "doors/http": ("server",),
    "doors/rest": ("server",),
    "doors/sparql": ("server",),
    "features/actions": ("approvals",),
    "features/artifacts": ("artifact_index", "artifact_tools", "installed", "contracts"),
    "features/graph": ("tools",),
}


def folders_of(room: str) -> list[str]:
    """The folders, relative to the checkout; raises SystemExit for a room that does not exist."""
    imports = rooms()
    room = next((each for each in imports if each.rpartition("/")[2] == room), room)
    if room not in imports:
        raise SystemExit(f"there is no room {room}; there are: {', '.join(sorted(imports))}")
    wanted = [room, *sorted(other for other, imported in imports.items() if room in imported)]
    if room.startswith("features/"):
        wanted += ["doors/cli", "doors/mcp", "doors/rest"]
    names = dict.fromkeys(
        name for each in wanted for name in (each.rpartition("/")[2].removeprefix("cortex_"), *_MORE.get(each, ()))
    )
    return [f"tests/{name}" for name in names if (HERE / name).is_dir()]


if __name__ == "__main__":
    sys.stdout.write(" ".join(folders_of(sys.argv[1])) + "\n")
