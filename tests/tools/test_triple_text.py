"""A triple is one line with unambiguous names and value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cortex_skills.features.graph.tools.triple_text import line_of
from cortex_skills.safe_io.display import json_text, shown_name

_names = st.text(st.sampled_from('ab:% "\\<>&\n\u202e\u00e9'), min_size=1, max_size=6)
_values = st.one_of(
    st.text(st.sampled_from('ab "\\<>&\n\u202e\u00e9'), max_size=6), st.booleans(), st.integers(), st.floats(0, 1)
)


@given(subject=_names, predicate=_names, object_=_values)
@example(subject="a b", predicate="c", object_="d")
@example(subject="a", predicate='b "c', object_="d")
@example(subject="a", predicate="b", object_='c" "d')
@example(subject='a b "c" d', predicate="e", object_="f")
def test_a_line_shows_each_part_unambiguously(subject: str, predicate: str, object_: Any) -> None:
    line = line_of({"subject": subject, "predicate": predicate, "object": object_})
    assert line == f"{shown_name(subject)} {shown_name(predicate)} {json_text(object_)}"


@pytest.mark.parametrize(
    ("triple", "line"),
    [
        (("may:a", "may:p", "open"), 'may:a may:p "open"'),
        (("may:a", "may:p", "<b> & c"), 'may:a may:p "\\u003cb\\u003e \\u0026 c"'),
        (("may:a", "may:p", "a\nmay:b may:p 1"), 'may:a may:p "a\\nmay:b may:p 1"'),
        (("may:a b", "may:p", "c"), '"may:a b" may:p "c"'),
        (("may:a", "may:p", 1), "may:a may:p 1"),
        (("may:a", "may:p", {"node": "may:b"}), 'may:a may:p {"node":"may:b"}'),
    ],
)
def test_a_line_of_a_triple(triple: tuple[str, str, Any], line: str) -> None:
    assert line_of(dict(zip(("subject", "predicate", "object"), triple, strict=True))) == line
