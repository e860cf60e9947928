"""What a person does with a registered skill on its page: promote, deprecate, delete.

Rules kept here:
- an action is an operation; a promotion names the state that was shown,
  and is refused when it is another one meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.page import Action, PageCall
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.pages.registered import PATH, found_skill, namespace_of
from cortex_skills.features.registry.rest.procedural_skills import delete_skills
from cortex_skills.features.registry.skill_changes import LONGEST_REASON, deprecate, promote


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
    api = call.api(namespace=namespace_of(call))
    api.operate(promote, skill=str(found.record.key), unmeasured=fields.get("unmeasured") == "yes")
    return addresses.registered_skill(call.path["name"], **call.query)


def _deprecate(call: PageCall, fields: Mapping[str, str]) -> str:
    """Take the skill out of use.

    Raises:
        CortexError: `invalid_arguments`: there is no reason, or it is out of use; `skill_not_found`.
    """
    reason = fields.get("reason", "").strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise CortexError("invalid_arguments", f"a reason has 1 to {LONGEST_REASON:,} characters", hint="give a reason")
    api = call.api(namespace=namespace_of(call))
    api.operate(deprecate, skill=str(found_skill(call).record.key), reason=reason)
    return addresses.registered_skill(call.path["name"], **call.query)


def _delete(call: PageCall, _: Mapping[str, str]) -> str:
    """Delete the skill with all versions.

    Raises:
        CortexError: `skill_in_use`: others depend on it; `skill_not_found`.
    """
    found = found_skill(call)
    delete_skills(call.api(namespace=namespace_of(call), name=str(found.record.key)))
    return addresses.address(PATH, namespace=call.query.get("namespace"))


ACTIONS = {
    "promote": Action("Promote", "registry", _promote),
    "deprecate": Action("Deprecate", "registry", _deprecate, takes_away=True),
    "delete": Action("Delete", "registry", _delete, takes_away=True),
}
