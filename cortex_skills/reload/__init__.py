"""Hot reload: what changed, what of it may take the place of what runs, and what came of it."""

from cortex_skills.reload.differences import Difference, differences
from cortex_skills.reload.groups import groups, links, together
from cortex_skills.reload.report import Rejected, Reloaded, ReloadReport
from cortex_skills.reload.rules import Approval, check_approved, check_tools_kept

__all__ = [
    "Approval",
    "Difference",
    "Rejected",
    "ReloadReport",
    "Reloaded",
    "check_approved",
    "check_tools_kept",
    "differences",
    "groups",
    "links",
    "together",
]
