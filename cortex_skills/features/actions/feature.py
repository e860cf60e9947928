"""The feature `actions`. What agents do outside the graph, and who approves it."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="actions",
    rank=50,
    attach=("cortex_skills.features.actions.attach:attach",),
    operations=(
        "cortex_skills.features.actions.action_operations",
        "cortex_skills.features.actions.rule_operations",
    ),
    tools=("cortex_skills.features.actions.tools",),
    rest=(
        "cortex_skills.features.actions.rest.actions",
        "cortex_skills.features.actions.rest.approvals",
        "cortex_skills.features.actions.rest.approval_rules",
    ),
    pages=(
        "cortex_skills.features.actions.pages.approval_list",
        "cortex_skills.features.actions.pages.approval_page",
        "cortex_skills.features.actions.pages.edit_request",
        "cortex_skills.features.actions.pages.rule_of_request",
    ),
    attention=("cortex_skills.features.actions.pages.approval_list:attention",),
    numbers=("cortex_skills.features.actions.attach:numbers",),
    mcp=("cortex_skills.features.actions.mcp.approval_updates:ApprovalUpdates",),
    commands={
        "Let agents act": {
            "actions": "cortex_skills.features.actions.cli.actions:actions",
            "trust-level": "cortex_skills.features.actions.cli.actions:trust_level",
            "approvals": "cortex_skills.features.actions.cli.approvals:approvals",
            "approvals rules": "cortex_skills.features.actions.rule_operations:list_rules",
            "approvals preview-rule": "cortex_skills.features.actions.rule_operations:preview_rule",
            "approvals add-rule": "cortex_skills.features.actions.rule_operations:add_rule",
            "approvals end-rule": "cortex_skills.features.actions.rule_operations:end_rule",
        },
    },
    keeps_journal=("cortex_skills.features.actions.action_settings:agents_may_act",),
    members=("cortex_skills.features.actions.action_members:ActionMembers",),
    copies=(
        "cortex_skills.features.actions.approvals.copied_requests:REQUESTS",
        "cortex_skills.features.actions.approvals.copied_requests:LEVEL",
    ),
    settings={
        "actions": "cortex_skills.features.actions.action_settings:ActionSettings",
        "approvals": "cortex_skills.features.actions.action_settings:ApprovalSettings",
    },
    default_tools=(
        "approval_status",
        "fs_read",
        "fs_write",
        "search_index",
        "run_agent",
        "shell_safe",
        "http_get",
    ),
)
