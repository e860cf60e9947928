"""Base classes of the commands: common options, help in sections, suggestions for misspelt names.

Rules kept here:
- every command and group takes the common options, and its help lists them separately;
- a group without a command prints its help; for an unknown command the error names the nearest one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from cortex_skills.doors.cli.options import CommonOption, common_options

_WHOLE = 500  # a limit for the short help that cuts nothing


class Command(click.Command):
    """A command with the common options."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.extend(common_options())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the command's options, then the common options."""
        _format_options(self, ctx, formatter)


class UnknownCommandError(click.UsageError):
    """An unknown command; `possibilities` are the nearest names."""

    def __init__(self, name: str, possibilities: Sequence[str], ctx: click.Context) -> None:
        super().__init__(f"no such command: {name}", ctx)
        self.possibilities = possibilities


class Group(click.Group):
    """A group of commands, listed in its help under the titles of `sections`.

    Args:
        sections: commands by title.
    """

    command_class = Command

    def __init__(self, name: str, *, sections: Mapping[str, Sequence[click.Command]], **settings: Any) -> None:
        super().__init__(name, invoke_without_command=True, callback=_print_help, **settings)
        self.params.extend(common_options())
        self._sections = sections
        for commands in sections.values():
            for command in commands:
                self.add_command(command)

    @property
    def sections(self) -> Mapping[str, Sequence[click.Command]]:
        """The commands by title."""
        return self._sections

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names.

        Raises:
            UnknownCommandError: there is no such command.
        """
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            from cortex_graph.spelling import nearest

            raise UnknownCommandError(name, nearest(name, self.list_commands(ctx), 3), ctx)
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
