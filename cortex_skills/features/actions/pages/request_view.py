"""What a person is shown of a request: a sentence, what it would change, and its inputs in the order of the manifest.

Rules kept here:
- what is shown is what runs: the id in the address is a digest of the whole request. An input that is too long to be
  shown whole has its length and its SHA-256;
- the sentence names the skill, the action as its manifest does, and what the action works on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from cortex_skills.doors.explorer.display import OF_HEADING, OF_NAME, ShownText, shown_name, shown_text
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.manifest import COMMAND, PATH, WEB_ADDRESS, ActionManifest

INPUTS = 50
_LINES = 400  # of a preview
_CHARACTERS = 200  # of a line


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a request asks for, in words.

    Attributes:
        skill: who wants it.
        wants: what it wants to do.
        targets: what the action works on.
        added, removed: lines of the difference; None for an action without one.
    """

    skill: ShownText
    wants: ShownText
    targets: tuple[ShownText, ...]
    added: int | None
    removed: int | None

    @property
    def plain(self) -> str:
        """The sentence as one string."""
        return " ".join([self.skill.plain, "wants to", self.wants.plain, *(target.plain for target in self.targets)])


@dataclass(frozen=True, slots=True)
class ShownInput:
    """An input: its name, its lines, and what is left out of them, in words."""

    name: ShownText
    lines: tuple[ShownText, ...]
    left_out: str


@dataclass(frozen=True, slots=True)
class ShownChange:
    """What a request would change: lines with their kinds, and how many are left out."""

    lines: tuple[tuple[str, ShownText], ...]
    left_out: int


def manifest_of(acting: AgentActions, request: ActionRequest) -> ActionManifest | None:
    """The manifest of the action of a request; None for one that is not here, or is another version."""
    action = acting.actions.find(request.action)
    return action.manifest if action is not None and action.manifest.version == request.manifest_version else None


def sentence_of(acting: AgentActions, request: ActionRequest) -> Sentence:
    """A request in words."""
    manifest = manifest_of(acting, request)
    wants = f"run {request.action}" if manifest is None else manifest.name[:1].lower() + manifest.name[1:]
    named = () if manifest is None else [n for kind in (PATH, COMMAND, WEB_ADDRESS) for n in manifest.inputs_of(kind)]
    targets = [str(request.inputs[name]) for name in named if request.inputs.get(name)]
    kinds = [_kind(line) for line in request.preview.split("\n")]
    has_difference = bool(request.preview) and not {"add", "gone"}.isdisjoint(kinds)
    return Sentence(
        shown_name(request.skill, OF_NAME),
        shown_text(wants, OF_HEADING),
        tuple(shown_name(target, OF_HEADING) for target in targets),
        kinds.count("add") if has_difference else None,
        kinds.count("gone") if has_difference else None,
    )


def inputs_of(acting: AgentActions, request: ActionRequest) -> tuple[ShownInput, ...]:
    """The inputs as they will run, in the order of the manifest."""
    return tuple(_input(name, request.inputs[name]) for name in in_order(acting, request)[:INPUTS])


def in_order(acting: AgentActions, request: ActionRequest) -> list[str]:
    """The names of the inputs, in the order of the manifest."""
    manifest = manifest_of(acting, request)
    known = [name for name in (() if manifest is None else manifest.inputs) if name in request.inputs]
    return [*known, *(name for name in request.inputs if name not in known)]


def change_of(request: ActionRequest) -> ShownChange | None:
    """What a request would change; None for an action that shows nothing."""
    if not request.preview:
        return None
    lines = request.preview.split("\n")
    return ShownChange(tuple(_lines(lines[:_LINES])), max(0, len(lines) - _LINES))


def text_lines(text: str) -> tuple[ShownText, ...]:
    """The lines of a text."""
    return tuple(shown_text(line, _CHARACTERS) for line in text.split("\n")[:_LINES])


def _lines(lines: list[str]) -> Iterator[tuple[str, ShownText]]:
    for line in lines:
        yield _kind(line), shown_text(line, _CHARACTERS)


def _input(name: str, value: object) -> ShownInput:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    lines, shown = text.split("\n"), text_lines(text)
    left_out = ""
    if len(lines) > _LINES or any(line.is_clipped for line in shown):
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        left_out = f"{len(text):,} characters in {len(lines):,} lines, SHA-256 {digest}"
    return ShownInput(shown_text(name, OF_HEADING), shown, left_out)


def _kind(line: str) -> str:
    return "at" if line.startswith(("+++ ", "--- ", "@@ ")) else {"+": "add", "-": "gone"}.get(line[:1], "")
