"""`registry history`, `registry diff` and `registry events list`: what changed, made of the operations."""

from __future__ import annotations

from typing import Any

from cortex_skills.doors.cli.operation_command import command_of
from cortex_skills.doors.cli.output import Output
from cortex_skills.features.registry import skill_reads


def _show_versions(out: Output, found: list[Any]) -> None:
    from cortex_skills.features.registry.views import ATTEST_WORDS

    rows = [
        (str(each["version"]), each["created"], ATTEST_WORDS[each["attest"]], each["digest"][:16], each["id"])
        for each in found
    ]
    out.table(("version", "created", "signature", "digest", "id"), rows)


def _show_events(out: Output, found: list[Any]) -> None:
    rows = [
        (str(each["sequence"]), each["time"], each["kind"], each["details"].get("name", ""), each["actor"])
        for each in found
    ]
    out.table(("number", "time", "event", "skill", "by"), rows)


HISTORY = command_of(skill_reads.history, show=_show_versions)
DIFF = command_of(skill_reads.compare, "diff", show=lambda out, found: out.text("\n".join(found["lines"])))
LIST_EVENTS = command_of(skill_reads.list_events, "list", show=_show_events)
