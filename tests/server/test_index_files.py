"""`/artifacts`: what is active here as an index, read with the client that reads any index."""

from datetime import UTC, datetime, timedelta

import pytest

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import FIRST_PAGE
from cortex_skills.features.artifacts.index.fetching import download, fetch
from cortex_skills.features.artifacts.index.seen_indexes import SeenIndexes
from cortex_skills.features.artifacts.index_files import ServedIndex
from tests.configs import config
from tests.installed.conftest import trust
from tests.installed.samples import artifact, install, place
from tests.server.serving import served

__all__ = ["trust"]

NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)


@pytest.fixture
def serving(tmp_path, trust):
    """A server that offers what is installed."""
    plugin = Plugin.open(
        config(
            artifacts={"folder": str(tmp_path / "artifacts"), "serveIndex": True},
            cortex={"tokenFile": str(tmp_path / "tokens.json")},
        )
    )
    with served(tmp_path, plugin=plugin) as running:
        yield running


def read(serving, seen):
    """The index that a server offers."""
    return fetch(
        f"{serving.url}/artifacts/", seen, trusted=lambda _: False, first_use=True, allow_loopback=True,
        now=datetime.now(UTC),
    )  # fmt: skip


def test_what_is_active_is_offered_and_what_is_stopped_is_not(serving, tmp_path):
    installed, seen = serving.plugin.installed, SeenIndexes(tmp_path / "indexes.json")
    assert read(serving, seen).entries == ()
    install(installed, artifact("1.2.0"))
    install(installed, artifact("1.3.0"))
    index = read(serving, seen)
    assert [entry.version for entry in index.entries] == ["1.2.0", "1.3.0"]
    assert index.page.snapshot == 2
    assert download(index, index.find("acme.echo_http"), allow_loopback=True) == artifact("1.3.0")
    assert read(serving, seen).page.snapshot == 2
    installed.quarantine("acme.echo_http", "1.3.0", actor="ada", reason="looks wrong")
    index = read(serving, seen)
    assert ([entry.version for entry in index.entries], index.page.snapshot) == (["1.2.0"], 3)


def test_a_file_is_asked_for_again_with_its_tag(serving):
    install(serving.plugin.installed, artifact())
    client = serving.client()
    answer = client.get("/artifacts/index.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get("/artifacts/index.json", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])
    path = f"/artifacts/{answer.json()['index']['entries'][0]['artifact']}"
    file = client.get(path)
    assert (file.headers["content-type"], file.content) == ("application/octet-stream", artifact())
    assert "immutable" in file.headers["cache-control"]
    assert client.get(path, headers={"If-None-Match": f'"x", W/{file.headers["etag"]}'}).status_code == 304
    assert client.head(path).headers["content-length"] == str(len(artifact()))
    assert client.post("/artifacts/index.json").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["", "pages", "%2e%2e/tokens.json", "artifacts/.index.lock", ".index.lock", "artifacts/%00.palyra-skill",
     f"pages/{'0' * 64}.json", "artifacts/none-0123456789abcdef.palyra-skill", "artifacts/..%2findex.json"],
)  # fmt: skip
def test_no_other_file_is_served(serving, path):
    answer = serving.client().get(f"/artifacts/{path}")
    assert answer.status_code in (400, 404), path


def test_nothing_is_offered_without_the_switch(tmp_path):
    with served(tmp_path, artifacts={"folder": str(tmp_path / "artifacts")}) as running:
        assert running.client().get("/artifacts/index.json").status_code == 404


def test_a_snapshot_is_made_again_at_half_of_its_time(tmp_path, trust):
    installed = place(tmp_path / "artifacts")
    install(installed, artifact())
    index = ServedIndex(installed)
    index.update(NOW)
    first = (index.folder / FIRST_PAGE).read_bytes()
    index.update(NOW + timedelta(days=3))
    assert (index.folder / FIRST_PAGE).read_bytes() == first
    index.update(NOW + timedelta(days=4))
    assert b'"snapshot":2' in (index.folder / FIRST_PAGE).read_bytes()
    ServedIndex(installed).update(NOW + timedelta(days=4))  # another process, which finds it made
    assert b'"snapshot":2' in (index.folder / FIRST_PAGE).read_bytes()


def test_an_installed_file_that_was_changed_is_not_offered(tmp_path, trust):
    installed = place(tmp_path / "artifacts")
    path = installed.files.place(install(installed, artifact()).key) / "artifact.palyra-skill"
    path.chmod(0o600)
    path.write_bytes(artifact("9.9.9"))
    index = ServedIndex(installed)
    with pytest.raises(CortexError, match=r"acme\.echo_http 1\.2\.0 was changed"):
        index.update(NOW)
    assert not (index.folder / FIRST_PAGE).exists()
