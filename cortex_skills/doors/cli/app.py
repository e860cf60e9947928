"""The command line program: its help, its commands by purpose, its exit codes.

Rules kept here:
- the exit code is 0 on success, 1 when the subject of the command is bad (an invalid manifest, a critical finding, a
  refused call), 2 for wrong usage or a broken environment, 130 after an interrupt, 141 when the reader of the output
  has closed it. A traceback is printed only with `--verbose`;
- a command is imported when it is run or listed, and imports its large dependencies itself, so that each starts
  quickly.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from cortex_sandbox.compiling import announced
from cortex_skills.doors.cli.commands import COMPLETE, Group
from cortex_skills.doors.cli.logs import logging_to
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.output import MAKE_ROOM, of_files
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.version import __version__

PROGRAM = "cortex-skills"

_DONE, _BAD, _USAGE, _INTERRUPTED, _OUTPUT_CLOSED = 0, 1, 2, 130, 141
_ENVIRONMENT = frozenset(
    {
        "config_invalid",
        "graph_busy",
        "graph_corrupt",
        "graph_unavailable",
        "internal_error",
        "outcome_unknown",
        "store_locked",
    }
)

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})

log = logging.getLogger(__name__)

_HELP = """Semantic skills for AI agents on an RDF knowledge graph.

A skill is a folder with a SKILL.md, which declares its permissions, and a skill.ts, which runs in a sandbox.
Agents call tools on the graph. The acting skill limits what they may do, and enriches the answers.

The graph is stored in your data folder unless --store names another. A namespace sees only its own triples.
"""

_EPILOG = """\b
A first skill:
  cortex-skills init stock-watch
      write a working skill, with a test and editor settings
  cortex-skills dev stock-watch --test --query hasStatus
      reload it after each save, run its tests and a query
  cortex-skills test stock-watch
      run its tests once; --junit FILE for CI

\b
Examples:
  cortex-skills validate --load skills/
      check every skill of a folder, and load each once
  cortex-skills query --skills skills/kyc --predicate hasStatus --scope namespace
      query the graph, with the skill's enrichment
  cortex-skills call skill_assert --skills skills/kyc '{"subject": "a", "predicate": "p", "object": 1}'
      assert a statement on behalf of the skill

\b
Exit status:
  0  done
  1  the subject is bad: an invalid manifest, a critical finding, a refused call
  2  wrong usage, or a broken environment

\b
Shell completion (bash; zsh and fish likewise):
  eval "$(cortex-skills completion bash)"
"""


class CommandLine(Group):
    """The group of all commands. Errors become messages and exit codes here and nowhere else."""

    is_program = True

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run the command line `args`, and exit the process with its exit code.

        Raises:
            SystemExit: always.
        """
        if COMPLETE in os.environ:
            return super().main(args, PROGRAM, complete_var=COMPLETE)
        words = sys.argv[1:] if args is None else list(args)
        common = Common()
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # never fail on a character that the terminal's encoding lacks
                stream.reconfigure(errors="backslashreplace")
        with logging_to(common.out, lambda: common.verbose), announced(partial(_announce, common)):
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
            # When parsing the options failed, --json may not have been parsed.
            common.out.as_json = common.out.as_json or "--json" in words
            common.out.error(_usage(error))
            return _USAGE
        except (KeyboardInterrupt, click.Abort):
            return _INTERRUPTED
        except Exception as error:
            if isinstance(error, OSError) or isinstance(error.__cause__, BrokenPipeError):
                _discard_output()
            if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
                return _OUTPUT_CLOSED
            ours = from_floor(error) or _unexpected(error)
            common.out.error(ours)
            return _USAGE if ours.code in _ENVIRONMENT else _BAD


def _announce(common: Common, guest: str) -> None:
    """Report the first start on a machine, in a pipe too."""
    common.out.note(f"compiling {guest} for this machine: this happens once, and takes up to a minute")


def _usage(error: click.ClickException) -> CortexError:
    """The usage error as a `CortexError`, with the nearest valid word or a pointer to the help."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    near = getattr(error, "possibilities", None)
    if isinstance(error, click.NoSuchOption):
        near = _near_options(error)
    hint = f"did you mean {' or '.join(near)}?" if near else f"see `{path} --help`"
    message = error.message if near else error.format_message()
    return CortexError("invalid_arguments", message, hint=hint)


def _near_options(error: click.NoSuchOption) -> list[str]:
    """The options of the command whose names are like the unknown one; their dashes are no likeness."""
    from cortex_graph.naming.spelling import nearest

    if error.ctx is None:
        return []
    options = [name for each in error.ctx.command.get_params(error.ctx) for name in (*each.opts, *each.secondary_opts)]
    long = {name.removeprefix("--"): name for name in options if name.startswith("--")}
    return [long[name] for name in nearest(error.option_name.lstrip("-"), long, 3, likeness=0.7)]


def _unexpected(error: Exception) -> CortexError:
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        where = f" ({error.filename})" if error.filename else ""
        return CortexError("internal_error", f"writing failed: {error.strerror}{where}", hint=MAKE_ROOM)
    if isinstance(error, PermissionError) and error.filename:
        message, hint = of_files(error)
        return CortexError("internal_error", message, hint=hint)
    log.info("unexpected error", exc_info=error)
    hint = "run the command again with --verbose, and report its output"
    return CortexError("internal_error", f"{type(error).__name__}: {error}", hint=hint)


def _discard_output() -> None:
    """Redirect buffered output to the null device, so that the interpreter does not fail when it flushes at exit."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        out = context.ensure_object(Common).out
        out.answer({"version": __version__}, lambda: click.echo(f"{PROGRAM} {__version__}"))
        context.exit()


def _at(*places: str) -> dict[str, str]:
    """The names of commands of this package, each with its place."""
    names = {"list_skills": "list"}
    return {
        names.get(name, name): f"cortex_skills.doors.cli.{module}:{name}"
        for module, _, name in (place.partition(":") for place in places)
    }


program = CommandLine(
    PROGRAM,
    help=_HELP,
    epilog=_EPILOG,
    sections={
        "Write skills": _at("validate:validate", "scan:scan", "skills:list_skills"),
        "Share skills": {},
        "Trust skills": _at("sign:sign", "sign:verify", "trust:trust", "key:key", "approve:approve"),
        "Let agents act": _at("secrets:secrets"),
        "Install artifacts": {},
        "Use skills": _at("call:query", "call:call", "skills:status"),
        "Prove statements": {},
        "Serve clients": _at("serve:mcp", "serve:serve", "token:token"),
        "Keep the graph": {},
        "Look at what was done": _at("audit:audit"),
        "Keep skills": {},
        "Maintain the installation": _at("doctor:doctor", "completion:completion"),
    },
    params=[
        click.Option(
            ["--version"], is_flag=True, expose_value=False, callback=_print_version, help="Print the version."
        )
    ],
    context_settings={"max_content_width": 110},
)


def main() -> None:
    """Entry point of the `cortex-skills` command."""
    program()
