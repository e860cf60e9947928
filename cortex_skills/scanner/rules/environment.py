"""`environment`: access to the environment variables of the host, which contain its secrets.

Rules kept here:
- `process.env` and its relatives are reported where they are reached: as a member, computed, destructured, by an alias;
- an object that contains the environment may be read by known names only: it is reported when it is handed on as a
  whole or indexed by an unknown name. A test whether it exists is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.scanner.parsed_source import ParsedSource
from cortex_skills.scanner.rule import Hit, Rule

RULE = Rule(
    id="environment",
    severity="critical",
    title="The environment variables of the host and other facts about it",
    finds="`process.env` and its relatives, and the members of `process` that describe the machine and its user, where "
    "they are reached: as a member, computed, destructured, by an alias; an object that contains the environment, "
    "handed on as a whole or indexed by an unknown name. A test whether it exists is not reported.",
    remedy="Remove it: take what the skill needs from the graph or from the arguments of its hooks.",
    trips="const { env } = process;",
    passes='const isNode = typeof process !== "undefined";',
)
RULES = (RULE,)

_HOLDERS = frozenset({("Bun",), ("Deno",), ("import.meta",), ("process",)})
_FACTS_OF_HOST = frozenset({
    "argv", "argv0", "config", "cwd", "execArgv", "execPath", "getegid", "geteuid", "getgid", "getgroups", "getuid",
    "pid", "ppid", "release", "report", "title", "versions",
})  # fmt: skip


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every place that reads the environment."""
    for use in source.uses:
        path = use.path
        if path[:1] not in _HOLDERS:
            continue
        if len(path) == 2 and path[1] == "env":
            yield Hit(RULE, use.node, f"`{path[0]}.env` is the environment of the host")
        elif path[:1] == ("process",) and len(path) == 2 and path[1] in _FACTS_OF_HOST:
            yield Hit(RULE, use.node, f"`process.{path[1]}` describes the host")
        elif len(path) == 2 and path[1] is None:
            yield Hit(RULE, use.node, f"`{path[0]}` is indexed by a name that is unknown before it runs")
        elif len(path) == 1 and use.role == "handed on":
            yield Hit(RULE, use.node, f"`{path[0]}` is handed on, which exposes the environment of the host")
