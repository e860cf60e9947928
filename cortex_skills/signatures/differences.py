"""The differences between the signed files and the files of a folder.

Rules kept here:
- the comparison is pure: signed files and current files in, differences out;
- each kind of difference has its own text: changed, recoded, swapped, added, missing, renamed, and renamed only in case
  or in the Unicode form of its letters;
- every difference invalidates the signature; the kind is information for people only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cortex_skills.safe_io.schemas import shown
from cortex_skills.signatures.skill_files import SkillFile, one_name

Kind = Literal["changed", "recoded", "swapped", "added", "missing", "renamed", "respelt"]

_WORDS: dict[Kind, str] = {
    "changed": "{path} is not the file that was signed",
    "recoded": "{path} has the signed text in another encoding or with other line ends",
    "swapped": "{path} has the signed content of {other}",
    "added": "{path} is not among the signed files",
    "missing": "{path} was signed and is missing",
    "renamed": "{path} was signed under the name {other}",
    "respelt": "{path} was signed with the spelling {other}",
}


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One difference; `other` is the related path, if any."""

    kind: Kind
    path: str
    other: str | None = None

    def __str__(self) -> str:
        return _WORDS[self.kind].format(path=shown(self.path), other=shown(self.other or ""))

    def to_json(self) -> dict[str, str]:
        """The difference in an answer."""
        found = {"kind": self.kind, "path": self.path}
        return found if self.other is None else found | {"other": self.other}


def differences(signed: Iterable[SkillFile], current: Iterable[SkillFile]) -> list[FileDifference]:
    """The differences, ordered by path; empty when all files are the signed ones."""
    before = {file.path: file for file in signed}
    now = {file.path: file for file in current}
    missing = {path: file for path, file in before.items() if path not in now}
    held = {_content(file): path for path, file in before.items()}
    gone = {_content(file): path for path, file in missing.items()}
    spelt = {one_name(path): path for path in missing}
    found = []
    explained = set()
    for path, file in now.items():
        if path not in before:
            other = spelt.get(one_name(path)) or gone.get(_content(file))
            if other is None:
                found.append(FileDifference("added", path))
                continue
            explained.add(other)
            found.append(FileDifference("respelt" if one_name(path) == one_name(other) else "renamed", path, other))
        elif _content(file) != _content(before[path]):
            other = held.get(_content(file))
            found.append(FileDifference("changed", path) if other is None else FileDifference("swapped", path, other))
    found += [FileDifference("missing", path) for path in missing if path not in explained]
    return sorted(found, key=lambda difference: difference.path)


def _content(file: SkillFile) -> tuple[int, str]:
    return file.size, file.sha256
