"""A person gives an artifact, sees what it is and what it asks for, answers each grant, and installs or updates it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.held_artifacts import KEPT_S, HeldArtifacts
from cortex_skills.features.artifacts.index.making import build_index
from cortex_skills.features.artifacts.installation_operations import fetch_index
from cortex_skills.features.artifacts.installed.installation import InstallOptions
from cortex_skills.signatures import Publisher
from cortex_skills.signatures.trust import RevokedKey
from cortex_skills.signatures.trust_file import trust_of
from tests.artifact_index.samples import KEY as INDEX_KEY
from tests.artifacts.samples import KEY, OTHER_KEY
from tests.configs import config
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.installed.samples import MODULE, NETWORK, artifact, install
from tests.server.serving import Running, served

PAGE = "/explore/install"
MORE = NETWORK.replace('"cdn.example.org"', '"*.example.net"').replace('["hasStatus"]', '["hasStatus", "note"]')
MORE += "[capabilities.wildcard_opt_in]\nhttp_egress = true\n"


def zipped(name: str, content: bytes) -> bytes:
    """An archive with one file."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return made.getvalue()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("install")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        plugin = Plugin.open(
            config(
                artifacts={"folder": str(folder / "artifacts")},
                verification={"trustStore": str(folder / "trust.json")},
                audit={"folder": str(folder / "audit")},
                actions={"allowLoopback": True},
                cortex={"tokenFile": str(folder / "tokens.json")},
            )
        )
        listed = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
        trust_of(plugin.config).change(lambda known: known.with_publisher(listed))
        with served(folder, plugin=plugin) as found:
            yield found


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("ada", permissions=("read", "approve"), holder="person")


@pytest.fixture
def browser(running: Running, token: str) -> httpx.Client:
    """A browser whose token was shown again."""
    browser = signed_in(running, token)
    submitted(browser, "/explore/login", {"token": token})
    return browser


def form(page: str, action: str) -> dict[str, str]:
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    return next(fields for each in forms if (fields := fields_of(each)).get("action") == action)


def give(browser: httpx.Client, data: bytes, path: str = PAGE, **more: Any) -> httpx.Response:
    """What the form with a file gets."""
    fields = form(browser.get(path, headers=CLICKED).text, "give")
    headers = {**CLICKED, "Origin": str(browser.base_url).rstrip("/"), **more.pop("headers", {})}
    files = {"file": ("../../x\u202e.sh", data, "text/x-shellscript")}
    return browser.post(path, data={**fields, **more}, files=files, headers=headers)


def text_of(answer: httpx.Response) -> str:
    return re.sub(r"\s+", " ", check_page(answer.text).text)


def asked(page: str) -> list[str]:
    return sorted(set(re.findall(r'<input type="radio" name="grant:([^"]*)"', page)))


def versions(running: Running, name: str) -> dict[str, str]:
    return {each.key.version: each.status for each in running.plugin.installed.index.versions(f"acme.{name}").versions}


def acts(running: Running, event: str) -> list[Any]:
    calls = running.plugin.audit.calls.page(limit=50).calls
    return [act for each in calls for act in each.record.acts if act.event == event]


def test_a_file_is_looked_at_its_grants_are_asked_one_by_one_and_it_is_installed(
    running: Running, browser: httpx.Client, token: str
) -> None:
    data = artifact("1.2.0", NETWORK, name="by_file")
    browser = signed_in(running, token)  # looking at a file changes nothing: the token is not asked for
    seen = give(browser, data)
    assert seen.status_code == 200, seen.text
    text = text_of(seen)
    for words in ("acme.by_file 1.2.0, of acme", "signature", "wasm_imports", "It is not installed yet"):
        assert words in text, words
    assert asked(seen.text) == [
        "graph=read", "graph=write", "http=api.example.org", "http=cdn.example.org", "predicate=hasStatus",
        "secret=global/api_token",
    ]  # fmt: skip
    assert "checked" not in seen.text.partition("What it may do")[2].partition("</form>")[0]
    assert versions(running, "by_file") == {}
    fields = form(seen.text, "install")
    assert fields["sha256"] == sha256(data).hexdigest()
    answers = {f"grant:{each}": "grant" for each in asked(seen.text)} | {"grant:secret=global/api_token": "deny"}
    asking = submitted(browser, PAGE, {**fields, **answers})
    assert (asking.status_code, "A session reads." in asking.text) == (401, True)
    repeated = text_of(asking)
    assert "Install: acme.by_file 1.2.0 of acme" in repeated
    assert "secret=global/api_token denied" in repeated
    open_ = {name: answer for name, answer in answers.items() if name != "grant:graph=write"}
    refused = submitted(browser, PAGE, {**fields, **open_, "token": token})
    assert (refused.status_code, "grants_required" in refused.text) == (409, True)
    assert form(refused.text, "install")["sha256"] == fields["sha256"]  # asked again, without the file
    assert versions(running, "by_file") == {}
    done = submitted(browser, PAGE, {**fields_of(asking.text), **answers})
    assert (done.status_code, done.headers["location"]) == (303, "/explore/artifacts/acme.by_file?version=1.2.0")
    found = running.plugin.installed.find("acme.by_file", "1.2.0")
    assert (found.status, found.current) == ("active", True)
    assert "secret" not in {each.kind for each in found.grants.grants()}
    act = acts(running, "artifacts.install")[0]
    assert (act.agent, act.outcome, act.data["object"], act.data["door"]) == ("ada", "ok", "acme.by_file", "page")
    assert act.data["denied"] == ["secret=global/api_token"]
    assert browser.get(done.headers["location"], headers=CLICKED).status_code == 200
    assert submitted(browser, PAGE, {**fields, **answers}).status_code == 404  # it is kept no longer


def test_an_update_marks_what_is_new_and_asks_for_that_alone(running: Running, browser: httpx.Client) -> None:
    seen = give(browser, artifact("1.2.0", NETWORK, name="updated"))
    answers = {f"grant:{each}": "grant" for each in asked(seen.text)} | {"grant:http=cdn.example.org": "deny"}
    assert submitted(browser, PAGE, {**form(seen.text, "install"), **answers}).status_code == 303
    page = browser.get("/explore/artifacts/acme.updated", headers=CLICKED).text
    address = f"{PAGE}?id=acme.updated"
    assert f'href="{address}"' in page
    other = give(browser, artifact("1.3.0", name="another"), address)
    assert (other.status_code, versions(running, "another")) == (422, {})
    assert "acme.updated" in text_of(other)
    seen = give(browser, artifact("1.3.0", MORE, name="updated"), address)
    text = text_of(seen)
    assert asked(seen.text) == ["http=*.example.net", "predicate=note"]
    assert "http=*.example.net New contains *" in text
    assert "http=api.example.orggranted, as for the version before" in text
    assert "version 1.2.0 is, and its grants are taken over" in text
    kept = form(seen.text, "install")
    answers = {"grant:http=*.example.net": "deny", "grant:predicate=note": "grant"}
    assert submitted(browser, address, {**kept, "grant:predicate=note": "maybe"}).status_code == 400
    # Another person changes what the version before may do: what was shown is not so any more.
    running.plugin.installed.remove("acme.updated", "1.2.0", actor="eve")
    late = submitted(browser, address, {**kept, **answers})
    assert (late.status_code, "nothing was installed" in text_of(late)) == (409, True)
    assert versions(running, "updated") == {}
    assert len(asked(late.text)) == 7  # as it is now: nothing was asked before
    seen = give(browser, artifact("1.3.0", MORE, name="updated"), address)
    assert len(asked(seen.text)) == 7


def test_an_artifact_that_fails_its_audit_is_shown_so_and_installed_quarantined(
    running: Running, browser: httpx.Client
) -> None:
    broken = artifact("1.2.0", name="broken", content={"modules/echo.wasm": b"\0asm\1\0\0\0", "assets/a.txt": b"x"})
    seen = give(browser, broken)
    assert "Its audit failed" in text_of(seen)
    done = submitted(browser, PAGE, form(seen.text, "install"))
    assert (done.status_code, versions(running, "broken")) == (303, {"1.2.0": "quarantined"})
    listed = text_of(browser.get("/explore/artifacts", headers=CLICKED))
    reason = running.plugin.installed.find("acme.broken", "1.2.0").reason
    assert reason
    assert reason.split("\n")[0][:40] in listed


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"", 400, "invalid_arguments"),
        (b"#!/bin/sh\nrm -rf /\n", 422, "artifact_invalid"),
        (b"PK\3\4" + b"\0" * 1000, 422, "artifact_invalid"),
        (zipped("<script>alert(1)</script>\u202e.wasm", b"x"), 422, "artifact_invalid"),
        (zipped("modules/bomb.wasm", bytes(70 << 20)), 422, "artifact_invalid"),
        (artifact("1.2.0", name="stranger", key=OTHER_KEY), 422, "signature_invalid"),
    ],
    ids=("empty", "script", "no-archive", "hostile-name", "bomb", "stranger"),
)
def test_what_is_no_artifact_of_a_trusted_publisher_is_refused_with_its_code_and_not_kept(
    running: Running, browser: httpx.Client, data: bytes, status: int, code: str
) -> None:
    answer = give(browser, data)
    assert (answer.status_code, code in text_of(answer)) == (status, True), answer.text
    assert 'value="install"' not in answer.text
    given = {**form(browser.get(PAGE, headers=CLICKED).text, "give"), "action": "install"}
    page = give(browser, artifact(name="held")).text
    real = form(page, "install")
    changed = submitted(browser, PAGE, {**real, "sha256": sha256(data).hexdigest()})
    assert (changed.status_code, given["action"]) == (404, "install")
    assert versions(running, "stranger") == {}


def test_a_large_file_is_not_written_to_a_disk(browser: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[object] = []
    monkeypatch.setattr(SpooledTemporaryFile, "rollover", written.append)
    answer = give(
        browser, artifact(name="noise", content={"modules/echo.wasm": MODULE, "assets/a.bin": os.urandom(4 << 20)})
    )
    assert (answer.status_code, "acme.noise 1.2.0" in answer.text, written) == (200, True, [])


def test_a_file_needs_a_session_with_the_permission_this_form_and_a_bounded_size(
    running: Running, browser: httpx.Client, token: str
) -> None:
    data = artifact(name="guarded")
    reader = signed_in(running, running.token("reader", permissions=("read",)))
    fields = form(browser.get(PAGE, headers=CLICKED).text, "give")
    origin = {**CLICKED, "Origin": str(browser.base_url).rstrip("/")}
    files = {"file": ("x", data)}
    assert reader.get(PAGE, headers=CLICKED).status_code == 403
    assert reader.post(PAGE, data=fields, files=files, headers=origin).status_code == 403
    assert running.client().post(PAGE, data=fields, files=files, headers=origin).status_code in (401, 403, 413, 415)
    assert running.client(token).post(PAGE, data=fields, files=files, headers=origin).status_code in (403, 413, 415)
    assert browser.post(PAGE, data={**fields, "form": "0" * 64}, files=files, headers=origin).status_code == 403
    foreign = browser.post(PAGE, data=fields, files=files, headers={**CLICKED, "Origin": "https://elsewhere.example"})
    assert foreign.status_code == 403
    other = form(signed_in(running, token).get(PAGE, headers=CLICKED).text, "give")
    assert browser.post(PAGE, data={**fields, "form": other["form"]}, files=files, headers=origin).status_code == 403
    many = [("file", ("a", b"1")), ("more", ("b", b"2"))]
    assert browser.post(PAGE, data=fields, files=many, headers=origin).status_code == 400
    for body, kind in (
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
        (b"--x\r\nContent-Disposition: form-data\r\n\r\nv\r\n--x--\r\n", "multipart/form-data; boundary=x"),
    ):
        assert browser.post(PAGE, content=body, headers={**origin, "Content-Type": kind}).status_code == 400, kind
    twice = [("action", (None, "give")), ("action", (None, "give")), ("form", (None, fields["form"]))]
    assert browser.post(PAGE, files=twice, headers=origin).status_code == 400
    assert _declared(browser, origin, 70 << 20) == 413
    elsewhere = browser.post("/explore/artifacts/acme.x", data=fields, files=files, headers=origin)
    assert elsewhere.status_code == 415
    agent = running.token("agent", permissions=("read", "approve"), holder="agent")
    bot = signed_in(running, agent)
    assert give(bot, data).status_code == 403
    assert versions(running, "guarded") == {}


def _declared(browser: httpx.Client, headers: dict[str, str], size: int) -> int:
    """The status of a request that declares so many bytes, and sends none."""
    host, port = browser.base_url.host, browser.base_url.port
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    connection = HTTPConnection(host, port, timeout=30)
    connection.putrequest("POST", PAGE)
    kind = "multipart/form-data; boundary=x"
    for name, value in {**headers, "Content-Type": kind, "Content-Length": str(size), "Cookie": cookies}.items():
        connection.putheader(name, value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def test_what_was_given_is_kept_for_its_person_for_a_while_and_all_together_has_a_limit() -> None:
    now = [0.0]
    held = HeldArtifacts(lambda: now[0], most=10)
    first = held.put("ada", b"12345678", InstallOptions())
    with pytest.raises(Exception, match="others have given artifacts"):
        held.put("eve", b"123", InstallOptions())
    for person, digest in (("eve", first), ("ada", sha256(b"x").hexdigest()), ("ada", "")):
        with pytest.raises(CortexError, match="not kept any more"):
            held.get(person, digest)
    assert held.get("ada", first).data == b"12345678"
    second = held.put("ada", b"1234567890", InstallOptions())  # in place of the first
    with pytest.raises(CortexError, match="not kept any more"):
        held.get("ada", first)
    now[0] = KEPT_S + 1
    with pytest.raises(CortexError, match="not kept any more"):
        held.get("ada", second)
    held.put("eve", b"123", InstallOptions())


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an index with two artifacts."""
    folder = tmp_path_factory.mktemp("registry")
    made = (artifact("1.2.0", name="listed"), artifact("1.3.0", name="listed"), artifact("1.0.0", name="besides"))
    build_index(made, folder, key=INDEX_KEY, publisher="registry", now=datetime.now(UTC), lasts=timedelta(days=1))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/index.json"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_artifact_of_an_index_that_the_owner_accepted_is_installed_and_no_other_address_is_asked(
    running: Running, browser: httpx.Client, index: str
) -> None:
    assert "The owner has accepted none" in text_of(browser.get(PAGE, headers=CLICKED))
    running.plugin.operate(fetch_index, url=index, key=INDEX_KEY.did)
    page = browser.get(PAGE, headers=CLICKED).text
    assert f'<option value="{index}">' in page
    asked_for = form(page, "offers")
    for url in ("http://127.0.0.1:1/index.json", index.replace("index.json", "other.json"), "file:///etc/passwd", ""):
        refused = submitted(browser, PAGE, {**asked_for, "url": url})
        assert refused.status_code in (400, 403), url
    offered = submitted(browser, PAGE, {**asked_for, "url": index, "words": ""})
    text = text_of(offered)
    assert offered.status_code == 200, offered.text
    assert "acme.listed1.3.0acme" in text
    assert "acme.besides1.0.0acme" in text
    only = submitted(browser, f"{PAGE}?id=acme.listed", {**asked_for, "url": index})
    assert "acme.besides" not in only.text
    looked = form(only.text, "download")
    assert looked["id"] == "acme.listed"
    seen = submitted(browser, PAGE, looked)
    assert (seen.status_code, "acme.listed 1.3.0, of acme" in text_of(seen)) == (200, True), seen.text
    done = submitted(browser, PAGE, form(seen.text, "install"))
    assert (done.status_code, versions(running, "listed")) == (303, {"1.3.0": "active"})
    assert running.plugin.installed.find("acme.listed", "1.3.0").source == index
    (download,) = acts(running, "artifacts.download")
    assert (download.agent, download.outcome, download.data["object"]) == ("ada", "ok", index)
    wrong = submitted(browser, f"{PAGE}?id=acme.listed", {**looked, "id": "acme.besides"})
    assert wrong.status_code == 400
    assert submitted(browser, PAGE, {**looked, "id": "acme.none"}).status_code == 404


def test_a_revoked_key_is_on_the_page_of_what_it_signed(running: Running, browser: httpx.Client) -> None:
    install(running.plugin.installed, artifact(name="revoked"))
    revoked, trust = RevokedKey(KEY.did, "it was stolen", "2026-11-01T00:00:00Z"), trust_of(running.plugin.config)
    trust.change(lambda known: known.with_revoked(revoked))
    try:
        page = text_of(browser.get("/explore/artifacts/acme.revoked", headers=CLICKED))
    finally:
        trust.change(lambda known: replace(known, revoked={}))
    assert "It does not run:" in page
    assert "it was stolen" in page
