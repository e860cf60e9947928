"""`child-process`: other processes, workers, and the control of the own process.

Rules kept here:
- importing a module that starts processes or workers is a finding, whatever is taken from it;
- so is reaching a global that does, or that stops or rebinds the host's process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rules.hit import Hit

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program

RULE = "child-process"
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

_HINT = "Remove it: a skill runs alone in its sandbox and starts nothing."


def find(program: Program) -> Iterator[Hit]:
    """Every place that starts or controls a process or a worker."""
    for module in program.modules:
        if module.specifier.removeprefix("node:") in MODULES:
            yield Hit(RULE, module.node, f"the module `{module.specifier}` starts processes", _HINT)
    for use in program.facts.uses:
        if use.path in _GLOBALS and program.role(use.node) != "inspected":
            yield Hit(RULE, use.node, f"`{'.'.join(map(str, use.path))}` reaches other processes", _HINT)
