"""What a new version of a skill must not change without its host.

Rules kept here:
- `allowedTools` may gain entries, and lose none: what agents were told that they can call stays callable. `["*"]` has
  every tool, so that giving it up is a loss; and a list that goes away for the default one is a loss, too, even where
  the default has more tools: whoever wrote a list has decided;
- a permission that the host has not approved for this skill is refused; what it approved once in this session, by
  loading the skill with it or by saying so, may come and go;
- a skill that is new in a folder of skills has every permission that it asks for added.

Nothing here does any input or output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from cortex_skills.errors import CortexError
from cortex_skills.manifest import Semantic
from cortex_skills.reload.differences import tools_lost

# True: all; or the permissions, such as `graph:write`; or what says it of a skill's name and what it asks for.
Approval = bool | Collection[str] | Callable[[str, frozenset[str]], bool]


def check_tools_kept(skill: str, old: Semantic, new: Semantic) -> None:
    """No tool may be lost.

    Raises:
        CortexError: `tool_not_allowed`, naming what is lost.

    """
    hint = "put it back; to take tools away, unload the skill and load it again, or start anew"
    if old.states_tools and not new.states_tools:
        raise CortexError(
            "tool_not_allowed", f"the allowedTools of {skill} went away", hint=hint, details={"field": _TOOLS}
        )
    lost = tools_lost(old, new)
    if lost:
        raise CortexError(
            "tool_not_allowed",
            f"the allowedTools of {skill} lost {', '.join(lost)}",
            hint=hint,
            details={"lost": lost, "field": _TOOLS},
        )


def check_approved(skill: str, asked: frozenset[str], granted: frozenset[str], approval: Approval) -> frozenset[str]:
    """Every permission must have been approved.

    Args:
        skill: its name.
        asked: the permissions of the new version.
        granted: those that the host has approved so far.
        approval: what the host says about further ones.

    Returns:
        All that the host has approved now.

    Raises:
        CortexError: `permission_denied`, naming what was not approved.

    """
    added = asked - granted
    refused = added - _approved(skill, added, approval) if added else added
    if refused:
        raise CortexError(
            "permission_denied",
            f"{skill} asks for {' and '.join(sorted(refused))}, which the host has not approved",
            hint="approve it (--yes-permissions, or approve= in Python), or take it out again",
            details={"missing": sorted(refused), "skill": skill, "field": _PERMISSIONS},
        )
    return granted | asked


_TOOLS, _PERMISSIONS = "semantic.allowedTools", "semantic.permissions"


def _approved(skill: str, added: frozenset[str], approval: Approval) -> frozenset[str]:
    if callable(approval):
        return added if approval(skill, added) is True else frozenset()
    if isinstance(approval, bool):
        return added if approval else frozenset()
    if isinstance(approval, str):
        raise CortexError("invalid_arguments", "what is approved must be a list of permissions, not a text")
    return added & frozenset(approval)
