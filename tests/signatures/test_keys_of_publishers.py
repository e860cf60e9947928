"""Revoked and replaced keys: sequences of changes, statements, the store of the origin, commands."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills import Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.origin_store import origin_store, read_origin_store, with_imported
from cortex_skills.keys import Key, KeyFolder, default_folder
from cortex_skills.signatures import Publisher, RevokedKey, Trust, TrustFile
from cortex_skills.signatures.key_rotation import read_rotation, rotate, rotated
from cortex_skills.signatures.named_keys import id_of
from cortex_skills.signatures.statement import SignedStatement
from cortex_skills.signatures.trust import accepted
from cortex_skills.signatures.trust_file import _content, _mac
from tests.signatures.conftest import ACME, NOW, OTHER

KEYS = [Key(f"k{number}", bytes([number + 1]) * 32) for number in range(4)]
SINCE = "2026-01-01T00:00:00Z"
Written = Callable[..., Path]


def listed(key: Key = ACME, name: str = "acme") -> Publisher:
    return Publisher(name, key.did, "listed", SINCE)


def statement(key: Key, version: str, publisher: str = "acme", skill: str = "probe") -> SignedStatement:
    return SignedStatement(publisher, key.did, skill, version, "2026-11-01T12:00:00Z", version.encode().ljust(32))


_KEY = st.integers(0, 3)
_VERSION = st.sampled_from(["1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0"])
_STEP = st.one_of(
    st.tuples(st.just("add"), _KEY),
    st.tuples(st.just("revoke"), _KEY),
    st.tuples(st.just("rotate"), _KEY, _KEY),
    st.tuples(st.just("accept"), _KEY, _VERSION, st.booleans()),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_STEP, max_size=12))
def test_no_sequence_of_changes_brings_a_revoked_or_replaced_key_or_an_older_version_back(steps: list[Any]) -> None:
    trust, newest, replaced, revoked = Trust(), "", set[str](), set[str]()
    for step in steps:
        try:
            if step[0] == "add":
                trust = trust.with_publisher(listed(KEYS[step[1]]))
            elif step[0] == "revoke":
                trust = trust.with_revoked(RevokedKey(KEYS[step[1]].did, "", SINCE))
                revoked.add(KEYS[step[1]].did)
            elif step[0] == "rotate" and step[1] != step[2]:
                trust = rotated(trust, rotate("acme", KEYS[step[1]], KEYS[step[2]], NOW), NOW)
                replaced.add(KEYS[step[1]].did)
            elif step[0] == "accept":
                key = KEYS[step[1]].did
                trust = accepted(statement(KEYS[step[1]], step[2]), trust, NOW, first_use=step[3])
                assert key not in revoked | replaced
                assert _order(newest) <= _order(step[2])
                newest = step[2]
        except CortexError:
            pass  # refused: the state is as it was
        publisher = trust.publishers.get("acme")
        if publisher is not None:
            assert not replaced & set(publisher.keys)
            assert len(set(publisher.keys)) == len(publisher.keys)
    assert set(trust.revoked) == revoked
    assert not revoked & set(trust.trusted_keys())


def _order(version: str) -> int:
    return ["", "1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0"].index(version)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_changed_statement_is_not_applied(data: st.DataObject) -> None:
    good = rotate("acme", ACME, OTHER, NOW).to_file()
    position = data.draw(st.integers(0, len(good) - 1))
    changed = bytearray(good)
    changed[position] ^= data.draw(st.integers(1, 255))
    try:
        read = read_rotation(bytes(changed))
    except CortexError:
        pass
    else:
        assert read == read_rotation(good)  # white space


def test_a_publisher_moves_to_its_new_key_and_never_back() -> None:
    moved = rotated(Trust().with_publisher(listed()), read_rotation(rotate("acme", ACME, OTHER, NOW).to_file()), NOW)
    assert moved.publishers["acme"] == replace(listed(OTHER), former=(ACME.did,))
    accepted(statement(OTHER, "1.0.0"), moved, NOW, first_use=False)
    with pytest.raises(CortexError, match="a key that it has replaced"):
        accepted(statement(ACME, "1.0.0"), moved, NOW, first_use=True)
    with pytest.raises(CortexError, match="has replaced that key already"):
        rotated(moved, rotate("acme", ACME, OTHER, NOW), NOW)
    with pytest.raises(CortexError, match="back to a key"):
        rotated(moved, rotate("acme", OTHER, ACME, NOW), NOW)
    with pytest.raises(CortexError, match="has replaced that key already"):
        rotated(moved, rotate("acme", ACME, KEYS[3], NOW), NOW)


def test_a_statement_of_someone_else_is_refused() -> None:
    trust = Trust().with_publisher(listed())
    forged = replace(rotate("acme", ACME, OTHER, NOW), signature=OTHER.sign(b"x"))
    stolen = replace(rotate("acme", ACME, KEYS[2], NOW), new=OTHER.did)
    for bad in (forged, stolen, replace(rotate("acme", ACME, OTHER, NOW), publisher="other")):
        with pytest.raises(CortexError, match="was not signed with"):
            read_rotation(bad.to_file())
    with pytest.raises(CortexError, match="not signed with a key with which acme is trusted"):
        rotated(trust, rotate("acme", KEYS[2], OTHER, NOW), NOW)
    with pytest.raises(CortexError, match="not a trusted publisher"):
        rotated(trust, rotate("other", ACME, OTHER, NOW), NOW)
    with pytest.raises(CortexError, match="from the future"):
        rotated(trust, rotate("acme", ACME, OTHER, NOW + timedelta(days=1)), NOW)
    for key in (ACME, OTHER):
        with pytest.raises(CortexError, match="was revoked"):
            rotated(trust.with_revoked(RevokedKey(key.did, "", SINCE)), rotate("acme", ACME, OTHER, NOW), NOW)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"[" * 5000, b"x" * 5000, b'{"format": "cortex-key-rotation/1"}'])
def test_what_is_no_statement_is_refused(data: bytes) -> None:
    with pytest.raises(CortexError) as caught:
        read_rotation(data)
    assert caught.value.code == "signature_invalid"


def test_the_store_of_the_origin_is_read_and_written() -> None:
    given_ = {
        "trusted_publishers": {"acme": [ACME.public.hex().upper(), OTHER.public.hex()], "a_b": [KEYS[2].public.hex()]},
        "tofu_publishers": {"pinned": KEYS[3].public.hex(), "acme": KEYS[3].public.hex()},
    }
    trust = with_imported(Trust(), read_origin_store(json.dumps(given_).encode(), SINCE))
    assert trust.publishers["acme"].keys == (ACME.did, OTHER.did)
    assert trust.publishers["pinned"].how == "first use"
    written = json.loads(origin_store(trust))
    assert written["trusted_publishers"]["acme"] == sorted([ACME.public.hex(), OTHER.public.hex()])
    assert written["tofu_publishers"] == {"pinned": KEYS[3].public.hex()}
    assert with_imported(Trust(), read_origin_store(origin_store(trust), SINCE)).trusted_keys()
    without = json.loads(origin_store(trust.with_revoked(RevokedKey(KEYS[3].did, "", SINCE))))
    assert without["tofu_publishers"] == {}


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"other": {}},
        {"trusted_publishers": []},
        {"trusted_publishers": {"acme": []}},
        {"trusted_publishers": {"acme": "00"}},
        {"trusted_publishers": {"acme": ["00" * 32]}},
        {"trusted_publishers": {"Acme": [ACME.public.hex()]}},
        {"tofu_publishers": {"acme": [ACME.public.hex()]}},
    ],
)
def test_a_wrong_store_of_the_origin_is_refused(document: object) -> None:
    with pytest.raises(CortexError) as caught:
        read_origin_store(json.dumps(document).encode(), SINCE)
    assert caught.value.code == "invalid_arguments"


def test_a_store_of_version_1_is_read_and_becomes_version_2(trusted: TrustFile) -> None:
    document = json.loads(trusted.path.read_text())
    key = bytes.fromhex(json.loads(trusted.key_path.read_text())["key"])
    old = {**document, "version": 1, "publishers": [{"name": "acme", "key": ACME.did, "how": "listed", "since": SINCE}]}
    del old["revoked"], old["mac"]
    trusted.path.write_text(json.dumps({**old, "mac": _mac(_content(old), key)}))
    assert trusted.trust() == Trust({"acme": listed()})
    state = trusted.change(lambda trust: trust.with_revoked(RevokedKey(OTHER.did, "lost", SINCE)))
    assert json.loads(trusted.path.read_text())["version"] == 2
    assert TrustFile(trusted.path, trusted.key_path).trust() == state


def test_a_key_that_is_revoked_stops_what_is_loaded(
    opened: Callable[..., Plugin], signed: Written, trusted: TrustFile
) -> None:
    plugin = opened()
    plugin.load(signed("probe"))
    ask = ("skill_graph_query", {"predicate": "p", "scope": "namespace"})
    assert not plugin.call(*ask).is_error
    trusted.change(lambda trust: trust.with_revoked(RevokedKey(OTHER.did, "", SINCE)))
    assert not plugin.call(*ask).is_error
    trusted.change(lambda trust: trust.with_revoked(RevokedKey(ACME.did, "stolen", SINCE)))
    result = plugin.call(*ask)
    assert (result.is_error, result.code) == (True, "signature_invalid")
    assert "the key that signed probe was revoked here" in result.text
    assert not plugin.reload().reloaded
    with pytest.raises(CortexError, match="revoked"):
        opened().load(signed("second"))


# --- commands


def run(*words: object) -> tuple[int, Any, str]:
    result = CliRunner().invoke(program, [*map(str, words), "--json"])
    return result.exit_code, json.loads(result.stdout) if result.stdout else None, result.stderr


def test_keys_are_revoked_replaced_imported_and_exported(tmp_path: Path) -> None:
    keys = KeyFolder(default_folder())
    first, second, third = (keys.create(name) for name in ("first", "second", "third"))
    journal = ("--config", _config(tmp_path))
    assert run("trust", "add", "example.org", first.public.hex(), *journal)[0] == 0
    file = tmp_path / "rotation.json"
    assert run("key", "rotate", "first", "second", "--publisher", "example.org", "-o", file)[0] == 0
    assert run("trust", "rotate", "other.org", "--statement", file)[0] == 1
    code, document, _ = run("trust", "rotate", "example.org", "--statement", file, *journal)
    assert (code, document["to"]) == (0, second.did)
    assert "already" in run("trust", "rotate", "example.org", "--statement", file)[2]
    exported = run("trust", "export")[1]
    assert exported == {"trusted_publishers": {"example.org": [second.public.hex()]}, "tofu_publishers": {}}
    exported["tofu_publishers"]["other"] = third.public.hex()
    (tmp_path / "palyra.json").write_text(json.dumps(exported))
    assert run("trust", "import", tmp_path / "palyra.json")[1] == {"imported": ["example.org", "other"]}
    conflict = {"trusted_publishers": {"new": [third.public.hex()], "other": [first.public.hex()]}}
    (tmp_path / "palyra.json").write_text(json.dumps(conflict))
    assert "another key" in run("trust", "import", tmp_path / "palyra.json")[2]
    assert run("trust", "revoke", second.did, "--reason", "laptop stolen", *journal)[0] == 0
    listed_ = run("trust", "list")[1]
    assert [publisher["name"] for publisher in listed_["publishers"]] == ["example.org", "other"]
    assert [(key["key"], key["reason"]) for key in listed_["revoked"]] == [(second.did, "laptop stolen")]
    assert "was revoked" in run("trust", "add", "third.org", second.did)[2]
    events = [entry for entry in _journal(tmp_path) if str(entry.get("event", "")).startswith("trust.")]
    assert [
        (each["event"], data["object"], data["before"], data["after"], data["door"])
        for each in events
        if (data := each["details"]["data"])
    ] == [
        ("trust.add", "example.org", None, f"listed, {id_of(first.did)}", "command"),
        ("trust.rotate", "example.org", f"listed, {id_of(first.did)}", f"listed, {id_of(second.did)}", "command"),
        ("trust.revoke", id_of(second.did), "not revoked", "revoked", "command"),
    ]


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "large", "missing"])
def test_a_file_that_is_none_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "given"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    elif kind == "large":
        with file.open("wb") as large:
            large.truncate(10 << 30)
    for words in (("import", file), ("rotate", "acme", "--statement", file)):
        code, _, error = run("trust", *words)
        assert code == 1
        assert "invalid_arguments" in error


def test_an_id_of_an_unknown_key_cannot_be_revoked() -> None:
    assert "no key that is known" in run("trust", "revoke", "ed25519:34750f98bd59fcfc")[2]


def _config(folder: Path) -> Path:
    path = folder / "cortex.yaml"
    path.write_text(f"audit:\n  journal: 'on'\n  folder: {folder / 'audit'}\n")
    return path


def _journal(folder: Path) -> list[dict[str, Any]]:
    lines = [line for file in sorted((folder / "audit").glob("*.ndjson")) for line in file.read_text().splitlines()]
    return [json.loads(line) for line in lines]
