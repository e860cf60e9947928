"""`install FILE|URL#ID`: verify, audit, grant and install a signed artifact. `installed update` shares its options.

Rules kept here:
- what the artifact requests is shown, and asked for one by one on a terminal; elsewhere options answer, and with a
  request that is not answered nothing is installed;
- what an earlier version was granted or denied is not asked again;
- an artifact of an index is the one that the index lists: its id, version and hashes are compared;
- an artifact that fails its audit is installed quarantined, and the exit code is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, user_name
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.standard_input import is_interactive

if TYPE_CHECKING:
    from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
    from cortex_skills.features.artifacts.installed.installation import InstallOptions, PreparedInstall
    from cortex_skills.plugin import Plugin

SUFFIX = ".palyra-skill"


class _Source(GivenPath):
    """A file, or the address of an index with an id."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of an existing file, or the text of an address."""
        return value if isinstance(value, str) and "://" in value else super().convert(value, param, ctx)


SOURCE = _Source(exists=True, dir_okay=False, path_type=Path)
_TRUST_OPTIONS = (
    click.option(
        "--trusted-publisher", "trusted", metavar="NAME=KEY", multiple=True, help="A publisher and its key to trust."
    ),
    click.option("--allow-tofu", is_flag=True, help="Trust an unknown publisher, and pin its key."),
    click.option("--allow-untrusted", is_flag=True, help="Accept an unknown publisher without trusting it."),
    click.option("--allow-downgrade", is_flag=True, help="Accept an older version than the newest one seen."),
)
_INSTALL_OPTIONS = (
    click.option("--sha256", metavar="HEX", default="", help="The expected SHA-256 of the file."),
    click.option("--grant", "grants", metavar="KIND=VALUE", multiple=True, help="Grant this, as in http=example.org."),
    click.option("--deny", "denials", metavar="KIND=VALUE", multiple=True, help="Deny this."),
    click.option("--grant-all", is_flag=True, help="Grant everything else that it requests."),
    click.option("--deny-all", is_flag=True, help="Deny everything else that it requests."),
    click.option("--index-key", metavar="KEY", help="The key of the index, as its owner states it."),
    *_TRUST_OPTIONS,
)

Decorated = Callable[..., Any]


def _with(options: tuple[Decorated, ...], function: Decorated) -> Decorated:
    for option in reversed(options):
        function = option(function)
    return function


def install_options(function: Decorated) -> Decorated:
    """Add the options of an installation to a command."""
    return _with(_INSTALL_OPTIONS, function)


def trust_options(function: Decorated) -> Decorated:
    """Add the options of trust to a command."""
    return _with(_TRUST_OPTIONS, function)


@click.command(cls=Command)
@click.argument("source", metavar="FILE|URL#ID", type=SOURCE)
@install_options
@click.pass_context
def install(ctx: click.Context, /, source: Path | str, **given: Any) -> None:
    """Install the artifact FILE (.palyra-skill), after its signature, its security and its requests were checked.

    URL#ID is an artifact of an index, in its newest version; URL#ID@VERSION in this one.

    Its publisher is trusted before: cortex-skills trust add. What it may do is asked for here.
    """
    common: Common = ctx.obj
    found = read_source(source)
    with common.plugin() as plugin:
        run_install(ctx, plugin, found, given)


def read_source(source: Path | str) -> bytes | str:
    """The bytes of a file, before a store is opened or created; an address as it is.

    Raises:
        ArtifactError: the file cannot be read.
    """
    from cortex_skills.features.artifacts.package import read_artifact_file

    return read_artifact_file(source) if isinstance(source, Path) else source


def run_install(
    ctx: click.Context, plugin: Plugin, source: bytes | str, given: dict[str, Any], skill_id: str = ""
) -> None:
    """Install a file or an artifact of an index, and write the answer.

    Args:
        ctx: of the command.
        plugin: where.
        source: the bytes of the artifact, or the address of the index with its id.
        given: the values of `install_options`.
        skill_id: the only artifact that is accepted; empty for any.

    Raises:
        CortexError: it is not installed.
    """
    from cortex_skills.features.artifacts.artifact_operations import AskedGrants, install
    from cortex_skills.features.artifacts.cli.index import artifact_of_index

    common: Common = ctx.obj
    operate = operates(plugin)
    options = options_of(common, given, skill_id)
    if isinstance(source, bytes):
        data = source
    else:
        data, expected, address = artifact_of_index(common, operate, source, given["index_key"], skill_id)
        options = replace(options, expected=expected, source=address)
    answers = AskedGrants(_given_answers(given), partial(_asked, common))
    done = operate(install, data=data, options=options, answers=answers)

    def show() -> None:
        common.out.line(f"{done['skillId']} {done['version']} is installed; its status is {done['status']}")
        if done["reason"]:
            common.out.line(done["reason"])

    common.out.answer(done, show)
    if done["status"] != "active":
        ctx.exit(1)


def operates(plugin: Plugin) -> Callable[..., Any]:
    """Runs an operation of a command, in the name of the user."""
    return partial(plugin.operate, door="command", by=user_name())


def options_of(common: Common, given: dict[str, Any], skill_id: str = "") -> InstallOptions:
    """How to install, from the values of options.

    Raises:
        CortexError: `invalid_arguments`.
    """
    from datetime import UTC, datetime

    from cortex_skills.features.artifacts.artifact_trust import read_trusted
    from cortex_skills.features.artifacts.installed.installation import InstallOptions
    from cortex_skills.features.artifacts.package import ExpectedArtifact

    now = datetime.now(UTC)
    return InstallOptions(
        given.get("sha256", ""),
        ExpectedArtifact(skill_id),
        tuple(read_trusted(text, now) for text in given["trusted"]),
        given["allow_tofu"] or common.settings().verification.trust_on_first_use,
        given["allow_untrusted"],
        given["allow_downgrade"],
    )


def show_checks(common: Common, checks: Iterable[Mapping[str, Any]], *, everything: bool) -> None:
    """Write the checks of an audit: all of them, or those that did not pass."""
    rows = [
        (check["id"], check["status"], check["message"])
        for check in checks
        if everything or check["status"] in ("failed", "warned")
    ]
    if rows:
        common.out.table(("check", "status", "message"), rows)


def _show(common: Common, prepared: PreparedInstall, answers: GrantAnswers) -> None:
    """Write who signed it, what the audit found, and how what it requests differs from what is granted so far."""
    from cortex_skills.features.artifacts.installed import grant_differences

    signature = prepared.report.signature
    key = signature.key_id if signature is not None else ""
    common.out.line(f"{prepared.key} of {prepared.manifest.publisher}, signed by {key}")
    show_checks(common, prepared.audit.to_json()["checks"], everything=False)
    granted = prepared.decide(answers).granted
    differences = grant_differences(prepared.wanted, granted, prepared.audit.used)
    rows = [(each.kind, str(each.grant)) for each in differences]
    if rows:
        common.out.table(("difference", "grant"), rows)


def _given_answers(given: dict[str, Any]) -> GrantAnswers:
    """The answers of the options."""
    from cortex_skills.features.artifacts.installed.artifact_grants import read_grant
    from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers

    if given["grant_all"] and given["deny_all"]:
        raise click.UsageError("--grant-all and --deny-all exclude each other")
    rest = True if given["grant_all"] else False if given["deny_all"] else None
    granted, denied = (frozenset(map(read_grant, given[name])) for name in ("grants", "denials"))
    return GrantAnswers(granted, denied, rest)


def _asked(common: Common, prepared: PreparedInstall, answers: GrantAnswers) -> GrantAnswers:
    """The answers, and on a terminal those of the user to what is open, who is shown what it is."""
    if not common.out.as_json:
        _show(common, prepared, answers)
    if not is_interactive():
        return answers
    granted, denied = set(answers.grant), set(answers.deny)
    for grant in sorted(prepared.decide(answers).open):
        is_granted = click.confirm(f"grant {grant} to {prepared.key.skill_id}?", default=False, err=True)
        (granted if is_granted else denied).add(grant)
    return replace(answers, grant=frozenset(granted), deny=frozenset(denied))
