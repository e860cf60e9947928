"""Formats are negotiated by RFC 9110 §12.5.1, for any header."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.doors.sparql.negotiation import GRAPHS, RESULTS, chosen, languages_in


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


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("aAsv-;,q=.019 *\u20ac"), max_size=80))
def test_any_header_of_languages_is_read_as_a_few_tags(header: str) -> None:
    tags = languages_in(header)
    assert len(tags) <= 10
    assert len(set(tags)) == len(tags)
    assert all(tag in header.lower() and re.fullmatch("[a-z0-9-]+", tag) for tag in tags)


def test_languages_are_in_the_order_of_their_weights() -> None:
    assert languages_in("en;q=0.5, sv-FI, *;q=0.1, de;q=0, fr;q=x") == ("sv-fi", "en")
    assert languages_in(None) == ()
