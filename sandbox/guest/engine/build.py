"""QuickJS-ng, with the C beside this file, → `quickjs.wasm`.

Rules kept here:
- the engine's source is exactly the one that `requirements.txt` pins; pip checks its hash;
- nothing of the source archive but its C files is unpacked, under their own plain names;
- asserts stay in: an engine that finds itself in a state that it does not know stops.
"""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path

from compiler import Compiler, fetch

HERE = Path(__file__).resolve().parent
SOURCES = ("guest.c", "memory.c", "engine.c", "dtoa.c", "libregexp.c", "libunicode.c")
FLAGS = (
    "--target=wasm32-wasi",
    "-O2",
    "-D_GNU_SOURCE",
    "-funsigned-char",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-sanitize=undefined",
    "-mexec-model=reactor",
    # Limits.stack_bytes goes up to half of it. Zig lays the stack first, so that what runs out of it traps.
    "-Wl,-z,stack-size=1048576",
    "-Wl,--gc-sections",
    "-Wl,--strip-all",
)
# Of the compiler's package: the licences of the C library that is linked in.
LICENCES = ("wasi/LICENSE", "wasi/LICENSE-MIT", "wasi/LICENSE-APACHE-LLVM", "musl/COPYRIGHT")


def build(out: Path, compiler: Compiler) -> None:
    """Put `quickjs.wasm` and `quickjs.LICENSE` into a folder.

    Args:
        out: the folder.
        compiler: what compiles it.

    Raises:
        RuntimeError: when the source is not what is pinned, or the compiler refuses.

    """
    with tempfile.TemporaryDirectory(prefix="quickjs-") as scratch:
        work = Path(scratch)
        source = work / "source"
        source.mkdir()
        (archive,) = fetch(HERE / "requirements.txt", work / "packages").glob("*.tar.gz")
        _unpack_source(archive, source)
        for path in HERE.glob("*.c"):
            (source / path.name).write_bytes(path.read_bytes())
        compiler.compile(FLAGS, SOURCES, source, out / "quickjs.wasm")
        licence = (source / "quickjs.c").read_text(encoding="utf-8").partition("*/")[0] + "*/\n"
        licence += "".join(f"\n{name}\n\n{(compiler.libc / name).read_text(encoding='utf-8')}" for name in LICENCES)
        (out / "quickjs.LICENSE").write_text(licence, encoding="utf-8")


def _unpack_source(archive: Path, folder: Path) -> None:
    """The C files of the engine, out of the folder of the archive that has them."""
    with tarfile.open(archive) as packed:
        for member in packed:
            parts = Path(member.name).parts
            content = packed.extractfile(member) if member.isfile() and parts[-2:-1] == ("upstream-quickjs",) else None
            if content is not None and parts[-1].endswith((".c", ".h")):
                (folder / parts[-1]).write_bytes(content.read())
