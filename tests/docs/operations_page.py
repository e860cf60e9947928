"""The page of the operations, from their table: `python -m tests.docs.operations_page FILE` writes it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cortex_skills.operations.operation import Operation, all_operations
from tests.docs.not_operations import NOT_OPERATIONS

_INTRO = """\
# Operations

Generated from the table of operations by `python -m tests.docs.operations_page docs/reference/operations.md`. An
operation is what a caller can do, through any interface ([architecture](../architecture.md#one-change)); its name is
the `event` of its [audit records](../audit.md). The permission is that of a [token](../server.md#tokens), and `owner`
one that no token has; [who may change what](../registry.md#who-may-change-what) has the further rules.

| operation | arguments | permission | effect | |
|---|---|---|---|---|
"""

_OTHERS = """
## What is no operation

What changes the graph, the registry or files through an interface is an operation, but for these:

| endpoint or command | why |
|---|---|
"""


def page(operations: Iterable[Operation[Any, Any]]) -> str:
    """The page, in Markdown."""
    rows = "".join(map(_row, sorted(operations, key=lambda each: each.name)))
    others = "".join(f"| `{name}` | {reason} |\n" for name, reason in sorted(NOT_OPERATIONS.items()))
    return f"{_INTRO}{rows}{_OTHERS}{others}"


def _row(operation: Operation[Any, Any]) -> str:
    fields = operation.given.__dataclass_fields__
    arguments = ", ".join(f"`{name}`" for name in fields)
    permission = f"`{operation.permission}`" if operation.permission else "none"
    return f"| `{operation.name}` | {arguments} | {permission} | {operation.effect} | {operation.summary} |\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.docs.operations_page FILE")
    Path(sys.argv[1]).write_text(page(all_operations().values()), encoding="utf-8")
