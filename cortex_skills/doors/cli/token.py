"""`token create`, `token list` and `token revoke`: access tokens of the server.

Rules kept here:
- the text of a token is written once, when it is created, and only to standard output;
- the permissions of a token are set when it is created and never change: revoke it and create another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Choice, Common

if TYPE_CHECKING:
    from cortex_skills.tokens import Holder


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
@click.option("--person", metavar="NAME", default="", help="Whose it is: they do not approve what they asked for.")
@click.option("--expires", metavar="TIME", default="90d", show_default=True, help="30m, 12h, 90d, 4w, or never.")
@click.pass_obj
def create(
    common: Common,
    name: str,
    namespaces: tuple[str, ...],
    permissions: tuple[str, ...],
    holder: Holder | None,
    person: str,
    expires: str,
) -> None:
    """Create a token called NAME, and show it once.

    It gives access to the configured namespace unless --for names others.
    """
    from cortex_skills.operations.token_operations import create_token

    given = {"namespaces": namespaces, "permissions": permissions or ("read",), "holder": holder}
    made = common.operate(create_token, token=name, person=person, expires=expires, **given)
    common.out.answer(made, lambda: common.out.line(made["token"]))
    if not common.out.as_json:
        common.out.note("store it now: it is not shown again")


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the tokens by name, without their texts."""
    from cortex_skills.operations.token_operations import list_tokens

    tokens = common.operate(list_tokens)
    rows = []
    for each in tokens:
        expires = (each["expires"] or "never") + (" (expired)" if each["expired"] else "")
        lists = (", ".join(each["namespaces"]), ", ".join(each["permissions"]))
        holder = each["holder"] + (f" of {each['person']}" if each["person"] else "")
        rows.append((each["name"], *lists, expires, holder))
    columns = ("name", "namespaces", "permissions", "expires", "holder")
    common.out.answer(tokens, lambda: common.out.table(columns, rows))


@click.command(cls=Command)
@click.argument("name", metavar="NAME")
@click.pass_obj
def revoke(common: Common, name: str) -> None:
    """Revoke the token called NAME, from the next request on."""
    from cortex_skills.operations.token_operations import revoke_token

    common.operate(revoke_token, token=name)
    common.out.answer({"revoked": name}, lambda: common.out.line(f"{name} is revoked"))


token = Group(
    "token",
    help="Create, list and revoke access tokens of the server.",
    sections={"Commands": [create, list_, revoke]},
)
