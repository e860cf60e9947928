"""`python build.py FOLDER` compiles QuickJS-ng, with the C beside this file, to `quickjs.wasm`.

Rules kept here:
- the engine's source and the compiler are exactly those that `requirements.txt` pins; pip checks their hashes;
- nothing of the source archive but its C files is unpacked, under their own plain names;
- the same inputs give the same bytes: no debug information, no path and no time of this machine's;
- asserts stay in: an engine that finds itself in a state that it does not know stops.
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
FLAGS = (
    "--target=wasm32-wasi",
    "-O2",
    "-g0",
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
# Of the compiler's package: what other targets than WebAssembly need, half of its 400 MB.
OTHER_TARGETS = re.compile(r"ziglang/lib/(libcxx|libtsan|libc/(mingw|include/(?!wasm|generic-musl)))")
# Of the same: the licences of the C library that is linked in.
LICENCES = ("wasi/LICENSE", "wasi/LICENSE-MIT", "wasi/LICENSE-APACHE-LLVM", "musl/COPYRIGHT")


def build(out: Path) -> None:
    """Put `quickjs.wasm` and `quickjs.LICENSE` into a folder.

    Args:
        out: the folder.

    Raises:
        RuntimeError: when a package is not what is pinned, or the compiler refuses.

    """
    with tempfile.TemporaryDirectory(prefix="quickjs-") as scratch:
        work = Path(scratch)
        packages = work / "packages"
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        wanted = ["--no-deps", "--require-hashes", "--requirement", str(HERE / "requirements.txt")]
        _run([*pip, "download", *wanted, "--dest", str(packages)], cwd=work)
        source, compiler = work / "source", work / "compiler"
        source.mkdir()
        (archive,) = packages.glob("*.tar.gz")
        (wheel,) = packages.glob("*.whl")
        _unpack_source(archive, source)
        for path in HERE.glob("*.c"):
            (source / path.name).write_bytes(path.read_bytes())
        with zipfile.ZipFile(wheel) as zipped:
            zipped.extractall(compiler, [name for name in zipped.namelist() if not OTHER_TARGETS.match(name)])
        zig = compiler / "ziglang" / ("zig.exe" if sys.platform == "win32" else "zig")
        zig.chmod(0o755)
        wasm = out / "quickjs.wasm"
        cache = str(work / "cache")
        environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        _run([str(zig), "cc", *FLAGS, *SOURCES, "-o", str(wasm)], cwd=source, environment=environment)
        libc = compiler / "ziglang" / "lib" / "libc"
        licence = (source / "quickjs.c").read_text(encoding="utf-8").partition("*/")[0] + "*/\n"
        licence += "".join(f"\n{name}\n\n{(libc / name).read_text(encoding='utf-8')}" for name in LICENCES)
        (out / "quickjs.LICENSE").write_text(licence, encoding="utf-8")


def _unpack_source(archive: Path, folder: Path) -> None:
    """The C files of the engine, out of the folder of the archive that has them."""
    with tarfile.open(archive) as packed:
        for member in packed:
            parts = Path(member.name).parts
            content = packed.extractfile(member) if member.isfile() and parts[-2:-1] == ("upstream-quickjs",) else None
            if content is not None and parts[-1].endswith((".c", ".h")):
                (folder / parts[-1]).write_bytes(content.read())


def _run(command: list[str], cwd: Path, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"`{Path(command[0]).name} {' '.join(command[1:4])} …` failed: see above")


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
