"""Which arguments each command of `shell_safe` may have, as data.

Rules kept here:
- an option that is not listed is refused, in every spelling; so no command runs another program, writes a file, reads a
  list of files from a file, or looks elsewhere;
- no command takes what it runs from a file of the workspace: the options that are added, the environment and the hidden
  files are stated here;
- a value of a long option follows `=`, that of a short one is a whole number; after `--` there are no options;
- what is a path is stated here and checked by the workspace; a revision of git names no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cortex_skills.errors import CortexError
from cortex_skills.features.actions import git_view
from cortex_skills.safe_io.schemas import shown

MAX_ARGUMENTS = 100
MAX_ARGUMENT = 4096

Positional = Literal["paths", "pattern, then paths", "revisions", "names"]

_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./@^~{}-]{0,255}", re.ASCII)
_NAME = re.compile(r"[@A-Za-z0-9][@A-Za-z0-9_./-]{0,213}", re.ASCII)
_ANY = re.compile(r"[^\0\n]{0,1024}")


@dataclass(frozen=True, slots=True)
class ArgumentPolicy:
    """The arguments of one command or subcommand.

    Attributes:
        flags: short options without a value.
        numbers: short options with a whole number.
        options: long options; with what their value must be, None for those without one.
        words: expressions of `find`, with what their value must be.
        positional: what the other arguments are.
        always: arguments that precede those of the caller.
        subcommands: the first argument, each with its own policy.
        environment: what the command needs besides the common variables.
        hidden: names of files from which it would take what it runs. The kernel hides them, so it runs confined only.
        system: what it opens of the system besides programs and libraries.
        threads: whether it starts threads.
    """

    flags: str = ""
    numbers: str = ""
    options: Mapping[str, re.Pattern[str] | None] = field(default_factory=dict)
    words: Mapping[str, re.Pattern[str] | None] = field(default_factory=dict)
    positional: Positional = "paths"
    always: tuple[str, ...] = ()
    subcommands: Mapping[str, ArgumentPolicy] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    threads: bool = False


_SAFE_DIFF = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_DIFF_OPTIONS: dict[str, re.Pattern[str] | None] = {
    **dict.fromkeys(("stat", "name-only", "name-status", "cached", "oneline", "no-patch", "patch", "no-merges")),
    "max-count": _NUMBER,
    "since": _ANY,
    "until": _ANY,
    "author": _ANY,
    "grep": _ANY,
}
_DIFF = ArgumentPolicy(flags="p", numbers="nU", options=_DIFF_OPTIONS, positional="revisions", always=_SAFE_DIFF)

POLICIES: Mapping[str, ArgumentPolicy] = {
    "ls": ArgumentPolicy(flags="1AaFhlRrSt", options=dict.fromkeys(("all", "almost-all", "recursive", "reverse"))),
    "cat": ArgumentPolicy(flags="nbsETA"),
    "grep": ArgumentPolicy(
        flags="EFGHLchilnoqrsvwxI",
        numbers="ABCm",
        options={
            **dict.fromkeys(("recursive", "ignore-case", "line-number", "count", "fixed-strings", "extended-regexp")),
            "max-count": _NUMBER,
            "include": _ANY,
            "exclude": _ANY,
        },
        positional="pattern, then paths",
    ),
    "find": ArgumentPolicy(
        words={
            **dict.fromkeys(("-print", "-empty", "-not", "!", "-o", "-or", "-a", "-and", "(", ")")),
            "-name": _ANY,
            "-iname": _ANY,
            "-path": _ANY,
            "-type": re.compile("[fdl]"),
            "-maxdepth": _NUMBER,
            "-mindepth": _NUMBER,
            "-size": re.compile(r"[-+]?[0-9]{1,9}[bcwkMG]?", re.ASCII),
            "-mtime": re.compile(r"[-+]?[0-9]{1,9}", re.ASCII),
            "-mmin": re.compile(r"[-+]?[0-9]{1,9}", re.ASCII),
        }
    ),
    "git": ArgumentPolicy(
        always=("--no-pager",),  # there is no configuration: `git_view`
        environment=git_view.ENVIRONMENT,
        subcommands={
            "status": ArgumentPolicy(
                flags="sb",
                options=dict.fromkeys(("short", "branch", "porcelain")),
                always=("--ignore-submodules=dirty", "--untracked-files=no"),  # it may not list the workspace
            ),
            "log": _DIFF,
            "diff": _DIFF,
            "show": _DIFF,
            "ls-files": ArgumentPolicy(flags="cdm"),
            "rev-parse": ArgumentPolicy(options=dict.fromkeys(("abbrev-ref", "short")), positional="revisions"),
        },
    ),
    "pnpm": ArgumentPolicy(
        always=("--config.ignore-pnpmfile=true", "--config.manage-package-manager-versions=false"),
        environment={
            "COREPACK_ENABLE_NETWORK": "0",
            "COREPACK_ENABLE_PROJECT_SPEC": "0",
            "OPENSSL_CONF": "/dev/null",
            "npm_config_globalconfig": "/dev/null",
            "npm_config_userconfig": "/dev/null",
        },
        hidden=(".npmrc", ".pnpmfile.*", "pnpm-workspace.y*ml"),
        system=("/etc/ssl/certs",),
        threads=True,
        subcommands=dict.fromkeys(
            ("list", "why"),
            ArgumentPolicy(options={**dict.fromkeys(("json", "prod", "dev")), "depth": _NUMBER}, positional="names"),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class CheckedArguments:
    """Arguments that a policy permits.

    Attributes:
        command: all arguments, as they are passed on.
        paths: those that are paths, which are checked next.
    """

    command: tuple[str, ...]
    paths: tuple[str, ...]


def checked_arguments(command: str, given: Sequence[str]) -> CheckedArguments:
    """The arguments of a command, when its policy permits them.

    Raises:
        CortexError: `command_refused`, naming the argument.
    """
    policy = POLICIES[command]
    if len(given) > MAX_ARGUMENTS:
        raise _refused(command, f"has more than {MAX_ARGUMENTS} arguments")
    for argument in given:
        if len(argument) > MAX_ARGUMENT or "\0" in argument or not argument.isprintable():
            raise _refused(command, f"{shown(argument)} is not a plain argument")
    before, rest = list(policy.always), list(given)
    if policy.subcommands:
        name = rest.pop(0) if rest else ""
        if name not in policy.subcommands:
            hint = f"one of {', '.join(policy.subcommands)}"
            raise _refused(command, f"{shown(name)} is not one of its commands that may run", hint)
        policy = policy.subcommands[name]
        before += [name, *policy.always]
    found = list(_read(command, policy, rest))
    options = [text for kind, text in found if kind == "option"]
    first = [text for kind, text in found if kind == "first"]
    paths = [text for kind, text in found if kind == "path"]
    if policy.words:  # find has its paths first, and no `--`
        return CheckedArguments((*before, *(paths or ["."]), *options), tuple(paths))
    return CheckedArguments((*before, *options, *_separated(policy, first, paths)), tuple(paths))


def _separated(policy: ArgumentPolicy, first: list[str], paths: list[str]) -> list[str]:
    if policy.positional == "revisions":
        return [*first, "--", *paths]
    return first if policy.positional == "names" else ["--", *first, *paths]


def _read(command: str, policy: ArgumentPolicy, given: list[str]) -> Iterator[tuple[str, str]]:
    """Each argument and what it is; a pattern, a revision and a name are `first`."""
    rest, only_paths, has_pattern = list(given), False, False
    while rest:
        argument = rest.pop(0)
        if policy.words and (argument in policy.words or argument.startswith("-")):
            yield from _word(command, policy, argument, rest)
        elif argument == "--" and not only_paths:
            only_paths = True
        elif argument.startswith("--") and not only_paths:
            yield "option", _long(command, policy, argument)
        elif argument.startswith("-") and argument != "-" and not only_paths:
            for text in _short(command, policy, argument, rest):
                yield "option", text
        elif policy.positional == "pattern, then paths" and not has_pattern:
            has_pattern = True
            yield "first", argument
        elif policy.positional == "revisions" and not only_paths:
            if not _REVISION.fullmatch(argument) or "../" in argument or "/.." in argument:
                raise _refused(command, f"{shown(argument)} is not a revision", "give paths after --")
            yield "first", argument
        elif policy.positional == "names":
            if not _NAME.fullmatch(argument):
                raise _refused(command, f"{shown(argument)} is not a name")
            yield "first", argument
        else:
            yield "path", argument


def _word(command: str, policy: ArgumentPolicy, argument: str, rest: list[str]) -> Iterator[tuple[str, str]]:
    if argument not in policy.words:
        raise _refused(command, f"{shown(argument)} is not an expression that it may have")
    yield "option", argument
    wanted = policy.words[argument]
    if wanted is not None:
        value = rest.pop(0) if rest else None
        if value is None or not wanted.fullmatch(value):
            raise _refused(command, f"{shown(value)} is not a value of {argument}")
        yield "option", value


def _long(command: str, policy: ArgumentPolicy, argument: str) -> str:
    name, separator, value = argument[2:].partition("=")
    if name not in policy.options:
        raise _refused(command, f"{shown(argument)} is not an option that it may have")
    wanted = policy.options[name]
    if (wanted is None and separator) or (wanted is not None and not (separator and wanted.fullmatch(value))):
        raise _refused(command, f"{shown(argument)} has another value than it may have")
    return argument


def _short(command: str, policy: ArgumentPolicy, argument: str, rest: list[str]) -> list[str]:
    if argument[1] in policy.numbers:
        value = argument[2:] or (rest.pop(0) if rest else "")
        if not _NUMBER.fullmatch(value):
            raise _refused(command, f"{shown(argument)} needs a whole number")
        return [f"{argument[:2]}{value}"]
    if any(letter not in policy.flags for letter in argument[1:]):
        raise _refused(command, f"{shown(argument)} is not an option that it may have")
    return [argument]


def _refused(command: str, what: str, hint: str = "docs/actions.md lists what it may have") -> CortexError:
    return CortexError("command_refused", f"args: {command}: {what}", hint=hint, details={"field": "args"})
