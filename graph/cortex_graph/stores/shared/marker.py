"""The mark of the format that a data folder is written in: the file `.cortex-format`.

Rules kept here:
- a folder without a mark is of the first format, the only one so far; the owner marks it;
- a folder of a later format is not touched, by readers neither;
- the mark appears whole.
"""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from cortex_graph.errors import GraphUnavailable

FORMAT = 1
NAME = ".cortex-format"
_MOST_BYTES = 1024


def check(folder: Path) -> None:
    """See that the format of a folder is known here.

    Raises:
        GraphUnavailable: it is not.

    """
    try:
        with (folder / NAME).open("rb") as file:
            text = file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        raise _unusable(folder, f"its {NAME} cannot be read: {error}", "check whose it is") from error
    try:
        version = orjson.loads(text)["format"]
    except (ValueError, TypeError, KeyError):
        version = None
    if type(version) is not int or version < 1:
        raise _unusable(folder, f"its {NAME} is damaged", f'write {{"format": {FORMAT}}} into it')
    if version > FORMAT:
        raise _unusable(
            folder,
            f"it is of format {version}, and this version knows {FORMAT}",
            "use the version of cortex-skills that wrote it, or a later one",
        )


def write(folder: Path) -> None:
    """Mark a folder that has no mark.

    Raises:
        GraphUnavailable: it cannot be written to.

    """
    target = folder / NAME
    part = folder / f"{NAME}.{os.getpid()}"
    try:
        if target.exists():
            return
        with part.open("wb") as file:
            file.write(orjson.dumps({"format": FORMAT}))
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unusable(
            folder, f"it cannot be written to: {error.strerror}", "check that the disk is not full"
        ) from error


def _unusable(folder: Path, problem: str, hint: str) -> GraphUnavailable:
    return GraphUnavailable(
        f"the folder {folder} cannot be used as a store: {problem}", hint=hint, details={"folder": str(folder)}
    )
