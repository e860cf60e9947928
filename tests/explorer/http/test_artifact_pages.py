"""A person sees what is installed, and stops and enables it, in a browser."""

from __future__ import annotations

import re
from dataclasses import replace

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.features.artifacts.installed.installed_artifact import ArtifactVersions
from cortex_skills.signatures import Publisher
from cortex_skills.signatures.trust_file import trust_of
from tests.artifacts.samples import KEY
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.installed.samples import NETWORK, artifact, install
from tests.server.serving import Running, served

LIST = "/explore/artifacts"
PAGE = f"{LIST}/acme.echo_http"
HOSTILE = "<script>alert(1)</script>\u202e{{ 7*7 }}"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A server with two versions of an artifact."""
    folder = tmp_path_factory.mktemp("artifacts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        plugin = Plugin.open(
            config(
                artifacts={"folder": str(folder / "artifacts")},
                verification={"trustStore": str(folder / "trust.json")},
                cortex={"tokenFile": str(folder / "tokens.json")},
            )
        )
        listed = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
        trust_of(plugin.config).change(lambda known: known.with_publisher(listed))
        install(plugin.installed, artifact("1.2.0", NETWORK))
        install(plugin.installed, artifact("1.3.0"))
        with served(folder, plugin=plugin) as found:
            yield found


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("ada", permissions=("read", "approve"), holder="person")


@pytest.fixture(scope="module")
def browser(running: Running, token: str) -> httpx.Client:
    return signed_in(running, token)


def shown(browser: httpx.Client, address: str) -> str:
    page = browser.get(address, headers=CLICKED)
    assert page.status_code == 200, page.text
    return page.text


def form(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the form of an action."""
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    return next(fields for each in forms if (fields := fields_of(each)).get("action") == action)


def test_what_is_installed_is_listed(browser: httpx.Client) -> None:
    page = shown(browser, LIST)
    assert f'href="{PAGE}?version=1.2.0"' in page
    assert page.count("current</small>") == 1
    assert "graph, http, predicate, secret" in page
    listed = browser.get(f"{LIST}?format=json").json()
    assert [(each["version"], each["status"]) for each in listed["artifacts"]] == [
        ("1.2.0", "active"),
        ("1.3.0", "active"),
    ]


def test_a_version_is_shown_with_its_signature_grants_tools_and_verification(browser: httpx.Client) -> None:
    page = shown(browser, f"{PAGE}?version=1.2.0")
    for text in (
        "ed25519:34750f98bd59fcfc, allowlisted", "graph=read", "acme.echo", "Echoes a text",
        "pkg:npm/left-pad@1.3.0", "https://example.test/builder", "signature_file",
        "1.2.0 installed", "30,000 ms, fuel 10,000,000", f'href="{PAGE}?version=1.3.0"',
    ):  # fmt: skip
        assert text in page, text
    assert "Verification, now" in page
    assert "wasm_imports" not in page
    assert "wasm_imports" in shown(browser, f"{PAGE}?version=1.2.0&check=yes")
    document = browser.get(f"{PAGE}?version=1.2.0&check=yes&format=json").json()
    assert document["verification"]["valid"] is True
    assert {check["id"] for check in document["checks"]} >= {"signature_validity", "wasm_imports"}
    assert document["history"][-1]["version"] == "1.2.0"


def test_the_current_version_is_shown_without_a_number(browser: httpx.Client) -> None:
    assert browser.get(f"{PAGE}?format=json").json()["version"] == "1.3.0"


def test_a_version_is_quarantined_and_enabled_with_a_reason(
    running: Running, browser: httpx.Client, token: str
) -> None:
    installed, path = running.plugin.installed, f"{PAGE}?version=1.2.0"
    fields = form(shown(browser, path), "quarantine")
    assert fields["version"] == "1.2.0"
    asked = submitted(browser, PAGE, {**fields, "reason": HOSTILE})
    assert asked.status_code == 401  # the token is shown again; the confirming form names the version
    assert 'name="version" value="1.2.0"' in asked.text
    assert installed.find("acme.echo_http", "1.2.0").status == "active"
    assert submitted(browser, PAGE, {**fields, "token": token}).status_code == 400  # without a reason
    done = submitted(browser, PAGE, {**fields, "reason": HOSTILE, "token": token})
    assert (done.status_code, done.headers["location"]) == (303, path)
    assert installed.find("acme.echo_http", "1.2.0").status == "quarantined"
    assert installed.find("acme.echo_http", "1.3.0").status == "active"
    page = shown(browser, path)
    assert "<script>alert" not in page
    assert "U+202E" in page
    enable = {**form(page, "enable"), "token": token}
    for more in ({}, {"reason": "looked at it"}, {"override": "yes"}):
        assert submitted(browser, PAGE, {**enable, **more}).status_code == 409
    done = submitted(browser, PAGE, {**enable, "reason": "looked at it", "override": "yes"})
    assert done.status_code == 303
    assert installed.find("acme.echo_http", "1.2.0").status == "active"
    assert "looked at it" in shown(browser, path)


def test_only_a_session_that_may_approve_changes_anything(running: Running, browser: httpx.Client) -> None:
    fields = {**form(shown(browser, f"{PAGE}?version=1.3.0"), "quarantine"), "reason": "x"}
    reader = signed_in(running, running.token("reader", permissions=("read",)))
    own = fields_of(reader.get(f"{PAGE}?version=1.3.0", headers=CLICKED).text)
    for given in (fields, {**fields, "form": own.get("form", "")}):
        assert submitted(reader, PAGE, {**given, "token": running.token("reader")}).status_code == 403
    assert submitted(running.client(), PAGE, fields).status_code == 401
    assert submitted(browser, f"{LIST}/acme.other", {**fields, "token": running.token("ada")}).status_code == 403
    foreign = browser.post(PAGE, data=fields, headers={**CLICKED, "Origin": "https://elsewhere.example"})
    assert foreign.status_code == 403
    assert running.plugin.installed.find("acme.echo_http", "1.3.0").status == "active"


def test_what_is_not_installed_or_not_open_has_no_page(running: Running, browser: httpx.Client) -> None:
    for address in (f"{LIST}/acme.none", f"{PAGE}?version=9.9.9", f"{LIST}/%3Cscript%3E"):
        answer = browser.get(address, headers=CLICKED)
        assert answer.status_code == 404
        assert "<script>" not in answer.text.replace("<script src", "")
    stranger = running.client(running.token("other", ("elsewhere",), ("read",)))
    assert [stranger.get(f"{address}?format=json").status_code for address in (LIST, PAGE)] == [403, 403]
    assert running.client().get(LIST, headers=CLICKED).status_code in (303, 401)


def test_a_file_that_was_changed_is_named(running: Running, browser: httpx.Client) -> None:
    installed = running.plugin.installed
    path = installed.files.place(installed.find("acme.echo_http", "1.3.0").key) / "artifact.palyra-skill"
    before = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(before + b"x")
    page = shown(browser, f"{PAGE}?version=1.3.0")
    assert "the installed file of acme.echo_http 1.3.0 was changed" in page
    assert "Verification, now" not in page
    path.write_bytes(before)


def test_a_quarantined_artifact_is_on_the_overview(running: Running, browser: httpx.Client) -> None:
    running.plugin.installed.quarantine("acme.echo_http", "1.3.0", actor="ada", reason="looked at")
    page = shown(browser, "/explore/mayros").partition("Waiting for you")[2].partition("</section>")[0]
    assert re.search(r"Quarantined.*[12] of the installed", page)
    assert f'href="{LIST}"' in page


def test_a_version_that_a_finding_stops_on_this_host_is_on_the_overview_and_is_enabled_with_a_reason(
    running: Running, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = running.plugin.installed
    running.plugin.installed.enable("acme.echo_http", "1.3.0", actor="ada", override=True, reason="looked at")
    host = "0" * 32
    monkeypatch.setattr(installed, "host", host)

    def stopped(versions: ArtifactVersions) -> ArtifactVersions:
        found = f"host/{host}/vulnerability_feed:OSV-1"
        return replace(versions, versions=tuple(replace(each, findings=(found,)) for each in versions.versions))

    installed.index.change("acme.echo_http", stopped, {"what": "audited"})
    page = shown(browser, "/explore/mayros").partition("Waiting for you")[2].partition("</section>")[0]
    assert re.search(r"Stopped on a host.*2 of the installed", page)
    assert 'value="enable"' in shown(browser, f"{PAGE}?version=1.3.0")
