"""The errors of this room."""

from __future__ import annotations

from collections.abc import Sequence

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import Problem, summary


def invalid(what: str, *, hint: str = "ask its owner to make the index again") -> CortexError:
    """The error of an index that is not valid, or that is not the one that is expected."""
    return CortexError("index_invalid", what, hint=hint)


def problems(what: str, found: Sequence[Problem]) -> CortexError:
    """The error of a document with problems, each with its field."""
    return CortexError(
        "index_invalid",
        summary(what, found),
        hint="ask its owner to make the index again",
        details={"errors": [problem.to_json() for problem in found]},
    )


def badly_signed(what: str, *, hint: str = "get the index from its owner again") -> CortexError:
    """The error of an index whose signature is not valid or not trusted."""
    return CortexError("signature_invalid", what, hint=hint)
