"""The rules, by family. To add one: a module here with `find(program) -> Iterator[Hit]`, named in `FAMILIES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cortex_skills.scanner.program import Program
from cortex_skills.scanner.rules import (
    child_process,
    dynamic_code,
    environment,
    host_access,
    mining,
    module_loading,
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
)

__all__ = ["FAMILIES", "Hit"]
