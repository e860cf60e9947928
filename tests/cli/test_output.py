"""The output of commands is printable for any content."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.doors.cli.output import Output
from cortex_skills.errors import CortexError

TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def written(write):
    """The text written to standard output and to standard error."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        write()
    return out.getvalue(), errors.getvalue()


@given(TEXT)
def test_only_printable_characters_are_written(text):
    out = Output()
    for write in (
        lambda: out.text(text),
        lambda: out.line(text, (text, "red")),
        lambda: out.table([text], [[text]]),
        lambda: out.error(CortexError("skill_error", text, hint=text)),
        lambda: out.log("warning", "x", text),
    ):
        for stream in written(write):
            assert all(character.isprintable() or character in "\n\t" for character in stream)


@given(TEXT, TEXT)
def test_only_the_first_line_of_an_error_and_its_hint_are_not_indented(message, hint):
    _, errors = written(lambda: Output().error(CortexError("skill_error", message, hint=hint)))
    at_margin = [line for line in errors.split("\n") if line and not line.startswith("  ")]
    assert [line.split(":")[0] for line in at_margin] == ["error[skill_error]", *(["hint"] if hint else [])]


@given(JSON)
def test_a_json_answer_is_one_ascii_document(document):
    answer, errors = written(lambda: Output(as_json=True).answer(document, lambda: None))
    assert (json.loads(answer), errors) == (document, "")
    assert answer.isascii()


@given(TEXT)
def test_a_json_error_is_one_line(text):
    out, errors = written(lambda: Output(as_json=True).error(CortexError("skill_error", text, hint=text)))
    assert (out, errors.count("\n")) == ("", 1)
    assert json.loads(errors) == {"code": "skill_error", "message": text, "hint": text, "details": {}}
