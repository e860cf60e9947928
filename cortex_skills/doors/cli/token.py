"""`token create`, `token list` and `token revoke`: access tokens of the server.

Rules kept here:
- the text of a token is written once, when it is created, and only to standard output;
- the permissions of a token are set when it is created and never change: revoke it and create another.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Choice, Common
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.tokens import Holder, TokenFile


def _file(common: Common) -> TokenFile:
    from cortex_skills.tokens import TokenFile, default_file

    given = common.settings().cortex.token_file
    return TokenFile(Path(given) if given else default_file())


@click.command(cls=Command)
@click.argument("name", metavar="NAME")
@click.option(
    "--for",
    "namespaces",
    metavar="NS",
    multiple=True,
    help="A namespace that it gives access to; * for all. Repeatable.",
)
@click.option(
    "--permission",
    "permissions",
    type=Choice(["read", "write", "provenance", "memories", "audit", "approve", "registry"]),
    multiple=True,
    help="A permission of its holder [read]. Repeatable.",
)
@click.option(
    "--holder",
    type=Choice(["person", "agent"]),
    help="Who uses it: a person may approve what agents ask for [person with that permission, else agent].",
)
@click.option("--expires", metavar="TIME", default="90d", show_default=True, help="30m, 12h, 90d, 4w, or never.")
@click.pass_obj
def create(
    common: Common,
    name: str,
    namespaces: tuple[str, ...],
    permissions: tuple[str, ...],
    holder: Holder | None,
    expires: str,
) -> None:
    """Create a token called NAME, and show it once.

    It gives access to the configured namespace unless --for names others.
    """
    from cortex_skills.tokens import new_token, parse_lifetime

    opened = namespaces or (common.settings().agent_namespace,)
    lifetime = parse_lifetime(expires)
    token, text = new_token(name, opened, permissions or ("read",), lifetime, datetime.now(UTC), holder)
    _file(common).add(token)
    common.out.answer(token.to_json() | {"token": text}, lambda: common.out.line(text))
    if not common.out.as_json:
        common.out.note("store it now: it is not shown again")


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the tokens by name, without their texts."""
    tokens = _file(common).tokens()
    now = datetime.now(UTC)
    rows = []
    for token in tokens:
        shown = token.to_json()
        expires = (shown["expires"] or "never") + ("" if token.is_valid(now) else " (expired)")
        rows.append((token.name, ", ".join(token.namespaces), ", ".join(shown["permissions"]), expires, token.holder))
    document = [token.to_json() | {"expired": not token.is_valid(now)} for token in tokens]
    columns = ("name", "namespaces", "permissions", "expires", "holder")
    common.out.answer(document, lambda: common.out.table(columns, rows))


@click.command(cls=Command)
@click.argument("name", metavar="NAME")
@click.pass_obj
def revoke(common: Common, name: str) -> None:
    """Revoke the token called NAME, from the next request on."""
    if not _file(common).remove(name):
        hint = "`cortex-skills token list` lists the tokens"
        raise CortexError("invalid_arguments", f"there is no token called {name}", hint=hint)
    common.out.answer({"revoked": name}, lambda: common.out.line(f"{name} is revoked"))


token = Group(
    "token",
    help="Create, list and revoke access tokens of the server.",
    sections={"Commands": [create, list_, revoke]},
)
