"""TypeScript → one JavaScript module, by esbuild in WebAssembly.

Rules kept here:
- esbuild sees the files that it is handed and nothing else: they are its whole world, in memory and read-only; what
  lies elsewhere, or in `node_modules`, "could not be resolved";
- no code comes in by a `data:` URL, past whoever looks at the files: it stays an import, which no sandbox resolves;
- no settings come from the files (`tsconfig.json`, `package.json` are not part of what it sees);
- time and memory are limited as for any guest, and so is what comes out: constants are written out wherever they are
  used, so that a small source makes a large module;
- an error names the file, line and column that its author wrote; what comes out is ASCII, so that the engine, which
  counts columns in bytes, and a source map, which counts UTF-16, mean the same place.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from .errors import Frame, TranspileError
from .esbuild import AnswerTooLong, build
from .excerpt import excerpt

SOURCE_SUFFIXES = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"})
SUFFIXES = SOURCE_SUFFIXES | {".json"}
_MAX_NAME_BYTES = 255
# With the source map; several times what the largest folder that is read makes, and more than most guests can load.
_MAX_OUTPUT_BYTES = 32 << 20
_MAX_MESSAGES, _MAX_MESSAGE_BYTES = 20, 8 << 20
_MAP_MARK = "//# sourceMappingURL=data:application/json;base64,"


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
        TranspileError: a syntax error, an import of what is not among the files; `frames` says where.
        SandboxTimeout: past the time limit.
        ValueError: a path that is none inside a folder, or not of a known kind.

    """
    for path in files:
        _check_path(path)
        if any(str(parent) in files for parent in PurePosixPath(path).parents):
            raise ValueError(f"{path!r} lies inside of what is a file")
    if entry not in files:
        raise ValueError(f"the entry {entry!r} is not among the files")
    try:
        answer = build(files, entry, timeout_s=timeout_s, answer_bytes=_MAX_OUTPUT_BYTES + _MAX_MESSAGE_BYTES)
        outputs = [output["contents"] for output in (answer or {}).get("outputFiles", ())]
        messages = (answer or {}).get("errors", ())
        if messages:
            raise _error_from(messages[:_MAX_MESSAGES], files)
    except AnswerTooLong:
        raise _output_too_large() from None
    except (KeyError, TypeError, ValueError):  # not what esbuild answers: it is not itself any more
        raise _too_large() from None
    if len(outputs) != 1 or not isinstance(outputs[0], bytes):
        raise _too_large()
    if len(outputs[0]) > _MAX_OUTPUT_BYTES:
        raise _output_too_large()
    return _split(outputs[0].decode("utf-8", "replace"), dict(files))


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


def _split(output: str, files: Mapping[str, str]) -> Module:
    """The code and its source map, which esbuild writes as a last comment."""
    code, mark, encoded = output.rpartition(_MAP_MARK)
    if not mark:
        return Module(output, "", files)
    return Module(code, base64.b64decode(encoded.strip()).decode("utf-8", "replace"), files)


def _too_large() -> TranspileError:
    return TranspileError("the source is too large or too deeply nested to transpile", "RangeError")


def _output_too_large() -> TranspileError:
    return TranspileError(f"the bundled module has more than {_MAX_OUTPUT_BYTES >> 20} MiB", "RangeError")


def _error_from(messages: Sequence[Mapping[str, Any]], files: Mapping[str, str]) -> TranspileError:
    """Esbuild's report as one error: what the messages say, and a frame for each place."""
    places = [place for message in messages if (place := _place(message)) is not None]
    frames = tuple(_frame(place["file"], place["line"], place["column"], files) for place in places)
    said = "; ".join(message["text"].partition("\n")[0] for message in messages)
    error = TranspileError(said[:2000], "SyntaxError", frames)
    error.excerpt = excerpt(frames, files)
    return error


def _place(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Where a message points to, or else the first of its notes that points somewhere."""
    places = [message["location"], *(note["location"] for note in message["notes"])]
    return next((place for place in places if place is not None), None)


def _frame(file: str, line: int, byte_column: int, files: Mapping[str, str]) -> Frame:
    """A place of esbuild's, whose columns count bytes from 0, as one of ours, in UTF-16 from 1."""
    lines = files.get(file, "").split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    before = text.encode("utf-8", "replace")[:byte_column].decode("utf-8", "ignore")
    return Frame("", file, line, len(before.encode("utf-16-le")) // 2 + 1)
