"""Formats are negotiated by RFC 9110 §12.5.1, for any header."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.doors.sparql.negotiation import GRAPHS, RESULTS, chosen


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (None, "application/sparql-results+json"),
        ("", "application/sparql-results+json"),
        ("*/*", "application/sparql-results+json"),
        ("text/*", "text/csv"),
        ("text/tab-separated-values, text/csv", "text/tab-separated-values"),
        ("text/*;q=0.3, text/tab-separated-values;q=0.4", "text/tab-separated-values"),
        ("application/sparql-results+json;q=0, */*;q=0.1", "application/json"),
        ("APPLICATION/JSON ; Q=1.0", "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        ("application/json;q=none", None),
        ("text/turtle", None),
        ("nonsense", "application/sparql-results+json"),
    ],
)
def test_the_heaviest_format_wins(accept: str | None, kind: str | None) -> None:
    found = chosen(accept, RESULTS)
    assert (None if found is None else found[0]) == kind


@given(st.one_of(st.text(), st.text(st.sampled_from("*/;,q=.01 textcsvjsonapplication+"), max_size=60)))
def test_whatever_is_accepted_one_of_the_offered_or_none_is_chosen(accept: str) -> None:
    for offered in (RESULTS, GRAPHS):
        found = chosen(accept, offered)  # type: ignore[type-var]
        assert found is None or offered[found[0]] == found[1]
