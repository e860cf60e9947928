"""A file that a command writes beside its answer."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from cortex_skills.errors import CortexError


def write_whole(path: Path, text: str) -> None:
    """Write a file that is whole or not there.

    Raises:
        CortexError: `invalid_arguments`: it cannot be written.

    """
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".", delete=False) as file:
            file.write(text)
        os.replace(file.name, path)  # noqa: PTH105 - both are on one disk
    except OSError as error:
        hint = "name a place that you may write to"
        raise CortexError("invalid_arguments", f"{path} cannot be written: {error.strerror}", hint=hint) from None
