"""The built scripts and style sheets in `static`, by name.

Rules kept here:
- `files` in `static/assets.json` maps the name of an asset to its file, whose name contains its digest; nothing else is
  served;
- without the built files the pages are served without them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
PREFIX = "/explore/static"


@cache
def files() -> dict[str, str]:
    """The files by the name of their asset; empty if they were not built."""
    try:
        found: dict[str, str] = json.loads((FOLDER / "assets.json").read_text())["files"]
    except FileNotFoundError:
        return {}
    return found


def asset(name: str, folder: str = f"{PREFIX}/") -> str | None:
    """The address of an asset, below another folder for one that refers to it; None if it was not built."""
    file = files().get(name)
    return None if file is None else f"{folder}{file}"
