"""The folders that a client may name, inside a folder of the host.

Rules kept here:
- a client names a folder relative to a root of the configuration (`registry.importRoot`, `registry.exportRoot`);
  without a root it can name none;
- an absolute path, a `.` or `..` segment, a hidden segment, a backslash and a symbolic link are refused.
"""

from __future__ import annotations

from pathlib import Path

from cortex_skills.errors import CortexError
from cortex_skills.registry.document import path_problem
from cortex_skills.safe_io.schemas import shown


def inside(root: str, given: str, setting: str) -> Path:
    """The folder that a client names.

    Args:
        root: the folder of the host; empty when there is none.
        given: the path of the client.
        setting: the setting of the root, for the message.

    Raises:
        CortexError: `permission_denied`: there is no root; `invalid_arguments`: the path leaves it.

    """
    if not root:
        raise CortexError("permission_denied", f"no folder may be named: {setting} is not set", hint="the host sets it")
    problem = path_problem(given) or _link_on(Path(root), given)
    if problem:
        hint = f"name a folder relative to that of {setting}, such as skills/fetch-data"
        raise CortexError("invalid_arguments", f"the folder {shown(given)} {problem}", hint=hint)
    return Path(root).resolve() / given


def _link_on(root: Path, given: str) -> str:
    place = root.resolve()
    for segment in given.split("/"):
        place /= segment
        if place.is_symlink():
            return "leads through a symbolic link"
    return ""
