"""The skills that come with the package, as text by relative path, to start a skill of one's own from.

Rules kept here:
- they are the built-in skills and the folders of `examples`, which are part of the wheel;
- another name of the folder becomes the name of the skill, in the manifest and in its code.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from cortex_skills.features.scaffold.content import editor_files
from cortex_skills.skill_folder.builtin import EXAMPLES, builtin_skill

_PACKED = "example_skills"  # in a wheel, see pyproject.toml
_SUFFIXES = frozenset({".md", ".ts", ".ttl"})


def files_from(example: str, name: str) -> dict[str, str]:
    """The files of an example, as a skill called `name`, with the settings for an editor.

    Args:
        example: one of `EXAMPLES`.
        name: of the new skill.
    """
    packed: Traversable = files("cortex_skills") / _PACKED / example
    folder: Traversable = builtin_skill(example)
    if place := EXAMPLES[example]:
        folder = packed if packed.is_dir() else Path(__file__).parents[3] / "examples" / place
    found = {
        item.name: item.read_text(encoding="utf-8")
        for item in folder.iterdir()
        if item.is_file() and PurePosixPath(item.name).suffix in _SUFFIXES
    }
    found["SKILL.md"] = found["SKILL.md"].replace(f"name: {example}\n", f"name: {name}\n", 1)
    if "skill.ts" in found:
        found["skill.ts"] = found["skill.ts"].replace(f'name: "{example}"', f'name: "{name}"', 1)
    return found | editor_files()
