"""`python compile.py [--engine FOLDER] [--pure SOURCES WASM]` compiles the guests that are written in C.

Rules kept here:
- the compiler, which is large, is fetched once for all of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pure
from compiler import compiler
from engine import build as engine


def main() -> None:
    """Compile what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", type=Path, metavar="FOLDER", help="put quickjs.wasm there")
    parser.add_argument("--pure", type=Path, nargs=2, metavar=("SOURCES", "WASM"), help="make a module of C files")
    asked = parser.parse_args()
    with compiler() as found:
        if asked.pure:
            sources, wasm = asked.pure
            pure.build(sources.resolve(), wasm.resolve(), found)
        if asked.engine:
            engine.build(asked.engine.resolve(), found)


if __name__ == "__main__":
    main()
