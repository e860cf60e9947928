"""A command with the common options, which its help lists separately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.options import CommonOption, common_options

if TYPE_CHECKING:
    from cortex_skills.operations.operation import Operation


class Command(click.Command):
    """A command with the common options; `operation` is the one that it was made of, or None."""

    def __init__(self, *args: Any, operation: Operation[Any, Any] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.operation = operation
        self.params.extend(common_options())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the command's options, then the common options."""
        format_options(self, ctx, formatter)


def format_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """List the options of a command, then the common options."""
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
