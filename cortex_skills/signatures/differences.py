"""What is not as it was signed, in words for a person.

Rules kept here:
- pure: the files that were signed on one side, those that are there on the other;
- each kind of difference has its own words: changed, encoded anew, swapped, added, missing, renamed, renamed only in
  its case or in the spelling of its letters;
- any difference at all is one: what is said of it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cortex_skills.schemas import shown
from cortex_skills.signatures.files import SkillFile, one_name

Kind = Literal["changed", "recoded", "swapped", "added", "missing", "renamed", "respelt"]

_WORDS: dict[Kind, str] = {
    "changed": "{path} is not the file that was signed",
    "recoded": "{path} holds the text that was signed, in another encoding or with other line ends",
    "swapped": "{path} holds what {other} held when it was signed",
    "added": "{path} was not there when it was signed",
    "missing": "{path} was signed and is not there",
    "renamed": "{path} was called {other} when it was signed",
    "respelt": "{path} was spelt {other} when it was signed",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One file that is not as it was signed; `other` is the path that it has to do with, if any."""

    kind: Kind
    path: str
    other: str | None = None

    def __str__(self) -> str:
        return _WORDS[self.kind].format(path=shown(self.path), other=shown(self.other or ""))

    def to_json(self) -> dict[str, str]:
        """The difference as an answer has it."""
        found = {"kind": self.kind, "path": self.path}
        return found if self.other is None else found | {"other": self.other}


def differences(signed: Iterable[SkillFile], there: Iterable[SkillFile]) -> list[Difference]:
    """What is not as it was signed, in the order of the paths; empty when everything is."""
    before = {file.path: file for file in signed}
    now = {file.path: file for file in there}
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
                found.append(Difference("added", path))
                continue
            explained.add(other)
            found.append(Difference("respelt" if one_name(path) == one_name(other) else "renamed", path, other))
        elif _content(file) != _content(before[path]):
            other = held.get(_content(file))
            found.append(Difference("changed", path) if other is None else Difference("swapped", path, other))
    found += [Difference("missing", path) for path in missing if path not in explained]
    return sorted(found, key=lambda difference: difference.path)


def _content(file: SkillFile) -> tuple[int, str]:
    return file.size, file.sha256
