"""TypeScript → one JavaScript module, by esbuild in WebAssembly.

Rules kept here:
- esbuild sees the files that it is handed and nothing else: they are written into a private folder that is its whole
  world, read-only; what lies elsewhere, in `node_modules`, or behind a link "could not be resolved";
- no code comes in by a `data:` URL, past whoever looks at the files: it stays an import, which no sandbox resolves;
- no settings come from the files (`tsconfig.json`, `package.json` are not part of what it sees);
- time and memory are limited as for any guest, and so is what comes out: constants are written out wherever they are
  used, so that a small source makes a large module;
- an error names the file, line and column that its author wrote; what comes out is ASCII, so that the engine, which
  counts columns in bytes, and a source map, which counts UTF-16, mean the same place.
"""

from __future__ import annotations

import base64
import os
import re
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import wasmtime

from .code_cache import load_module
from .engine import Engine, deep_engine, deep_threads
from .errors import Frame, SandboxTimeout, TranspileError
from .excerpt import excerpt
from .guests import read_guest

SOURCE_SUFFIXES = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"})
SUFFIXES = SOURCE_SUFFIXES | {".json"}
_MEMORY_BYTES = 1 << 30
_MAX_NAME_BYTES = 255
# With the source map; several times what the largest folder that is read makes, and more than most guests can load.
_MAX_OUTPUT_BYTES = 32 << 20
_MAP_MARK = "//# sourceMappingURL=data:application/json;base64,"
_OPTIONS = (
    "--bundle",
    "--external:data:*",
    "--format=esm",
    "--target=es2023",
    "--charset=ascii",
    "--sourcemap=inline",
    "--sources-content=false",
    "--tsconfig-raw={}",
    "--color=false",
    "--log-level=error",
    "--log-limit=20",
)
_PLACE = re.compile(r"^ {4}(\S.*?):(\d+):(\d+):$", re.MULTILINE)


class Module(str):
    """JavaScript text that brings along its source map (JSON) and the texts that it was made from, by their paths."""

    source_map: str
    sources: Mapping[str, str]

    __slots__ = ("source_map", "sources")

    def __new__(cls, code: str, source_map: str, sources: Mapping[str, str]) -> Module:
        """The text `code`, with what an error in it is explained by."""
        module = super().__new__(cls, code)
        module.source_map = source_map
        module.sources = sources
        return module


def transpile(source: str, filename: str = "skill.ts", *, timeout_s: float = 10.0) -> Module:
    """One TypeScript file as a JavaScript module; it may import nothing.

    Args:
        source: the text.
        filename: its name; the suffix says the dialect (`.ts`, `.tsx`, `.js`, …).
        timeout_s: wall-clock seconds, apart from compiling esbuild itself, which happens once a machine.

    Raises:
        TranspileError: a syntax error, or an import; `frames` says where.
        SandboxTimeout: past the time limit.

    """
    return bundle({PurePosixPath(filename).name: source}, PurePosixPath(filename).name, timeout_s=timeout_s)


def bundle(files: Mapping[str, str], entry: str = "skill.ts", *, timeout_s: float = 10.0) -> Module:
    """Several files as one JavaScript module.

    Args:
        files: text by relative POSIX path, as one folder holds them.
        entry: the path of the file that is the module.
        timeout_s: wall-clock seconds, apart from compiling esbuild itself, which happens once a machine.

    Raises:
        TranspileError: a syntax error, an import of what is not among the files; `frames` says where. Also in a
            process that was forked after its parent had transpiled.
        SandboxTimeout: past the time limit.
        ValueError: a path that is none inside a folder, or not of a known kind.

    """
    for path in files:
        _check_path(path)
        if any(str(parent) in files for parent in PurePosixPath(path).parents):
            raise ValueError(f"{path!r} lies inside of what is a file")
    if entry not in files:
        raise ValueError(f"the entry {entry!r} is not among the files")
    _wasi.require_threads()
    engine = deep_engine()
    module = _esbuild(engine)
    with tempfile.TemporaryDirectory(prefix="cortex-bundle-") as scratch:
        world, out, errors = Path(scratch, "world"), Path(scratch, "out"), Path(scratch, "errors")
        world.mkdir(mode=0o700)
        for path, text in files.items():
            target = world / path
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", errors="replace", newline="")
        status = deep_threads.run(lambda: _run(engine, module, entry, world, out, errors, timeout_s))
        if status:
            raise _error_from(errors.read_text(encoding="utf-8", errors="replace"), files)
        if out.stat().st_size > _MAX_OUTPUT_BYTES:
            raise TranspileError(f"the bundled module has more than {_MAX_OUTPUT_BYTES >> 20} MiB", "RangeError")
        return _split(out.read_text(encoding="utf-8", errors="replace"), dict(files))


@cache
def _esbuild(engine: Engine) -> wasmtime.Module:
    wasm = read_guest("esbuild.wasm")
    return load_module(engine.wasm, "esbuild", engine.settings, lambda: wasm, wasm)


def _check_path(path: str) -> None:
    parts = PurePosixPath(path).parts
    plain = path == "/".join(parts) and not any(
        part == "node_modules" or part.startswith(".") or len(part.encode("utf-8", "replace")) > _MAX_NAME_BYTES
        for part in parts
    )
    if not plain or path.startswith("/") or "\0" in path or "\\" in path:
        raise ValueError(f"{path!r} is no path of a file inside a folder")
    if PurePosixPath(path).suffix not in SUFFIXES or PurePosixPath(path).name == "package.json":
        raise ValueError(f"{path!r} is not of a kind that can be bundled")


def _run(
    engine: Engine,
    module: wasmtime.Module,
    entry: str,
    world: Path,
    out: Path,
    errors: Path,
    timeout_s: float,
) -> int:
    """Run esbuild once; its exit status."""
    wasi = wasmtime.WasiConfig()
    wasi.argv = ("esbuild", f"./{entry}", *_OPTIONS)
    wasi.env = {"PWD": "/", "GOGC": "400"}.items()
    wasi.stdout_file, wasi.stderr_file = str(out), str(errors)
    wasi.preopen_dir(str(world), "/", fs_mutable=False)
    store = wasmtime.Store(engine.wasm)
    store.set_limits(memory_size=_MEMORY_BYTES)
    store.set_wasi(wasi)
    linker = _wasi_linker(engine)
    engine.clock.enter()
    store.set_epoch_deadline(engine.clock.ticks_for(timeout_s))
    started = time.monotonic()
    try:
        linker.instantiate(store, module).exports(store)["_start"](store)  # type: ignore[operator]
    except wasmtime.ExitTrap as ended:
        return int(ended.code)
    except wasmtime.Trap as trap:
        if trap.trap_code is wasmtime.TrapCode.INTERRUPT or time.monotonic() - started >= timeout_s:
            raise SandboxTimeout("stopped: transpiling took longer than its time limit", "Timeout") from None
        raise _too_large() from None
    finally:
        engine.clock.leave()
        store.close()
    return 0


class _Wasi:
    """Whether wasmtime's WASI works here: it keeps threads of its own, started when first used, and waits for them.

    A fork does not take them along: the child would wait for ever, past any deadline.
    """

    def __init__(self) -> None:
        self._started = self._lost = False
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self._lost = self._started

    def require_threads(self) -> None:
        if self._lost:
            raise TranspileError(
                "this process was forked after its parent had transpiled: fork before that, or spawn", "ForkedProcess"
            )
        self._started = True


_wasi = _Wasi()


@cache
def _wasi_linker(engine: Engine) -> wasmtime.Linker:
    linker = wasmtime.Linker(engine.wasm)
    linker.define_wasi()
    return linker


def _split(output: str, files: Mapping[str, str]) -> Module:
    """The code and its source map, which esbuild writes as a last comment."""
    code, mark, encoded = output.rpartition(_MAP_MARK)
    if not mark:
        return Module(output, "", files)
    return Module(code, base64.b64decode(encoded.strip()).decode("utf-8", "replace"), files)


def _too_large() -> TranspileError:
    return TranspileError("the source is too large or too deeply nested to transpile", "RangeError")


def _error_from(text: str, files: Mapping[str, str]) -> TranspileError:
    """Esbuild's report as one error: the first message, and a frame for each place."""
    messages = text.split("[ERROR] ")[1:]
    if not messages:  # it broke off by itself, with a report for its own developers
        return _too_large()
    places = [place for message in messages if (place := _PLACE.search(message))]
    frames = tuple(_frame(place[1], int(place[2]), int(place[3]), files) for place in places)
    said = "; ".join(message.partition("\n")[0] for message in messages)
    error = TranspileError(said[:2000], "SyntaxError", frames)
    error.excerpt = excerpt(frames, files)
    return error


def _frame(file: str, line: int, byte_column: int, files: Mapping[str, str]) -> Frame:
    """A place of esbuild's, whose columns count bytes from 0, as one of ours, in UTF-16 from 1."""
    lines = files.get(file, "").split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    before = text.encode("utf-8", "replace")[:byte_column].decode("utf-8", "ignore")
    return Frame("", file, line, len(before.encode("utf-16-le")) // 2 + 1)
