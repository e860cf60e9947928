"""The rules, by family. To add one: a module here with its `Rule` and `find`, named in `FAMILIES` and in `RULES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cortex_skills.scanner import prose
from cortex_skills.scanner.program import Program
from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules import (
    child_process,
    dynamic_code,
    environment,
    host_access,
    instructions,
    loops,
    mining,
    module_loading,
    obfuscation,
    prototype,
    queries,
    readability,
)
from cortex_skills.scanner.rules.hit import Hit

FAMILIES: tuple[Callable[[Program], Iterator[Hit]], ...] = (
    readability.find,
    dynamic_code.find,
    module_loading.find,
    child_process.find,
    environment.find,
    host_access.find,
    mining.find,
    obfuscation.find,
    prototype.find,
    loops.find,
    queries.find,
    instructions.find,
)
RULES: tuple[Rule, ...] = (
    dynamic_code.RULE,
    module_loading.RULE,
    child_process.RULE,
    environment.RULE,
    *host_access.RULES,
    mining.RULE,
    obfuscation.RULE,
    prototype.RULE,
    *prose.RULES,
    *readability.RULES,
    loops.RULE,
    *queries.RULES,
)

__all__ = ["FAMILIES", "RULES", "Hit"]
