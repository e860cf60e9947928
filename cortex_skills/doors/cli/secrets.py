"""`secrets set`, `secrets list` and `secrets remove`: secrets for installed artifacts.

Rules kept here:
- a value comes from standard input, or from a prompt without echo on a terminal, and never from an argument, which
  other users of the machine can see;
- no command shows a value.
"""

from __future__ import annotations

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.standard_input import is_interactive, standard_input
from cortex_skills.errors import CortexError


@click.command("set", cls=Command)
@click.argument("name", metavar="SCOPE/KEY")
@click.pass_obj
def set_(common: Common, name: str) -> None:
    """Set the secret SCOPE/KEY to the text on standard input, without its last line end.

    SCOPE is global, or principal:, channel: or skill: and a name, as in skill:acme.weather/api_key.
    """
    from cortex_skills.operations.secret_operations import set_secret
    from cortex_skills.secrets import SecretName
    from cortex_skills.secrets.hidden_values import SHORTEST

    wanted = SecretName.of(name)
    value = _value(str(wanted))
    replaced = common.operate(set_secret, secret=str(wanted), value=value)
    verb = "replaced" if replaced else "set"
    common.out.answer({"name": str(wanted), "replaced": replaced}, lambda: common.out.line(f"{wanted} is {verb}"))
    if len(value) < SHORTEST:
        common.out.note(f"it has fewer than {SHORTEST} characters: it is hidden in outputs as a whole word only")


@click.command("list", cls=Command)
@click.pass_obj
def list_(common: Common) -> None:
    """List the names of the secrets."""
    from cortex_skills.operations.secret_operations import list_secrets

    names = common.operate(list_secrets)
    common.out.answer(names, lambda: common.out.text("\n".join(names)) if names else None)


@click.command(cls=Command)
@click.argument("name", metavar="SCOPE/KEY")
@click.pass_obj
def remove(common: Common, name: str) -> None:
    """Remove the secret SCOPE/KEY."""
    from cortex_skills.operations.secret_operations import remove_secret
    from cortex_skills.secrets import SecretName

    wanted = SecretName.of(name)
    common.operate(remove_secret, secret=str(wanted))
    common.out.answer({"removed": str(wanted)}, lambda: common.out.line(f"{wanted} is removed"))


def _value(name: str) -> str:
    """The value on standard input."""
    from cortex_skills.secrets.secret_store import MAX_VALUE

    if is_interactive():
        prompted: str = click.prompt(f"the value of {name}", hide_input=True, err=True)
        return prompted
    data = standard_input().read(MAX_VALUE + 3)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise CortexError("invalid_arguments", f"the value of {name} is not UTF-8", hint="encode it first") from None
    return text.removesuffix("\n").removesuffix("\r")


secrets = Group(
    "secrets",
    help="Keep the secrets that installed artifacts may read.",
    sections={"Commands": [set_, list_, remove]},
)
