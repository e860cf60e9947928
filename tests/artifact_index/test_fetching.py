"""Fetching an index from real servers on loopback, good and hostile ones."""

import gzip
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import FIRST_PAGE, fetching
from cortex_skills.features.artifacts.index.fetching import download, fetch, index_address, read_local
from cortex_skills.features.artifacts.index.seen_indexes import SeenIndexes
from cortex_skills.safe_io import outbound
from tests.artifact_index.samples import KEY, NOW, OTHER_KEY, entry, files
from tests.artifact_index.test_making import NOW as MADE
from tests.artifact_index.test_making import artifact, build


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Log nothing."""


class _Hostile(BaseHTTPRequestHandler):
    """Answers each path with what `answers` has for it: status, headers, body or a function that writes it."""

    answers: ClassVar = {}
    asked: ClassVar = []

    def do_GET(self):
        self.asked.append((self.path, dict(self.headers)))
        status, headers, body = self.answers.get(self.path, (404, {}, b""))
        self.send_response(status)
        given = {"Content-Type": "application/json"} | headers
        if not callable(body) and "Content-Length" not in given:
            given["Content-Length"] = str(len(body))
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            body(self.wfile) if callable(body) else self.wfile.write(body)

    def log_message(self, *_):
        """Log nothing."""


def _served(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an index of two artifacts."""
    path = tmp_path_factory.mktemp("registry")
    build(path, artifact("1.0.0"), artifact("1.1.0"), artifact("2.0.0-rc.1"))
    return path


@pytest.fixture(scope="module")
def static(folder):
    """The address of the standard library's web server for that folder."""
    yield from _served(partial(_Quiet, directory=str(folder)))


@pytest.fixture(scope="module")
def hostile_server():
    """The address of a server that answers as a test sets."""
    yield from _served(_Hostile)


@pytest.fixture
def hostile(hostile_server):
    """A function that sets the answers for paths, and returns its address."""

    def answer(pages=None, **first):
        _Hostile.asked.clear()
        _Hostile.answers = {
            f"/{name}": page if isinstance(page, tuple) else (200, {}, page) for name, page in (pages or {}).items()
        }
        if first:
            _Hostile.answers["/index.json"] = (
                first.get("status", 200),
                first.get("headers", {}),
                first.get("body", b""),
            )
        return hostile_server

    return answer


@pytest.fixture
def seen(tmp_path):
    """The file of seen indexes."""
    return SeenIndexes(tmp_path / "indexes.json")


def trusts(key):
    """A trust check that knows one key."""
    return lambda signature: signature.public_key == key.public


def get(url, seen, *, key=KEY, now=NOW, **more):
    """Fetch an index whose key is trusted."""
    return fetch(url, seen, trusted=trusts(key), allow_loopback=True, now=now, **more)


def refused(url, seen, code, **more):
    """The error of fetching."""
    with pytest.raises(CortexError) as caught:
        get(url, seen, **more)
    assert caught.value.code == code, caught.value
    return caught.value.message


def test_an_index_and_its_artifacts_are_read_from_any_web_server(static, seen):
    index = get(static, seen, now=MADE)
    assert index.url == f"{static}index.json"
    assert [each.version for each in index.entries] == ["1.0.0", "1.1.0", "2.0.0-rc.1"]
    assert download(index, index.find("acme.echo_http"), allow_loopback=True) == artifact("1.1.0")
    assert seen.all()[index.url].snapshot == 1


def test_the_same_index_is_read_from_its_folder(static, folder, seen):
    assert read_local(folder, MADE).entries == get(static, seen, now=MADE).entries
    assert read_local(folder / FIRST_PAGE, MADE).page.snapshot == 1
    with pytest.raises(CortexError, match=r"there is no index\.json"):
        read_local(folder / "pages", MADE)


def test_this_machine_is_not_read_without_permission(static, seen):
    for url in (static, static.replace("http", "https")):
        with pytest.raises(CortexError) as caught:
            fetch(url, seen, trusted=trusts(KEY), now=MADE)
        assert caught.value.code == "host_refused"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "file:///etc/passwd", "https://user:secret@example.org/", "https://example.org/?a=b",
        "https://example.org/#x", "https://exa mple.org/", "https:\\\\example.org", "index.json", "https:///x", "",
        "https://" + "a" * 3000,
    ],
)  # fmt: skip
def test_what_is_no_address_of_an_index_is_refused(url):
    with pytest.raises(CortexError) as caught:
        index_address(url, allow_loopback=True)
    assert caught.value.code == "host_refused"
    assert "secret" not in caught.value.message


def test_a_host_without_an_address_has_no_index(seen, monkeypatch):
    monkeypatch.setattr(outbound.socket, "getaddrinfo", lambda *_, **__: [])
    assert "has no address" in refused("https://example.org/", seen, "index_unavailable")


def test_http_reaches_this_machine_only(seen):
    assert "no public address" in refused("http://192.0.2.1/", seen, "host_refused")
    assert "no public address" in refused("http://8.8.8.8/", seen, "host_refused")
    assert "no public address" in refused("https://169.254.169.254/", seen, "host_refused")


def test_an_address_of_a_folder_names_its_first_page():
    assert index_address("https://example.org") == "https://example.org/index.json"
    assert index_address("https://example.org/a/") == "https://example.org/a/index.json"
    assert index_address("https://example.org/a/b.json") == "https://example.org/a/b.json"


def test_a_key_is_trusted_once_and_no_other_after_it(hostile, seen):
    url = hostile(files())
    assert "not trusted here" in refused(url, seen, "signature_invalid", key=OTHER_KEY)
    assert seen.all() == {}
    get(url, seen)
    get(url, seen, key=OTHER_KEY)  # which does not know the key, but it was seen
    hostile(files(key=OTHER_KEY, snapshot=8))
    assert "is now signed by" in refused(url, seen, "signature_invalid")
    assert seen.all()[f"{url}index.json"].key == KEY.did


def test_the_first_key_is_trusted_where_that_is_switched_on(hostile, seen):
    url = hostile(files())
    get(url, seen, key=OTHER_KEY, first_use=True)
    hostile(files(key=OTHER_KEY))
    assert "is now signed by" in refused(url, seen, "signature_invalid", first_use=True)


def test_a_rollback_and_a_freeze_are_refused(hostile, seen):
    url = hostile(files(snapshot=7))
    get(url, seen)
    hostile(files(snapshot=6))
    assert "snapshot 7 was seen" in refused(url, seen, "index_invalid")
    hostile(files([entry(9)], snapshot=7))
    assert "other contents" in refused(url, seen, "index_invalid")
    hostile(files(snapshot=9))
    get(url, seen)
    assert seen.all()[f"{url}index.json"].snapshot == 9
    assert "expired" in refused(url, seen, "index_invalid", now=NOW + timedelta(days=2))


def test_nothing_is_remembered_of_an_index_without_its_pages(hostile, seen):
    made = files([entry(number, summary="x" * 500) for number in range(2_600)])
    url = hostile({FIRST_PAGE: made[FIRST_PAGE]})
    assert "answers 404" in refused(url, seen, "index_unavailable")
    page = next(name for name in made if name != FIRST_PAGE)
    hostile({FIRST_PAGE: made[FIRST_PAGE], page: made[page].replace(b"acme.tool", b"acme.fool", 1)})
    assert "is not the page" in refused(url, seen, "index_invalid")
    hostile({FIRST_PAGE: made[FIRST_PAGE], page: made[page] + b" "})
    assert "is larger than" in refused(url, seen, "index_unavailable")
    assert seen.all() == {}
    hostile(made)
    assert len(get(url, seen).entries) == 2_600


@pytest.mark.parametrize(
    ("first", "what"),
    [
        ({"status": 302, "headers": {"Location": "https://example.org/"}}, "redirects"),
        ({"status": 307, "headers": {"Location": "/index.json"}}, "redirects"),
        ({"status": 302, "headers": {"Location": f"https://xn--{'a' * 300}/"}}, "cannot be read"),
        ({"status": 500}, "answers 500"),
        ({"headers": {"Content-Type": "text/html"}, "body": b"<html>"}, "'text/html', not application/json"),
        ({"headers": {"Content-Encoding": "gzip"}, "body": gzip.compress(bytes(1 << 20))}, "encoded with 'gzip'"),
        ({"headers": {"Content-Length": str(3 << 20)}, "body": b""}, "larger than 2,097,152"),
        ({"body": lambda out: out.write(bytes((2 << 20) + 1))}, "larger than 2,097,152"),
        ({"headers": {"Content-Length": "100"}, "body": b"{}"}, "cannot be read"),
    ],
)
def test_an_answer_that_is_no_index_is_refused(hostile, seen, first, what):
    assert what in refused(hostile(**first), seen, "index_unavailable")


def test_a_server_that_sends_slowly_is_given_up(hostile, seen, monkeypatch):
    ended = threading.Event()

    def slowly(out):
        for _ in range(200):
            out.write(b" ")
            out.flush()
            if ended.wait(0.02):
                return

    monkeypatch.setattr(fetching, "INDEX_S", 0.3)
    url = hostile(body=slowly)
    assert "was not read within 0.3 s" in refused(url, seen, "index_unavailable")
    ended.set()


def test_a_folder_with_an_index_that_has_expired_is_refused(folder):
    with pytest.raises(CortexError, match="the index expired at 2026-12-24T12:00:00Z"):
        read_local(folder, MADE + timedelta(days=30))


def test_a_key_that_another_process_accepted_meanwhile_is_not_replaced(hostile, seen, monkeypatch):
    url = hostile(files())
    get(url, seen)

    def check(entries):
        seen.change(f"{url}index.json", lambda before: replace(before, key=OTHER_KEY.did))

    monkeypatch.setattr(fetching, "check_entries", check)
    assert "is now signed by" in refused(url, seen, "signature_invalid", key=OTHER_KEY)
    assert seen.all()[f"{url}index.json"].key == OTHER_KEY.did


def test_neither_cookies_nor_encodings_are_offered(hostile, seen):
    made = files([entry(number, summary="x" * 500) for number in range(2_600)])
    url = hostile({name: (200, {"Set-Cookie": "a=b"}, data) for name, data in made.items()})
    get(url, seen)
    assert len(_Hostile.asked) == 2
    for _, headers in _Hostile.asked:
        assert "Cookie" not in headers
        assert headers["Accept-Encoding"] == "identity"


def test_an_artifact_has_the_size_and_the_hash_of_its_entry(hostile, seen, folder):
    made = read_local(folder, MADE)
    first, wanted = (folder / FIRST_PAGE).read_bytes(), made.entries[0]
    data = (folder / wanted.artifact).read_bytes()
    url = hostile({FIRST_PAGE: first, wanted.artifact: (200, {"Content-Type": "application/octet-stream"}, data)})
    index = get(url, seen, now=MADE)
    assert download(index, wanted, allow_loopback=True) == data
    for changed, code in ((data[:-1] + b"\x01", "artifact_invalid"), (data[:-1], "artifact_invalid"),
                          (data + b"x", "index_unavailable")):  # fmt: skip
        hostile({FIRST_PAGE: first, wanted.artifact: changed})
        with pytest.raises(CortexError) as caught:
            download(index, wanted, allow_loopback=True)
        assert caught.value.code == code


def test_an_entry_is_found_by_id_and_version(static, seen):
    index = get(static, seen, now=MADE)
    assert index.find("acme.echo_http").version == "1.1.0"
    assert index.find("acme.echo_http", "2.0.0-rc.1").version == "2.0.0-rc.1"
    with pytest.raises(CortexError, match=r"has no 'acme\.echo_htp'") as caught:
        index.find("acme.echo_htp")
    assert caught.value.hint == "did you mean acme.echo_http?"
    with pytest.raises(CortexError, match=r"has no acme\.echo_http '3\.0\.0'") as caught:
        index.find("acme.echo_http", "3.0.0")
    assert caught.value.hint == "it has 1.0.0, 1.1.0, 2.0.0-rc.1"
    assert caught.value.code == "artifact_not_found"


def test_words_are_searched_in_id_summary_publisher_and_categories(static, seen):
    index = get(static, seen, now=MADE)
    assert [each.version for each in index.search(["ECHO", "acme"])] == ["1.1.0"]
    assert index.search(["echo", "nothing"]) == ()


def test_a_withdrawn_version_is_found_by_its_number_only(tmp_path):
    build(tmp_path, artifact("1.0.0"), artifact("1.1.0"), yank=[("acme.echo_http", "1.1.0")])
    index = read_local(tmp_path, MADE)
    assert index.find("acme.echo_http").version == "1.0.0"
    assert index.find("acme.echo_http", "1.1.0").yanked
    build(tmp_path, artifact("1.0.0"), artifact("1.1.0"), yank=[("acme.echo_http", "1.0.0")])
    with pytest.raises(CortexError, match="every version"):
        read_local(tmp_path, MADE).find("acme.echo_http")
    assert read_local(tmp_path, MADE).search(["echo"]) == ()
