"""The first page, and what all pages share."""

from __future__ import annotations

import re

from tests.explorer.http.browsing import PAGE, TYPED
from tests.server.serving import Running


def test_the_first_page_lists_the_namespaces_of_the_token(running: Running) -> None:
    reader = running.client(running.token("two", ("mayros", "other"), ("read",)))
    page = reader.get("/explore", headers=PAGE)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert '<a class="term" href="/explore/mayros">mayros</a>' in page.text
    assert reader.get("/explore?format=json").json()["baseIri"] == "urn:cortex:"
    assert "namespaces" in reader.get("/explore", headers={"Accept": "application/json"}).json()


def test_with_one_namespace_the_first_page_is_its_overview(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    led = reader.get("/explore", headers=PAGE)
    assert (led.status_code, led.headers["location"]) == (303, "/explore/mayros")
    assert "Namespace mayros" in reader.get("/explore/mayros", headers=PAGE).text


def test_pages_have_the_policy_of_pages(running: Running) -> None:
    headers = running.client().get("/explore/nothing", headers=PAGE).headers
    assert headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_a_browser_keeps_pages_for_going_back_and_assets_compressed(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    assert reader.get("/explore/mayros", headers=PAGE).headers["cache-control"] == "no-store"
    page = reader.get("/explore/mayros", headers={**PAGE, "Cookie": "cortex_keeps=1"})
    assert page.headers["cache-control"] == "private, no-cache"
    assert "content-encoding" not in page.headers  # it has secrets beside texts of others
    assert reader.get("/explore/mayros?format=json").headers["cache-control"] == "no-store"
    (sheet,) = re.findall(r'href="(/explore/static/explorer[^"]+)"', page.text)
    for accepted, coding in (("gzip", "gzip"), ("identity", None), ("br", None)):
        sent = reader.get(sheet, headers={"Accept-Encoding": accepted})
        assert (sent.headers.get("content-encoding"), sent.headers["vary"]) == (coding, "Accept-Encoding")
        assert "immutable" in sent.headers["cache-control"]
        assert sent.text.startswith(":root{")


def test_other_forms_allow_a_browser_nothing(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    policy = reader.get("/explore?format=json").headers["content-security-policy"]
    assert policy == "default-src 'none'; frame-ancestors 'none'"


def test_a_form_that_does_not_exist_is_refused_with_the_list(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    for request in ({"params": {"format": "docx"}}, {"headers": {"Accept": "image/png"}}):
        refused = reader.get("/explore", **request)
        assert refused.status_code == 406
        assert "json (application/json)" in refused.text
    assert reader.get("/explore?format=json&format=json").status_code == 400
    page = reader.get("/explore?format=docx", headers=PAGE)
    assert (page.status_code, "<h1>No such form</h1>" in page.text) == (406, True)


def test_a_parameter_that_the_page_does_not_know_is_refused(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    refused = reader.get("/explore?limit=1000000", headers=PAGE)
    assert (refused.status_code, "`limit` is not a known parameter" in refused.text) == (400, True)


def test_answers_depend_on_the_accepted_form_and_the_cookie(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    for path in ("/explore", "/explore?format=json", "/explore/none", "/explore/login", "/explore?format=docx"):
        assert reader.get(path).headers["vary"] == "Accept, Accept-Language, Cookie"
    assert running.client().get("/", headers=PAGE).headers["vary"] == "Accept"


def test_a_browser_is_led_from_the_root_to_the_explorer(running: Running) -> None:
    client = running.client()
    led = client.get("/", headers=TYPED)
    assert (led.status_code, led.headers["location"]) == (303, "/explore")
    for accept in ("*/*", "application/json", "application/json, text/html;q=0.5"):
        assert client.get("/", headers={"Accept": accept}).json()["name"] == "cortex-skills"


def test_an_unknown_page_is_a_page(running: Running) -> None:
    page = running.client().get("/explore/mayros/no/such", headers=PAGE)
    assert (page.status_code, "<h1>Not found</h1>" in page.text) == (404, True)
    document = running.client().get("/explore/mayros/no/such", headers={"Accept": "application/json"})
    assert (document.status_code, document.json()["code"]) == (404, "not_found")


def test_text_of_the_address_is_escaped(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    for path in ("/explore/<script>alert(1)</script>", '/explore?"><script>=1', "/explore?format=<script>"):
        page = reader.get(path, headers=PAGE)
        assert page.status_code in (400, 404, 406)
        assert not re.search(r"<script(?! type=\"module\" src=\"/explore/static/)", page.text)


def test_a_page_is_read_only(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    refused = reader.post("/explore", headers={"Accept": "application/json"})
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_a_head_request_has_no_body(running: Running) -> None:
    reader = running.client(running.token("reader", ("mayros",), ("read",)))
    answer = reader.head("/explore/mayros", headers=PAGE)
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_slash_too_many_leads_to_the_page(running: Running) -> None:
    client = running.client()
    for path, target in (("/explore/", "/explore"), ("/explore/mayros/", "/explore/mayros")):
        led = client.get(path, headers=PAGE)
        assert (led.status_code, led.headers["location"]) == (303, target)
