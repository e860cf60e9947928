"""Tokens: what they are, and the file that they are kept in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.errors import CortexError
from cortex_skills.tokens import PERMISSIONS, TokenFile, digest_of, new_token, parse_lifetime
from cortex_skills.tokens.token import find, read_record
from tests.server.serving import WAIT_S, served

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def made(name="t", namespaces=("mayros",), permissions=("read",), lifetime=None, now=NOW):
    return new_token(name, namespaces, permissions, lifetime, now)


def test_a_token_is_long_random_and_kept_as_a_digest():
    (token, text), (_, other) = made(), made()
    assert text != other
    assert len(text) == len("cortex_") + 43
    assert token.digest == digest_of(text)
    assert text not in repr(token)
    assert text not in json.dumps(token.to_record())
    assert "digest" not in token.to_json()


def test_a_token_is_found_by_its_text_alone():
    tokens = {f"t{n}": made(f"t{n}") for n in range(5)}
    kept = [token for token, _ in tokens.values()]
    for name, (_, text) in tokens.items():
        assert find(digest_of(text), kept).name == name
        assert find(digest_of(text[:-1]), kept) is None
        assert find(digest_of(digest_of(text)), kept) is None
    assert find(digest_of("\ud800"), kept) is None


def test_a_token_ends_when_its_time_is_over():
    token, _ = made(lifetime=timedelta(hours=1))
    assert token.is_valid(NOW + timedelta(minutes=59))
    assert not token.is_valid(NOW + timedelta(hours=1))
    assert made()[0].is_valid(NOW + timedelta(days=100_000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("30m", timedelta(minutes=30)), ("12h", timedelta(hours=12)), ("90d", timedelta(days=90)), ("never", None)],
)
def test_a_lifetime_is_read(text, expected):
    assert parse_lifetime(text) == expected


@pytest.mark.parametrize("text", ["", "0d", "d", "-1d", "1y", "1 d", "999999d", "1d\n", "٣d", "never "])
def test_an_invalid_lifetime_is_refused(text):
    with pytest.raises(CortexError) as caught:
        parse_lifetime(text)
    assert caught.value.code == "invalid_arguments"


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "a b"},
        {"name": "x" * 65},
        {"name": "é"},
        {"namespaces": ()},
        {"namespaces": ("a:b",)},
        {"namespaces": ("",)},
        {"permissions": ()},
        {"permissions": ("admin",)},
    ],
)
def test_a_token_that_would_mean_nothing_is_not_made(bad):
    with pytest.raises(CortexError) as caught:
        made(**bad)
    assert caught.value.code == "invalid_arguments"


@given(
    namespaces=st.lists(
        st.one_of(st.just("*"), st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,20}", fullmatch=True)), min_size=1
    ),
    permissions=st.sets(st.sampled_from(PERMISSIONS), min_size=1),
    lifetime=st.one_of(st.none(), st.timedeltas(timedelta(0), timedelta(days=10_000))),
)
def test_a_record_comes_back_as_it_went_in(namespaces, permissions, lifetime):
    token, _ = made(namespaces=namespaces, permissions=permissions, lifetime=lifetime)
    assert read_record(json.loads(json.dumps(token.to_record()))) == token


def test_the_file_is_private_and_holds_no_text_of_a_token(tmp_path):
    file = TokenFile(tmp_path / "deep" / "tokens.json")
    assert file.tokens() == ()
    token, text = made()
    file.add(token)
    assert file.tokens() == (token,)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700
    assert text not in file.path.read_text()
    assert [path.name for path in file.path.parent.iterdir() if path.name.startswith(".")] == []


def test_no_two_tokens_have_one_name_and_a_revoked_one_is_gone(tmp_path):
    file, reader = TokenFile(tmp_path / "tokens.json"), TokenFile(tmp_path / "tokens.json")
    file.add(made("a")[0])
    with pytest.raises(CortexError, match="a token called a exists"):
        file.add(made("a")[0])
    file.add(made("b")[0])
    assert [token.name for token in reader.tokens()] == ["a", "b"]
    assert file.remove("a")
    assert not file.remove("a")
    assert [token.name for token in reader.tokens()] == ["b"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"version": 2, "tokens": []}',
        b'{"version": 1}',
        b'{"version": 1, "tokens": [{}]}',
        b'{"version": 1, "tokens": [{"name": "a", "digest": "", "namespaces": ["*"], "permissions": ["read"],'
        b' "created": "2026-01-01T00:00:00Z", "expires": null}]}',
        b'{"version": 1, "tokens": [{"name": "a", "digest": "' + b"0" * 64 + b'", "namespaces": "*",'
        b' "permissions": ["read"], "created": "2026-01-01T00:00:00Z", "expires": null}]}',
        b'{"version": 1, "tokens": [{"name": "a", "digest": "' + b"0" * 64 + b'", "namespaces": ["*"],'
        b' "permissions": ["read"], "created": "2026-01-01T00:00:00", "expires": null}]}',
    ],
    ids=range(12),
)
def test_a_damaged_file_opens_nothing_and_is_not_written_over(tmp_path, content):
    path = tmp_path / "tokens.json"
    path.write_bytes(content)
    path.chmod(0o600)
    for act in (TokenFile(path).tokens, lambda: TokenFile(path).add(made()[0]), lambda: TokenFile(path).remove("a")):
        with pytest.raises(CortexError) as caught:
            act()
        assert caught.value.code == "config_invalid"
    assert path.read_bytes() == content


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize("mode", [0o644, 0o606, 0o660, 0o620])
def test_a_file_that_others_can_reach_is_not_trusted(tmp_path, mode):
    file = TokenFile(tmp_path / "tokens.json")
    file.add(made()[0])
    assert file.tokens()
    file.path.chmod(mode)
    with pytest.raises(CortexError, match="by others"):
        file.tokens()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_the_files_place_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "tokens.json", 0o600)
    with pytest.raises(CortexError, match="is not a regular file"):
        TokenFile(tmp_path / "tokens.json").tokens()


def test_a_folder_in_the_files_place_is_refused(tmp_path):
    (tmp_path / "tokens.json").mkdir(mode=0o700)
    with pytest.raises(CortexError) as caught:
        TokenFile(tmp_path / "tokens.json").tokens()
    assert caught.value.code == "config_invalid"


ADDING = """\
import sys
from datetime import UTC, datetime
from pathlib import Path
from cortex_skills.tokens import TokenFile, new_token
file, start = TokenFile(Path(sys.argv[1])), int(sys.argv[2])
for n in range(start, start + 20):
    file.add(new_token(f"t{n}", ("mayros",), ("read",), None, datetime.now(UTC))[0])
    if n % 2:
        file.remove(f"t{n}")
"""


@pytest.mark.slow
def test_commands_at_once_all_count(tmp_path):
    path = tmp_path / "tokens.json"
    processes = [subprocess.Popen([sys.executable, "-c", ADDING, path, str(start)]) for start in range(0, 80, 20)]
    assert [process.wait(WAIT_S) for process in processes] == [0] * 4
    assert sorted(token.name for token in TokenFile(path).tokens()) == sorted(f"t{n}" for n in range(0, 80, 2))


def test_a_token_states_its_holder_which_is_an_agent_by_default():
    assert made()[0].holder == "agent"
    of_person, _ = new_token("p", ("mayros",), ("read",), None, NOW, "person")
    assert read_record(of_person.to_record()) == of_person
    with pytest.raises(CortexError) as caught:
        read_record(of_person.to_record() | {"holder": "owner"})
    assert caught.value.code == "invalid_arguments"


def test_a_token_of_an_earlier_version_is_of_a_person_if_it_may_approve_and_the_log_states_it_once(tmp_path, caplog):
    file = TokenFile(tmp_path / "tokens.json")
    for name, permissions in (("clerk", ("read", "approve")), ("bot", ("read", "write", "registry"))):
        file.add(made(name, permissions=permissions)[0])
    document = json.loads(file.path.read_text())
    for record in document["tokens"]:
        del record["holder"]
    file.path.write_text(json.dumps(document))
    found = TokenFile(file.path)
    assert [(token.name, token.holder) for token in found.tokens()] == [("clerk", "person"), ("bot", "agent")]
    file.path.write_text(json.dumps(document, indent=1))
    found.tokens()
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ["clerk (person), bot (agent)"]
    found.add(made("new")[0])
    assert [record["holder"] for record in json.loads(file.path.read_text())["tokens"]] == ["person", "agent", "agent"]


def test_two_servers_with_one_token_file_see_what_is_created_and_revoked_at_the_next_request(tmp_path):
    file = TokenFile(tmp_path / "shared" / "tokens.json")
    shared = {"tokenFile": str(file.path)}
    with served(tmp_path / "a", cortex=shared) as first, served(tmp_path / "b", cortex=shared) as second:
        answers = []
        text = "cortex_" + "0" * 43
        for change in (None, "create", "revoke"):
            if change == "create":
                token, text = made("fleet")
                file.add(token)
            elif change == "revoke":
                assert file.remove("fleet")
            answers.append([each.client(text).get("/api/v1/triples").status_code for each in (first, second)])
        assert answers == [[401, 401], [200, 200], [401, 401]]
