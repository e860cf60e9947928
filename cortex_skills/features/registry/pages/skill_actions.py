"""What a person does with a registered skill on its page: promote, deprecate, delete.

Rules kept here:
- an action does what the REST API does, for a caller with its permission; a promotion names the state that was shown,
  and is refused when it is another one meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.page import Action, PageCall
from cortex_skills.doors.rest.operations import ApiCall
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.pages.registered import PATH, SkillOfPage, found_skill, namespace_of
from cortex_skills.features.registry.rest.procedural_skills import delete_skills, deprecate_skill, promote_skill
from cortex_skills.features.registry.rest.registry_models import LONGEST_REASON


def _promote(call: PageCall, fields: Mapping[str, str]) -> str:
    """Raise the state that was shown by one.

    Raises:
        CortexError: `invalid_arguments`: the state is another one now, or the highest; `gain_not_measured`;
            `skill_not_found`.
    """
    found = found_skill(call)
    state = found.record.standing.lifecycle
    if fields.get("state") != state:
        raise CortexError(
            "invalid_arguments", f"the skill is {state} now, and was not promoted", hint="look at it again"
        )
    promote_skill(_api(call, found, {"unmeasured": True} if fields.get("unmeasured") == "yes" else {}))
    return addresses.registered_skill(call.path["name"], **call.query)


def _deprecate(call: PageCall, fields: Mapping[str, str]) -> str:
    """Take the skill out of use.

    Raises:
        CortexError: `invalid_arguments`: there is no reason, or it is out of use; `skill_not_found`.
    """
    reason = fields.get("reason", "").strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise CortexError("invalid_arguments", f"a reason has 1 to {LONGEST_REASON:,} characters", hint="give a reason")
    deprecate_skill(_api(call, found_skill(call), {"reason": reason}))
    return addresses.registered_skill(call.path["name"], **call.query)


def _delete(call: PageCall, _: Mapping[str, str]) -> str:
    """Delete the skill with all versions.

    Raises:
        CortexError: `skill_in_use`: others depend on it; `skill_not_found`.
    """
    found = found_skill(call)
    delete_skills(call.api(namespace=namespace_of(call), name=str(found.record.key)))
    return addresses.address(PATH, namespace=call.query.get("namespace"))


def _api(call: PageCall, found: SkillOfPage, body: dict[str, Any]) -> ApiCall:
    return replace(call.api(namespace=namespace_of(call)), body={"name": str(found.record.key), **body})


ACTIONS = {
    "promote": Action("Promote", "registry", _promote, is_operation=True),
    "deprecate": Action("Deprecate", "registry", _deprecate, is_operation=True),
    "delete": Action("Delete", "registry", _delete, is_operation=True),
}
