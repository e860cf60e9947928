"""The command itself: its help, its commands by job, and how it ends.

Rules kept here:
- it ends with 0 when it did what was asked, 1 when the thing that was asked about is bad (an invalid manifest, a
  critical finding, a call that was refused), 2 for a wrong usage or an environment that is not in order, 130 when it
  was interrupted, 141 when nobody reads on; never with a traceback, unless `--verbose` asks for it;
- what is large is imported by the command that needs it: `--version` and `--help` are there at once.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from cortex_skills import __version__
from cortex_skills.cli.call import call, query
from cortex_skills.cli.commands import Group
from cortex_skills.cli.completion import VARIABLE, completion
from cortex_skills.cli.dev import dev
from cortex_skills.cli.doctor import doctor
from cortex_skills.cli.graph import graph
from cortex_skills.cli.init import init
from cortex_skills.cli.key import key
from cortex_skills.cli.logs import logging_to
from cortex_skills.cli.mcp import mcp
from cortex_skills.cli.options import Common
from cortex_skills.cli.proof import proof
from cortex_skills.cli.scan import scan
from cortex_skills.cli.serve import serve
from cortex_skills.cli.sign import sign, verify
from cortex_skills.cli.skills import list_skills, status
from cortex_skills.cli.tests import test
from cortex_skills.cli.token import token
from cortex_skills.cli.trust import trust
from cortex_skills.cli.validate import validate
from cortex_skills.errors import CortexError, from_floor

PROGRAM = "cortex-skills"

_DONE, _BAD, _USAGE, _INTERRUPTED, _NOBODY_READS = 0, 1, 2, 130, 141
_ENVIRONMENT = frozenset({"config_invalid", "graph_busy", "graph_unavailable", "internal_error", "store_locked"})

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})

log = logging.getLogger(__name__)

_HELP = """Semantic skills for AI agents on an RDF knowledge graph.

A skill is a folder with a SKILL.md, which says what the skill may do, and a skill.ts, which does it in a sandbox.
Agents call tools on the graph; the skill that acts decides what they may, and adds what it knows.

The graph is in your data folder unless --store names another. Every namespace sees its own triples only.
"""

_EPILOG = """\b
From nothing to a skill that answers:
  cortex-skills init stock-watch
      write a skill that works, with a test and what an editor needs
  cortex-skills dev stock-watch --test --query hasStatus
      reload it at each save, run its tests, and ask it something
  cortex-skills test stock-watch
      run its tests once, for CI with --junit FILE

\b
Examples:
  cortex-skills validate --load skills/
      check every skill of a folder, and load them once
  cortex-skills query --skills skills/kyc --predicate hasStatus --scope namespace
      ask the graph, with what the skill has to say
  cortex-skills call skill_assert --skills skills/kyc '{"subject": "a", "predicate": "p", "object": 1}'
      assert a statement on behalf of the skill

\b
Exit status:
  0  done
  1  the thing asked about is bad: an invalid manifest, a critical finding, a refused call
  2  wrong usage, or an environment that is not in order

\b
Shell completion (bash; zsh and fish likewise):
  eval "$(cortex-skills completion bash)"
"""


class Program(Group):
    """The group of all commands, and the one place where errors become messages and exit codes."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run the command line `args`, and leave the process with its exit code.

        Raises:
            SystemExit: always.

        """
        if VARIABLE in os.environ:
            return super().main(args, PROGRAM, complete_var=VARIABLE)
        words = sys.argv[1:] if args is None else list(args)
        common = Common()
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a name that the terminal's encoding lacks is no reason to fail
                stream.reconfigure(errors="backslashreplace")
        with logging_to(common):
            code = self._run(words, common)
        sys.exit(code)

    def _run(self, words: list[str], common: Common) -> int:
        try:
            with self.make_context(PROGRAM, list(words), obj=common) as context:
                self.invoke(context)
            return _DONE
        except click.exceptions.Exit as ended:
            return ended.exit_code
        except click.ClickException as error:
            # What the options said is not known when reading them has failed.
            common.out.as_json = common.out.as_json or "--json" in words
            common.out.error(_usage(error))
            return _USAGE
        except (KeyboardInterrupt, click.Abort):
            return _INTERRUPTED
        except Exception as error:
            if isinstance(error, OSError) or isinstance(error.__cause__, BrokenPipeError):
                _let_go_of_output()
            if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
                return _NOBODY_READS
            ours = from_floor(error) or _unforeseen(error)
            common.out.error(ours)
            return _USAGE if ours.code in _ENVIRONMENT else _BAD


def _usage(error: click.ClickException) -> CortexError:
    """What is wrong with the command line, with the nearest right word or the way to the help."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    near = getattr(error, "possibilities", None)
    hint = f"did you mean {' or '.join(near)}?" if near else f"see `{path} --help`"
    message = error.message if near else error.format_message()
    return CortexError("invalid_arguments", message, hint=hint)


def _unforeseen(error: Exception) -> CortexError:
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        where = f" ({error.filename})" if error.filename else ""
        hint = "make room, or write to another place"
        return CortexError("internal_error", f"this could not be written: {error.strerror}{where}", hint=hint)
    log.info("this was not foreseen", exc_info=error)
    hint = "run it again with --verbose, and report what it says"
    return CortexError("internal_error", f"{type(error).__name__}: {error}", hint=hint)


def _let_go_of_output() -> None:
    """Send what is still to be written nowhere, so that the interpreter does not fail on it when it ends."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        out = context.ensure_object(Common).out
        out.answer({"version": __version__}, lambda: click.echo(f"{PROGRAM} {__version__}"))
        context.exit()


program = Program(
    PROGRAM,
    help=_HELP,
    epilog=_EPILOG,
    sections={
        "Write skills": [init, dev, test, validate, scan, list_skills],
        "Trust skills": [sign, verify, trust, key],
        "Use skills": [query, call, status],
        "Prove": [proof],
        "Serve others": [mcp, serve, token],
        "Keep the graph": [graph],
        "Mend the installation": [doctor, completion],
    },
    params=[
        click.Option(["--version"], is_flag=True, expose_value=False, callback=_print_version, help="The version.")
    ],
    context_settings={"max_content_width": 110},
)


def main() -> None:
    """The entry point."""
    program()
