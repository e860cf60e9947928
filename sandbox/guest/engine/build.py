"""`python build.py FOLDER`: compiles QuickJS-ng, with the C files beside this one, to `quickjs.wasm` in a folder.

Rules kept here:
- the engine's source and the compiler are pinned in `requirements.txt` and `compiler.txt`; pip checks their hashes
  before anything is unpacked;
- only the C files of the source archive are unpacked, by their base names;
- the engine's file is changed in two places (`CHANGES`), so that the error of a stopped loop names a line of the loop.
  The engine has positions of calls and a few other expressions only: now each statement has one. And at a jump it
  looked for the position before the target, which is outside of the loop;
- builds are reproducible: no debug information, no path and no time in the output;
- asserts are compiled in: an engine in an unexpected state stops.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = ("guest.c", "memory.c", "engine.c", "dtoa.c", "libregexp.c", "libunicode.c")
# In quickjs.c: a text, what replaces it, and how often it is there.
CHANGES = (
    ("    /* specific label handling */\n", "    emit_source_loc(s);\n", 1),
    ("if (unlikely(js_poll_interrupts(ctx)))", "if (unlikely(js_poll_interrupts(ctx)) && pc++)", 7),
)
FLAGS = (
    "-g0",
    "--target=wasm32-wasi",
    "-O2",
    "-D_GNU_SOURCE",
    "-funsigned-char",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-sanitize=undefined",
    "-mexec-model=reactor",
    # Limits.stack_bytes is at most half of it. Zig puts the stack first, so that an overflow traps.
    "-Wl,-z,stack-size=1048576",
    "-Wl,--gc-sections",
    "-Wl,--strip-all",
)
# The licences of the linked C library, from the compiler's package.
LICENCES = ("wasi/LICENSE", "wasi/LICENSE-MIT", "wasi/LICENSE-APACHE-LLVM", "musl/COPYRIGHT")
# The files of the compiler's package for other targets than WebAssembly, half of its 400 MB.
OTHER_TARGETS = re.compile(r"ziglang/lib/(libcxx|libtsan|libc/(mingw|include/(?!wasm|generic-musl)))")


def build(out: Path) -> None:
    """Build `quickjs.wasm` and `quickjs.LICENSE` in a folder.

    Raises:
        RuntimeError: when a download does not have its pinned hash, or the compilation fails.

    """
    with tempfile.TemporaryDirectory(prefix="quickjs-") as scratch:
        work = Path(scratch)
        source = work / "source"
        source.mkdir()
        _unpack_source(_download("requirements.txt", work), source)
        _change(source / "quickjs.c")
        for path in HERE.glob("*.c"):
            (source / path.name).write_bytes(path.read_bytes())
        with zipfile.ZipFile(_download("compiler.txt", work)) as wheel:
            wheel.extractall(work, [name for name in wheel.namelist() if not OTHER_TARGETS.match(name)])
        zig = work / "ziglang" / ("zig.exe" if sys.platform == "win32" else "zig")
        zig.chmod(0o755)
        cache = {name: str(work / "cache") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
        _run([str(zig), "cc", *FLAGS, *SOURCES, "-o", str(out / "quickjs.wasm")], source, os.environ | cache)
        licence = (source / "quickjs.c").read_text(encoding="utf-8").partition("*/")[0] + "*/\n"
        libc = work / "ziglang" / "lib" / "libc"
        licence += "".join(f"\n{name}\n\n{(libc / name).read_text(encoding='utf-8')}" for name in LICENCES)
        (out / "quickjs.LICENSE").write_text(licence, encoding="utf-8")


def _download(requirements: str, work: Path) -> Path:
    """The package that a requirements file pins by its hashes."""
    folder = work / Path(requirements).stem
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--require-hashes", "--requirement", requirements, "--dest", str(folder)]
    _run([*pip, "download", *options], HERE, os.environ)
    (package,) = folder.iterdir()
    return package


def _unpack_source(archive: Path, folder: Path) -> None:
    """Unpack the C files of the engine."""
    with tarfile.open(archive) as packed:
        for member in packed:
            parts = Path(member.name).parts
            content = packed.extractfile(member) if member.isfile() and parts[-2:-1] == ("upstream-quickjs",) else None
            if content is not None and parts[-1].endswith((".c", ".h")):
                (folder / parts[-1]).write_bytes(content.read())


def _change(file: Path) -> None:
    """Make the changes to the engine's file.

    Raises:
        RuntimeError: the file is not the one that they were written for.

    """
    text = file.read_text(encoding="utf-8")
    for before, after, count in CHANGES:
        if text.count(before) != count:
            raise RuntimeError(f"{file.name} has {before.strip()!r} {text.count(before)} times, not {count} times")
        text = text.replace(before, after)
    file.write_text(text, encoding="utf-8")


def _run(command: list[str], folder: Path, environment: os._Environ[str] | dict[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"`{Path(command[0]).name} {' '.join(command[1:4])} …` failed: see above")


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
