"""`child-process`: other processes, workers, and the control of the own process.

Rules kept here:
- importing a module that starts processes or workers is a finding, whatever is taken from it;
- so is reaching a global that does, or that stops or rebinds the host's process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program

RULE = Rule(
    id="child-process",
    severity="critical",
    title="Other processes, workers, and the control of the own process",
    finds="A module or a global that starts, stops or rebinds processes and workers, under any name and by any route. "
    "Types that are imported from such a module, and what the author declares under such a name, are left alone.",
    remedy="Remove it: a skill runs alone in its sandbox and starts nothing.",
    trips='import { exec } from "node:child_process";',
    passes='import type { ChildProcess } from "node:child_process";',
)
MODULES = frozenset({"child_process", "cluster", "worker_threads"})

_GLOBALS = frozenset(
    {
        ("Bun", "$"),
        ("Bun", "spawn"),
        ("Bun", "spawnSync"),
        ("Deno", "Command"),
        ("Deno", "dlopen"),
        ("Deno", "exit"),
        ("Deno", "kill"),
        ("Deno", "run"),
        ("SharedWorker",),
        ("Worker",),
        ("process", "_linkedBinding"),
        ("process", "abort"),
        ("process", "binding"),
        ("process", "chdir"),
        ("process", "dlopen"),
        ("process", "exit"),
        ("process", "kill"),
        ("process", "reallyExit"),
    }
)


def find(program: Program) -> Iterator[Hit]:
    """Every place that starts or controls a process or a worker."""
    for module in program.modules:
        if module.specifier.removeprefix("node:") in MODULES:
            yield Hit(RULE, module.node, f"the module `{module.specifier}` starts processes")
    for use in program.facts.uses:
        if use.path in _GLOBALS and program.role(use.node) != "inspected":
            yield Hit(RULE, use.node, f"`{'.'.join(map(str, use.path))}` reaches other processes")
