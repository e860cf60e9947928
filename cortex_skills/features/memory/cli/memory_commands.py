"""`memory list|search|show|recall|recalls|remember|correct|forget`: the memories of agents, for the owner of the store.

Rules kept here:
- the commands are the operations, and add nothing. Without `--agent`, what is listed, searched or named by its id is of
  all agents, and what is remembered and recalled is of the default agent;
- texts of memories are escaped like every other text from outside.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.doors.cli.operation_command import command_of
from cortex_skills.doors.cli.output import Output
from cortex_skills.features.memory.memory_reading import correct, list_memories, search_memories, show_memory
from cortex_skills.features.memory.recalls import list_recalls
from cortex_skills.features.memory.remembering import forget, recall, remember


def _rows(out: Output, document: dict[str, Any]) -> None:
    """Write memories as a table, and what is to be known beside."""
    found = document["memories"]
    if not found:
        out.line("there is no such memory" if "problem" in document else "there are no memories")
        return
    columns = ("id", "agent", "fit", "importance", "time", "text") if "fit" in found[0] else _LISTED
    out.table(columns, [[str(each[name]) for name in columns] for each in found])
    if document.get("cursor"):
        out.line(f"{document['total']:,} in all; the next page: --cursor '{document['cursor']}'")
    if document.get("problem"):
        out.line(document["problem"])


def _recalled(out: Output, document: dict[str, Any]) -> None:
    if not document["found"]:
        out.line("no memory has these words")
    for memory, scored in document["found"]:
        out.line(f"{memory['id']}  {scored_text(scored)}  {memory['text']}")


def _recalls(out: Output, document: dict[str, Any]) -> None:
    """Write recalls as a table, and from when on they are known."""
    if found := document["recalls"]:
        out.table(_OF_RECALL, [[str(each[name] or "") for name in _OF_RECALL] for each in found])
    out.line(document["known"])
    if document["cursor"]:
        out.line(f"the next page: --cursor {document['cursor']}")


def scored_text(scored: dict[str, Any]) -> str:
    """The coverage of a memory, where words were asked for."""
    coverage = scored.get("coverage")
    return "-" if coverage is None else f"{coverage:.2f}"


_OF_RECALL = ("time", "agent", "of", "door", "skill", "question")
_LISTED = ("id", "agent", "kind", "importance", "time", "text")

LIST = command_of(list_memories, "list", show=_rows)
SEARCH = command_of(search_memories, "search", show=_rows)
SHOW = command_of(show_memory, "show")
RECALLS = command_of(list_recalls, "recalls", show=_recalls)
RECALL = command_of(recall, show=_recalled, by_place=("text",), without=("groups",))
REMEMBER = command_of(remember)
CORRECT = command_of(correct)
FORGET = command_of(forget)
