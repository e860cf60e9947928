"""The skills that are part of the package.

Rules kept here:
- they are as trusted as the code of the package beside them, and need no signature of their own;
- a skill is one of them only in the folder of the package, whatever its name is.
"""

from __future__ import annotations

from pathlib import Path

NOTEBOOK = "notebook"
# The skills that `init --from` copies; those of the folder `examples` with their places in it.
EXAMPLES = {"license-audit": "supply-chain/license-audit", NOTEBOOK: None, "verify-kyc": "verify-kyc"}
_FOLDER = Path(__file__).resolve().parents[1] / "builtin_skills"


def builtin_skill(name: str) -> Path:
    """The folder of a skill of the package."""
    return _FOLDER / name


def named_folder(path: str | Path) -> Path:
    """A folder; or that of a skill of the package, where its name is given and no folder has it."""
    given = Path(path)
    own = _FOLDER / given
    return own if given.name == str(path) and not given.exists() and (own / "SKILL.md").is_file() else given


def is_builtin(folder: Path) -> bool:
    """Whether a folder is one of a skill of the package."""
    return folder.resolve().parent == _FOLDER
