"""`audit tail|search|verify|export|merge`: what agents did, from the journal on disk.

Rules kept here:
- the journal of the configuration is read, without a lock and without opening the store; nothing is created;
- `export` writes the lines as they are, so that their hashes can be checked elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.audit_folders import FOLDER, folder_of
from cortex_skills.doors.cli.audit_verify import merge, verify
from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import GivenPath

if TYPE_CHECKING:
    from cortex_skills.audit.recent_calls import CallFilter, RecentCall

_COLUMNS = ("time", "agent", "event", "tool or action", "skill", "outcome", "ms", "by")
_FOLLOW_S = 0.5


def _moment(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """A moment, as every interface takes it."""
    from cortex_graph.checks.moments import HINT, check_moment
    from cortex_graph.exceptions import InvalidArguments

    try:
        return None if value is None else check_moment(value, "TIME")
    except InvalidArguments as error:
        raise click.BadParameter(f"{error.message}: give {HINT}") from None


_SINCE = click.option(
    "--since", callback=_moment, metavar="TIME", help="From this time on: a date, RFC 3339, yesterday, 24h."
)
_UNTIL = click.option("--until", callback=_moment, metavar="TIME", help="Until this time.")


def _found(folder: Path, wanted: CallFilter, limit: int) -> list[RecentCall]:
    """The newest records that match, the newest first."""
    from cortex_skills.audit.journal_reader import JournalReader
    from cortex_skills.audit.recent_calls import MAX_PAGE

    reader, found, cursor = JournalReader(folder, None), list[Any](), None
    while len(found) < limit:
        page = reader.page(wanted, limit=min(MAX_PAGE, limit - len(found)), cursor=cursor)
        found += page.calls
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def _row(call: RecentCall) -> tuple[str, ...]:
    record = call.record
    events = " ".join([record.event, *dict.fromkeys(change["event"] for change in record.changes)])
    texts = (record.time[:19], record.agent, events, record.tool, record.skill or "", record.outcome)
    return (*texts, f"{record.milliseconds:,.1f}", record.approved_by or record.actor or "")


def _show(common: Common, calls: list[RecentCall]) -> None:
    document = [{"id": call.id, **call.record.to_json()} for call in calls]
    common.out.answer(document, lambda: common.out.table(_COLUMNS, [_row(call) for call in calls]))


@click.command(cls=Command)
@FOLDER
@click.option("-n", "count", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many records.")
@click.option("--follow", is_flag=True, help="Show new records as they are written, until Ctrl-C.")
@click.pass_obj
def tail(common: Common, folder: Path | None, count: int, follow: bool) -> None:
    """Show the latest records, the newest last."""
    from cortex_skills.audit.recent_calls import EVERY

    place = folder_of(common, folder)
    calls = _found(place, EVERY, count)[::-1]
    if not follow:
        _show(common, calls)
        return
    last = 0
    while True:
        for call in calls:
            last = int(call.id.partition("-")[2])
            if common.out.as_json:
                common.out.document({"id": call.id, **call.record.to_json()})
            else:
                common.out.line("  ".join(cell for cell in _row(call) if cell))
        sys.stdout.flush()
        time.sleep(_FOLLOW_S)
        calls = [call for call in _found(place, EVERY, 1000)[::-1] if int(call.id.partition("-")[2]) > last]


@click.command(cls=Command)
@FOLDER
@click.option("--tool", metavar="NAME", help="The tool or action.")
@click.option("--event", metavar="EVENT", help="What happened: tool.call, skill_executed, graph.assert, …")
@click.option("--skill", metavar="NAME", help="The acting skill.")
@click.option("--outcome", metavar="CODE", help="ok, refused (everything else), or a code.")
@click.option("--of", "agent", metavar="ID", help="The agent that it was for.")
@click.option("--about", metavar="ID", help="An id or a digest that the record names: of a request, of an artifact.")
@click.option("--text", metavar="TEXT", help="What a text of the record contains, in any case.")
@click.option("--session", metavar="ID", help="The id of a client's session, as records have it.")
@_SINCE
@_UNTIL
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=100, show_default=True, help="How many records.")
@click.pass_obj
def search(
    common: Common,
    folder: Path | None,
    tool: str | None,
    event: str | None,
    skill: str | None,
    outcome: str | None,
    agent: str | None,
    about: str | None,
    text: str | None,
    session: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> None:
    """Show the records that match, the newest first."""
    from cortex_skills.audit.recent_calls import CallFilter

    wanted = CallFilter(
        outcome, skill, agent, tool, None, since, until, event=event, about=about, session=session, text=text
    )
    _show(common, _found(folder_of(common, folder), wanted, limit))


@click.command(cls=Command)
@FOLDER
@_SINCE
@_UNTIL
@click.option("--output", type=GivenPath(dir_okay=False, path_type=Path), metavar="FILE", help="A file [stdout].")
@click.pass_obj
def export(
    common: Common, folder: Path | None, since: datetime | None, until: datetime | None, output: Path | None
) -> None:
    """Write the records of a time as JSON lines, the oldest first, as they are in the journal."""
    from cortex_skills.doors.cli.output import write_whole

    left_out: list[str] = []
    lines = _lines(folder_of(common, folder), since, until, left_out)
    if output is not None:
        write_whole(output, "".join(lines))
    else:
        for line in lines:
            click.echo(line, nl=False)
    if left_out:
        common.out.note(f"{len(left_out):,} lines are no records, and were left out, from {left_out[0]} on")


def _lines(folder: Path, since: datetime | None, until: datetime | None, left_out: list[str]) -> Iterator[str]:
    """The lines of a time; the places of those that are no records are added to `left_out`."""
    from cortex_skills.audit.journal_files import day_files, lines_in
    from cortex_skills.audit.lines import read_line

    for path in day_files(folder):
        for number, line in enumerate(lines_in(path), 1):
            record = read_line(line)
            document = record.document() if record is not None else None
            try:
                time_of = datetime.fromisoformat((document or {})["timestamp"])
                if (since is None or time_of >= since) and (until is None or time_of <= until):
                    yield line.decode("ascii")
            except (ValueError, TypeError, KeyError):
                left_out.append(f"{path.name}:{number}")


audit = Group(
    "audit",
    help="Read, verify and export the journal of what agents did.",
    sections={"Commands": [tail, search, verify, export, merge]},
)
