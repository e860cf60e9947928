"""The C compiler of the guests, which is fetched, used, and left.

Rules kept here:
- it is exactly the one that `compiler.txt` pins; pip checks its hash before anything of it is unpacked;
- the same inputs give the same bytes: no debug information, no path and no time of this machine's.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PINNED = Path(__file__).with_name("compiler.txt")
# Of the compiler's package: what other targets than WebAssembly need, half of its 400 MB.
OTHER_TARGETS = re.compile(r"ziglang/lib/(libcxx|libtsan|libc/(mingw|include/(?!wasm|generic-musl)))")


class Compiler:
    """The compiler as it lies unpacked.

    Attributes:
        libc: the folder of its C libraries, whose licences a guest carries that is linked with them.

    """

    def __init__(self, folder: Path) -> None:
        self._zig = folder / "ziglang" / ("zig.exe" if sys.platform == "win32" else "zig")
        self._zig.chmod(0o755)
        self._cache = str(folder / "cache")
        self.libc = folder / "ziglang" / "lib" / "libc"

    def compile(self, flags: Sequence[str], sources: Sequence[str], folder: Path, wasm: Path) -> None:
        """Compile C files to a WebAssembly module.

        Args:
            flags: for the compiler and the linker.
            sources: the names of the files.
            folder: where they are.
            wasm: where the module goes.

        Raises:
            RuntimeError: when the compiler refuses.

        """
        environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": self._cache, "ZIG_LOCAL_CACHE_DIR": self._cache}
        _run([str(self._zig), "cc", "-g0", *flags, *sources, "-o", str(wasm)], folder, environment)


@contextmanager
def compiler() -> Iterator[Compiler]:
    """The compiler, for as long as the block takes.

    Raises:
        RuntimeError: when it is not what is pinned.

    """
    with tempfile.TemporaryDirectory(prefix="compiler-") as scratch:
        folder = Path(scratch)
        (wheel,) = fetch(PINNED, folder / "package").glob("*.whl")
        with zipfile.ZipFile(wheel) as zipped:
            zipped.extractall(folder, [name for name in zipped.namelist() if not OTHER_TARGETS.match(name)])
        yield Compiler(folder)


def fetch(pinned: Path, folder: Path) -> Path:
    """Put the packages that a file of requirements pins, by their hashes, into a folder: that folder.

    Raises:
        RuntimeError: when one is not what is pinned.

    """
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wanted = ["--no-deps", "--require-hashes", "--requirement", str(pinned)]
    _run([*pip, "download", *wanted, "--dest", str(folder)], pinned.parent)
    return folder


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"`{Path(command[0]).name} {' '.join(command[1:4])} …` failed: see above")
