"""Base classes of the commands: common options, help in sections, suggestions for misspelt names.

Rules kept here:
- every command and group takes the common options (`command.py`);
- a group without a command prints its help; for an unknown command the error names the nearest one;
- a command of a feature that cannot be imported is listed as such, and is the error that states why;
- a command that is given as `module:name`, as those of features are, is imported when it is run or listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import starmap
from typing import Any

import click

from cortex_skills.doors.cli.command import Command as Command
from cortex_skills.doors.cli.command import format_options
from cortex_skills.doors.cli.options import common_options
from cortex_skills.errors import CortexError
from cortex_skills.feature import Feature, features, imported, named, unusable

COMPLETE = "_CORTEX_SKILLS_COMPLETE"  # with this variable a shell asks for the words that may follow
_WHOLE = 500  # a limit for the short help that cuts nothing


class UnknownCommandError(click.UsageError):
    """An unknown command; `possibilities` are the nearest names."""

    def __init__(self, name: str, possibilities: Sequence[str], ctx: click.Context) -> None:
        super().__init__(f"no such command: {name}", ctx)
        self.possibilities = possibilities


class Group(click.Group):
    """A group of commands, listed in its help under the titles of `sections`; features add to it.

    Args:
        sections: commands by title, or their names, each with the `module:name` of the command or of an operation.
    """

    command_class = Command
    is_program = False

    def __init__(
        self, name: str, *, sections: Mapping[str, Sequence[click.Command] | Mapping[str, str]], **settings: Any
    ) -> None:
        super().__init__(name, invoke_without_command=True, callback=_print_help, **settings)
        self.params.extend(common_options())
        self._sections = sections
        self._named: dict[str, str] = {}
        for commands in sections.values():
            if isinstance(commands, Mapping):
                self._named |= commands
                continue
            for command in commands:
                self.add_command(command)

    @cached_property
    def _of_features(self) -> Mapping[str, tuple[str, Feature]]:
        """The commands of features by name: `module:name`, and whose it is."""
        return {name: where for _, commands in self._added() for name, where in commands.items()}

    def _added(self) -> Iterator[tuple[str, dict[str, tuple[str, Feature]]]]:
        """What each feature adds to this group under a title."""
        group = "" if self.is_program else f"{self.name} "
        for feature in features():
            for title, commands in feature.commands.items():
                split = {name: where for name, where in commands.items() if name.rpartition(" ")[0] == group.strip()}
                if split:
                    yield title, {name.removeprefix(group): (where, feature) for name, where in split.items()}

    @property
    def sections(self) -> Mapping[str, Sequence[click.Command]]:
        """The commands by title: in each section those of the features first."""
        found: dict[str, list[click.Command]] = {title: [] for title in self._sections}
        for title, commands in self._added():
            found.setdefault(title, []).extend(_command_at(name, *where) for name, where in commands.items())
        for title, own in self._sections.items():
            found[title].extend(starmap(_command_at, own.items()) if isinstance(own, Mapping) else own)
        return found

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted({*super().list_commands(ctx), *self._named, *self._of_features})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        if cmd_name in self._named:
            return _command_at(cmd_name, self._named[cmd_name])
        added = self._of_features.get(cmd_name)
        return None if added is None else _command_at(cmd_name, *added)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names.

        Raises:
            UnknownCommandError: there is no such command.
        """
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            from cortex_graph.naming.spelling import nearest

            raise UnknownCommandError(name, nearest(name, self.list_commands(ctx), 3), ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, then the options."""
        for title, commands in self.sections.items():
            if not commands:  # of a feature that is not installed
                continue
            with formatter.section(title):
                formatter.write_dl(
                    [(command.name or "", command.get_short_help_str(limit=_WHOLE)) for command in commands]
                )
        format_options(self, ctx, formatter)


@click.pass_context
def _print_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _command_at(name: str, where: str, feature: Feature | None = None) -> click.Command:
    """The command that `module:name` is, or that is made of the operation there; of a feature at fault, its error."""
    (found,) = [named(where)] if feature is None else imported(feature, [where]) or [None]
    if found is None and feature is not None:
        return _unusable(name, unusable(feature.name))
    if isinstance(found, click.Command):
        return found
    from cortex_skills.doors.cli.operation_command import command_of

    return command_of(found, name)


def _unusable(name: str, error: CortexError) -> click.Command:
    def refuse() -> None:
        raise error

    any_words = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    return Command(name, callback=refuse, short_help="Cannot be used: see `doctor`.", context_settings=any_words)
