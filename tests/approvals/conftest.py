"""Plugins whose action needs an approval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from tests.actions.conftest import operator
from tests.approvals.approver import opened

__all__ = ["operator"]


@pytest.fixture
def acting(operator: Path, tmp_path: Path) -> Iterator[Callable[..., Plugin]]:
    """Opens plugins that share a store, with the action `append_line` and settings of the section `approvals`."""
    with ExitStack() as stack:

        def start(store: str = "memory:", **approvals: Any) -> Plugin:
            return stack.enter_context(opened(store, operator, tmp_path / "lines", approvals=approvals))

        yield start
