"""Refuses to import modules from files, in a process that can open none.

Rules kept here:
- the import of a module that was not loaded in time raises an error that no library takes for its own: `except
  Exception` and `except ImportError` do not catch it, so a missing module never looks like a fault of the data;
- it is also recorded, for libraries that catch everything. What ran then has no result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter
from types import ModuleType
from typing import NoReturn

_refused: list[str] = []


class ModuleNotLoaded(BaseException):
    """A module was imported that this process did not load before it was confined."""


class _RefusingFinder:
    """A finder of modules (`sys.meta_path`) that finds none."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> NoReturn:  # noqa: ARG004
        """Raise: the module was not loaded."""
        _refused.append(name)
        raise ModuleNotLoaded(f"the module {name} was not loaded before the process was confined")


def refuse_imports() -> None:
    """Refuse permanently to import what is neither loaded nor a part of the interpreter's program."""
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, _RefusingFinder]


def refused_imports() -> list[str]:
    """The modules that were refused since the last call of this function."""
    found = list(_refused)
    _refused.clear()
    return found
