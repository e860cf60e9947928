"""`audit verify|merge`: whether journals are whole, and those of several hosts as one file.

Rules kept here:
- the exit code of `verify` is 1 when a record was changed, removed, reordered or forged;
- what is merged is verified first, each chain for itself; nothing is written where one has a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.audit_folders import FOLDER, all_folders, folder_of
from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import GivenPath

if TYPE_CHECKING:
    from cortex_skills.audit.verification import JournalReport

_KEY = click.option("--key", "keys", multiple=True, metavar="DID", help="A further key that may sign. Repeatable.")


@click.command(cls=Command)
@FOLDER
@click.option("--all", "everything", is_flag=True, help="Each journal in the folders below FOLDER, or of this host.")
@click.option("--since", type=click.IntRange(1), default=1, metavar="N", help="Report faults from record N on.")
@click.option("--noted", metavar="HASH", help="The hash of a record that must be there: noted after an earlier run.")
@_KEY
@click.pass_context
def verify(
    ctx: click.Context, folder: Path | None, everything: bool, since: int, noted: str | None, keys: tuple[str, ...]
) -> None:
    """Verify the journal; the exit status is 1 when a record was changed, removed, reordered or forged.

    Heads must be signed with the key of this installation, or one of --key. Note the hash that is shown, and give it to
    --noted later: it shows that nothing was removed from the end.
    """
    common: Common = ctx.obj
    if everything and (noted is not None or since > 1):
        raise click.UsageError("--since and --noted are about one journal: leave out --all")
    reported, allowed = _verifier(common, keys, noted, since)
    folders = all_folders(common, folder) if everything else [folder_of(common, folder)]
    reports = {each: reported(each) for each in folders}

    def show() -> None:
        for place, report in reports.items():
            if everything:
                host = "" if report.host is None else f", of {report.host.name}"
                common.out.line(f"{place}{host}:")
            _show(common, report)

    documents = [{"whole": each.fault is None, **each.to_json()} for each in reports.values()]
    answer = documents[0]
    if everything:
        named = [{"folder": str(place), **each} for place, each in zip(reports, documents, strict=True)]
        answer = {"whole": all(each["whole"] for each in documents), "journals": named}
    common.out.answer(answer, show)
    if not allowed and (found := [key for report in reports.values() for key in report.keys]):
        common.out.note(f"there is no key here to compare with: it is signed by {', '.join(dict.fromkeys(found))}")
    if not answer["whole"]:
        ctx.exit(1)


@click.command(cls=Command)
@click.argument(
    "folders",
    metavar="FOLDER...",
    nargs=-1,
    required=True,
    type=GivenPath(exists=True, file_okay=False, path_type=Path),
)
@_KEY
@click.option("--output", type=GivenPath(dir_okay=False, path_type=Path), metavar="FILE", help="A file [stdout].")
@click.pass_context
def merge(ctx: click.Context, folders: tuple[Path, ...], keys: tuple[str, ...], output: Path | None) -> None:
    """Write the records of the journals of several hosts by time, as they are; each chain is verified first.

    Each line names its host. --key names the keys of the other hosts, as `cortex-skills key list` shows them there.
    """
    from cortex_skills.audit.merging import merged
    from cortex_skills.doors.cli.output import write_whole

    common: Common = ctx.obj
    reported, allowed = _verifier(common, keys)
    places = [folder_of(common, folder) for folder in dict.fromkeys(each.resolve() for each in folders)]
    for place in places:
        report = reported(place)
        if report.fault is not None:
            common.out.note(f"{place}: record {report.fault.seq:,} {report.fault.problem}; nothing was written")
            ctx.exit(1)
    if not allowed:
        common.out.note("no key is known here: whose signatures they are was not compared")
    if output is not None:
        write_whole(output, b"".join(merged(places)).decode("ascii"))
        return
    for line in merged(places):
        click.echo(line.decode("ascii"), nl=False)


def _verifier(
    common: Common, keys: tuple[str, ...], noted: str | None = None, since: int = 1
) -> tuple[Callable[[Path], JournalReport], set[str]]:
    """What verifies the journal in a folder, and the keys that may sign it; none for any."""
    from cortex_skills.audit.verification import verify_journal
    from cortex_skills.keys.ed25519 import is_signed
    from cortex_skills.keys.folder import key_folder

    config = common.settings()
    allowed = {*keys, *(key.did for key in key_folder(config).list() if key.name == config.proofs.key and key.did)}

    def reported(folder: Path) -> JournalReport:
        return verify_journal(folder, is_signed, keys=allowed or None, noted=noted, since=since)

    return reported, allowed


def _show(common: Common, report: JournalReport) -> None:
    if report.fault is not None:
        where = f" ({report.fault.file}:{report.fault.line})" if report.fault.file else ""
        common.out.line(f"record {report.fault.seq:,} {report.fault.problem}{where}")
        if report.faults > 1:
            common.out.line(f"{report.faults - 1:,} more faults follow")
        return
    common.out.line(f"the chain of {report.records:,} records is whole: {report.first:,} to {report.last:,}")
    if report.waiting:
        common.out.line(f"{report.waiting:,} bytes are behind the head, of a writer that was stopped; the next keeps")
        common.out.line("whole records of them, and removes a torn one")
    if report.repairs:
        common.out.line(f"repairs: {report.repairs:,}; `audit search --event audit.repaired` shows them")
    if report.signed < report.last:
        common.out.line(f"the last {report.last - max(report.signed, report.first - 1):,} are not signed yet")
    common.out.line(f"hash {report.hash}")
