"""What other programs, sites and holders of old credentials get: nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest

from cortex_skills.doors.explorer.callers import now
from cortex_skills.doors.explorer.sessions import LOCAL
from cortex_skills.features.actions.action_request import ActionRequest
from tests.explorer.browser.conftest import REBOUND, Watched
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
START = "/explore/mayros"
QUERY = "SELECT * { ?s ?p ?o }"
Contexts = Callable[..., Watched]


class Elsewhere:
    """Another server of this machine: it answers with one page, and keeps the cookies that it is sent."""

    def __init__(self) -> None:
        self.page = ""
        self.cookies: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.cookies.append(self.headers.get("Cookie", ""))
                body = outer.page.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    other = Elsewhere()
    thread = threading.Thread(target=other.server.serve_forever, args=(0.05,))
    thread.start()
    yield other
    other.server.shutdown()
    thread.join()
    other.server.server_close()


@pytest.fixture
def watched(elsewhere: Elsewhere, watched: Contexts) -> Contexts:
    """Contexts that are closed before the other server ends: a connection that it resets would be a message."""
    return watched


@pytest.fixture
def private(running: Running) -> str:
    """The address at the private host name of the server."""
    return f"http://{running.server.config.app.state.explorer.name}:{running.port}"


def code(running: Running) -> str:
    return str(running.server.config.app.state.explorer.sessions.new_code(LOCAL, now()))


def entered(watched: Contexts, running: Running, private: str) -> Watched:
    """A browser that came with a code, as `cortex-skills explore` opens it."""
    one = watched(url=private, others=[f"{running.url}/"])
    page = one.page()
    page.goto(f"{private}/explore/enter#{code(running)}")
    page.wait_for_url(f"{private}{START}")
    return one


def test_a_code_enters_at_the_private_name_and_leaves_the_address(
    watched: Contexts, running: Running, private: str
) -> None:
    one = watched(url=private, others=[f"{running.url}/"])
    page = one.page()
    given = code(running)
    page.goto(f"{running.url}/explore/enter#{given}")
    page.wait_for_url(f"{private}{START}")
    assert given not in page.url
    page.go_back()
    assert given not in page.url


def test_the_cookie_does_not_go_to_another_port(
    watched: Contexts, running: Running, private: str, elsewhere: Elsewhere
) -> None:
    one = entered(watched, running, private)
    one.others.append(elsewhere.url)
    one.expected.append("favicon")
    one.page().goto(elsewhere.url)
    assert set(elsewhere.cookies) == {""}


def test_a_page_of_another_site_reads_nothing_and_frames_nothing(
    watched: Contexts, running: Running, private: str, elsewhere: Elsewhere
) -> None:
    one = entered(watched, running, private)
    one.others += [elsewhere.url]
    one.expected += ["frame", "CORS", "Failed to load resource", "refused"]
    elsewhere.page = f"<iframe src='{private}{START}'></iframe>"
    page = one.page()
    page.goto(elsewhere.url)
    read = "url => fetch(url, {credentials: 'include'}).then(answer => answer.text(), () => 'refused')"
    assert page.evaluate(read, f"{private}{START}?format=json") == "refused"
    framed = page.frames[1]
    assert "mayros" not in framed.content()


def test_a_followed_link_shows_the_page_and_does_not_run_its_query(
    watched: Contexts, running: Running, private: str, elsewhere: Elsewhere
) -> None:
    one = entered(watched, running, private)
    one.others.append(elsewhere.url)
    one.expected.append("favicon")
    elsewhere.page = f"<a href='{private}{START}/sparql?query={quote(QUERY)}'>look</a>"
    page = one.page()
    page.goto(elsewhere.url)
    page.get_by_text("look").click()
    playwright.expect(page.get_by_role("status").filter(has_text="was not run")).to_be_visible()
    assert page.locator("td").count() == 0
    page.get_by_role("button", name="Run").click()
    playwright.expect(page.locator("td").first).to_be_visible()


def test_a_name_that_leads_here_is_not_answered(watched: Contexts, running: Running) -> None:
    one = watched(url=f"http://{REBOUND}:{running.port}")
    one.expected += ["421", "Cross-Origin-Opener-Policy"]
    answer = one.page().goto(f"http://{REBOUND}:{running.port}{START}")
    assert answer.status == 421
    assert "mayros" not in answer.text().replace(START, "")


def test_a_used_code_opens_nothing(watched: Contexts, running: Running, private: str) -> None:
    given = code(running)
    for enters in (True, False):
        one = watched(url=private, others=[f"{running.url}/"])
        one.expected.append("401")
        page = one.page()
        page.goto(f"{private}/explore/enter#{given}")
        if enters:
            page.wait_for_url(f"{private}{START}")
        else:
            playwright.expect(page.get_by_role("alert")).to_contain_text("did not open a session")
    running.server.config.app.state.explorer.failures = type(running.server.config.app.state.explorer.failures)()


def test_a_session_ends_when_its_token_is_revoked(watched: Contexts, running: Running) -> None:
    text = running.token("leaving", permissions=("read",))
    page = watched().page()
    page.goto(f"{running.url}/explore/login")
    page.get_by_label("Token").fill(text)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{running.url}{START}")
    assert page.get_by_role("heading", level=1).inner_text() == "Namespace mayros"
    running.tokens.remove("leaving")
    page.reload()
    page.wait_for_url(f"{running.url}/explore/login?next=**")


@pytest.mark.extended
def test_a_double_click_acts_once_and_a_second_tab_learns_what_became_of_it(
    watched: Contexts, running: Running
) -> None:
    token = running.token("twice", permissions=("read", "write", "approve"), holder="person")
    one = watched()
    one.expected += ["status of 401", "status of 409"]
    page = one.page()
    page.goto(f"{running.url}/explore/login")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{running.url}/explore/mayros/write?subject=order:twice")
    page.get_by_label("Predicate").fill("state")
    page.get_by_role("combobox", name="Value").fill("late")
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Token").fill(token)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.get_by_role("button", name="Save").dblclick()
    playwright.expect(page.get_by_role("heading", level=1)).to_contain_text("order:twice state late")
    assert len(sent) == 1
    request = ActionRequest("fs_write", "v1", {"path": "two.md"}, "a1", "mayros", "tidy", "low", "why", "+one")
    waiting = running.plugin.approvals.request(request).id
    tabs = [page, one.page()]
    for tab in tabs:
        tab.goto(f"{running.url}/explore/approvals/{waiting}")
        tab.get_by_label("Reason for rejecting").fill("not now")
    for tab in tabs:
        tab.get_by_role("button", name="Reject").click()
        tab.wait_for_load_state()
    playwright.expect(tabs[0].get_by_role("main")).to_contain_text("was rejected by twice")
    playwright.expect(tabs[1].get_by_role("main")).to_contain_text("was rejected by twice at")
    tabs[1].get_by_role("link", name="Back to the page").click()
    playwright.expect(tabs[1].get_by_role("button", name="Reject")).to_have_count(0)
    tabs[0].go_back()
    tabs[0].wait_for_load_state()
    playwright.expect(tabs[0].get_by_role("button", name="Reject")).to_have_count(0)
