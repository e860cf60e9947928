"""What is requested, granted, denied and left: pure decisions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import CortexError
from cortex_skills.features.artifacts.installed import Grant, Granted, effective, grant_differences
from cortex_skills.features.artifacts.installed.artifact_grants import KINDS, covers, read_grant
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers, decide
from cortex_skills.features.artifacts.package import read_skill_toml
from tests.installed.samples import manifest

VALUES = ("a", "a/b", "a/bc", "*", "a*", "*.b", "x.b", "global/a", "global/*", "read", "write")
GRANTS = st.builds(Grant, st.sampled_from(KINDS), st.sampled_from(VALUES))
SETS = st.frozensets(GRANTS, max_size=6)


def grants(*texts: str) -> frozenset[Grant]:
    return frozenset(map(read_grant, texts))


@pytest.mark.parametrize(
    ("wide", "narrow", "is_covered"),
    [
        ("http=*.example.org", "http=api.example.org", True),
        ("http=*.example.org", "http=example.org", False),
        ("http=*.example.org", "http=example.org.evil.test", False),
        ("http=api.example.org", "http=*.example.org", False),
        ("read=data", "read=data/in", True),
        ("read=data", "read=database", False),
        ("read=data", "write=data", False),
        ("secret=global/*", "secret=global/token", True),
        ("secret=global/token", "secret=skill:acme.echo/token", False),
        ("predicate=has*", "predicate=hasStatus", True),
        ("http=a.c", "http=abc", False),
    ],
)
def test_a_wide_grant_covers_a_narrow_one(wide: str, narrow: str, is_covered: bool) -> None:
    assert covers(read_grant(wide), read_grant(narrow)) is is_covered


@given(SETS, SETS, SETS, SETS, SETS, st.sampled_from([True, False, None]))
def test_nothing_is_granted_that_was_not_requested_or_was_denied(
    wanted: frozenset[Grant],
    grant: frozenset[Grant],
    deny: frozenset[Grant],
    requested_before: frozenset[Grant],
    granted_before: frozenset[Grant],
    rest: bool | None,
) -> None:
    found = decide(wanted, GrantAnswers(grant, deny, rest), requested_before, granted_before)
    for each in found.granted:
        assert any(covers(request, each) for request in wanted)
        assert not any(covers(denied, each) for denied in deny)
        assert rest or each in grant or any(covers(by, each) for by in grant | granted_before)
        assert each.kind != "device"
    assert (found.open == frozenset()) or rest is None
    answered = found.open | found.denied
    assert answered <= wanted
    assert all(any(covers(each, one) for one in found.granted) or each in answered for each in wanted)


@given(SETS)
def test_grants_are_read_back_as_they_are_stored(found: frozenset[Grant]) -> None:
    storable = frozenset(
        each
        for each in found
        if (each.kind != "secret" or "/" in each.value) and (each.kind != "graph" or each.value in ("read", "write"))
    )
    assert Granted.of(storable).grants() == storable
    assert frozenset(read_grant(str(each)) for each in storable) == storable


def test_a_wildcard_that_is_granted_in_part_is_that_part() -> None:
    more = '[capabilities]\nhttp_egress_allowlist = ["*"]\nwildcard_opt_in = { http_egress = true }\n'
    declared = read_skill_toml(manifest(more=more).encode())
    granted = Granted.of(grants("http=api.example.org", "http=*.cdn.test", "graph=write"))
    assert effective(declared, granted).http_hosts == ("*.cdn.test", "api.example.org")
    assert not effective(declared, granted).graph_write
    assert effective(declared, Granted()).http_hosts == ()


def test_the_difference_names_each_kind() -> None:
    wanted = grants("http=api.test", "http=*.cdn.test", "graph=read", "device=camera", "read=data")
    given_ = grants("http=*.cdn.test", "graph=read", "write=data")
    found = {
        (each.kind, str(each.grant))
        for each in grant_differences(wanted, given_, frozenset({"http", "device", "read"}))
    }
    assert found == {
        ("missing_grant", "http=api.test"),
        ("missing_grant", "read=data"),
        ("policy_restricted", "device=camera"),
        ("wildcard_risk", "http=*.cdn.test"),
        ("excess_grant", "write=data"),
        ("unused", "graph=read"),
    }


def test_an_open_request_names_what_answers_it() -> None:
    with pytest.raises(CortexError) as caught:
        decide(grants("http=api.test"), GrantAnswers()).check_complete("acme.echo 1.0.0")
    assert caught.value.code == "grants_required"
    assert caught.value.details == {"requested": ["http=api.test"]}
