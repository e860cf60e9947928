r"""Names of skills: their normal form, and names that look like others.

Rules kept here, those of the reference validator of agentskills.io first:
- names are compared in the normal form NFKC (UAX #15), in which the manifest holds its name, as are names of folders;
- a name is lower-case letters of any script, digits and single hyphens. Skills that are only read by agents may have
  underscores in place of hyphens (`name` in `skill.schema.json`), and are found by either spelling;
- two names look alike when they are equal once each character that is confusable with a Latin letter is that letter
  (UTS #39): `p\u0430y` with a Cyrillic letter looks like `pay`.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.safe_io.schemas import first_error, schema

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator


def normalized(name: str) -> str:
    """The normal form of a name."""
    return unicodedata.normalize("NFKC", name)


def hyphenated(name: str) -> str:
    """A name as the format has it: with hyphens in place of underscores; equal for the spellings of one name."""
    return name.replace("_", "-")


def name_of(folder: Path) -> str:
    """The name that a skill in this folder must have."""
    return normalized(folder.name if folder.name not in ("", "..") else folder.resolve().name)


def is_skill_name(name: str) -> bool:
    """Whether a name in normal form may be the name of any skill."""
    return "_" not in name and first_error(_validator(), name) is None


def appearance(name: str) -> str:
    """The Latin letters that a name in normal form looks like; equal for names that look alike."""
    if name.isascii():
        return name
    from cortex_skills.injection.normalize import look_alike  # takes a while to import

    return look_alike(name)


@cache
def _validator() -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(schema("skill")["properties"]["name"])
