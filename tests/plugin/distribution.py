"""A distribution that is installed for one test: a package with its `dist-info`, in a folder on `sys.path`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(site: Path, name: str, entry_points: Mapping[str, Mapping[str, str]], files: Mapping[str, str]) -> None:
    """Write a distribution into the folder `site`.

    Args:
        site: a folder of `sys.path`.
        name: of the distribution.
        entry_points: by group, each a mapping of names to values.
        files: the texts of its modules by their paths.

    """
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups = (
        f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in given.items()) for group, given in entry_points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
