"""Each thread of the product has a name, which states in a list of threads what it is for.

Rules kept here:
- a thread, a timer and the threads of a pool have a name that begins with `cortex-`. A timer gets its name after it was
  made, in the same function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("cortex_skills", "graph/cortex_graph", "sandbox/cortex_sandbox")
NAMED = {"Thread": "name", "ThreadPoolExecutor": "thread_name_prefix"}


def begins(value: ast.expr | None) -> bool:
    """Whether a text, also an f-string, begins as the names of threads do."""
    first = value.values[0] if isinstance(value, ast.JoinedStr) else value
    return isinstance(first, ast.Constant) and str(first.value).startswith("cortex-")


def names_set(function: ast.AST) -> int:
    """How many times a function gives something a name."""
    found = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            value = node.value
            pairs = zip(node.targets, [value] * len(node.targets), strict=True)
            if isinstance(node.targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = zip(node.targets[0].elts, value.elts, strict=True)
            found += sum(isinstance(to, ast.Attribute) and to.attr == "name" and begins(of) for to, of in pairs)
    return found


def nameless(tree: ast.AST) -> Iterator[int]:
    """The lines of a module that make a thread without a name."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        timers = []
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called == "Timer":
                timers.append(node.lineno)
            if (wanted := NAMED.get(called)) is not None:
                given = [word.value for word in node.keywords if word.arg == wanted]
                if not any(map(begins, given or (node.args[1:2] if called == "ThreadPoolExecutor" else []))):
                    yield node.lineno
        if len(timers) > names_set(function):
            yield from timers


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("def f():\n    Thread(target=g, name='cortex-x').start()", []),
        ("def f():\n    threading.Thread(target=g).start()", [2]),
        ("def f():\n    Thread(target=g, name=text)", [2]),
        ("def f():\n    ThreadPoolExecutor(1, f'cortex-{x}')", []),
        ("def f():\n    ThreadPoolExecutor(1)", [2]),
        ("def f():\n    timer = Timer(1, g)\n    timer.daemon, timer.name = True, 'cortex-x'", []),
        ("def f():\n    timer = Timer(1, g)\n    timer.daemon = True", [2]),
    ],
)
def test_a_thread_without_a_name_is_found(code: str, lines: list[int]) -> None:
    assert list(nameless(ast.parse(code))) == lines


def test_every_thread_of_the_product_has_a_name() -> None:
    sources = [path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in sources}
    makers = {path: text for path, text in texts.items() if "Thread" in text or "Timer(" in text}
    found = {path.relative_to(ROOT): list(nameless(ast.parse(text))) for path, text in makers.items()}
    assert len(found) > 10
    assert {path: lines for path, lines in found.items() if lines} == {}
