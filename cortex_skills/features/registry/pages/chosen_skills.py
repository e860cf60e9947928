"""Several registered skills that were chosen in a list, promoted or deprecated one after the other.

Rules kept here:
- each is changed by an operation of its own; one that is refused stops no others;
- a chosen skill is sent with the state that was shown: it is not promoted when it is in another one meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.operations import ApiCall
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.pages.registered import namespace_of
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.records.skill_record import SkillRecord
from cortex_skills.features.registry.skill_changes import LONGEST_REASON
from cortex_skills.features.registry.views import key_of

FIELD = "skill:"  # and the name: the field of a chosen skill, with the state that was shown


@dataclass(frozen=True, slots=True)
class ChosenOutcome:
    """What was done: the word, the skills with their states now, and those that were refused with the reason."""

    word: str
    done: tuple[tuple[ShownText, str], ...]
    refused: tuple[tuple[ShownText, ShownText], ...]


def promote_chosen(call: PageCall, fields: Mapping[str, str]) -> ChosenOutcome:
    """Raise the state of each chosen skill by one.

    Raises:
        CortexError: `invalid_arguments`: none is chosen.
    """
    registry = call.service.host(namespace_of(call)).part(registry_in)

    def promote(api: ApiCall, name: str, shown_state: str) -> SkillRecord:
        state = registry.record(key_of(name, registry.terms.names.namespace)).standing.lifecycle
        if state != shown_state:
            raise CortexError("invalid_arguments", f"it is {state} now, and was not promoted", hint="look at it again")
        return api.operate(changes.promote, skill=name)

    return _each(call, fields, "promoted", promote)


def deprecate_chosen(call: PageCall, fields: Mapping[str, str]) -> ChosenOutcome:
    """Take each chosen skill out of use, with one reason.

    Raises:
        CortexError: `invalid_arguments`: none is chosen, or there is no reason.
    """
    reason = fields.get("reason", "").strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise CortexError("invalid_arguments", f"a reason has 1 to {LONGEST_REASON:,} characters", hint="give a reason")

    def deprecate(api: ApiCall, name: str, _: str) -> SkillRecord:
        return api.operate(changes.deprecate, skill=name, reason=reason)

    return _each(call, fields, "deprecated", deprecate)


def _each(
    call: PageCall, fields: Mapping[str, str], word: str, change: Callable[[ApiCall, str, str], SkillRecord]
) -> ChosenOutcome:
    chosen = [(name.removeprefix(FIELD), state) for name, state in fields.items() if name.startswith(FIELD)]
    if not chosen:
        raise CortexError(
            "invalid_arguments", f"no skill is chosen, and none was {word}", hint="check some in the list"
        )
    done: list[tuple[ShownText, str]] = []
    refused: list[tuple[ShownText, ShownText]] = []
    api = call.api(namespace=namespace_of(call))
    for name, state in chosen:
        try:
            done.append((shown_name(name), change(api, name, state).standing.lifecycle))
        except (CortexError, HttpError) as error:
            refused.append((shown_name(name), shown_text(error.message)))
    return ChosenOutcome(word, tuple(done), tuple(refused))
