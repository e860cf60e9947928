"""TypeScript → one JavaScript module, by esbuild in WebAssembly.

Rules kept here:
- esbuild sees only the files that it is passed, in memory and read-only: an import of another file, or from
  `node_modules`, "could not be resolved"; so is every path that climbs above the folder or starts at the root, also one
  that would lead back into the folder;
- a `data:` URL brings no code in: it stays an import, which no sandbox resolves;
- no settings come from the files (`tsconfig.json` and `package.json` are not among them);
- time, memory and the size of the output are limited: constants are inlined, so a small source can make a large module;
- a bundle is cached by the digest of its sources, the compiler and its options, so that an unchanged skill starts
  without esbuild. Errors are not cached;
- an error has the file, line and column in the author's source. The output is ASCII, so that the engine, which counts
  columns in bytes, and the source map, which counts UTF-16 code units, agree.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from cortex_sandbox.engine.cache import keep, recall
from cortex_sandbox.engine.guests import manifest
from cortex_sandbox.errors import Frame, TranspileError
from cortex_sandbox.esbuild.protocol import FOR_NODE, OPTIONS
from cortex_sandbox.excerpt import excerpt

SOURCE_SUFFIXES = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"})
SUFFIXES = SOURCE_SUFFIXES | {".json"}
_MAX_NAME_BYTES = 255
# With the source map; several times the output of the largest folder that is read, and more than most guests can load.
_MAX_OUTPUT_BYTES = 32 << 20
_MAX_MESSAGES, _MAX_MESSAGE_BYTES = 20, 8 << 20
_MAP_MARK = "//# sourceMappingURL=data:application/json;base64,"
_CACHE_LABEL = "bundle"
# How the files are passed to esbuild; part of the key of the cache.
_LAYOUT = "in a folder"
_MAX_CACHED_BUNDLES, _MAX_CACHED_BYTES = 1000, 64 << 20


class Module(str):
    """JavaScript text with its source map (JSON) and its sources, by path."""

    source_map: str
    sources: Mapping[str, str]

    __slots__ = ("source_map", "sources")

    def __new__(cls, code: str, source_map: str, sources: Mapping[str, str]) -> Module:
        """A `str` equal to `code`."""
        module = super().__new__(cls, code)
        module.source_map = source_map
        module.sources = sources
        return module


def transpile(source: str, filename: str = "skill.ts", *, timeout_s: float = 10.0) -> Module:
    """One TypeScript file as a JavaScript module; it may import nothing.

    Args:
        source: the text.
        filename: its name; the suffix selects the dialect (`.ts`, `.tsx`, `.js`, …).
        timeout_s: wall-clock seconds, without the time to compile esbuild itself, once per machine.

    Raises:
        TranspileError: a syntax error, or an import; `frames` has the place.
        SandboxTimeout: past the time limit.
    """
    return bundle({PurePosixPath(filename).name: source}, PurePosixPath(filename).name, timeout_s=timeout_s)


def bundle(
    files: Mapping[str, str],
    entry: str = "skill.ts",
    *,
    packages: Mapping[str, str] = MappingProxyType({}),
    for_node: bool = False,
    timeout_s: float = 10.0,
) -> Module:
    """Several files as one JavaScript module, from the cache when the same files were bundled before.

    Args:
        files: text by relative POSIX path, the files of one folder.
        entry: the path of the entry file.
        packages: which of the files an import of a package resolves to, by the name of the package.
        for_node: whether it may import the modules of Node.js, which the sandbox does not have.
        timeout_s: wall-clock seconds, without the time to compile esbuild itself, once per machine.

    Raises:
        TranspileError: a syntax error, or an import of a file that is not among the files; `frames` has the place.
        SandboxTimeout: past the time limit.
        ValueError: a path that is not a file path inside a folder, or not of a known kind.
    """
    for path in files:
        _check_path(path)
        if any(str(parent) in files for parent in PurePosixPath(path).parents):
            raise ValueError(f"{path!r} is inside a path that is a file")
    if entry not in files:
        raise ValueError(f"the entry {entry!r} is not among the files")
    options = FOR_NODE if for_node else OPTIONS
    compiler = [manifest()["esbuild"], manifest()["sha256"]["esbuild.wasm"], options, _LAYOUT]
    key = json.dumps([*compiler, entry, sorted(files.items()), *sorted(packages.items())])
    output = recall(_CACHE_LABEL, key)
    if output is None:
        output = _build(files, entry, packages, options, timeout_s)
        keep(_CACHE_LABEL, key, output, entries=_MAX_CACHED_BUNDLES, total_bytes=_MAX_CACHED_BYTES)
    return _split(output.decode("utf-8", "replace"), dict(files))


def _check_path(path: str) -> None:
    parts = PurePosixPath(path).parts
    plain = path == "/".join(parts) and not any(
        part == "node_modules" or part.startswith(".") or len(part.encode("utf-8", "replace")) > _MAX_NAME_BYTES
        for part in parts
    )
    if not plain or path.startswith("/") or "\0" in path or "\\" in path:
        raise ValueError(f"{path!r} is not the path of a file inside a folder")
    if PurePosixPath(path).suffix not in SUFFIXES or PurePosixPath(path).name == "package.json":
        raise ValueError(f"{path!r} is not of a kind that can be bundled")


def _build(
    files: Mapping[str, str], entry: str, packages: Mapping[str, str], options: Sequence[str], timeout_s: float
) -> bytes:
    """The module that esbuild makes, with its source map."""
    from cortex_sandbox.esbuild.esbuild import ResponseTooLong, build  # not needed for a cached bundle

    try:
        limit = _MAX_OUTPUT_BYTES + _MAX_MESSAGE_BYTES
        response = build(files, entry, packages=packages, options=options, timeout_s=timeout_s, response_bytes=limit)
        outputs = [output["contents"] for output in response.get("outputFiles", ())]
        if messages := response.get("errors", ()):
            raise _error_from(messages[:_MAX_MESSAGES], files)
    except ResponseTooLong:
        raise _output_too_large() from None
    except (KeyError, TypeError, ValueError):  # no response, or not one that esbuild makes
        raise _too_large() from None
    if len(outputs) != 1 or not isinstance(outputs[0], bytes):
        raise _too_large()
    if len(outputs[0]) > _MAX_OUTPUT_BYTES:
        raise _output_too_large()
    return outputs[0]


def _split(output: str, files: Mapping[str, str]) -> Module:
    """The code and its source map, which esbuild writes as the last comment."""
    code, mark, encoded = output.rpartition(_MAP_MARK)
    if not mark:
        return Module(output, "", files)
    return Module(code, base64.b64decode(encoded.strip()).decode("utf-8", "replace"), files)


def _too_large() -> TranspileError:
    return TranspileError("the source is too large or too deeply nested to transpile", "RangeError")


def _output_too_large() -> TranspileError:
    return TranspileError(f"the bundled module has more than {_MAX_OUTPUT_BYTES >> 20} MiB", "RangeError")


def _error_from(messages: Sequence[Mapping[str, Any]], files: Mapping[str, str]) -> TranspileError:
    """Esbuild's error messages as one error, with a frame for each place."""
    places = [place for message in messages if (place := _place(message)) is not None]
    frames = tuple(_frame(place["file"], place["line"], place["column"], files) for place in places)
    text = "; ".join(message["text"].partition("\n")[0] for message in messages)
    error = TranspileError(text[:2000], "SyntaxError", frames)
    error.excerpt = excerpt(frames, files)
    return error


def _place(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The place of a message, or else of the first of its notes that has one."""
    places = [message["location"], *(note["location"] for note in message["notes"])]
    return next((place for place in places if place is not None), None)


def _frame(file: str, line: int, byte_column: int, files: Mapping[str, str]) -> Frame:
    """A place of esbuild, whose columns count bytes from 0, as a frame, whose columns count UTF-16 from 1."""
    lines = files.get(file, "").split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    before = text.encode("utf-8", "replace")[:byte_column].decode("utf-8", "ignore")
    return Frame("", file, line, len(before.encode("utf-16-le")) // 2 + 1)
