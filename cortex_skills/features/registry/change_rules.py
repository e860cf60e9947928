"""What an agent may change of a registered skill; pure.

Rules kept here:
- with `registry:learn` a skill of the graph changes what was learned, and nothing of a person or of the package;
- a promotion, and any change of the standing of a skill of a person or of the package, needs `registry:manage`, which
  the host gives by loading a skill that declares it;
- a learned skill does not take a name that looks like another one (UTS #39), so that it is not taken for it, nor one
  that is an instruction to a model.
"""

from __future__ import annotations

from collections.abc import Collection

from cortex_skills.errors import CortexError
from cortex_skills.manifest.skill_names import appearance
from cortex_skills.policy.permissions import LEARN, MANAGE
from cortex_skills.safe_io.schemas import shown

_INSTRUCTIONS = frozenset({"override", "role", "fake_turn", "secret", "encoded", "hidden", "not_judged"})
MAKERS = {"human": "a person", "builtin": "the package"}


def check_may_restand(action: str, skill: str, origin: str, permissions: Collection[str], who: str) -> None:
    """Whether an agent may change the standing of a registered skill, or remove it.

    Args:
        action: `promote`, `deprecate`, `delete` or `merge`.
        skill: the registered skill.
        origin: who made it.
        permissions: of the agent.
        who: the acting skill, or the agent.

    Raises:
        CortexError: `permission_denied`.
    """
    needed = LEARN if action != "promote" and origin == "learned" else MANAGE
    if needed not in permissions:
        why = f", which was made by {MAKERS[origin]}," if origin in MAKERS else ""
        raise CortexError(
            "permission_denied",
            f"{action} of {skill}{why} needs {needed}, which {who} was not granted",
            hint=f"a person can do it: `cortex-skills registry {_COMMANDS[action]}`",
            details={"missing": [needed], "skill": who, "origin": origin},
        )


def check_learned_name(name: str) -> None:
    """Refuse a name for a learned skill that looks like one in Latin letters, or is an instruction to a model.

    Raises:
        CortexError: `invalid_arguments`.
    """
    like = appearance(name)
    if like != name and like.isascii():
        raise CortexError(
            "invalid_arguments",
            f"the name {shown(name)} looks like {like}, and is another one",
            hint="write it in Latin",
        )
    from cortex_skills.injection import detect

    if detect(name.replace("-", " ")) in _INSTRUCTIONS:
        raise CortexError("invalid_arguments", "the name of the skill is an instruction", hint="choose another name")


_COMMANDS = {"promote": "promote", "deprecate": "deprecate", "delete": "purge", "merge": "merge"}
