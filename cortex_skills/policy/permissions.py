"""What manifests permit: pure functions that return, or raise an error with a stable code.

Rules kept here:
- deny by default: an action that no manifest grants is refused, and the error states how to grant it;
- every active skill must allow a tool; the acting skill must have the permissions that the tool needs;
- a skill writes only predicates that it declares under `assertions`, unless the host relaxed that; with `*` those that
  no other active skill declares; a predicate that any
  active skill declares with `requireProof` is not written without a proof (`declared_predicates.py`);
- a statement that has proofs, or whose predicate needs one, is removed only by the skill that asserted it, and then
  withdrawn: its record and its proofs stay;
- memories are read triple by triple with the permission `memory:inspect` only, and those of the calling agent only;
- the error for an unknown name suggests the nearest known one, or lists a few. Known names come from manifests and a
  model reads the list, so each is escaped for display and the list is short.

Predicates are compared by IRI: `isVerified` and `mayros:isVerified` are the same predicate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import MEMORY_READ
from cortex_skills.errors import CortexError
from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.manifest.model import ANY
from cortex_skills.policy.declared_predicates import DeclaredPredicates
from cortex_skills.safe_io.display import shown_name
from cortex_skills.safe_io.schemas import did_you_mean, shown

LEARN, MANAGE = "registry:learn", "registry:manage"
"""What a skill, or the token of a caller, may change of the registered skills."""

_MAX_LISTED = 20


def check_call(tool: str, needed: Collection[str], acting: Manifest | None, active: Iterable[Manifest]) -> None:
    """Every active skill must allow the tool, and the acting one must have the permissions that it needs.

    Raises:
        CortexError: `tool_not_allowed`, or `permission_denied`.
    """
    check_tool_allowed(tool, active)
    if acting is not None:
        check_permissions(needed, acting, tool)


def check_tool_allowed(tool: str, manifests: Iterable[Manifest]) -> None:
    """Every active skill must allow the tool.

    Raises:
        CortexError: `tool_not_allowed`, naming the skills that do not.
    """
    refusing = [m.name for m in manifests if m.semantic is not None and not m.semantic.allows_tool(tool)]
    if refusing:
        refusing.sort()
        raise CortexError(
            "tool_not_allowed",
            f"{tool} is not among the allowedTools of {', '.join(refusing)}",
            hint="add it to allowedTools, or unload the skill that does not allow it",
            details={"tool": tool, "refusedBy": refusing},
        )


def check_permissions(needed: Collection[str], manifest: Manifest, action: str) -> None:
    """The acting skill must have every permission, such as `graph:read`, that an action needs.

    Raises:
        CortexError: `permission_denied`, naming the missing permissions.
    """
    missing = [permission for permission in needed if not manifest.has_permission(permission)]
    if missing:
        missing.sort()
        raise CortexError(
            "permission_denied",
            f"{action} needs {' and '.join(missing)}, which {manifest.name} was not granted",
            hint="add it under semantic.permissions in the skill's SKILL.md",
            details={"missing": missing, "skill": manifest.name},
        )


def is_of_memories(predicate: object, names: Names) -> bool:
    """Whether a predicate, as a caller wrote it, is one of memories."""
    return isinstance(predicate, str) and bool(predicate) and names.node(predicate, "predicate") in MEMORY_READ


def check_may_assert(
    predicate: str, skill: str, semantic: Semantic, required: DeclaredPredicates, names: Names, *, strict: bool
) -> bool:
    """Whether a predicate that a skill may assert needs a proof.

    Args:
        predicate: a name as the caller wrote it.
        skill: the acting skill's name, for the message.
        semantic: the manifest's semantic block.
        required: the predicates for which an active skill requires a proof.
        names: of the namespace; they resolve predicates to IRIs.
        strict: whether a predicate must be declared.

    Raises:
        CortexError: `undeclared_predicate`.
    """
    wanted = names.node(predicate, "predicate")
    declared = [assertion for assertion in semantic.assertions if names.node(assertion.predicate) == wanted]
    if not declared and any(assertion.predicate == ANY for assertion in semantic.assertions):
        _check_not_owned(predicate, skill, required)
        declared = [assertion for assertion in semantic.assertions if assertion.predicate == ANY]
    if strict and not declared:
        listed = sorted(assertion.predicate for assertion in semantic.assertions)
        raise CortexError(
            "undeclared_predicate",
            f"{skill} does not declare that it asserts {shown(predicate)}",
            hint=nearest_or_list(predicate, "declared under assertions", listed),
            details={"predicate": predicate, "declared": listed},
        )
    return any(assertion.require_proof for assertion in declared) or bool(required.skills(predicate))


def _check_not_owned(predicate: str, skill: str, required: DeclaredPredicates) -> None:
    """A skill that may assert any predicate leaves those of other active skills to them."""
    owners = [owner for owner in required.owners(predicate) if owner != skill]
    if owners:
        raise CortexError(
            "undeclared_predicate",
            f"{shown(predicate)} is asserted through {' or '.join(owners)}, which declares it, and not through {skill}",
            hint=f"call with the skill {owners[0]}",
            details={"predicate": predicate, "declaredBy": owners},
        )


def check_may_remove(predicate: str, skill: str, author: str | None, *, needs_proof: bool, has_proofs: bool) -> bool:
    """Whether the removal of a statement by a skill's code is a withdrawal, which keeps the record and the proofs.

    Args:
        predicate: of the statement, which the skill may assert.
        skill: the acting skill's name.
        author: the name of the skill that asserted the statement; None when no skill did.
        needs_proof: whether the predicate needs a proof.
        has_proofs: whether the statement has proofs.

    Raises:
        CortexError: `proof_required` or `permission_denied`: only its author and the host may remove it.
    """
    if not needs_proof and not has_proofs:
        return False
    if author == skill:
        return True
    why = "has proofs" if has_proofs else "has a predicate that needs a proof"
    by = "no skill" if author is None else author
    raise CortexError(
        "proof_required" if needs_proof else "permission_denied",
        f"{skill} may not remove this statement of {shown(predicate)}, which {why} and was asserted by {by}: nothing "
        "was removed",
        hint="the skill that asserted it may withdraw it, and so may the host",
        details={"predicate": predicate, "author": author},
    )


def needs_proof(predicate: str, hint: str) -> CortexError:
    """The error for a write that needs a proof and has none."""
    return CortexError(
        "proof_required",
        f"{shown(predicate)} may only be asserted with a proof, and this write has none: nothing was written",
        hint=hint,
        details={"predicate": predicate},
    )


def nearest_or_list(name: object, label: str, known: Collection[str]) -> str:
    """The hint for an unknown name: the nearest known one, or a list of a few that begins with `label`."""
    names = [shown_name(other) for other in sorted(known)]
    if isinstance(name, str) and (near := did_you_mean(name, names)):
        return near
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"{label}: {', '.join(names[:_MAX_LISTED]) or 'none'}{more}"
