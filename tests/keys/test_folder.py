"""The folder of keys: created, listed, opened, and refused when it is not private."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import Config
from cortex_skills.errors import CortexError
from cortex_skills.keys import Key, KeyFolder, KeyInfo, verify
from cortex_skills.keys.folder import own_keys

posix = pytest.mark.skipif(os.name != "posix", reason="modes are a thing of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "data" / "keys")


def refusal(code: str, call: Any, *args: Any) -> str:
    with pytest.raises(CortexError) as caught:
        call(*args)
    assert caught.value.code == code
    return caught.value.message


def test_a_created_key_signs_and_is_found_again(folder: KeyFolder) -> None:
    made = folder.create("alice")
    again = folder.open("alice")
    assert again.did == made.did
    assert verify(made.public, b"hello", again.sign(b"hello"))
    assert folder.list() == [KeyInfo("alice", made.did)]


def test_two_created_keys_differ(folder: KeyFolder) -> None:
    assert folder.create("b").did != folder.create("a").did
    assert [info.name for info in folder.list()] == ["a", "b"]


def test_a_missing_folder_has_no_keys(folder: KeyFolder) -> None:
    assert folder.list() == []
    assert "no key named alice" in refusal("invalid_arguments", folder.open, "alice")
    assert not folder.path.exists()


@posix
def test_a_key_is_32_bytes_that_only_its_owner_may_read(folder: KeyFolder) -> None:
    before = os.umask(0)
    try:
        folder.create("alice")
    finally:
        os.umask(before)
    (file,) = folder.path.glob("*.seed")
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.stat().st_size == 32
    assert file.stat().st_nlink == 1


def test_a_key_never_replaces_another(folder: KeyFolder) -> None:
    made = folder.create("alice")
    assert "a key named alice exists" in refusal("invalid_arguments", folder.create, "alice")
    assert folder.open("alice").did == made.did
    assert sorted(path.name for path in folder.path.iterdir()) == ["alice.pub", "alice.seed"]


def test_concurrent_creations_create_one_key(folder: KeyFolder) -> None:
    def create(_: int) -> Key | None:
        try:
            return folder.create("alice")
        except CortexError:
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [key for key in pool.map(create, range(16)) if key is not None]
    assert [key.did for key in made] == [folder.open("alice").did]
    assert sorted(path.name for path in folder.path.iterdir()) == ["alice.pub", "alice.seed"]


def test_a_creation_that_fails_leaves_nothing(folder: KeyFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in refusal("config_invalid", folder.create, "alice")
    assert list(folder.path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../alice",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "a\0b",
        "Alice",
        ".alice",
        "-alice",
        "a\n",
        "a" * 65,
        "é",
    ],
)
def test_a_name_that_could_lead_elsewhere_is_refused(folder: KeyFolder, name: str) -> None:
    for call in (folder.create, folder.open):
        assert "malformed" in refusal("invalid_arguments", call, name)
    assert not folder.path.exists()


@given(name=st.text(max_size=80))
def test_a_name_is_refused_or_stays_in_the_folder(name: str) -> None:
    folder = KeyFolder(Path("keys"))
    try:
        path = folder._file(name)
    except CortexError:
        return
    assert path.parent == folder.path
    assert path.name == f"{name}.seed"


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o666, 0o611])
def test_a_key_that_others_can_read_or_write_is_refused(folder: KeyFolder, mode: int) -> None:
    folder.create("alice")
    (file,) = folder.path.glob("*.seed")
    file.chmod(mode)
    assert "by others" in refusal("config_invalid", folder.open, "alice")
    (info,) = folder.list()
    assert info.did is None
    assert "by others" in info.problem


@posix
@pytest.mark.parametrize("mode", [0o750, 0o705, 0o770, 0o777, 0o711])
def test_a_folder_that_others_can_open_is_refused(folder: KeyFolder, mode: int) -> None:
    folder.create("alice")
    folder.path.chmod(mode)
    for call, *args in ((folder.open, "alice"), (folder.create, "bob"), (folder.list,)):
        assert "opened by others" in refusal("config_invalid", call, *args)
    folder.path.chmod(0o700)
    assert [info.name for info in folder.list()] == ["alice"]


@posix
@pytest.mark.parametrize("whose", ["folder", "file"])
def test_a_file_of_another_user_is_refused(folder: KeyFolder, whose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.create("alice")
    me = os.geteuid()
    answers = iter([me + 1] if whose == "folder" else [me, me + 1])
    monkeypatch.setattr(os, "geteuid", lambda: next(answers))
    assert "by others" in refusal("config_invalid", folder.open, "alice")


@posix
def test_a_symbolic_link_in_the_place_of_a_key_is_refused(folder: KeyFolder, tmp_path: Path) -> None:
    folder.create("alice")
    (folder.path / "bob.seed").symlink_to(folder.path / "alice.seed")
    assert "symbolic link" in refusal("config_invalid", folder.open, "bob")
    assert "a key named bob exists" in refusal("invalid_arguments", folder.create, "bob")
    (folder.path / "carol.seed").symlink_to(tmp_path / "nowhere")
    assert "a key named carol exists" in refusal("invalid_arguments", folder.create, "carol")
    assert not (tmp_path / "nowhere").exists()


@posix
def test_a_symbolic_link_in_the_place_of_the_folder_is_refused(folder: KeyFolder, tmp_path: Path) -> None:
    folder.create("alice")
    link = KeyFolder(tmp_path / "link")
    link.path.symlink_to(folder.path)
    for call, *args in ((link.open, "alice"), (link.create, "bob"), (link.list,)):
        assert "is not a folder" in refusal("config_invalid", call, *args)


@posix
def test_a_pipe_in_the_place_of_a_key_is_refused_without_waiting(folder: KeyFolder) -> None:
    folder.create("alice")
    os.mkfifo(folder.path / "bob.seed", 0o600)
    assert "is not a regular file" in refusal("config_invalid", folder.open, "bob")


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33, b"x" * 64, b"x" * 100_000, bytes(32)])
def test_a_file_that_is_not_a_key_is_refused(folder: KeyFolder, content: bytes) -> None:
    folder.create("alice")
    (file,) = folder.path.glob("*.seed")
    file.write_bytes(content)
    assert ("is damaged" if len(content) <= 32 else "is too large") in refusal("config_invalid", folder.open, "alice")


def test_an_error_contains_no_byte_of_a_key(folder: KeyFolder) -> None:
    folder.create("alice")
    (file,) = folder.path.glob("*.seed")
    file.write_bytes(b"SECRETSECRETSECRET")
    assert "SECRET" not in refusal("config_invalid", folder.open, "alice")


def test_other_files_in_the_folder_are_ignored(folder: KeyFolder) -> None:
    folder.create("alice")
    (folder.path / "README").write_text("mine")
    (folder.path / "Bad Name.seed").write_bytes(bytes(32))
    (folder.path / ".new-x.seed").write_bytes(bytes(32))
    assert [info.name for info in folder.list()] == ["alice"]


# --- the public key beside the seed


@given(bit=st.integers(0, 255))
def test_a_seed_with_a_flipped_bit_is_refused(tmp_path_factory: pytest.TempPathFactory, bit: int) -> None:
    folder = KeyFolder(tmp_path_factory.mktemp("keys") / "keys")
    made = folder.create("alice")
    file = folder.path / "alice.seed"
    seed = bytearray(file.read_bytes())
    seed[bit // 8] ^= 1 << bit % 8
    file.write_bytes(seed)
    for call in (folder.open, folder.open_or_create):
        assert "is not the key that it was" in refusal("config_invalid", call, "alice")
    (info,) = folder.list()
    assert (info.did, made.did in info.problem) == (None, False)
    assert file.read_bytes() == seed


@pytest.mark.parametrize("content", [b"", b"nonsense", b"did:key:z6Mk", b"\xff\xfe", b"x" * 10_000])
def test_a_public_key_that_is_another_one_is_refused_until_it_is_removed(folder: KeyFolder, content: bytes) -> None:
    made = folder.create("alice")
    public = folder.path / "alice.pub"
    public.write_bytes(content)
    refusal("config_invalid", folder.open, "alice")
    public.write_text(f"{folder.create('bob').did}\n")
    assert "alice.pub" in refusal("config_invalid", folder.open, "alice")
    public.unlink()
    assert folder.open("alice").did == made.did
    assert public.read_text() == f"{made.did}\n"


def test_a_key_of_an_earlier_version_gets_its_public_key(folder: KeyFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder.create("my.key")
    public = folder.path / "my.key.pub"
    public.unlink()
    assert (folder.open("my.key").did, public.read_text()) == (made.did, f"{made.did}\n")
    assert stat.S_IMODE(public.stat().st_mode) == 0o600
    public.unlink()

    def full(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "fsync", full)
    assert folder.open("my.key").did == made.did
    assert not public.exists()


def test_a_lost_key_is_replaced_by_no_other_one(folder: KeyFolder) -> None:
    folder.create("alice")
    (folder.path / "alice.seed").unlink()
    for call in (folder.open, folder.create, folder.open_or_create):
        assert "is missing, and its public key is there" in refusal("config_invalid", call, "alice")
    (info,) = folder.list()
    assert (info.name, info.did) == ("alice", None)
    assert not (folder.path / "alice.seed").exists()
    (folder.path / "alice.pub").unlink()
    assert folder.create("alice").did == folder.open("alice").did


@posix
def test_a_link_in_the_place_of_a_public_key_is_refused(folder: KeyFolder) -> None:
    folder.create("alice")
    public = folder.path / "alice.pub"
    public.rename(folder.path / "elsewhere")
    public.symlink_to("elsewhere")
    assert "symbolic link" in refusal("config_invalid", folder.open, "alice")


@posix
def test_the_keys_of_the_installation_are_those_that_can_be_used(tmp_path: Path) -> None:
    folder = KeyFolder(tmp_path / "keys")
    settings = Config(proofs={"keys": str(folder.path)})
    assert own_keys(settings) == frozenset()
    dids = {folder.create(name).did for name in ("a", "b")}
    assert own_keys(settings) == dids
    (folder.path / "c.seed").write_bytes(b"short")
    assert own_keys(settings) == dids
    folder.path.chmod(0o755)
    assert own_keys(settings) == frozenset()
