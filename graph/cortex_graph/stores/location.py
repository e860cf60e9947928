"""The folder of a store on the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cortex_graph.exceptions import GraphUnavailable

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)  # two letters or more: `C:\data` is a path


def folder_of(where: str | Path | Mapping[str, Any]) -> Path | None:
    """Return the folder of a store on the disk; None for a store in memory or on a server."""
    if isinstance(where, Path):
        return where
    if isinstance(where, Mapping) or where == "memory:":
        return None
    scheme = found[1].lower() if (found := _SCHEME.match(where)) else ""
    if not scheme:
        return Path(where)
    if scheme != "file":
        return None
    from urllib.request import url2pathname  # slow to import

    url = urlsplit(where)
    if url.netloc not in ("", "localhost") or not url.path:
        raise GraphUnavailable(f"{where} is not a folder of this machine", hint="for instance `file:///data/graph`")
    return Path(url2pathname(url.path))


def store_above(path: Path) -> Path | None:
    """Return the folder of the store that contains a path, if there is one."""
    parents = Path(os.path.realpath(path)).parents
    return next((folder for folder in parents if (folder / "CURRENT").is_file() and _is_store(folder)), None)


def _is_store(folder: Path) -> bool:
    return any(folder.glob("MANIFEST-*")) and (folder / "IDENTITY").is_file()
