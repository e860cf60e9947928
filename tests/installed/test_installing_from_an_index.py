"""`install URL#ID` and `installed update` from an index on a web server of the standard library."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cortex_skills.features.artifacts.index.making import build_index
from tests.artifact_index.samples import KEY as INDEX_KEY
from tests.installed.samples import artifact
from tests.installed.test_installed_commands import ID, code, run, store, versions

__all__ = ["store"]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """The folder of an index with two versions."""
    folder = tmp_path / "registry"
    publish(folder, artifact("1.2.0"), artifact("1.3.0"))
    return folder


@pytest.fixture
def url(registry: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Its address, and a configuration that allows it."""
    monkeypatch.setenv("CORTEX_ARTIFACTS__ALLOW_LOOPBACK", "true")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(registry)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def publish(folder: Path, *artifacts: bytes, yank: tuple[tuple[str, str], ...] = ()) -> None:
    build_index(
        artifacts,
        folder,
        key=INDEX_KEY,
        publisher="registry",
        now=datetime.now(UTC),
        lasts=timedelta(days=1),
        yank=yank,
    )


def key() -> tuple[str, str]:
    return ("--index-key", INDEX_KEY.did)


def test_the_newest_version_is_installed_and_updated_from_its_index(url: str, registry: Path) -> None:
    assert code("install", f"{url}#{ID}") == "signature_invalid"
    status, document, _ = run("install", f"{url}#{ID}@1.2.0", *key())
    assert (status, document["version"], document["source"]) == (0, "1.2.0", f"{url}/index.json")
    status, document, _ = run("installed", "update", ID)
    assert (status, document["version"]) == (0, "1.3.0")
    status, document, _ = run("installed", "update", ID)
    assert (status, document["version"], document["updated"]) == (0, "1.3.0", False)
    publish(registry, artifact("1.2.0"), artifact("1.3.0"), artifact("1.10.0"))
    assert run("installed", "update", ID, url)[1]["version"] == "1.10.0"
    assert versions("--current-only") == [(ID, "1.10.0", "active")]


def test_what_the_index_does_not_list_is_not_installed(url: str, registry: Path) -> None:
    assert code("install", f"{url}#{ID}@9.9.9", *key()) == "artifact_not_found"
    assert code("install", f"{url}#acme.none", *key()) == "artifact_not_found"
    assert code("install", url, *key()) == "invalid_arguments"
    for path in (registry / "artifacts").iterdir():
        path.write_bytes(path.read_bytes()[:-1] + b"\1")
    assert code("install", f"{url}#{ID}", *key()) == "artifact_invalid"
    assert versions() == []


def test_a_withdrawn_version_is_installed_by_its_number_with_a_note(url: str, registry: Path) -> None:
    publish(registry, artifact("1.2.0"), artifact("1.3.0"), yank=((ID, "1.3.0"),))
    assert run("install", f"{url}#{ID}", *key())[1]["version"] == "1.2.0"
    status, document, note = run("install", f"{url}#{ID}@1.3.0", *key())
    assert (status, document["version"]) == (0, "1.3.0")
    assert note == {"note": f"{ID} 1.3.0 was withdrawn in the index"}


def test_what_came_from_a_file_is_updated_with_an_address_only(url: str, tmp_path: Path) -> None:
    file = tmp_path / "one.palyra-skill"
    file.write_bytes(artifact("1.2.0"))
    assert run("install", file)[1]["source"] == ""
    assert code("installed", "update", ID) == "invalid_arguments"
    assert code("installed", "update", ID, f"{url}#acme.other", *key()) == "invalid_arguments"
    assert run("installed", "update", ID, url, *key())[1]["version"] == "1.3.0"
