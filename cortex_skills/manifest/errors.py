"""The one error of this package.

Rules kept here:
- it carries every problem that was found, in the order of the file, each with its field, hint and line;
- its message is the whole list, for a person; its details are the same list, for a program.
"""

from __future__ import annotations

from collections.abc import Iterable

from cortex_skills.errors import CortexError
from cortex_skills.schemas import Problem, shown, summary


class ManifestError(CortexError):
    """A manifest (or a set of them) breaks the rules; `errors` says which, all of them.

    Args:
        errors: the problems, at least one.
        skill: the skill's name, where known, for the message.

    """

    def __init__(self, errors: Iterable[Problem], skill: str = "") -> None:
        self.errors = sorted(errors, key=lambda problem: problem.line or 0)
        super().__init__(
            "manifest_invalid",
            summary(f"the manifest of {shown(skill)}" if skill else "the manifest", self.errors),
            hint="correct the fields above; `cortex-skills validate` checks them again",
            details={"errors": [problem.to_json() for problem in self.errors]},
        )
