"""What is special about our commands: options of all, help in sections, and a word for a misspelt name.

Rules kept here:
- every command and group takes the options of all commands, and its help lists them apart;
- a group without a command prints its help; with one that it does not have, it names the nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from cortex_skills.cli.options import MAX_WORD, CommonOption, common_options

_WHOLE = 500  # characters of a command's first sentence: all of them


class Command(click.Command):
    """A command that takes the options of all."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.extend(common_options())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the command's own options, then those of all."""
        _format_options(self, ctx, formatter)


class UnknownCommandError(click.UsageError):
    """There is no command of that name; `possibilities` are those that are nearly so called."""

    def __init__(self, name: str, possibilities: Sequence[str], ctx: click.Context) -> None:
        super().__init__(f"no such command: {name}", ctx)
        self.possibilities = possibilities


class Group(click.Group):
    """A family of commands. In its help they stand under the titles of `sections`.

    Args:
        sections: the names of commands by title.

    """

    command_class = Command

    def __init__(self, name: str, *, sections: Mapping[str, Sequence[click.Command]], **settings: Any) -> None:
        super().__init__(name, invoke_without_command=True, callback=_print_help, **settings)
        self.params.extend(common_options())
        self.sections = sections
        for commands in sections.values():
            for command in commands:
                self.add_command(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names.

        Raises:
            UnknownCommandError: there is none.

        """
        name = args[0]
        if name not in self.commands and not ctx.resilient_parsing:
            from difflib import get_close_matches

            raise UnknownCommandError(name, get_close_matches(name[:MAX_WORD], self.commands), ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, then the options."""
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(command.name or "", command.get_short_help_str(limit=_WHOLE)) for command in commands]
                )
        _format_options(self, ctx, formatter)


@click.pass_context
def _print_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _format_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    own: list[tuple[str, str]] = []
    common: list[tuple[str, str]] = []
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and not isinstance(parameter, click.Argument):
            (common if isinstance(parameter, CommonOption) else own).append(record)
    for title, records in (("Options", own), ("Options of all commands", common)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
