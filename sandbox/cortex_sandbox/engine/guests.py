"""The WebAssembly guests that the build of this package made.

Rules kept here:
- guests are read from the folder of this package only;
- the error for a missing guest states how to build it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "guests"


def read_guest(name: str) -> bytes:
    """The bytes of one guest: `quickjs.wasm`, `esbuild.wasm` or `bootstrap.js`.

    Raises:
        FileNotFoundError: when the build did not make it.
    """
    path = FOLDER / name
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path.name} is missing from {path.parent}: install the package with pip (its build makes the "
            "WebAssembly guests), or run `python hatch_build.py` in a checkout"
        ) from None


@cache
def manifest() -> dict[str, Any]:
    """What the build recorded: `esbuild`, the version, and `sha256`, the digest of each guest by file name.

    Raises:
        FileNotFoundError: when the build did not make it.
    """
    return dict(json.loads(read_guest("guests.json")))
