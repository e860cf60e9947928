"""Every page in every form, for every kind of caller. A new page is covered by its declaration."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cortex_graph import Provenance
from cortex_skills.doors.explorer.callers import now
from cortex_skills.doors.explorer.page import ExplorerPage, pages
from cortex_skills.doors.explorer.sessions import LOCAL
from tests.explorer.http.browsing import CLICKED, FOREIGN, TYPED, signed_in, submitted
from tests.explorer.page_examples import example_of, is_of_one
from tests.server.serving import Running, served

ROLES = {
    "read": ("read",),
    "write": ("read", "write"),
    "audit": ("read", "audit"),
    "approve": ("read", "approve"),
    "of another namespace": ("read", "write", "audit", "approve", "provenance", "memories"),
}
SECRET = "blue-whale-42"
NAME = "mayros:nails"
CASES = [(page, form) for page in pages() for form in ("html", *page.forms)]
OF_NAMESPACES = [page for page in pages() if "{namespace}" in page.path and page.permission == "read"]
NAMES = [f"{page.name}-{form}" for page, form in CASES]


class Place:
    """A server with one fact, and the addresses of its pages."""

    def __init__(self, running: Running) -> None:
        self.running = running
        graph = running.plugin.graph
        (made,) = graph.create_triples(
            [{"subject": "nails", "predicate": "colour", "object": SECRET}], Provenance("stock-watch", "1.0.0", "a1")
        )
        self.paths = defaultdict(lambda: "none", namespace="mayros", id=str(made["id"]))
        self.browsers: dict[str, httpx.Client] = {}
        self.clients: dict[str, httpx.Client] = {}
        for role, permissions in ROLES.items():
            namespaces = ("elsewhere",) if role == "of another namespace" else ("mayros",)
            token = running.token(role.replace(" ", "-"), namespaces, permissions)
            self.browsers[role], self.clients[role] = signed_in(running, token), running.client(token)
        self.browsers["anonymous"] = running.client()
        token = running.token("revoked", ("mayros",), tuple(ROLES["of another namespace"]))
        self.browsers["revoked"], self.clients["revoked"] = signed_in(running, token), running.client(token)
        running.tokens.remove("revoked")
        self.browsers["code"] = running.client()
        code = running.server.config.app.state.explorer.sessions.new_code(LOCAL, now())
        assert submitted(self.browsers["code"], "/explore/enter", {"code": code}).status_code == 303

    def path(self, page: ExplorerPage, form: str) -> str:
        """The address of a page in one form."""
        given = example_of(page, NAME, form)
        return str(httpx.URL(page.path.format_map(self.paths), params={**given, "format": form}))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with served(tmp_path_factory.mktemp("roles")) as running:
        yield Place(running)


@pytest.mark.parametrize(("page", "form"), CASES, ids=NAMES)
def test_a_page_is_shown_to_those_with_its_permission_only(place: Place, page: ExplorerPage, form: str) -> None:
    path = place.path(page, form)
    may = {role for role, permissions in ROLES.items() if page.permission in permissions}
    answers = {role: place.browsers[role].get(path, headers=CLICKED) for role in ROLES}
    known = {200, 303} | ({404} if is_of_one(page) else set())
    for role, answer in answers.items():
        if role not in may:
            assert answer.status_code == 403, role
            assert SECRET not in answer.text
        elif role == "of another namespace" and "{namespace}" in page.path:
            assert answer.status_code == 404
            assert SECRET not in answer.text
        elif role == "of another namespace":
            assert answer.status_code in known | {403}
            assert SECRET not in answer.text
        else:
            assert answer.status_code in known, (role, answer.text)
            if role == "read":
                assert place.clients[role].get(path, headers=CLICKED).status_code == answer.status_code


@pytest.mark.parametrize("page", [page for page in pages() if page.forms], ids=lambda page: page.name)
def test_a_page_answers_in_each_form_that_the_header_asks_for(place: Place, page: ExplorerPage) -> None:
    client = place.clients[next(role for role, permissions in ROLES.items() if page.permission in permissions)]
    kinds = {form.media_type.partition(";")[0]: name for name, form in page.forms.items()}
    for kind, name in kinds.items():
        path = str(httpx.URL(place.path(page, name)).copy_remove_param("format"))
        answer = client.get(path, headers={"Accept": kind})
        assert answer.status_code in (200, 404), (kind, answer.text)
        assert "accept" in answer.headers["vary"].lower()
        if answer.status_code == 200:
            assert answer.headers["content-type"].partition(";")[0] == kind
    refused = client.get(
        str(httpx.URL(place.path(page, "html")).copy_remove_param("format")), headers={"Accept": "a/b"}
    )
    assert refused.status_code in (404, 406)


@pytest.mark.parametrize(("page", "form"), CASES, ids=NAMES)
def test_a_page_is_shown_to_nobody_without_a_valid_token(place: Place, page: ExplorerPage, form: str) -> None:
    path = place.path(page, form)
    for role in ("anonymous", "revoked"):
        answer = place.browsers[role].get(path, headers=TYPED)
        assert (answer.status_code, answer.headers["location"][:20]) == (303, "/explore/login?next="), role
        program = place.browsers[role].get(path, headers={"Accept": "*/*"})
        assert (program.status_code, program.json()["code"]) == (401, "unauthorized"), role
        assert SECRET not in answer.text + program.text
    assert place.clients["revoked"].get(path).status_code == 401


@pytest.mark.parametrize(("page", "form"), CASES, ids=NAMES)
def test_a_followed_link_gets_no_data(place: Place, page: ExplorerPage, form: str) -> None:
    answer = place.browsers["write"].get(place.path(page, form), headers=FOREIGN)
    assert answer.status_code == 200
    assert '<meta http-equiv="refresh" content="0;url=/explore' in answer.text
    assert SECRET not in answer.text
    assert "<nav" not in answer.text


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_code_without_a_token_reads(place: Place, page: ExplorerPage) -> None:
    answer = place.browsers["code"].get(place.path(page, "html"), headers=CLICKED)
    assert (answer.status_code == 403) == (page.permission != "read")


@pytest.mark.parametrize("page", OF_NAMESPACES, ids=lambda page: page.name)
def test_another_namespace_and_one_that_cannot_exist_are_the_same(place: Place, page: ExplorerPage) -> None:
    bodies = set()
    for namespace in ("elsewhere", "nowhere", "1-not-a-name"):
        path = place.path(page, "html").replace("/explore/mayros", f"/explore/{namespace}")
        answer = place.browsers["write"].get(path, headers=CLICKED)
        assert answer.status_code == 404, namespace
        text = answer.text.partition("<main")[2].replace(answer.headers["x-request-id"], "")
        bodies.add(hashlib.sha256(text.encode()).hexdigest())
    assert len(bodies) == 1


def test_anonymous_reads_show_the_pages_that_are_public(tmp_path: Path) -> None:
    with served(tmp_path, cortex={"allowAnonymousReads": True}) as running:
        place = Place(running)
        shown = {
            page.name: place.browsers["anonymous"].get(place.path(page, "html"), headers=TYPED) for page in pages()
        }
        for page in pages():
            answer = shown[page.name]
            if page.permission != "read" or not page.is_public:
                assert (answer.status_code, answer.headers.get("location", "")[:14]) == (303, "/explore/login")
            else:
                assert answer.status_code in (200, 303, 404)
                assert not answer.headers.get("location", "").startswith("/explore/login")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_changes_nothing_by_another_method(place: Place, page: ExplorerPage) -> None:
    path = place.path(page, "html")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert place.browsers["write"].request(method, path, headers=CLICKED).status_code == 405
    assert place.browsers["write"].post(path, headers=CLICKED).status_code in (403, 405)
