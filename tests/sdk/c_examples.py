"""The C examples of `sdk/c`, compiled with the compiler that the build uses."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

SDK = Path(__file__).parents[2] / "sdk" / "c"


def compiled(source: str | Path) -> bytes:
    """The core module of a C file: a path, or the name of an example."""
    return _compiled(SDK / source / "tool.c" if isinstance(source, str) else source)


@cache
def _compiled(source: Path) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "tool.wasm"
        caches = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), scratch)
        command = [sys.executable, "-m", "ziglang", "cc", "@compile.txt", "-I.", str(source), "-o", str(out)]
        done = subprocess.run(
            command, cwd=SDK, env=os.environ | caches, capture_output=True, text=True, check=False, timeout=240
        )
        assert done.returncode == 0, done.stderr
        return out.read_bytes()
