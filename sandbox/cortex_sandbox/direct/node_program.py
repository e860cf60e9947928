"""A skill's folder → one module that Node.js loads, with a source map.

Rules kept here:
- the bundler is that of the sandbox, and refuses the same sources with the same errors; the modules of Node.js stay
  imports, as in the files themselves;
- the source map has the URLs of the source files, so that a debugger opens them and breakpoints work.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

from cortex_sandbox.errors import SandboxError
from cortex_sandbox.esbuild.bundler import SUFFIXES, bundle

_MAP_MARK = "//# sourceMappingURL=data:application/json;base64,"


def write_bundle(folder: Path, entry: str, scratch: Path) -> Path:
    """Bundle a skill into a new file in the folder `scratch`; its path.

    Raises:
        TranspileError: a syntax error, or an import of a file that is not in the folder.
        SandboxTimeout: it takes too long.
        SandboxError: the folder cannot be read.
    """
    files = _read(folder)
    module = bundle(files, entry, for_node=True)
    source_map = json.loads(module.source_map)
    names = source_map["sources"]
    source_map["sources"] = [(folder / name).as_uri() for name in names]
    source_map["sourcesContent"] = [files.get(name) for name in names]
    program = scratch / folder.name / f"{Path(entry).stem}.mjs"
    program.parent.mkdir(mode=0o700, exist_ok=True)
    encoded = base64.b64encode(json.dumps(source_map).encode()).decode()
    program.write_text(f"{module}{_MAP_MARK}{encoded}\n", encoding="utf-8", newline="")
    return program


def _read(folder: Path) -> dict[str, str]:
    """The files that can be bundled, by relative path; links are left out."""
    files: dict[str, str] = {}
    try:
        for parent, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name != "node_modules" and not name.startswith(".")]
            for path in (Path(parent, name) for name in names if not name.startswith(".")):
                if path.suffix in SUFFIXES and path.name != "package.json" and not path.is_symlink():
                    files[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise SandboxError(f"{error.filename} cannot be read: {error.strerror}", "DirectModeUnavailable") from None
    return files
