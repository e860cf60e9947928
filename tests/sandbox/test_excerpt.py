"""The source line of an error, with a caret."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_sandbox import Box, Frame, ProcessSandbox, Sandbox, SandboxError, TranspileError, bundle
from cortex_sandbox.excerpt import excerpt

FILES = {
    "skill.ts": "import { far } from './far';\nexport default { onQuery: (x: unknown) => far(x) };\n",
    "far.ts": "export const far = (x: any): unknown => {\n\tconst é = '😀'; return x.y.z;\n};\n",
}
BOXES = [Sandbox] + ([ProcessSandbox] if sys.platform == "linux" else [])


@pytest.mark.parametrize("kind", BOXES)
def test_an_exception_shows_the_line_of_the_source_file(kind: type[Box]) -> None:
    with kind() as box:
        box.load_module(bundle(FILES))
        with pytest.raises(SandboxError) as thrown:
            box.call("onQuery", {})
    place, line, caret = thrown.value.excerpt.split("\n")
    assert place == f"far.ts:2:{thrown.value.column}"
    assert line == "  2 | \tconst é = '😀'; return x.y.z;"
    assert line[caret.index("^") :].startswith((".y.z", "y.z", ".z", "x.y.z"))
    assert thrown.value.details["excerpt"] == thrown.value.excerpt


def test_a_script_and_plain_javascript_have_excerpts_too() -> None:
    with Sandbox() as box:
        with pytest.raises(SandboxError) as thrown:
            box.evaluate("1 +\n  nothing.here", "one.js")
        assert thrown.value.excerpt.split("\n")[1] == "  2 |   nothing.here"
        with pytest.raises(SandboxError) as thrown:
            box.load_module("export default null.x;", "two.js")
        assert thrown.value.excerpt.startswith("two.js:1:")


def test_a_syntax_error_points_at_the_unexpected_token() -> None:
    with pytest.raises(TranspileError) as refused:
        bundle({"skill.ts": "let x: number = ;\n"})
    assert refused.value.excerpt == "skill.ts:1:17\n  1 | let x: number = ;\n    |                 ^"


def test_non_printable_characters_of_a_file_name_are_replaced() -> None:
    shown = excerpt([Frame("", "a\x1b[31m\n\u202e.ts", 1, 1)], {"a\x1b[31m\n\u202e.ts": "text"})
    assert shown.split("\n") == ["a\ufffd[31m\ufffd\ufffd.ts:1:1", "  1 | text", "    | ^"]


def test_a_forged_place_shows_only_text_of_the_host() -> None:
    with Sandbox() as box, pytest.raises(SandboxError) as thrown:
        box.evaluate("const e = new Error('x'); e.stack = '    at f (/etc/passwd:1:1)'; throw e;")
    assert (thrown.value.file, thrown.value.excerpt) == ("/etc/passwd", "")


@given(st.text(), st.integers(-5, 400), st.integers(-5, 400))
def test_any_place_in_any_text_is_one_printable_line_or_none(text: str, line: int, column: int) -> None:
    shown = excerpt([Frame("f", "a.ts", line, column)], {"a.ts": text})
    if not 1 <= line <= len(text.split("\n")):
        assert shown == ""
        return
    _, source, caret = shown.split("\n")
    assert source.replace("\t", "").isprintable()
    assert caret.endswith("^")
    assert len(source) < 200
