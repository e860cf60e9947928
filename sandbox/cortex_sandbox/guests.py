"""Where the WebAssembly guests are that the build made.

Rules kept here:
- the guests of the sandbox come from this package's own folder and from nowhere else;
- a guest that is absent is an error that says how to get it.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).with_name("guests")


def read_guest(name: str) -> bytes:
    """The bytes of one guest: `quickjs.wasm`, `esbuild.wasm` or `bootstrap.js`.

    Raises:
        FileNotFoundError: when the build did not bring it.

    """
    return read_built(FOLDER / name)


def read_built(path: Path) -> bytes:
    """The bytes of a file that the build makes.

    Raises:
        FileNotFoundError: when it did not.

    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path.name} is missing from {path.parent}: install the package with pip (its build makes the "
            "WebAssembly guests), or run `python hatch_build.py` in a checkout"
        ) from None
