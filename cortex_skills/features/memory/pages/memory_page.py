"""`/explore/{namespace}/memories/{id}`: a memory: its text, writers, sources and recalls; correct and forget it.

Rules kept here:
- an action is the operation of the same name, and needs the permission `write` beside `memories`;
- who recalled it is shown with the permission `audit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from cortex_skills.doors.explorer.addresses import ROOT, Addresses, address, in_form
from cortex_skills.doors.explorer.display import OF_HEADING, OF_NAME, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, Form, PageCall, Repeated
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.rest.model_types import ApiModel
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.memory_reading import MemoryDocument, correct, show_memory
from cortex_skills.features.memory.pages.memory_list import PATH, MemoryRow, path_of, row
from cortex_skills.features.memory.recalls import ListedRecalls, RecallRecord, list_recalls
from cortex_skills.features.memory.remembering import forget

_LINES = 40
_MOST = 600  # characters; a memory has at most 512
_RECALLS = 20


class MemoryAgentQuery(ApiModel, total=False):
    """Whose memory."""

    agent: Annotated[str, Field(max_length=256)]


@dataclass(frozen=True, slots=True)
class RecallRow:
    """A recall: who, with its page; through which interface or skill; the question; the audit record."""

    when: str
    agent: ShownText
    agent_href: str
    through: ShownText
    question: ShownText
    record: str


@dataclass(frozen=True, slots=True)
class ShownRecalls:
    """The latest recalls, what is known of them, and the page of the audit with all records about the memory."""

    rows: tuple[RecallRow, ...]
    known: ShownText
    all: str


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory.

    Attributes:
        row: as in the list.
        text: as it is, in lines.
        facts: the other facts, with their labels.
        sources: the memories that a reflection follows from: their ids and pages.
        recalls: who recalled it; None for a caller who may not see the audit.
        field: the text, tags and importance, as they are edited.
        fault: why nothing was corrected; None if nothing was refused.
        back: the list.
        json: the memory as JSON.
        here: the address of the page.
    """

    row: MemoryRow
    text: ShownText
    facts: tuple[tuple[str, ShownText], ...]
    sources: tuple[tuple[str, str], ...]
    recalls: ShownRecalls | None
    field: tuple[str, str, str]
    fault: ShownText | None
    back: str
    json: str
    here: str


def view(call: PageCall, typed: Mapping[str, str] | None = None, fault: str = "") -> MemoryView:
    """A memory.

    Raises:
        CortexError: `not_found`.
    """
    memory = _memory(call)
    agent, path = memory["agent"], path_of(call)
    here = address(f"{path}/{memory['id']}", agent=agent)
    facts = {
        "Agent": agent,
        "Written by": ", ".join(memory["writtenBy"]) or agent,
        "Skill": memory["skill"] or "unknown",
        "When": f"{memory['time'][:19].replace('T', ' ')} UTC",
        "Kind": f"reflection, {memory['depth']} deep" if memory["depth"] else "observation",
        "Importance": f"{memory['importance']:.2f}",
        "Tags": ", ".join(memory["tags"]) or "none",
        **({"Recalled": f"{memory['recalled']:,} times"} if "recalled" in memory else {}),
        "Id": memory["id"],
    }
    given = typed or {}
    field = (
        to_field(given.get("text", memory["text"])),
        to_field(given.get("tags", ", ".join(memory["tags"]))),
        to_field(given.get("importance", f"{memory['importance']:g}")),
    )
    return MemoryView(
        row(call, memory),
        shown_text(memory["text"], _MOST, lines=_LINES),
        tuple((label, shown_text(text, OF_HEADING)) for label, text in facts.items()),
        tuple((each, address(f"{path}/{each}", agent=agent)) for each in memory["reflectsOn"]),
        _recalls(call, memory),
        field,
        shown_text(fault, _MOST) if fault else None,
        address(path, agent=agent),
        in_form(here, "json"),
        here,
    )


def _recalls(call: PageCall, memory: MemoryDocument) -> ShownRecalls | None:
    if "audit" not in call.principal.permissions:
        return None
    given = {"id": memory["id"], "agent": memory["agent"], "limit": _RECALLS}
    found: ListedRecalls = call.api().operate(list_recalls, **given)
    to = Addresses(call.graph.namespace)
    return ShownRecalls(
        tuple(_recall_row(each, to) for each in found["recalls"]),
        shown_text(found["known"], _MOST),
        address(f"{ROOT}/audit", about=memory["id"]),
    )


def _recall_row(found: RecallRecord, to: Addresses) -> RecallRow:
    through = found["door"] if found["skill"] is None else f"{found['skill']}, {found['door']}"
    return RecallRow(
        found["time"],
        shown_name(found["agent"], OF_NAME),
        to.agent(found["agent"]),
        shown_text(through, OF_NAME),
        shown_text(found["question"] or "the latest", OF_HEADING),
        address(f"{ROOT}/audit", id=found["record"]),
    )


def _memory(call: PageCall) -> MemoryDocument:
    found: MemoryDocument = call.api().operate(show_memory, id=call.path["id"], agent=call.query.get("agent", ""))
    return found


def _correct(call: PageCall, fields: Mapping[str, str]) -> str:
    """Correct the memory, and go to its page.

    Raises:
        Faulty: what was typed is refused; it is shown again.
    """
    try:
        importance = float(fields.get("importance", ""))
        tags = [each.strip() for each in fields.get("tags", "").split(",") if each.strip()]
        given: dict[str, Any] = {"text": fields.get("text", ""), "importance": importance, "tags": tags}
        done = call.api().operate(correct, id=call.path["id"], agent=call.query.get("agent", ""), **given)
    except ValueError:
        error = CortexError("invalid_arguments", "the importance is a number from 0 to 1")
        raise Faulty(view(call, fields, error.message), error) from None
    except CortexError as error:
        if error.code != "invalid_arguments":
            raise
        raise Faulty(view(call, fields, error.message), error) from None
    return address(f"{path_of(call)}/{done['id']}", agent=done["agent"])


def _forget(call: PageCall, _: Mapping[str, str]) -> str:
    """Forget the memory, and go to the list."""
    memory = _memory(call)
    call.api().operate(forget, id=memory["id"], agent=memory["agent"])
    return address(path_of(call), agent=memory["agent"])


def _repeated(call: PageCall, _: Mapping[str, str]) -> Repeated:
    """The memory, for the page that asks for the token again."""
    return Repeated(shown_text(_memory(call)["text"], OF_HEADING))


PAGE = ExplorerPage(
    f"{PATH}/{{id}}",
    "memory",
    "memory.html",
    view,
    query=MemoryAgentQuery,
    permission="memories",
    is_public=False,
    forms={"json": Form("application/json", lambda call: to_json(_memory(call)))},
    actions={
        "correct": Action("Correct", "write", _correct, repeats=_repeated),
        "forget": Action("Forget", "write", _forget, takes_away=True, repeats=_repeated),
    },
    pool="slow",
    place=168,
)
