"""Names of 300 characters break no page: nothing scrolls sideways, no text leaves its box or lies on another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from cortex_skills.doors.explorer.page import pages as all_pages
from tests.explorer.browser.conftest import READER, Watched, browser, watched
from tests.explorer.browser.long_names import NAMES, NAMESPACE, ROOT, long_named, slug
from tests.explorer.http.browsing import signed_in as of_token
from tests.explorer.page_examples import example_of, is_of_one
from tests.server.serving import Running

__all__ = ["browser", "watched"]

SKILL = slug(64)
# Addresses with a name, `NAME`, or an id of what has one; other pages are opened with their examples.
OF_NAME = {
    "resource": [f"{ROOT}/r?name=NAME", f"{ROOT}/r?name=LABELLED"],
    "agent": [f"{ROOT}/agent?name=AGENT"],
    "list": [f"{ROOT}/list?subject=NAME", f"{ROOT}/list?predicate=NAME", f"{ROOT}/list"],
    "map": [f"{ROOT}/map?name=NAME"],
    "find": [f"{ROOT}/find?q=NAME"],
    "memories": [f"{ROOT}/memories"],
    "memory": [f"{ROOT}/memories/MEMORY"],
    "assertion": [f"{ROOT}/t/TRIPLE"],
    "query": [f"{ROOT}/queries/QUERY?v0=NAME"],
    "sparql": [f"{ROOT}/sparql?query={quote('SELECT * { ?s ?p ?o }')}"],
    "changes": [f"{ROOT}/changes?since=24h"],
    "session": ["/explore/sessions/SESSION?show=all"],
    "approval": ["/explore/approvals/APPROVAL"],
    "edit-approval": ["/explore/approvals/APPROVAL/edit"],
    "rule-of-request": ["/explore/approvals/APPROVAL/rule"],
    "artifact": [f"/explore/artifacts/acme.{SKILL.replace('-', '_')}"],
    "skill": [f"/explore/skills/{SKILL}"],
    "registered": [f"/explore/registry/{SKILL}"],
    "edit": [f"/explore/registry/{SKILL}/edit"],
}
WITHOUT = {"proof"}  # a proof is named by a digest
BROKEN = (Path(__file__).parent / "broken_texts.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with long_named(tmp_path_factory.mktemp("long")) as (server, ids):
        server.ids = ids  # type: ignore[attr-defined]
        yield server


@pytest.fixture
def page(watched: Callable[..., Watched], running: Running) -> Any:
    (found,) = of_token(running, running.token("r" * 64, (NAMESPACE,), READER)).cookies.jar
    one = watched(viewport={"width": 1280, "height": 900})
    cookie = {"name": found.name, "value": found.value or "", "httpOnly": True, "sameSite": "Strict"}
    one.context.add_cookies([{**cookie, "url": f"{running.url}/explore"}])
    return one.page()


def addresses(running: Running, kind: str) -> list[str]:
    """The address of each page, about what has a name of this kind."""
    name = NAMES[kind]
    given: list[str] = []
    for each in all_pages():
        if each.name in WITHOUT:
            continue
        found = OF_NAME.get(each.name)
        if found is None:
            assert not is_of_one(each), f"name what {each.name} shows in OF_NAME"
            query = urlencode(example_of(each, name))
            found = [each.path.replace("{namespace}", NAMESPACE) + (f"?{query}" if query else "")]
        given += found
    words = {"NAME": quote(name), "LABELLED": f"labelled-{len(name)}-{ord(name[0])}", "AGENT": quote(name[:256])}
    words |= {word: quote(found) for word, found in running.ids.items()}  # type: ignore[attr-defined]
    for word, found in words.items():
        given = [each.replace(word, found) for each in given]
    return given


def broken(page: Any, running: Running, kind: str, width: int, only: Sequence[str] = ()) -> dict[str, list[str]]:
    """What is broken, by the page; of all pages, or of those with a word in their address."""
    page.set_viewport_size({"width": width, "height": 900})
    found: dict[str, list[str]] = {}
    for address in addresses(running, kind):
        if only and not any(word in address for word in only):
            continue
        answer = page.goto(f"{running.url}{address}")
        assert answer.status == 200, (answer.status, address)
        if problems := page.evaluate(BROKEN):
            found[address[:90]] = problems
    return found


@pytest.mark.extended
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("kind", NAMES)
def test_a_name_of_300_characters_breaks_no_page(page: Any, running: Running, kind: str, width: int) -> None:
    assert broken(page, running, kind, width) == {}


def test_a_name_of_300_characters_breaks_no_page_of_those_with_the_longest(page: Any, running: Running) -> None:
    assert broken(page, running, "word", 320, ("/find?", "/map?", "/edit")) == {}
    assert broken(page, running, "hebrew", 1280, ("/r?",)) == {}
