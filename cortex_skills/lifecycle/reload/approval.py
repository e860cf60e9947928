"""What a new version of a skill may not change without the host's approval.

Rules kept here:
- `allowedTools` may gain entries and lose none: a tool that agents could call stays callable. `["*"]` allows every
  tool, so that removing it is a loss; so is removing the list in favour of the default one, even where the default has
  more tools, because the author had stated a list;
- a permission that the host has not approved for this skill is refused. Loading a skill approves its permissions; an
  approved one may be removed and added again in the same session;
- every permission of a skill that is new in a folder of skills counts as added.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from cortex_skills.errors import CortexError
from cortex_skills.lifecycle.reload.differences import tools_lost
from cortex_skills.manifest import Semantic

# True: all; a collection: these permissions, such as `graph:write`; a function of the skill's name and the added ones.
Approval = bool | Collection[str] | Callable[[str, frozenset[str]], bool]

_TOOLS, _PERMISSIONS = "semantic.allowedTools", "semantic.permissions"


def check_tools_kept(skill: str, old: Semantic, new: Semantic) -> None:
    """No tool may be lost.

    Raises:
        CortexError: `tool_not_allowed`, naming the lost tools.
    """
    hint = "put it back; to remove tools, unload the skill and load it again, or restart"
    if old.states_tools and not new.states_tools:
        message, details = f"the allowedTools of {skill} were removed", {}
    elif lost := tools_lost(old, new):
        message, details = f"the allowedTools of {skill} lost {', '.join(lost)}", {"lost": lost}
    else:
        return
    raise CortexError("tool_not_allowed", message, hint=hint, details={**details, "field": _TOOLS})


def check_approved(skill: str, asked: frozenset[str], granted: frozenset[str], approval: Approval) -> frozenset[str]:
    """The approved permissions, when `approval` covers those that are asked for beyond the granted ones.

    Raises:
        CortexError: `permission_denied`, naming those that were not approved.
    """
    added = asked - granted
    refused = added - _approved(skill, added, approval) if added else added
    if refused:
        raise CortexError(
            "permission_denied",
            f"{skill} asks for {' and '.join(sorted(refused))}, which the host has not approved",
            hint=f"approve it: cortex-skills approve {skill} (dev: --yes-permissions, Python: approve=); or remove it",
            details={"missing": sorted(refused), "skill": skill, "field": _PERMISSIONS},
        )
    return granted | asked


def _approved(skill: str, added: frozenset[str], approval: Approval) -> frozenset[str]:
    if callable(approval):
        return added if approval(skill, added) is True else frozenset()
    if isinstance(approval, bool):
        return added if approval else frozenset()
    if isinstance(approval, str):
        raise CortexError("invalid_arguments", "what is approved must be a list of permissions, not a text")
    return added & frozenset(approval)
