"""`dynamic-import`: modules that are selected or loaded while the skill runs.

Rules kept here:
- every `import()` is reported, for any argument: a skill is bundled before it runs;
- `require` and its relatives are reported where they are reached, under any name; a name that the source declares, and
  the type of `require`, are not.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.scanner.parsed_source import ParsedSource
from cortex_skills.scanner.rule import Hit, Rule

RULE = Rule(
    id="dynamic-import",
    severity="critical",
    title="A module that is selected or loaded while the skill runs",
    finds="Every `import()`, for any argument; `require`, `createRequire` and their relatives where they are reached. "
    "A static `import` of a file in the skill's folder is not reported.",
    remedy="Use a static `import` of a file in the skill's folder.",
    trips='const helper = await import("./helper");',
    passes='import { helper } from "./helper";',
)
RULES = (RULE,)

_LOADERS = frozenset({
    ("createRequire",), ("importScripts",), ("module", "constructor"), ("module", "createRequire"),
    ("module", "require"), ("process", "getBuiltinModule"), ("process", "mainModule"), ("require",),
})  # fmt: skip


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every place that loads a module while the skill runs."""
    for call in source.calls:
        if call.callee.kind == "import":
            yield Hit(RULE, call.node, "a module is imported while the skill runs")
    for use in source.uses:
        if use.path in _LOADERS and use.role != "inspected":
            yield Hit(RULE, use.node, f"`{use.name}` loads modules while the skill runs")
    for clause in source.tree.of_kind("import_require_clause"):
        statement = clause.parent
        if statement is not None and statement.children[0].kind != "type":
            yield Hit(RULE, clause, "`require` loads a module while the skill runs")
    for module in source.modules:
        if module.name == "module":
            yield Hit(RULE, module.node, "the module `module` creates module loaders")
