"""`environment`: reading the variables of the host, where its secrets are.

Rules kept here:
- `process.env` and its relatives are findings where they are reached: as a member, computed, destructured, by an alias;
- an object that holds the environment may be read by known names only: handed on whole or indexed by what is not known,
  it gives the environment away. Asking whether it exists is no finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program

RULE = Rule(
    id="environment",
    severity="critical",
    title="The variables of the host, where its secrets are, and what tells of the host",
    finds="`process.env` and its relatives, and what of `process` tells of the machine and its user, where they are "
    "reached: as a member, computed, taken apart, by an alias; an object that holds the environment, handed on whole "
    "or indexed by what is not known. Asking whether it exists is no finding.",
    remedy="Remove it: take what the skill needs from the graph or from the arguments of its hooks.",
    trips="const { env } = process;",
    passes='const isNode = typeof process !== "undefined";',
)

_HOLDERS = frozenset({("Bun",), ("Deno",), ("import.meta",), ("process",)})

_TELLING = frozenset(
    {
        "argv",
        "argv0",
        "config",
        "cwd",
        "execArgv",
        "execPath",
        "getegid",
        "geteuid",
        "getgid",
        "getgroups",
        "getuid",
        "pid",
        "ppid",
        "release",
        "report",
        "title",
        "versions",
    }
)


def find(program: Program) -> Iterator[Hit]:
    """Every place that reads the environment."""
    for use in program.facts.uses:
        path = use.path
        if path[:1] not in _HOLDERS:
            continue
        if len(path) == 2 and path[1] == "env":
            yield Hit(RULE, use.node, f"`{path[0]}.env` is the environment of the host")
        elif path[:1] == ("process",) and len(path) == 2 and path[1] in _TELLING:
            yield Hit(RULE, use.node, f"`process.{path[1]}` tells of the host")
        elif len(path) == 2 and path[1] is None:
            yield Hit(RULE, use.node, f"`{path[0]}` is indexed by a name that is not known before it runs")
        elif len(path) == 1 and program.role(use.node) == "handed on":
            yield Hit(RULE, use.node, f"`{path[0]}` is handed on, with the environment of the host in it")
