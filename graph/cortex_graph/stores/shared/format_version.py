"""The format version of a data folder: the file `.cortex-format`.

Rules kept here:
- a folder without the file has the first format, which had memories in the graph of their namespace. Its owner moves
  them (`memory_graphs.py`) and writes the file;
- a folder of a later format is neither written nor read;
- the file is written atomically.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.workers.scratch import whole_file

FORMAT = 2
NAME = ".cortex-format"
_MOST_BYTES = 1024


def check(folder: Path) -> int:
    """Check that the format of a folder is known, and return it."""
    try:
        with (folder / NAME).open("rb") as file:
            text = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return 1
    except (OSError, ValueError) as error:
        raise _unusable(folder, f"its {NAME} cannot be read: {error}", "check its permissions") from error
    try:
        version = orjson.loads(text)["format"]
    except (ValueError, TypeError, KeyError):
        version = None
    if type(version) is not int or version < 1:
        raise _unusable(folder, f"its {NAME} is damaged", f'write {{"format": {FORMAT}}} into it')
    if version > FORMAT:
        raise _unusable(
            folder,
            f"it has format {version}, and this version supports {FORMAT}",
            "use the version of cortex-skills that wrote it, or a later one",
        )
    return version


def write(folder: Path) -> None:
    """Write the format version of a folder that has none or an earlier one."""
    target = folder / NAME
    try:
        if check(folder) < FORMAT:
            with whole_file(target) as file:
                file.write(orjson.dumps({"format": FORMAT}))
    except OSError as error:
        raise _unusable(
            folder, f"it cannot be written to: {error.strerror}", "check that the disk is not full"
        ) from error


def _unusable(folder: Path, problem: str, hint: str) -> GraphUnavailable:
    return GraphUnavailable(
        f"the folder {folder} cannot be used as a store: {problem}", hint=hint, details={"folder": str(folder)}
    )
