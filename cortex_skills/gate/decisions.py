"""Whether a tool may be called, decided from the manifests without calling it.

Rules kept here:
- allow-lists and permissions are checked as for a call; arguments, rate, budgets and hooks are not considered;
- a host asks about its own tools too, and states which permissions those need.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cortex_skills.errors import CortexError
from cortex_skills.host import ToolSource
from cortex_skills.lifecycle.active_skills import acting_skill
from cortex_skills.policy.permissions import check_call
from cortex_skills.runtime.skill import Skill
from cortex_skills.safe_io.schemas import shown
from cortex_skills.tools import tool_named

_TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")  # as `allowedTools` names them


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a tool may be called.

    Attributes:
        allowed: whether it may.
        code: the stable code of the refusal; None when it may.
        message: the reason of the refusal; empty when there is none.
        hint: what to do about it.
    """

    allowed: bool
    code: str | None = None
    message: str = ""
    hint: str = ""


def decide(
    tool: object,
    skills: Mapping[str, Skill],
    *,
    skill: object = None,
    permissions: Collection[str] = (),
    sources: Iterable[ToolSource] = (),
) -> Decision:
    """See `Plugin.check`; malformed arguments are refused, and not raised as errors."""
    try:
        if not isinstance(tool, str) or not _TOOL_NAME.fullmatch(tool):
            hint = "a letter, then up to 63 letters, digits, _, . or -"
            raise CortexError("invalid_arguments", f"{shown(tool)} is not a tool name", hint=hint)
        if not _are_names(permissions):
            hint = 'a list of them, such as ["graph:read"]'
            raise CortexError("invalid_arguments", "the permissions are not a list of names", hint=hint)
        known = tool_named(tool, sources)
        needed = {*permissions, *(known.permissions if known else ())}
        acting = None
        if known is not None and known.acting is not None:
            acting = known.acting.manifest
        elif known or needed or skill is not None:
            acting = acting_skill(skill, skills).manifest
        check_call(tool, needed, acting, [active.manifest for active in skills.values()])
    except CortexError as refusal:
        return Decision(False, refusal.code, refusal.message, refusal.hint)
    return Decision(True)


def _are_names(given: object) -> bool:
    return isinstance(given, Collection) and not isinstance(given, str) and all(isinstance(name, str) for name in given)
