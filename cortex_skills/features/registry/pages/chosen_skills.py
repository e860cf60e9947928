"""Several registered skills that were chosen in a list: promoted, deprecated, archived or deleted one after the other.

Rules kept here:
- what would become of each is shown first (`registry.preview`); the form that does it has only what would not be
  refused;
- each is changed by an operation of its own; one that is refused stops no others;
- a chosen skill is sent with the state that was shown: nothing is done to it when it is in another one meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import PageCall, Repeated
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.pages.registered import namespace_of
from cortex_skills.features.registry.parts import registry_in
from cortex_skills.features.registry.skill_changes import LONGEST_REASON, deletion_order
from cortex_skills.features.registry.skill_previews import Change, PreviewedSkill, preview_change
from cortex_skills.features.registry.views import key_of
from cortex_skills.operations.operation import Operation

FIELD = "skill:"  # and the name: the field of a chosen skill, with the state that was shown
_OPERATIONS: dict[Change, Operation[Any, Any]] = {
    "promote": changes.promote,
    "deprecate": changes.deprecate,
    "retire": changes.retire,
    "delete": changes.delete,
}
LABELS: dict[Change, str] = {
    "promote": "Promote",
    "deprecate": "Deprecate",
    "retire": "Archive",
    "delete": "Delete",
}
_WORDS: dict[Change, str] = {
    "promote": "promoted",
    "deprecate": "deprecated",
    "retire": "archived",
    "delete": "deleted",
}
_SIGNS = {"deleted": "warn", "archived": "none", "deprecated": "none"}
_WITH_REASON = ("deprecate", "retire")


@dataclass(frozen=True, slots=True)
class ChosenOutcome:
    """What was done: the word, the skills with their states now, and those that were refused with the reason."""

    word: str
    done: tuple[tuple[ShownText, str], ...]
    refused: tuple[tuple[ShownText, ShownText], ...]


@dataclass(frozen=True, slots=True)
class ChosenPreview:
    """What would be done.

    Attributes:
        change, label: which change, and the word on its button.
        rows: each skill with its state now, its state then with a sign, and why it is refused.
        fields: of the form that does it: the skills that would not be refused, with their states.
        needs_reason: whether it needs a reason; `takes_reason`: whether it keeps one.
    """

    change: str
    label: str
    rows: tuple[tuple[ShownText, str, tuple[str, str], ShownText | None], ...]
    fields: tuple[tuple[str, str], ...]
    needs_reason: bool
    takes_reason: bool


def preview_chosen(call: PageCall, fields: Mapping[str, str]) -> ChosenPreview:
    """What a change would do with the chosen skills.

    Raises:
        CortexError: `invalid_arguments`: none is chosen, or there is no such change.
    """
    change = next((each for each in get_args(Change) if each == fields.get("does")), None)
    if change is None:
        raise CortexError("invalid_arguments", "there is no such change", hint=", ".join(get_args(Change)))
    found = _previewed(call, change, _chosen(fields, change))
    return ChosenPreview(
        change,
        LABELS[change],
        tuple(_row(each) for each in found),
        tuple((to_field(FIELD + each["name"]), each["lifecycle"] or "") for each in found if each["following"]),
        change == "deprecate",
        change in _WITH_REASON,
    )


def _chosen(fields: Mapping[str, str], change: Change) -> dict[str, str]:
    """The chosen skills, with the states that were shown.

    Raises:
        CortexError: `invalid_arguments`: none is chosen.
    """
    chosen = {name.removeprefix(FIELD): state for name, state in fields.items() if name.startswith(FIELD)}
    if not chosen:
        message = f"no skill is chosen, and none was {_WORDS[change]}"
        raise CortexError("invalid_arguments", message, hint="check some in the list")
    return chosen


def _previewed(call: PageCall, change: Change, names: Iterable[str]) -> list[PreviewedSkill]:
    api = call.api(namespace=namespace_of(call))
    return api.operate(preview_change, change=change, names=tuple(names))


def _row(found: PreviewedSkill) -> tuple[ShownText, str, tuple[str, str], ShownText | None]:
    following, message = found["following"], found["message"]
    sign = ("bad", "refused") if following is None else (_SIGNS.get(following, "ok"), following)
    return shown_name(found["name"]), found["lifecycle"] or "", sign, None if message is None else shown_text(message)


def repeated(change: Change, call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """What the change does with each, for the page that asks for the token again."""
    found = _previewed(call, change, _chosen(fields, change))
    lines = [
        (
            "gone" if each["following"] in (None, "deleted") else "add",
            shown_text(f"{each['name']}: {each['lifecycle']} → {each['following'] or each['message']}"),
        )
        for each in found
    ]
    return Repeated(shown_text(f"{len(lines)} skill{'s' if len(lines) > 1 else ''}"), tuple(lines))


def change_chosen(change: Change, call: PageCall, fields: Mapping[str, str]) -> ChosenOutcome:
    """Change each chosen skill.

    Raises:
        CortexError: `invalid_arguments`: none is chosen, or there is no reason.
    """
    chosen, reason = _chosen(fields, change), fields.get("reason", "").strip()
    if len(reason) > LONGEST_REASON or (change == "deprecate" and not reason):
        raise CortexError("invalid_arguments", f"a reason has 1 to {LONGEST_REASON:,} characters", hint="give a reason")
    registry = call.service.host(namespace_of(call)).part(registry_in)
    api = call.api(namespace=namespace_of(call))
    done: list[tuple[ShownText, str]] = []
    refused: list[tuple[ShownText, ShownText]] = []
    for name in deletion_order(registry, chosen) if change == "delete" else chosen:
        try:
            state = registry.record(key_of(name, registry.terms.names.namespace)).standing.lifecycle
            if state != chosen[name]:
                message = f"it is {state} now, and was not {_WORDS[change]}"
                raise CortexError("state_conflict", message, hint="look at it again")
            given = {"reason": reason} if change in _WITH_REASON else {}
            changed = api.operate(_OPERATIONS[change], skill=name, **given)
            done.append((shown_name(name), "deleted" if change == "delete" else changed.standing.lifecycle))
        except (CortexError, HttpError) as error:
            refused.append((shown_name(name), shown_text(error.message)))
    return ChosenOutcome(_WORDS[change], tuple(done), tuple(refused))
