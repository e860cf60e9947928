"""The first page, and what all pages share."""

from __future__ import annotations

import pytest

from tests.server.serving import Running, served


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with served(tmp_path_factory.mktemp("explorer")) as server:
        yield server


def test_the_first_page_lists_the_namespaces_of_the_token(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    page = reader.get("/explore", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert '<a class="term" href="/explore/mayros">mayros</a>' in page.text
    assert reader.get("/explore?format=json").json()["baseIri"] == "urn:cortex:"
    assert reader.get("/explore", headers={"Accept": "application/json"}).json()["namespaces"] == []


def test_a_page_has_the_policy_of_pages(running: Running) -> None:
    headers = running.client().get("/explore/nothing", headers={"Accept": "text/html"}).headers
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"


def test_a_form_that_does_not_exist_is_refused_with_the_list(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    for request in ({"params": {"format": "docx"}}, {"headers": {"Accept": "image/png"}}):
        refused = reader.get("/explore", **request)
        assert refused.status_code == 406
        assert "json (application/json)" in refused.text


def test_a_browser_without_a_token_is_led_to_the_login(running: Running) -> None:
    anonymous = running.client()
    led = anonymous.get("/explore", headers={"Accept": "text/html"})
    assert (led.status_code, led.headers["location"]) == (303, "/explore/login?next=%2Fexplore")
    assert anonymous.get("/explore", headers={"Accept": "application/json"}).status_code == 401


def test_an_unknown_page_is_a_page(running: Running) -> None:
    page = running.client().get("/explore/mayros/no/such", headers={"Accept": "text/html"})
    assert (page.status_code, "<h1>Not found</h1>" in page.text) == (404, True)
