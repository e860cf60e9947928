"""`completion`: what a shell needs to complete our commands.

Rules kept here:
- the script is click's own, and asks the command itself what fits: it never lags behind;
- it goes to standard output and changes nothing; where it is put is the user's affair, and the help says how.
"""

from __future__ import annotations

import os
from pathlib import PurePath

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import Choice, Common

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_CORTEX_SKILLS_COMPLETE"


@click.command(cls=Command)
@click.argument("shell", required=False, type=Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str | None) -> None:
    """Print what completes commands, options and folders in a shell.

    SHELL is bash (from 4.4), zsh or fish; left out, it is told from $SHELL.

    \b
    bash:  echo 'eval "$(cortex-skills completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(cortex-skills completion zsh)"' >> ~/.zshrc
    fish:  cortex-skills completion fish > ~/.config/fish/completions/cortex-skills.fish
    """  # noqa: D301 - click's mark for lines that stay as they are
    from click.shell_completion import get_completion_class

    root = context.find_root()
    shell = shell or PurePath(os.environ.get("SHELL", "")).name
    kind = get_completion_class(shell) if shell in SHELLS else None
    if kind is None:
        raise click.UsageError(f"which shell? name one of {', '.join(SHELLS)}")
    script = kind(root.command, {}, root.info_name or "", VARIABLE).source()
    common: Common = context.obj
    common.out.answer({"shell": shell, "script": script}, lambda: click.echo(script))
