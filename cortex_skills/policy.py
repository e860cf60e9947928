"""Who may do what: the decisions of the gate, as pure functions over manifests.

Rules kept here:
- deny by default: what no manifest grants is refused, with an error that says what to do;
- a tool must be allowed by *every* active skill, and its permissions granted to the acting one;
- what may be written is declared: under `assertions`, unless the host relaxed it (never for what memories are made of);
  and what is declared to need a proof is not written without one, whoever asks and however;
- an unknown name gets a "did you mean", or a few of the known ones: those come from manifests, and a model reads them,
  so they are shown as names are, and not all of them.

Predicates are compared by the IRI that they mean, so `isVerified` and `mayros:isVerified` are one predicate.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError
from cortex_skills.escaping import shown_name
from cortex_skills.schemas import did_you_mean, shown

if TYPE_CHECKING:
    from cortex_graph.names import Names
    from cortex_skills.manifest import Manifest, Semantic
    from cortex_skills.skill import Skill
    from cortex_skills.tools import Tool

_MAX_LISTED = 20
_TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")  # as `allowedTools` names them


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a tool may be called.

    Attributes:
        allowed: whether it may.
        code: the stable code of the refusal; None when it may.
        message: what refuses, and why; empty when nothing does.
        hint: what to do about it.

    """

    allowed: bool
    code: str | None = None
    message: str = ""
    hint: str = ""


def decide(
    tool: object,
    skills: Mapping[str, Skill],
    tools: Mapping[str, Tool],
    *,
    skill: object = None,
    permissions: Collection[str] = (),
) -> Decision:
    """Whether a tool may be called while these skills are active; what is asked wrongly is refused.

    Args:
        tool: its name, of the plugin's tools or of the host's own.
        skills: the active ones.
        tools: the plugin's.
        skill: the acting skill. It is looked for when the tool is the plugin's, or needs a permission.
        permissions: what the host says that its tool needs, beside what the plugin's tool does.

    """
    try:
        if not isinstance(tool, str) or not _TOOL_NAME.fullmatch(tool):
            hint = "a letter, then up to 63 letters, digits, _, . or -"
            raise CortexError("invalid_arguments", f"{shown(tool)} is no name of a tool", hint=hint)
        if not _are_names(permissions):
            hint = 'a list of them, such as ["graph:read"]'
            raise CortexError("invalid_arguments", "the permissions are no list of names", hint=hint)
        ours = tools.get(tool)
        needed = {*permissions, *(ours.permissions if ours else ())}
        acting = acting_skill(skill, skills) if ours or needed or skill is not None else None
        check_call(tool, needed, acting, skills)
    except CortexError as refusal:
        return Decision(False, refusal.code, refusal.message, refusal.hint)
    return Decision(True)


def check_call(tool: str, needed: Collection[str], acting: Skill | None, skills: Mapping[str, Skill]) -> None:
    """What manifests say of a call: every active skill allows the tool, and the acting one has its permissions.

    Raises:
        CortexError: `tool_not_allowed`, or `permission_denied`.

    """
    check_tool_allowed(tool, (active.manifest for active in skills.values()))
    if acting is not None:
        check_permissions(needed, acting.manifest, tool)


def find_tool(name: object, tools: Mapping[str, Tool]) -> Tool:
    """The tool of that name.

    Raises:
        CortexError: `tool_not_found`.

    """
    if isinstance(name, str) and name in tools:
        return tools[name]
    raise CortexError("tool_not_found", f"there is no tool {shown(name)}", hint=_nearest(name, "known", tools))


def acting_skill(name: object, skills: Mapping[str, Skill]) -> Skill:
    """The skill that a call acts for: the one that is named, or the only one there is.

    Raises:
        CortexError: `skill_not_found`, or `skill_ambiguous` when several are active and none is named.

    """
    if name is not None:
        if isinstance(name, str) and name in skills:
            return skills[name]
        hint = _nearest(name, "active", skills)
        raise CortexError("skill_not_found", f"no skill {shown(name)} is active", hint=hint)
    able = [skill for skill in skills.values() if skill.manifest.semantic is not None] or list(skills.values())
    if len(able) == 1:
        return able[0]
    if not skills:
        raise CortexError("skill_not_found", "no skill is active", hint="load a skill first")
    raise CortexError(
        "skill_ambiguous",
        f"{len(able)} skills are active, and the call does not say which one acts",
        hint=f"name one of {', '.join(sorted(skill.name for skill in able))}",
        details={"active": sorted(skill.name for skill in able)},
    )


def check_tool_allowed(tool: str, manifests: Iterable[Manifest]) -> None:
    """Every active skill must allow the tool.

    Raises:
        CortexError: `tool_not_allowed`, naming the skills that do not.

    """
    refusing = sorted(m.name for m in manifests if m.semantic is not None and not m.semantic.allows_tool(tool))
    if refusing:
        raise CortexError(
            "tool_not_allowed",
            f"{tool} is not among the allowedTools of {', '.join(refusing)}",
            hint="add it to allowedTools, or unload the skill that does not allow it",
            details={"tool": tool, "refusedBy": refusing},
        )


def check_permissions(needed: Collection[str], manifest: Manifest, action: str) -> None:
    """The acting skill must have been granted every permission that an action needs.

    Args:
        needed: permissions such as `graph:read`.
        manifest: of the acting skill.
        action: what it is about, for the message.

    Raises:
        CortexError: `permission_denied`, naming what is missing.

    """
    missing = sorted(permission for permission in needed if not manifest.has_permission(permission))
    if missing:
        raise CortexError(
            "permission_denied",
            f"{action} needs {' and '.join(missing)}, which {manifest.name} was not granted",
            hint="add it under semantic.permissions in the skill's SKILL.md",
            details={"missing": missing, "skill": manifest.name},
        )


def check_may_write(predicate: str, skill: str, semantic: Semantic, names: Names, *, strict: bool) -> None:
    """A predicate must be declared to be written, and without a proof only when it is declared to need none.

    Args:
        predicate: a name as the caller wrote it.
        skill: the acting skill's name, for the message.
        semantic: what that skill declares.
        names: of the namespace; predicates are compared as what they mean there.
        strict: whether a predicate must be declared at all; those of memories must in any case.

    Raises:
        CortexError: `undeclared_predicate`, or `proof_required`.

    """
    if check_may_assert(predicate, skill, semantic, names, strict=strict):
        raise needs_proof(predicate, "assert it with skill_assert, which proves it")


def check_may_assert(predicate: str, skill: str, semantic: Semantic, names: Names, *, strict: bool) -> bool:
    """Whether a predicate that is declared needs a proof; arguments as those of `check_may_write`.

    Raises:
        CortexError: `undeclared_predicate`.

    """
    from cortex_graph.vocabulary import MEMORY_TERMS

    wanted = names.node(predicate, "predicate")
    declared = [assertion for assertion in semantic.assertions if names.node(assertion.predicate) == wanted]
    if (strict or wanted in MEMORY_TERMS) and not declared:
        listed = sorted(assertion.predicate for assertion in semantic.assertions)
        raise CortexError(
            "undeclared_predicate",
            f"{skill} does not declare that it asserts {shown(predicate)}",
            hint=_nearest(predicate, "declared under assertions", listed),
            details={"predicate": predicate, "declared": listed},
        )
    return any(assertion.require_proof for assertion in declared)


def check_not_needed(name: str, manifests: Iterable[Manifest]) -> None:
    """A skill stays as long as another active one depends on it.

    Raises:
        CortexError: `invalid_arguments`, naming those that do.

    """
    dependents = sorted(m.name for m in manifests if m.semantic and name in {d.slug for d in m.semantic.dependencies})
    if dependents:
        raise CortexError(
            "invalid_arguments",
            f"{name} cannot be unloaded: {', '.join(dependents)} depends on it",
            hint="unload what depends on it first",
            details={"dependents": dependents},
        )


def needs_proof(predicate: str, hint: str) -> CortexError:
    """The refusal of a write that needs a proof and comes without one."""
    return CortexError(
        "proof_required",
        f"{shown(predicate)} may only be asserted with a proof, and this comes without one: nothing was written",
        hint=hint,
        details={"predicate": predicate},
    )


def _are_names(given: object) -> bool:
    return isinstance(given, Collection) and not isinstance(given, str) and all(isinstance(name, str) for name in given)


def _nearest(name: object, listed: str, known: Collection[str]) -> str:
    """The hint for a name that is not known."""
    names = [shown_name(other) for other in sorted(known)]
    if isinstance(name, str) and (near := did_you_mean(name, names)):
        return near
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"{listed}: {', '.join(names[:_MAX_LISTED]) or 'none'}{more}"
