"""Addresses of namespaces that are called like other pages."""

from __future__ import annotations

import pytest

from cortex_graph.naming.names import is_namespace
from cortex_skills.doors.explorer.addresses import RESERVED, ROOT, Addresses, namespace_in, namespace_root
from cortex_skills.doors.explorer.routes import explorer_routes


def test_every_other_first_segment_of_a_route_is_reserved() -> None:
    segments = {route.path.removeprefix(ROOT).split("/")[1] for route in explorer_routes() if route.path != ROOT}
    assert {segment for segment in segments if "{" not in segment} <= RESERVED


@pytest.mark.parametrize("namespace", [*sorted(RESERVED), "mayros", "Skills", "skills-2"])
def test_a_namespace_has_one_address(namespace: str) -> None:
    segment = namespace_root(namespace).removeprefix(f"{ROOT}/")
    assert namespace_in(segment) == namespace
    assert (segment == namespace) == (namespace not in RESERVED)
    other = namespace if namespace in RESERVED else f"~{namespace}"
    assert namespace_in(other) is None


def test_an_escaped_segment_is_no_namespace() -> None:
    assert not is_namespace(namespace_root("skills").removeprefix(f"{ROOT}/"))


def test_all_addresses_of_a_namespace_are_escaped() -> None:
    there = Addresses("audit", None)
    found = [there.page(), there.page("find"), there.resource("a"), there.assertion("0"), there.used("a")]
    assert all(address.startswith("/explore/~audit") for address in found)
    assert Addresses("audit", "2026-01-01").resource("a").startswith("/explore/~audit/r?")
