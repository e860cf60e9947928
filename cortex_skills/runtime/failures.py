"""Errors of a skill's code as errors of the plugin.

Rules kept here:
- the name, the message, the stack and the source line of an exception are texts of the skill, which a host may show to
  a model. They are left out together when one of them reads like an instruction to the model, also split over several;
- an exception that a host function threw keeps its code and its hint;
- what is left out is written to the log of the skill, and nowhere else.
"""

from __future__ import annotations

import logging
from typing import Any

from cortex_sandbox import SandboxError
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.runtime.log import SkillLog
from cortex_skills.safe_io.display import one_line

LEFT_OUT = "(left out: this text of the skill reads like an instruction)"
_HINTS = {
    "skill_timeout": "make it do less; skillSandbox.executionTimeoutMs is its limit, and onQuery has at most 2 s",
    "skill_memory": "make it keep less, or raise skillSandbox.memoryLimitBytes",
}


def skill_error(
    skill: str, operation: str, error: SandboxError, log: SkillLog, refusal: CortexError | None = None
) -> CortexError:
    """An error of a skill's code, with its location.

    Args:
        skill: the name of the skill.
        operation: what the code was called for.
        error: the error.
        log: of the skill; receives the texts that are left out.
        refusal: the error of a host function that it is, whose code and hint it keeps.
    """
    known = refusal or from_floor(error)
    code = known.code if known is not None else "skill_error"
    place = f" at {error.file}:{error.line}:{error.column}" if error.frames else ""
    reason, details = str(error), error.details
    if _is_instruction(error):
        log.write(logging.WARNING, f"{operation} failed{place}: {reason}")
        place, reason, details = "", LEFT_OUT, _without_texts(details)
    return CortexError(
        code,
        one_line(f"{operation} of {skill} failed{place}: {reason}"),
        hint=_HINTS.get(code, "") if refusal is None else refusal.hint,
        details={**details, "operation": operation, "skill": skill},
    )


def _is_instruction(error: SandboxError) -> bool:
    """Whether a text of an exception, or all of them together, reads like an instruction."""
    from cortex_skills.injection.quoted_instructions import instructs

    names = dict.fromkeys(name for frame in error.frames for name in (frame.function, frame.file) if name)
    texts = [error.name, error.message, error.excerpt, " ".join(names)]
    return any(map(instructs, [*texts, *names, " ".join(texts[:2]), " ".join(texts)]))


def _without_texts(details: dict[str, Any]) -> dict[str, Any]:
    return {**details, "name": "Error", "message": LEFT_OUT, "frames": [], "excerpt": ""}
