"""`init`: create a skill that works.

Rules kept here:
- on a terminal it asks for missing options; in a pipe, or with `--yes`, it uses the defaults;
- the files are validated before anything is written, so that a bad answer writes nothing;
- no existing file is overwritten;
- after that, the sandbox is compiled for this machine, so that the first load need not wait.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Choice, Common
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.standard_input import is_interactive
from cortex_skills.errors import CortexError
from cortex_skills.skill_folder.builtin import EXAMPLES

_DESCRIPTION = "Counts which values things have. Use it when asked how many there are of each."
_READS = "hasStatus"
_MAX_ASKED = 20


@click.command(cls=Command)
@click.argument("folder", required=False, type=GivenPath(path_type=Path))
@click.option("--description", metavar="TEXT", help="What the skill does, and when to use it.")
@click.option("--reads", metavar="PREDICATE", multiple=True, help="Predicates that it queries: a,b. Repeatable.")
@click.option("--writes", metavar="PREDICATE", multiple=True, help="Predicates that it asserts: a,b. Repeatable.")
@click.option(
    "--from",
    "example",
    type=Choice(list(EXAMPLES)),
    help=f"Begin with a copy of a skill of the package: {', '.join(EXAMPLES)}.",
)
@click.option("--agentskills", is_flag=True, help="Two files, SKILL.md and semantic.yaml, for agentskills.io.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@click.pass_obj
def init(
    common: Common,
    folder: Path | None,
    description: str | None,
    reads: tuple[str, ...],
    writes: tuple[str, ...],
    example: str | None,
    agentskills: bool,
    yes: bool,
) -> None:
    """Create a working skill, with a test and editor settings.

    FOLDER is created; its name is the name of the skill. On a terminal the command asks for missing options.
    """
    from cortex_skills.features.scaffold.content import Plan, files_of
    from cortex_skills.features.scaffold.examples import files_from
    from cortex_skills.features.scaffold.writing import check_free

    if example is not None:
        if description or reads or writes or agentskills:
            raise click.UsageError("--from copies a skill as it is: change its SKILL.md afterwards")
        folder = Path(example) if folder is None else folder
    ask = not (yes or common.out.as_json or description or reads or writes or example) and _is_terminal()
    if folder is None:
        if not ask:
            raise click.UsageError("the skill has no name: give a FOLDER, whose name becomes the name of the skill")
        folder = Path(_asked("Name of the skill", "my-skill", lambda name: check_name(Path(name))))
    from cortex_skills.manifest.skill_names import name_of

    folder = folder.absolute() if folder.name in ("", "..") else folder
    check_name(folder)
    check_free(folder)
    if example is not None:
        files = files_from(example, folder.name)
        _write(common, folder, files)
        return
    if ask:
        description = _asked("What it does, and when to use it", _DESCRIPTION)
        reads = _words(_asked("Predicates that it reads", _READS))
        writes = _words(_asked("Predicates that it writes (none: press Enter)", ""))
    reads, writes = (tuple(filter(None, re.split(", ?", ",".join(each)))) for each in (reads, writes))
    plan = Plan(
        name_of(folder), _DESCRIPTION if description is None else description, reads or (_READS,), writes, agentskills
    )
    _check_predicates(plan.reads + plan.writes)
    _write(common, folder, files_of(plan))


def _write(common: Common, folder: Path, files: dict[str, str]) -> None:
    from cortex_skills.features.scaffold.writing import write_folder

    _check(folder, files)
    write_folder(folder, files)
    _show(common, folder, sorted(files))
    common.warm_up()


def _show(common: Common, folder: Path, files: list[str]) -> None:
    out = common.out

    def show() -> None:
        for file in files:
            out.line(("wrote", "green"), f" {folder / file}")
        out.line()
        out.line("Next:")
        has_tests = any(file.endswith(".test.ts") for file in files)
        for command in ("test", "dev") if has_tests else ("dev",):
            out.line(f"  {shlex.join(['cortex-skills', command, str(folder)])}")

    out.answer({"folder": str(folder), "name": folder.name, "files": files}, show)


def check_name(folder: Path) -> None:
    """Check the name that the skill in a folder will have.

    Raises:
        CortexError: `invalid_arguments`, with the nearest name that is allowed.
    """
    from cortex_skills.manifest.skill_names import is_skill_name, name_of
    from cortex_skills.safe_io.schemas import shown

    name = name_of(folder)
    if is_skill_name(name):
        return
    near = re.sub(r"[\W_]+", "-", name.lower())[:64].strip("-")
    near = near if is_skill_name(near) else re.sub(r"[^a-z0-9]+", "-", near).strip("-")
    hint = f"did you mean {near}?" if near else "name it in lower-case letters, digits and -"
    raise CortexError("invalid_arguments", f"{shown(name)} cannot be the name of a skill", hint=hint)


def _check_predicates(predicates: tuple[str, ...]) -> None:
    from cortex_graph import GraphError, Names
    from cortex_skills.features.skill_testing import NAMESPACE

    for predicate in predicates:
        try:
            Names(NAMESPACE).node(predicate, "predicate")
        except GraphError as error:
            raise CortexError("invalid_arguments", error.message, hint=error.hint) from None


def _check(folder: Path, files: dict[str, str]) -> None:
    """Validate the manifest before anything is written."""
    from cortex_skills.manifest import ManifestError, parse_manifest
    from cortex_skills.manifest.portable import unportable

    parse_manifest(files["SKILL.md"], folder.name, files.get("semantic.yaml"))
    if "semantic.yaml" in files and (problems := list(unportable(files["SKILL.md"]))):
        raise ManifestError(problems, folder.name)


# --- asking


def _is_terminal() -> bool:
    return is_interactive() and sys.stderr is not None and sys.stderr.isatty()


def _asked(question: str, default: str, check: Callable[[str], None] = lambda _: None) -> str:
    """The answer to a question, which is repeated until the answer is valid."""
    for _ in range(_MAX_ASKED):
        answer = str(click.prompt(question, default=default, show_default=bool(default), err=True)).strip()
        try:
            check(answer)
        except CortexError as error:
            click.echo(f"{error.message}; {error.hint}", err=True)
        else:
            return answer
    raise click.Abort


def _words(answer: str) -> tuple[str, ...]:
    return tuple(filter(None, re.split(r"[\s,]+", answer)))
