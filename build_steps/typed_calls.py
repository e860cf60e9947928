"""Makes `cortex_skills/features/typed_calls.py`: the types of what `Plugin.call` returns, by the name of the tool.

    python -m build_steps.typed_calls cortex_skills/features/typed_calls.py

Rules kept here:
- each type is that of which the tool's schema is made, or the answer of its operation: none is written by hand. What
  the gate adds is in a type of this module where the tool's own type does not have it;
- the same tools give the same text, byte for byte.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from build_steps.tools import ROOT
from cortex_skills.tools import Tool, own_tools

_HEAD = '''\
"""The types of what `Plugin.call` returns, by the name of the tool.

Generated from the types of the tools by `python -m build_steps.typed_calls cortex_skills/features/typed_calls.py`. The
plugin does not import it; a program may, for the names of the types.
"""

from __future__ import annotations

from typing import Any, Literal, overload

from typing_extensions import TypedDict, Unpack

from cortex_skills.cancellation import CancelToken
from cortex_skills.gate.result import Result
from cortex_skills.plugin import Plugin
from cortex_skills.tools.value_types import QueryCosts
'''
_OPTIONS = '''

class _By(TypedDict, total=False):
    """What a call may name beside its arguments; see `Plugin.call`."""

    skill: str | None
    agent: str | None
    cancel: CancelToken | None
    session: str | None


Arguments = dict[str, Any]


'''
_CLASS = '''\
class TypedCalls(Plugin):
    """`call` and `acall` with the types of the details of their results."""

'''


def text(tools: Iterable[Tool]) -> str:
    """The module."""
    given = [(tool, of) for tool in tools if (of := tool.type_of_details) is not None]
    names = {tool.name: _name(tool, of) for tool, of in given}
    imports = sorted({f"from {of.__module__} import {of.__name__}\n" for _, of in given})
    costs = [
        f'class {name}({of.__name__}, QueryCosts):\n    """The details of `{tool.name}`."""\n\n\n'
        for tool, of in given
        if (name := names[tool.name]) != of.__name__
    ]
    public = {"TypedCalls", *names.values(), *(of.__name__ for _, of in given)}
    parts = [_HEAD, *imports, f"\n__all__ = {sorted(public)!r}\n", _OPTIONS, *costs, _CLASS]
    for prefix in ("", "a"):
        parts += _overloads(prefix, names)
    made = "".join(parts)
    for step in (["check", "--fix", "--select", "I,RUF022"], ["format"]):
        words = [
            sys.executable,
            "-m",
            "ruff",
            *step,
            "--quiet",
            "--stdin-filename",
            "cortex_skills/typed_calls.py",
            "-",
        ]
        made = subprocess.run(words, input=made, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return made


def _name(tool: Tool, of: Any) -> str:
    """The name of the type of the details as they leave the gate."""
    if tool.budget != "query" or "queriesUsed" in of.__annotations__:
        return str(of.__name__)
    return f"{tool.name.title().replace('_', '')}Details"


def _overloads(prefix: str, names: dict[str, str]) -> Iterator[str]:
    begin = f"    @overload\n    {'async ' if prefix else ''}def {prefix}call(self, tool: "
    for tool, details in names.items():
        yield f'{begin}Literal["{tool}"], arguments: Arguments, **by: Unpack[_By]) -> Result[{details}]: ...\n'
    yield f"{begin}str, arguments: Arguments, **by: Unpack[_By]) -> Result[Any]: ...\n"
    awaited = "await " if prefix else ""
    yield (
        f"    {'async ' if prefix else ''}def {prefix}call"
        "(self, tool: str, arguments: Arguments, **by: Unpack[_By]) -> Any:\n"
        f'        """See `Plugin.{prefix}call`."""\n'
        f"        return {awaited}super().{prefix}call(tool, arguments, **by)\n\n"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m build_steps.typed_calls FILE")
    Path(sys.argv[1]).write_text(text(own_tools().values()), encoding="utf-8")
