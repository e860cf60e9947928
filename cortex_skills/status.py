"""What `Plugin.status` tells.

Rules kept here:
- facts only, and JSON: nothing is opened, asked or changed for it;
- what is switched off, refused or faulty is told with its reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_skills.active import ActiveSkills
    from cortex_skills.limits import Budgets
    from cortex_skills.plugin import Plugin
    from cortex_skills.skill import Skill


def status_of(plugin: Plugin, active: ActiveSkills, budgets: Budgets) -> dict[str, Any]:
    """The status of a plugin with these skills and what they have used."""
    config = plugin.config
    verification = config.verification
    return {
        "namespace": plugin.graph.namespace,
        "store": config.store_name,
        "agent": plugin.agent,
        "session": plugin.session,
        "warnings": list(config.warnings),
        "sandbox": config.skill_sandbox.isolation if config.skill_sandbox.sandbox_enabled else "off",
        "verification": {
            "requireSignature": verification.require_signature,
            "autoScan": verification.auto_scan,
            "polValidation": verification.pol_validation,
            "trustOnFirstUse": verification.trust_on_first_use,
        },
        "hotReload": {
            "watching": plugin.is_watching,
            "reloads": active.reloads,
            "rejected": [rejected.to_json() for rejected in active.rejected],
        },
        "skills": [_skill(skill, budgets) for skill in active.skills.values()],
    }


def _skill(skill: Skill, budgets: Budgets) -> dict[str, Any]:
    runtime = skill.runtime
    return {
        "name": skill.name,
        "version": skill.semantic.skill_version,
        "folder": str(skill.folder),
        "hooks": sorted(runtime.hooks) if runtime else [],
        "fault": runtime.fault.to_json() if runtime and runtime.fault else None,
        "queriesUsed": budgets.queries_used(skill.name),
        "assertionsUsed": budgets.assertions_used(skill.name),
        "writesUsed": budgets.writes_used(skill.name),
        "shapes": skill.rules.digest if skill.rules else None,
    }
