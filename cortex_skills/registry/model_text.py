"""What of a registered skill a model reads.

Rules kept here:
- the current version of a skill of the package, of one that a person registered, and of one that a trusted publisher
  signed is read as it was written: registering it, like loading it, was the decision of a person;
- the text of any other skill may have been written by whom nobody knows. Lines and fields with an instruction that a
  procedure does not need (`injection`) are removed and counted; naming a tool or an action is what a step is for, and
  stays. What is an instruction only together is removed as a whole;
- invisible characters of such a text are escaped;
- the body stands between two lines with a mark that is drawn for each answer, so that no text closes it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cortex_skills.enrichment.policy import Policy
from cortex_skills.registry.document import SkillDocument
from cortex_skills.registry.lifecycle import Standing
from cortex_skills.registry.views import document_view
from cortex_skills.safe_io.display import one_line, shown_name

MAX_BODY = 1 << 15  # characters of a body that a model reads at once
_ORDINARY = frozenset({None, "tool_call", "action"})
_SENTENCE = re.compile(r"(?<=[.!?。！？]) +|\n+")


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
    view = document_view(document)
    cut = max(0, len(view["body"]) - MAX_BODY)
    view["body"] = view["body"][:MAX_BODY]
    if trusted:
        return ModelText(view, 0, cut)
    body, removed = ("", int(bool(view["body"]))) if policy.drop_all_text else cleaned_body(view["body"])
    fields, more = cleaned_fields({key: value for key, value in view.items() if key != "body"}, policy)
    return ModelText({**fields, "body": policy.marked(body)}, removed + more, cut)


def cleaned_body(text: str, ordinary: Collection[str | None] = _ORDINARY) -> tuple[str, int]:
    """A text without lines that contain an instruction, and how many lines were removed.

    Args:
        text: of any length.
        ordinary: the kinds of instruction that stay.

    """
    lines = text.split("\n")
    kept = [line for line in lines if not _is_instruction(line, ordinary)]
    written = [place for place, line in enumerate(kept) if line.strip()]
    split = {
        place
        for pair in pairwise(written)
        if _is_instruction(" ".join(kept[place] for place in pair), ordinary)
        for place in pair
    }
    left = [line for place, line in enumerate(kept) if place not in split]
    if _is_instruction("\n".join(left), ordinary):
        left = []
    body = "\n".join("\t".join(map(one_line, line.split("\t"))) for line in left)
    return body, len(lines) - len(left)


def cleaned_fields(value: dict[str, Any], policy: Policy) -> tuple[dict[str, Any], int]:
    """JSON whose texts with an instruction are empty, and whose keys with one are gone; and how many those were."""
    removed = 0
    texts: list[str] = []

    def keep(item: Any) -> Any:
        nonlocal removed
        if isinstance(item, str):
            if (policy.drop_all_text and " " in item) or _is_instruction(item):
                removed += 1
                return ""
            texts.append(item)
            return policy.marked(one_line(item))
        if isinstance(item, list):
            return [keep(member) for member in item]
        if isinstance(item, dict):
            kept = {key: member for key, member in item.items() if not _is_instruction(key)}
            removed += len(item) - len(kept)
            return {one_line(key): keep(member) for key, member in kept.items()}
        return item

    found = {key: keep(member) for key, member in value.items()}
    if _is_instruction("\n".join(texts)):
        empty = {
            key: type(member)() if isinstance(member, str | list | dict) else member for key, member in found.items()
        }
        return {**empty, "name": found.get("name", ""), "namespace": found.get("namespace", "")}, removed + len(texts)
    return found, removed


def between_marks(kind: str, name: str, text: str) -> str:
    """A text between two lines that it cannot contain."""
    mark = secrets.token_hex(4)
    return f"[{kind} {shown_name(name)} {mark}]\n{text.rstrip()}\n[end {mark}]"


def _is_instruction(text: str, ordinary: Collection[str | None] = _ORDINARY) -> bool:
    """Whether a text contains an instruction that no procedure needs."""
    from cortex_skills.injection import detect

    kind = detect(text)
    if kind is None:
        return False
    return kind not in ordinary or any(detect(part) not in ordinary for part in _SENTENCE.split(text))
