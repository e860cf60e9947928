"""The tools of the feature `actions`."""

from cortex_skills.features.actions.tools.approval_status import APPROVAL_STATUS

TOOLS = (APPROVAL_STATUS,)
