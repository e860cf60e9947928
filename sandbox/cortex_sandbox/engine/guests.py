"""The WebAssembly guests that the build of this package made.

Rules kept here:
- guests are read from the folder of this package only; `esbuild.wasm` is compressed there;
- the error for a missing guest states how to build it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "guests"


PACKED = ".xz"


def unpacked(path: Path) -> bytes:
    """The content of a compressed file.

    Raises:
        OSError: it cannot be read or is damaged, or this Python has no module `lzma`.
    """
    try:
        import lzma
    except ImportError:
        raise OSError("this Python was built without liblzma, which reads the guests") from None
    try:
        return lzma.decompress(path.read_bytes(), lzma.FORMAT_XZ)
    except (EOFError, lzma.LZMAError) as error:
        raise OSError(f"{path.name} is damaged: {error}") from None


def read_guest(name: str) -> bytes:
    """The bytes of one guest: `quickjs.wasm`, `esbuild.wasm` or `bootstrap.js`.

    Raises:
        FileNotFoundError: when the build did not make it.
    """
    path = FOLDER / name
    packed = FOLDER / f"{name}{PACKED}"
    try:
        return unpacked(packed) if packed.is_file() else path.read_bytes()
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
