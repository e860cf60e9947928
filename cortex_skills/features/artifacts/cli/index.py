"""`index build`, `verify`, `search`, `list` and `forget`: indexes of artifacts.

Rules kept here:
- nothing is decided here: `verify` shows the checks that installing makes;
- `verify` of an address remembers its snapshot, as installing does; `verify` of a folder remembers nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import FOLDER, Common
from cortex_skills.doors.cli.output import counted
from cortex_skills.doors.cli.path_types import GivenPath, PathOrName
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_settings import ActionSettings

if TYPE_CHECKING:
    from cortex_skills.features.artifacts.index import FetchedIndex
    from cortex_skills.features.artifacts.installed import InstalledArtifact
    from cortex_skills.features.artifacts.package import ExpectedArtifact

Operate = Callable[..., Any]  # `Common.operate`, or that of an open plugin
INDEX_KEY = click.option("--index-key", metavar="KEY", help="The key of the index, as its owner states it.")


@click.command(cls=Command)
@click.argument("folder", metavar="FOLDER", type=FOLDER)
@click.option(
    "-o", "--output", metavar="OUT", required=True, type=GivenPath(path_type=Path), help="The folder to write."
)
@click.option("--key", metavar="NAME", required=True, help="The key to sign with (`key list`).")
@click.option("--publisher", metavar="NAME", help="Who publishes the index [the name of the key].")
@click.option(
    "--expires-days", metavar="N", type=click.IntRange(1, 366), default=30, show_default=True, help="Until it expires."
)
@click.option("--yank", metavar="ID@VERSION", multiple=True, help="Withdraw a version; may be repeated.")
@click.pass_obj
def build(
    common: Common,
    folder: Path,
    output: Path,
    key: str,
    publisher: str | None,
    expires_days: int,
    yank: tuple[str, ...],
) -> None:
    """Make an index of the artifacts in FOLDER, or its next snapshot.

    OUT gets index.json, pages/ and artifacts/, for any web server. Every artifact is verified first. Readers refuse the
    index after it has expired: make it again before, with the same OUT.
    """
    from cortex_skills.features.artifacts.package_operations import make_index

    made = common.operate(
        make_index,
        folder=folder,
        output=output,
        key=key,
        publisher=publisher or key,
        expires_days=expires_days,
        yank=tuple(map(_named, yank)),
    )
    text = f" snapshot {made['snapshot']} with {counted(made['entries'], 'artifact')} in {output}"
    text += f", signed with {made['key']}"
    common.out.answer(made, lambda: common.out.line(("made", "green"), text))


@click.command(cls=Command)
@click.argument("source", metavar="FOLDER|URL", type=PathOrName())
@INDEX_KEY
@click.pass_obj
def verify(common: Common, source: str, index_key: str | None) -> None:
    """Check an index, in a folder or at an address, and its entries."""
    index = _read(common, source, index_key)
    common.out.answer(_about(index), lambda: _show_about(common, index))


@click.command(cls=Command)
@click.argument("source", metavar="FOLDER|URL", type=PathOrName())
@click.argument("words", metavar="[WORD...]", nargs=-1)
@INDEX_KEY
@click.pass_obj
def search(common: Common, source: str, words: tuple[str, ...], index_key: str | None) -> None:
    """List the artifacts of an index in which all words occur, each in its newest version."""
    found = _read(common, source, index_key).search(words)
    document = [entry.to_json() for entry in found]
    rows = [
        (entry.skill_id, entry.version, entry.summary, ", ".join(entry.capabilities) or "nothing") for entry in found
    ]
    common.out.answer(document, lambda: common.out.table(("skill", "version", "summary", "requests"), rows))


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the indexes that were accepted here: address, publisher, snapshot, key."""
    from cortex_skills.features.artifacts.installation_operations import list_indexes

    seen = common.operate(list_indexes)
    document = [
        {"url": each.url, "publisher": each.publisher, "snapshot": each.snapshot, "key": each.key} for each in seen
    ]
    rows = [(each.url, each.publisher, str(each.snapshot), each.key) for each in seen]
    common.out.answer(document, lambda: common.out.table(("url", "publisher", "snapshot", "key"), rows))


@click.command(cls=Command)
@click.argument("url", metavar="URL")
@click.pass_obj
def forget(common: Common, url: str) -> None:
    """Forget the key and the snapshot of an index. It may be rolled back once then."""
    from cortex_skills.features.artifacts.installation_operations import forget_index

    address = common.operate(forget_index, url=url)
    common.out.answer({"forgotten": address}, lambda: common.out.line(f"{address} is forgotten"))


def artifact_of_index(
    common: Common, operate: Operate, source: str, index_key: str | None, skill_id: str = ""
) -> tuple[bytes, ExpectedArtifact, str]:
    """An artifact of an index: its bytes, which artifact it has to be, and the address of the index.

    Args:
        common: the common options of the command.
        operate: runs an operation.
        source: the address of the index with `#ID` or `#ID@VERSION`.
        index_key: the key of the index; None if none is given.
        skill_id: the only artifact that is accepted; empty for any.

    Raises:
        CortexError: as for `index.fetch`; `artifact_not_found`, `artifact_invalid`.
    """
    from cortex_skills.features.artifacts.index.fetching import download
    from cortex_skills.features.artifacts.installation_operations import fetch_index

    url, wanted, version = _parts(source)
    if not wanted:
        raise click.UsageError("an artifact of an index is named by URL#ID or URL#ID@VERSION")
    if skill_id and wanted != skill_id:
        raise click.UsageError(f"{wanted} is not {skill_id}")
    index: FetchedIndex = operate(fetch_index, url=url, key=index_key)
    entry = index.find(wanted, version)
    if entry.yanked:
        common.out.note(f"{entry.skill_id} {entry.version} was withdrawn in the index")
    with common.out.working(f"downloading {entry.skill_id} {entry.version}"):
        data = download(index, entry, allow_loopback=common.settings().section(ActionSettings).allow_loopback)
    return data, entry.expected, index.url


def newer_in_index(operate: Operate, found: InstalledArtifact, source: str | None, index_key: str | None) -> str | None:
    """The address of the newest version of an installed artifact in an index; None if it is not newer.

    Args:
        operate: runs an operation.
        found: the installed version.
        source: the address of an index; None for the one that it came from.
        index_key: the key of the index; None if none is given.

    Raises:
        CortexError: as for `index.fetch`; `artifact_not_found`; `invalid_arguments`: it came from a file.
    """
    from cortex_skills.features.artifacts.installation_operations import fetch_index
    from cortex_skills.features.artifacts.package.manifest_rules import is_older

    if not (source or found.source):
        hint = "give a file, or the address of an index"
        raise CortexError("invalid_arguments", f"{found.key} was installed from a file", hint=hint)
    url, wanted, version = _parts(source or found.source)
    if wanted not in ("", found.key.skill_id):
        raise click.UsageError(f"{wanted} is not {found.key.skill_id}")
    if version is not None:
        return source
    newest: str = operate(fetch_index, url=url, key=index_key).find(found.key.skill_id).version
    return f"{url}#{found.key.skill_id}@{newest}" if is_older(found.key.version, newest) else None


def _parts(source: str) -> tuple[str, str, str | None]:
    """The address, the id and the version of `URL#ID@VERSION`."""
    url, _, fragment = source.partition("#")
    skill_id, separator, version = fragment.partition("@")
    return url, skill_id, version if separator else None


def _read(common: Common, source: str, index_key: str | None) -> FetchedIndex:
    from cortex_skills.features.artifacts.index.fetching import read_local
    from cortex_skills.features.artifacts.installation_operations import fetch_index

    if "://" in source:
        return common.operate(fetch_index, url=source, key=index_key)
    try:
        return read_local(Path(source), datetime.now(UTC))
    except OSError as error:
        hint = "give the folder of an index, or its https address"
        raise CortexError("invalid_arguments", f"{source} cannot be read: {error.strerror}", hint=hint) from error


def _named(text: str) -> tuple[str, str]:
    skill_id, separator, version = text.partition("@")
    if not separator or not skill_id or not version:
        raise click.UsageError("--yank names a version, as acme.echo@1.2.0")
    return skill_id, version


def _about(index: FetchedIndex) -> dict[str, Any]:
    from cortex_skills.keys import did_of

    page = index.page
    return {
        "url": index.url,
        "publisher": page.publisher,
        "key": did_of(page.signature.public_key),
        "snapshot": page.snapshot,
        "expires": _time(page.expires_at_unix_ms),
        "entries": len(index.entries),
        "pages": len(page.pages) + 1,
    }


def _show_about(common: Common, index: FetchedIndex) -> None:
    about = _about(index)
    common.out.line(
        ("ok", "green"),
        f" {about['url']}: snapshot {about['snapshot']} with {counted(about['entries'], 'artifact')}, signed by "
        f"{about['publisher']} with {about['key']}, expires {about['expires']}",
    )


def _time(unix_ms: int) -> str:
    from cortex_skills.features.artifacts.index.snapshot_check import time_text

    return time_text(unix_ms)


index = Group(
    "index",
    help="Make and read indexes: signed lists of artifacts on a web server.",
    sections={"Make": [build], "Read": [verify, search, list_, forget]},
)
