"""What `Plugin.status` returns.

Rules kept here:
- facts in JSON; reading the status opens, asks and changes nothing;
- what is switched off, rejected or faulty is listed with its reason.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.host import Host
from cortex_skills.lifecycle.active_skills import ActiveSkills
from cortex_skills.policy.session_limits import SessionLimits
from cortex_skills.runtime.skill import Skill


def status_of(host: Host, active: ActiveSkills, *, watching: bool) -> dict[str, Any]:
    """The status of a plugin with these active skills; `watching` is whether their folders are watched."""
    config = host.config
    verification = config.verification
    return {
        "namespace": host.session.namespace,
        "store": config.store_name,
        "agent": host.session.agent,
        "session": host.session.session,
        "warnings": list(config.warnings),
        "sandbox": config.skill_sandbox.isolation if config.skill_sandbox.sandbox_enabled else "off",
        "verification": {
            "requireSignature": verification.require_signature,
            "autoScan": verification.auto_scan,
            "polValidation": verification.pol_validation,
            "trustOnFirstUse": verification.trust_on_first_use,
        },
        "hotReload": {
            "watching": watching,
            "reloads": active.reloads,
            "rejected": [rejected.to_json() for rejected in active.rejected],
        },
        "skills": [_skill(skill, host.limits.own) for skill in active.skills.values()],
    }


def _skill(skill: Skill, limits: SessionLimits) -> dict[str, Any]:
    runtime, budgets = skill.runtime, limits.of_skill(is_builtin=skill.is_builtin).budgets
    return {
        "name": skill.name,
        "version": skill.semantic.skill_version,
        "folder": str(skill.folder),
        "signed": skill.signed is not None,
        "hooks": sorted(runtime.hooks) if runtime else [],
        "fault": runtime.fault.to_json() if runtime and runtime.fault else None,
        "degraded": runtime.degraded.to_json() if runtime and runtime.degraded else None,
        "refused": [each.to_json() for each in runtime.refused] if runtime else [],
        "queriesUsed": budgets.queries_used(skill.name),
        "assertionsUsed": budgets.assertions_used(skill.name),
        "writesUsed": budgets.writes_used(skill.name),
        "shapes": skill.rules.digest if skill.rules else None,
    }
