"""The types of options and arguments that are paths.

Rules kept here:
- every path on a command line is expanded (`expanded_path`), since a host that starts the command has no shell for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.safe_io.expanded_path import expanded_path

if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:
    _ParamType = click.ParamType  # generic only from click 8.2


class GivenPath(click.Path):
    """A path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The expanded path, checked as the settings of the type require."""
        return super().convert(_expanded(value, param, ctx), param, ctx)


class PathOrName(_ParamType):
    """A path, an address or a name, as text."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text, expanded."""
        return _expanded(value, param, ctx, may_be_address=True)


def _expanded(
    value: Any, param: click.Parameter | None, ctx: click.Context | None, *, may_be_address: bool = False
) -> str:
    try:
        return expanded_path(os.fspath(value), may_be_address=may_be_address)
    except ValueError as error:
        raise click.BadParameter(f"{value}: {error} ($$ is a dollar sign)", ctx, param) from None
