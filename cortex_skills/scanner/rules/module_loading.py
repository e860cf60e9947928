"""`dynamic-import`: modules chosen or loaded while the skill runs.

Rules kept here:
- every `import()` is a finding, whatever its argument: a skill is bundled before it runs;
- `require` and its relatives are findings where they are reached, under any name; a name that the author declares is
  theirs, and asking for the type of `require` is no finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program

RULE = Rule(
    id="dynamic-import",
    severity="critical",
    title="A module that is chosen or loaded while the skill runs",
    finds="Every `import()`, whatever its argument; `require`, `createRequire` and their relatives where they are "
    "reached. A static `import` of a file in the skill's own folder is what a skill uses instead.",
    remedy="Import what you need with a static `import` of a file in the skill's own folder.",
    trips='const helper = await import("./helper");',
    passes='import { helper } from "./helper";',
)

_LOADERS = frozenset(
    {
        ("createRequire",),
        ("importScripts",),
        ("module", "constructor"),
        ("module", "createRequire"),
        ("module", "require"),
        ("process", "getBuiltinModule"),
        ("process", "mainModule"),
        ("require",),
    }
)


def find(program: Program) -> Iterator[Hit]:
    """Every place that loads a module while the skill runs."""
    for call in program.calls:
        callee = program.callee(call)
        if callee is not None and callee.kind == "import":
            yield Hit(RULE, call, "a module is imported while the skill runs")
    for use in program.facts.uses:
        if use.path in _LOADERS and program.role(use.node) != "inspected":
            yield Hit(RULE, use.node, f"`{'.'.join(map(str, use.path))}` loads modules while the skill runs")
    for clause in program.tree.of_kind("import_require_clause"):
        statement = clause.parent
        if statement is not None and statement.children[0].kind != "type":
            yield Hit(RULE, clause, "`require` loads a module while the skill runs")
    for module in program.modules:
        if module.specifier.removeprefix("node:") == "module":
            yield Hit(RULE, module.node, "the module `module` makes loaders of modules")
