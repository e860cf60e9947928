"""`index build`, `verify`, `search`, `list` and `forget`."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cortex_skills.keys import KeyFolder
from tests.artifact_index.test_making import artifact


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def made(tmp_path):
    """A folder of artifacts, and a configuration with its own key and trust store."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "one.palyra-skill").write_bytes(artifact("1.0.0"))
    (folder / "two.palyra-skill").write_bytes(artifact("1.1.0"))
    KeyFolder(tmp_path / "keys").create("example")
    config = tmp_path / "cortex.yaml"
    config.write_text(
        f"proofs: {{keys: {tmp_path / 'keys'}}}\nverification: {{trustStore: {tmp_path / 'trust.json'}}}\n"
        "actions: {allowLoopback: true}\n"
    )
    return folder, tmp_path / "out", config


@pytest.fixture
def built(run, made):
    """A function that builds the index, with more words."""
    folder, out, config = made
    return lambda *words: run(
        "--config", config, "index", "build", folder, "-o", out, "--key", "example", *words, "--json"
    )


@pytest.fixture
def served(made):
    """The address of a web server of the standard library for the output."""
    made[1].mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(made[1])))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_index_is_made_served_verified_and_searched(run, made, built, served):
    answer = built()
    assert answer.exit_code == 0, answer.stderr
    key = answer.json["key"]
    assert answer.json | {"folder": ""} == {"snapshot": 1, "entries": 2, "key": key, "folder": ""}
    refused = run("--config", made[2], "index", "verify", served, "--json")
    assert (refused.exit_code, refused.error["code"]) == (1, "signature_invalid")
    assert f"--index-key {key}" in refused.error["hint"]
    verified = run("--config", made[2], "index", "verify", served, "--index-key", key, "--json")
    assert verified.json["snapshot"] == 1
    assert verified.json["entries"] == 2
    found = run("--config", made[2], "index", "search", served, "echo", "--json")  # the key was seen
    assert [(each["skill_id"], each["version"]) for each in found.json] == [("acme.echo_http", "1.1.0")]
    listed = run("--config", made[2], "index", "list", "--json")
    assert listed.json == [{"url": f"{served}/index.json", "publisher": "example", "snapshot": 1, "key": key}]
    assert run("--config", made[2], "index", "forget", served, "--json").json == {"forgotten": f"{served}/index.json"}
    assert run("--config", made[2], "index", "list", "--json").json == []


def test_an_index_is_continued_and_versions_are_withdrawn(run, made, built):
    built()
    answer = built("--yank", "acme.echo_http@1.1.0", "--expires-days", "7")
    assert (answer.exit_code, answer.json["snapshot"]) == (0, 2)
    found = run("--config", made[2], "index", "search", made[1], "--json")
    assert [each["version"] for each in found.json] == ["1.0.0"]
    assert "snapshot 2 with 2 artifacts" in run("--config", made[2], "index", "verify", made[1]).stdout


def test_an_artifact_that_was_changed_is_not_listed(made, built):
    path = made[0] / "one.palyra-skill"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    answer = built()
    assert answer.exit_code == 1
    assert answer.error["message"].startswith(f"{path}: ")
    assert not (made[1] / "index.json").exists()
    path.unlink()
    assert "one.palyra-skill" not in built("--yank", "acme.echo_http@9.9.9").stderr  # no fault of a file


@pytest.mark.parametrize(
    ("words", "code"), [(("--yank", "acme.echo_http"), 2), (("--expires-days", "0"), 2), (("-o", "."), 1)]
)
def test_wrong_usage_is_an_error(built, made, monkeypatch, words, code):
    monkeypatch.chdir(made[0])
    assert built(*words).exit_code == code


def test_what_was_not_seen_is_not_forgotten(run, made):
    answer = run("--config", made[2], "index", "forget", "https://example.org", "--json")
    assert answer.error["message"] == "no index was accepted from https://example.org/index.json"


def test_a_folder_without_an_index_is_an_error(run, made, tmp_path):
    answer = run("--config", made[2], "index", "verify", tmp_path, "--json")
    assert (answer.exit_code, answer.error["code"]) == (1, "index_invalid")
