"""What of a registered skill a model reads.

Rules kept here:
- the current version of a skill of the package, of one that a person registered, and of one that a trusted publisher
  signed is read as it was written: registering it, like loading it, was the decision of a person;
- the text of any other skill may have been written by whom nobody knows. Lines and fields with an instruction that a
  procedure does not need (`injection`) are removed and counted; naming a tool or an action is what a step is for, and
  stays. Of lines and of fields that are an instruction only together, the shortest run goes;
- invisible characters of such a text are escaped;
- the body stands between two lines with a mark that is drawn for each answer, so that no text closes it;
- the list `<available_skills>` has reliable skills, and candidates that the agent wrote and used with success, the best
  first; at most 4,096 characters, and its last line has how many more there are. ★ marks the trust tier 4, ☆ tier 3;
  the name of the agent that learned a skill, which may be any text, is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from cortex_skills.enrichment.block import BLOCK_LIMIT
from cortex_skills.enrichment.limits import cut
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.text_lines import clean_lines, is_instruction, runs_together
from cortex_skills.features.registry.document import SkillDocument
from cortex_skills.features.registry.lifecycle import Standing
from cortex_skills.features.registry.reading import RegistryReader
from cortex_skills.features.registry.skill_record import SkillRecord
from cortex_skills.features.registry.views import document_view, record_view
from cortex_skills.safe_io.display import json_text, one_line, shown_name

MAX_BODY = 1 << 15  # characters of a body that a model reads at once
ORDINARY = frozenset({None, "tool_call", "action"})  # what a step of a procedure is
_is_instruction = partial(is_instruction, ordinary=ORDINARY)


@dataclass(frozen=True, slots=True)
class ModelText:
    """A document as a model reads it.

    Attributes:
        view: the document as JSON (`views.document_view`), cleaned.
        removed: how many lines and fields were removed.
        cut: how many characters of the body are left out because it is too long.
    """

    view: dict[str, Any]
    removed: int = 0
    cut: int = 0


def is_trusted(standing: Standing, attest: str) -> bool:
    """Whether a model reads a skill as it was written.

    Args:
        standing: of the record.
        attest: how far the signature of its version is trusted.
    """
    return standing.origin != "learned" or attest == "publisher_signed"


def document_for_model(document: SkillDocument, *, trusted: bool, policy: Policy) -> ModelText:
    """A document as a model reads it.

    Args:
        document: the document.
        trusted: see `is_trusted`.
        policy: of the host; it may remove all text that is not trusted.
    """
    view: dict[str, Any] = {**document_view(document)}
    cut = max(0, len(view["body"]) - MAX_BODY)
    view["body"] = view["body"][:MAX_BODY]
    if trusted:
        return ModelText(view, 0, cut)
    if policy.drop_all_text:
        body, removed = "", int(bool(view["body"]))
    else:
        cleaned = clean_lines(view["body"], ORDINARY)
        body, removed = cleaned.text, cleaned.removed
    fields, more = cleaned_fields({key: value for key, value in view.items() if key != "body"}, policy)
    return ModelText({**fields, "body": policy.marked(body)}, removed + more, cut)


def cleaned_fields(value: dict[str, Any], policy: Policy) -> tuple[dict[str, Any], int]:
    """JSON whose texts with an instruction are empty, and whose keys with one are gone; and how many those were.

    Of texts that are an instruction only together, the shortest run is emptied.
    """
    texts: list[str] = []
    found, removed = _kept(value, policy, texts, frozenset())
    if together := runs_together(texts, "\n", _is_instruction):
        found, removed = _kept(value, policy, [], together)
    return found, removed


def _kept(value: dict[str, Any], policy: Policy, texts: list[str], gone: Collection[int]) -> tuple[dict[str, Any], int]:
    """The same without the texts at some places; `texts` gets those that are no instruction alone."""
    removed = 0

    def keep(item: Any) -> Any:
        nonlocal removed
        if isinstance(item, str):
            is_kept = not ((policy.drop_all_text and " " in item) or _is_instruction(item))
            if is_kept:
                texts.append(item)
            if not is_kept or len(texts) - 1 in gone:
                removed += 1
                return ""
            return policy.marked(one_line(item))
        if isinstance(item, list):
            return [keep(member) for member in item]
        if isinstance(item, dict):
            kept = {key: member for key, member in item.items() if not _is_instruction(key)}
            removed += len(item) - len(kept)
            return {one_line(key): keep(member) for key, member in kept.items()}
        return item

    return {key: keep(member) for key, member in value.items()}, removed


_CONSIDERED = 1_000
_DESCRIPTION = 300  # characters
_STARS = {4: "★ ", 3: "☆ "}
_OPENING, _CLOSING = "<available_skills>", "</available_skills>"
_NOTE = 60  # characters for the last line


def available_skills(registry: RegistryReader, agent: str, policy: Policy = RULE) -> str:
    """The list for an agent; empty when there is no skill for it."""
    records, cursor = registry.records(limit=_CONSIDERED)
    reliable = [record for record in records if record.is_shown_to(agent)]
    reliable.sort(key=lambda each: (-each.standing.trust_tier, -each.quality.utility, each.key))
    left = BLOCK_LIMIT - len(_OPENING) - len(_CLOSING) - _NOTE
    lines: list[str] = []
    for record in reliable:
        line = described(registry, record, policy)
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if not lines:
        return ""
    more = len(reliable) - len(lines)
    if more or cursor is not None:
        lines.append(f"({more}{'+' if cursor is not None else ''} more: skill_find finds them)")
    return "\n".join([_OPENING, *lines, _CLOSING])


def described(registry: RegistryReader, record: SkillRecord, policy: Policy) -> str:
    """A line about a skill: stars, name, description."""
    view = shown_record(registry, record, policy)
    own = record.key.namespace == registry.terms.names.namespace
    name = shown_name(record.key.name if own else str(record.key))
    description = json_text(cut(view["description"], _DESCRIPTION)) if view["description"] else "(withheld)"
    return f"{_STARS.get(record.standing.trust_tier, '')}{name}: {description}"


def shown_record(registry: RegistryReader, record: SkillRecord, policy: Policy) -> dict[str, Any]:
    """A record as JSON (`views.record_view`) whose texts a model may read."""
    view: dict[str, Any] = {**record_view(registry, record, datetime.now(UTC))}
    if (learned := view["current"]["learnedIn"]) is not None:
        del learned["agent"]
    if not is_trusted(record.standing, view["current"]["attest"]):
        texts, _ = cleaned_fields({key: view[key] for key in ("description", "reason")}, policy)
        view |= texts
    return view
