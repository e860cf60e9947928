"""Who is let in: sessions by token and by code, and how they end."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cortex_skills.doors.explorer.callers import ExplorerState
from cortex_skills.doors.explorer.entrance import local_next
from cortex_skills.doors.explorer.sessions import LOCAL, Failures
from tests.explorer.http.browsing import (
    CLICKED,
    FOREIGN,
    OTHER_PORT,
    PAGE,
    TYPED,
    cookie_header,
    fields_of,
    signed_in,
    submitted,
)
from tests.server.serving import Running, served


def state(running: Running) -> ExplorerState:
    return running.server.config.app.state.explorer


@pytest.fixture(autouse=True)
def no_failures(running: Running) -> None:
    state(running).failures = Failures()


@pytest.fixture
def reader(running: Running) -> str:
    return running.token("reader", ("mayros",), ("read",))


@pytest.fixture
def writer(running: Running) -> str:
    return running.token("writer", ("mayros",), ("read", "write"))


def code(running: Running, grant: str = LOCAL) -> str:
    from cortex_skills.doors.explorer.callers import now

    return state(running).sessions.new_code(grant, now())


# A session


def test_a_pasted_token_opens_a_session(running: Running, reader: str) -> None:
    browser = running.client()
    answer = submitted(browser, "/explore/login", {"token": reader})
    assert re.fullmatch(r"cortex_session=[\w-]{43}; Path=/explore; HttpOnly; SameSite=Strict", cookie_header(answer))
    page = browser.get("/explore/mayros", headers=CLICKED)
    assert page.status_code == 200
    assert "<b>reader</b><br>read · until" in page.text
    assert reader not in page.text


def test_behind_a_proxy_with_tls_the_cookie_is_secure(running: Running, reader: str) -> None:
    answer = submitted(
        running.client(), "/explore/login", {"token": reader}, Origin=f"https://127.0.0.1:{running.port}"
    )
    header = cookie_header(answer)
    assert re.fullmatch(r"__Secure-cortex_session=[\w-]{43}; Path=/explore; HttpOnly; SameSite=Strict; Secure", header)
    shown = running.client().get("/explore/mayros", headers={**CLICKED, "Cookie": header.partition(";")[0]})
    assert shown.status_code == 200


def test_a_session_is_good_for_the_explorer_alone(running: Running, reader: str) -> None:
    browser = signed_in(running, reader)
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    assert cookie
    for path in ("/api/v1/triples", "/sparql", "/api/v1/namespaces"):
        assert running.client().get(path, headers={"Cookie": cookie}).status_code == 401
    assert running.client().post("/mcp", headers={"Cookie": cookie}, json={}).status_code == 401


def test_two_cookies_of_the_name_are_as_good_as_none(running: Running, reader: str) -> None:
    value = signed_in(running, reader).cookies["cortex_session"]
    for cookies in (f"cortex_session={value}; cortex_session=x", f"cortex_session=x; cortex_session={value}"):
        assert running.client().get("/explore", headers={**TYPED, "Cookie": cookies}).status_code == 303


def test_a_session_ends_when_its_token_is_revoked(running: Running) -> None:
    browser = signed_in(running, running.token("short-lived", ("mayros",), ("read",)))
    assert browser.get("/explore/mayros", headers=CLICKED).status_code == 200
    running.tokens.remove("short-lived")
    before = len(state(running).sessions)
    assert (
        browser.get("/explore/mayros", headers=CLICKED).headers["location"] == "/explore/login?next=%2Fexplore%2Fmayros"
    )
    assert len(state(running).sessions) == before - 1


def test_a_session_ends_when_its_token_expires(running: Running) -> None:
    browser = signed_in(running, running.token("expiring", ("mayros",), ("read",)))
    (token,) = (token for token in running.tokens.tokens() if token.name == "expiring")
    running.tokens.remove("expiring")
    running.tokens.add(replace(token, expires=datetime.now(UTC) + timedelta(hours=1)))
    assert browser.get("/explore/mayros", headers=CLICKED).status_code == 200
    running.tokens.remove("expiring")
    running.tokens.add(replace(token, expires=datetime.now(UTC) - timedelta(seconds=1)))
    assert browser.get("/explore/mayros", headers=CLICKED).status_code == 303


def test_a_session_loses_a_permission_with_its_token(running: Running) -> None:
    browser = signed_in(running, running.token("changing", ("mayros",), ("read", "audit")))
    assert browser.get("/explore/audit", headers=CLICKED).status_code == 200
    (token,) = (token for token in running.tokens.tokens() if token.name == "changing")
    running.tokens.remove("changing")
    running.tokens.add(replace(token, permissions=frozenset({"read"})))
    assert browser.get("/explore/audit", headers=CLICKED).status_code == 403


def test_a_new_token_of_the_same_name_does_not_revive_a_session(running: Running) -> None:
    browser = signed_in(running, running.token("again", ("mayros",), ("read",)))
    running.tokens.remove("again")
    running._texts.pop("again")
    running.token("again", ("mayros",), ("read", "write"))
    assert browser.get("/explore/mayros", headers=CLICKED).status_code == 303


def test_signing_out_ends_the_session_on_the_server(running: Running, reader: str) -> None:
    browser = signed_in(running, reader)
    cookie = f"cortex_session={browser.cookies['cortex_session']}"
    page = browser.get("/explore/logout", headers=CLICKED)
    assert "reader" in page.text
    assert "A cookie has no port" in page.text
    answer = submitted(browser, "/explore/logout", fields_of(page.text))
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore/login")
    assert "Max-Age=0" in cookie_header(answer)
    assert running.client().get("/explore/mayros", headers={**CLICKED, "Cookie": cookie}).status_code == 303


def test_reading_the_page_of_the_session_ends_nothing(running: Running, reader: str) -> None:
    browser = signed_in(running, reader)
    assert browser.get("/explore/logout", headers=CLICKED).status_code == 200
    assert browser.get("/explore/mayros", headers=CLICKED).status_code == 200


@pytest.mark.parametrize("form", ["", "0" * 64, "of another session"])
def test_a_form_without_the_token_of_the_session_does_nothing(running: Running, reader: str, form: str) -> None:
    browser = signed_in(running, reader)
    if form == "of another session":
        form = fields_of(signed_in(running, reader).get("/explore/logout", headers=CLICKED).text)["form"]
    assert submitted(browser, "/explore/logout", {"form": form}).status_code == 403
    assert browser.get("/explore/mayros", headers=CLICKED).status_code == 200


# Codes


def test_a_code_opens_a_session_that_reads_the_namespace(running: Running) -> None:
    browser = running.client()
    answer = submitted(browser, "/explore/enter", {"code": code(running)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore")
    page = browser.get("/explore/logout", headers=CLICKED).text
    assert "<dd>explorer</dd>" in page
    assert "<dt>Permissions</dt><dd>read</dd>" in page
    assert "<dt>Namespaces</dt><dd>mayros</dd>" in page


def test_a_code_is_used_once(running: Running) -> None:
    given = code(running)
    assert submitted(running.client(), "/explore/enter", {"code": given}).status_code == 303
    assert submitted(running.client(), "/explore/enter", {"code": given}).status_code == 401


def test_wrong_used_and_late_codes_and_wrong_tokens_get_one_message(running: Running) -> None:
    sessions = state(running).sessions
    used, late = code(running), sessions.new_code(LOCAL, -1e9)
    submitted(running.client(), "/explore/enter", {"code": used})
    answers = [submitted(running.client(), "/explore/enter", {"code": text}) for text in ("0" * 32, used, late)]
    answers.append(submitted(running.client(), "/explore/login", {"token": "cortex_wrong"}))
    faults = {re.findall(r'role="alert">(.*?)<', answer.text)[0] for answer in answers}
    assert {answer.status_code for answer in answers} == {401}
    assert faults == {"This did not open a session: the code or the token is wrong, was used, or has expired."}
    assert len({answer.text for answer in answers[:3]}) == 1
    assert all("set-cookie" not in answer.headers for answer in answers)


def test_a_code_of_a_revoked_token_opens_nothing(running: Running) -> None:
    from cortex_skills.tokens import digest_of

    digest = digest_of(running.token("gone", ("mayros",), ("read",)))
    given = code(running, digest)
    running.tokens.remove("gone")
    assert submitted(running.client(), "/explore/enter", {"code": given}).status_code == 401


def test_the_page_for_a_code_works_without_scripts(running: Running) -> None:
    page = running.client().get("/explore/enter", headers=TYPED)
    assert page.status_code == 200
    assert '<form class="card" method="post" action="/explore/enter" data-enter' in page.text
    assert '<input id="code" name="code"' in page.text


def test_after_five_failures_in_a_minute_an_address_waits(running: Running, reader: str) -> None:
    for _ in range(5):
        assert submitted(running.client(), "/explore/login", {"token": "wrong"}).status_code == 401
    for path, fields in (("login", {"token": reader}), ("enter", {"code": code(running)})):
        refused = submitted(running.client(), f"/explore/{path}", fields)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 60


# Acting


def test_showing_the_token_again_lets_the_session_act(running: Running, writer: str) -> None:
    browser = signed_in(running, writer)
    cookie = browser.cookies["cortex_session"]
    assert "show the token again" in browser.get("/explore/logout", headers=CLICKED).text
    answer = submitted(browser, "/explore/login", {"token": writer, "next": "/explore/logout"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore/logout")
    assert "set-cookie" not in answer.headers
    assert browser.cookies["cortex_session"] == cookie
    assert "show the token again" not in browser.get("/explore/logout", headers=CLICKED).text


def test_another_token_replaces_the_session(running: Running, reader: str, writer: str) -> None:
    browser = signed_in(running, reader)
    old = browser.cookies["cortex_session"]
    submitted(browser, "/explore/login", {"token": writer})
    assert "<b>writer</b>" in browser.get("/explore/mayros", headers=CLICKED).text
    assert "show the token again" in browser.get("/explore/logout", headers=CLICKED).text
    left = running.client().get("/explore/mayros", headers={**CLICKED, "Cookie": f"cortex_session={old}"})
    assert left.status_code == 303


# Where a form and a link come from


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_form_from_elsewhere_does_nothing(running: Running, reader: str, headers: dict[str, str]) -> None:
    browser = running.client()
    for path, fields in (
        ("login", {"token": reader}),
        ("enter", {"code": code(running)}),
        ("theme", {"theme": "dark"}),
    ):
        answer = submitted(browser, f"/explore/{path}", fields, **headers)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


def test_a_form_without_an_origin_does_nothing(running: Running, reader: str) -> None:
    answer = running.client().post("/explore/login", data={"token": reader}, headers=CLICKED)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize("headers", [FOREIGN, OTHER_PORT], ids=["other site", "other port"])
def test_a_followed_link_gets_a_page_without_data_that_goes_on(
    running: Running, reader: str, headers: dict[str, str]
) -> None:
    browser = signed_in(running, reader)
    page = browser.get("/explore?format=html", headers=headers)
    assert page.status_code == 200
    assert '<meta http-equiv="refresh" content="0;url=/explore?format=html">' in page.text
    unknown = browser.get("/explore/none", headers=headers)
    assert (unknown.status_code, "reader" in unknown.text) == (200, False)
    for data in ("mayros", "reader", "<nav"):
        assert data not in page.text
    assert browser.get("/explore?format=json", headers=headers).headers["content-type"].startswith("text/html")


def test_a_followed_query_is_marked_so_that_it_is_not_run(running: Running) -> None:
    client = running.client()
    for query in ("query=SELECT%20*", "view=map&query=x", "%71uery=x"):
        page = client.get(f"/explore?{query}", headers=FOREIGN)
        shown = f"/explore?{query}&amp;followed=1".replace("&view", "&amp;view").replace("map&query", "map&amp;query")
        assert f'content="0;url={shown}"' in page.text


@pytest.mark.parametrize(
    "changed",
    [
        {"Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Dest": "script", "Sec-Fetch-Mode": "no-cors"},
        {"Origin": "http://evil.example"},
    ],
)
def test_everything_else_from_elsewhere_is_refused(running: Running, reader: str, changed: dict[str, str]) -> None:
    browser = signed_in(running, reader)
    for path in ("/explore", "/explore/login", "/explore/static/app.js", "/"):
        answer = browser.get(path, headers={**FOREIGN, **changed})
        assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")


def test_links_to_the_api_are_not_followed(running: Running) -> None:
    for path in ("/api/v1/health", "/sparql", "/openapi.json", "/mcp", "/explored", "/explore/static/app.js"):
        assert running.client().get(path, headers=FOREIGN).status_code == 403


def test_the_entrance_answers_a_followed_link_at_once(running: Running) -> None:
    for path in ("/explore/enter", "/explore/login?next=%2Fexplore%2Fmayros"):
        page = running.client().get(path, headers=FOREIGN)
        assert page.status_code == 200
        assert "http-equiv" not in page.text


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"token=" + b"a" * (64 << 10), 413),
        (iter([b"token=a"]), 413),
        (b"token=a&token=b", 400),
        (b"token=%ff", 400),
        (b"&".join(b"f%d=1" % n for n in range(400)), 400),
        (b"token", 400),
        (b"", 401),
    ],
    ids=["large", "chunked", "twice", "not UTF-8", "many fields", "no value", "empty"],
)
def test_a_form_is_small_and_well_formed(running: Running, content: object, status: int) -> None:
    headers = {**CLICKED, "Origin": running.url, "Content-Type": "application/x-www-form-urlencoded"}
    assert running.client().post("/explore/login", content=content, headers=headers).status_code == status


def test_a_form_of_another_type_is_refused(running: Running, reader: str) -> None:
    client = running.client()
    headers = {**CLICKED, "Origin": running.url}
    assert client.post("/explore/login", json={"token": reader}, headers=headers).status_code == 415
    assert client.post("/explore/login", files={"token": b"x"}, headers=headers).status_code == 415


# Where a browser goes afterwards


def test_without_a_session_a_page_leads_to_the_login_and_back(running: Running, reader: str) -> None:
    browser = running.client()
    led = browser.get("/explore?a=a%20b", headers=TYPED)
    assert led.headers["location"] == "/explore/login?next=%2Fexplore%3Fa%3Da%2520b"
    fields = fields_of(browser.get(led.headers["location"], headers=CLICKED).text)
    answer = submitted(browser, "/explore/login", {"token": reader, **fields})
    assert answer.headers["location"] == "/explore?a=a%20b"


@pytest.mark.parametrize(
    "given",
    [
        "https://evil.example/explore",
        "//evil.example/explore",
        "/explore/../sparql",
        "/explore/%2e%2e/sparql",
        "/explore/.%2E",
        "/explore//evil.example",
        "/explore\\evil",
        "/explored",
        "/",
        "",
        "explore",
        "/explore\r\nSet-Cookie: a=b",
        "/explore/\x00",
        "/explore/é",
        "javascript:alert(1)",
        "/explore?" + "a" * 9000,
    ],
)
def test_only_paths_of_the_explorer_are_gone_to(given: str) -> None:
    assert local_next(given) == "/explore"


def test_a_query_in_an_address_to_go_to_is_marked() -> None:
    assert local_next("/explore/mayros/sparql?query=x") == "/explore/mayros/sparql?query=x&followed=1"
    assert local_next("/explore/mayros/r?name=query") == "/explore/mayros/r?name=query"


# The switch of the colours


def test_the_colours_are_kept_in_a_cookie(running: Running) -> None:
    browser = running.client()
    answer = submitted(browser, "/explore/theme", {"theme": "dark", "next": "/explore/login"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore/login")
    assert "Path=/explore; Max-Age=31536000; HttpOnly; SameSite=Strict" in cookie_header(answer)
    assert '<html lang="en" data-theme="dark">' in browser.get("/explore/login", headers=TYPED).text
    assert submitted(browser, "/explore/theme", {"theme": '"><script>'}).status_code == 400
    hostile = running.client().get("/explore/login", headers={**TYPED, "Cookie": 'cortex_theme="><script>'})
    assert '<html lang="en">' in hostile.text


# Host names


def test_the_private_host_name_is_answered_to_and_no_other(running: Running) -> None:
    name = state(running).name
    assert re.fullmatch(r"cortex-[a-z]{12}\.localhost", name)
    client = running.client()
    assert client.get("/explore/login", headers={**PAGE, "Host": f"{name}:{running.port}"}).status_code == 200
    for other in ("localhost.localhost", "cortex-aaaaaaaaaaaa.localhost", f"x.{name}", f"{name}.evil.example"):
        assert client.get("/explore/login", headers={**PAGE, "Host": other}).status_code == 421


def test_at_a_shared_address_the_entrance_names_the_private_one(running: Running) -> None:
    origin = f"http://{state(running).name}:{running.port}"
    page = running.client().get("/explore/enter", headers=TYPED)
    assert f'data-private="{origin}"' in page.text
    assert f"connect-src 'self' {origin};" in page.headers["content-security-policy"]
    private = running.client().get("/explore/enter", headers={**TYPED, "Host": origin.removeprefix("http://")})
    assert "data-private" not in private.text
    assert "connect-src 'self';" in private.headers["content-security-policy"]


def test_a_browser_may_try_whether_it_reaches_the_private_name(running: Running) -> None:
    asked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty"}
    private = {**asked, "Host": f"{state(running).name}:{running.port}"}
    answer = running.client().get("/explore/enter/reachable", headers=private)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert running.client().get("/explore/enter/reachable", headers=asked).status_code == 403
    assert running.client().get("/explore", headers=private).status_code == 403


# Without a token


def test_anonymous_reads_show_pages_where_they_are_allowed(tmp_path: Path) -> None:
    with served(tmp_path, cortex={"allowAnonymousReads": True}) as open_server:
        client = open_server.client()
        page = client.get("/explore/mayros", headers=TYPED)
        assert (page.status_code, "<b>anonymous</b>" in page.text) == (200, True)
        assert client.get("/explore", headers={**TYPED, "X-Forwarded-For": "192.0.2.1"}).status_code == 303
        assert client.get("/explore/logout", headers=TYPED).status_code == 303
