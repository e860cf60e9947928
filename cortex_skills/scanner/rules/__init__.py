"""The rules by family. To add a rule: write a module here with `RULES` and `find`, and list it in `_MODULES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cortex_skills.scanner.parsed_source import ParsedSource
from cortex_skills.scanner.rule import Hit, Rule
from cortex_skills.scanner.rules import (
    dynamic_code,
    environment,
    host_access,
    instructions,
    loops,
    mining,
    module_loading,
    obfuscation,
    prototype,
    readability,
    unlimited_queries,
)

_MODULES = (
    dynamic_code,
    module_loading,
    host_access,
    environment,
    mining,
    obfuscation,
    prototype,
    instructions,
    readability,
    loops,
    unlimited_queries,
)
FAMILIES: tuple[Callable[[ParsedSource], Iterator[Hit]], ...] = tuple(module.find for module in _MODULES)
RULES: tuple[Rule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)
