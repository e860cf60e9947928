"""The secret store: names, sealed values, the keyring, and hostile files."""

import json
import multiprocessing
import stat

import pytest

from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.private_files import write_private
from cortex_skills.secrets import SecretName, SecretStore
from cortex_skills.secrets.system_keyring import SystemKeyring

NAME = SecretName.of("skill:acme.weather/api_key")


class Memory:
    """A keyring in memory, which takes values of limited size."""

    priority = 5

    def __init__(self, largest=1 << 20):
        self.kept, self.largest = {}, largest

    def set_password(self, service, name, value):
        if len(value) > self.largest:
            raise OSError("too large")
        self.kept[service, name] = value

    def get_password(self, service, name):
        return self.kept.get((service, name))

    def delete_password(self, service, name):
        del self.kept[service, name]


@pytest.fixture
def store(tmp_path):
    return SecretStore(tmp_path / "data" / "secrets.json", tmp_path / "config" / "secrets.key")


def code_of(work):
    with pytest.raises(CortexError) as caught:
        work()
    return caught.value.code


def test_a_secret_is_read_replaced_listed_and_removed(store):
    assert store.names() == []
    assert store.set(NAME, "one two three") is False
    assert store.set(NAME, "four five six") is True
    store.set(SecretName("global", "token"), "x" * 65536)
    assert store.names() == [SecretName("global", "token"), NAME]
    assert store.read(NAME) == "four five six"
    assert store.remove(NAME) is True
    assert store.remove(NAME) is False
    assert code_of(lambda: store.read(NAME)) == "secret_not_found"


def test_the_files_are_private_and_hold_no_value(store):
    store.set(NAME, "a value in clear")
    for path in (store.path, store._key_file):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert b"clear" not in path.read_bytes()


@pytest.mark.parametrize("value", ["", "x" * 65537, "a\0b", "\ud800"])
def test_a_value_that_is_empty_too_long_or_no_text_is_refused(store, value):
    assert code_of(lambda: store.set(NAME, value)) == "invalid_arguments"
    assert not store.path.exists()


@pytest.mark.parametrize(
    "name",
    [
        "token",
        "/token",
        "global/",
        "local/token",
        "skill:/x",
        "skill:a/B",
        "global/a*",
        "global/a/b",
        "global/a\n",
        "x:y/z",
    ],
)
def test_a_name_of_another_form_is_refused(name):
    assert code_of(lambda: SecretName.of(name)) == "invalid_arguments"


def test_a_value_that_was_moved_to_another_name_does_not_open(store):
    store.set(NAME, "a value of the skill")
    document = json.loads(store.path.read_text())
    document["secrets"]["global/token"] = document["secrets"][str(NAME)]
    store.path.write_text(json.dumps(document))
    assert code_of(lambda: store.read(SecretName("global", "token"))) == "config_invalid"
    assert store.read(NAME) == "a value of the skill"


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "secrets": {}}', '{"version": 1, "secrets": {"x": "y"}}'])
def test_a_damaged_file_is_an_error_and_is_not_overwritten(store, text):
    store.set(NAME, "a value of the skill")
    store.path.write_text(text)
    assert code_of(store.names) == "config_invalid"
    assert code_of(lambda: store.set(NAME, "another value")) == "config_invalid"
    assert store.path.read_text() == text


def test_a_changed_value_or_another_key_does_not_open(store):
    store.set(NAME, "a value of the skill")
    store._key_file.write_bytes(bytes(32))
    assert code_of(lambda: store.read(NAME)) == "config_invalid"


@pytest.mark.parametrize("change", ["a bit", "gone"])
def test_no_second_key_seals_beside_the_first(store, change):
    first, second = SecretName.of("skill:a.b/one"), SecretName.of("skill:a.b/two")
    store.set(first, "value of one")
    key = store._key_file.read_bytes()
    store._key_file.unlink()
    if change == "a bit":
        write_private(store._key_file, bytes([key[0] ^ 1, *key[1:]]))
    before = store.path.read_bytes()
    with pytest.raises(CortexError) as caught:
        store.set(second, "value of two")
    assert (caught.value.code, store.path.read_bytes()) == ("config_invalid", before)
    assert store._key_file.exists() is (change == "a bit")
    write_private(store._key_file, key)
    store.set(second, "value of two")
    assert (store.read(first), store.read(second)) == ("value of one", "value of two")


def test_a_secret_whose_key_was_lost_is_set_again(store):
    name = SecretName.of("skill:a.b/one")
    store.set(name, "old value")
    store._key_file.unlink()
    assert store.set(name, "new value")
    assert store.read(name) == "new value"


def test_a_file_that_others_can_read_is_refused(store):
    store.set(NAME, "a value of the skill")
    store.path.chmod(0o644)
    assert code_of(lambda: store.read(NAME)) == "config_invalid"


def test_a_passphrase_replaces_the_key_file(tmp_path):
    path, key = tmp_path / "secrets.json", tmp_path / "other" / "key"
    SecretStore(path, key, passphrase="open sesame").set(NAME, "behind the door")
    assert not key.exists()
    assert SecretStore(path, key, passphrase="open sesame").read(NAME) == "behind the door"
    assert code_of(lambda: SecretStore(path, key, passphrase="sesame").read(NAME)) == "config_invalid"
    assert code_of(lambda: SecretStore(path, key).read(NAME)) == "config_invalid"


def test_the_keyring_has_the_value_and_the_file_only_its_name(tmp_path):
    backend = Memory()
    store = SecretStore(tmp_path / "secrets.json", tmp_path / "key", SystemKeyring(backend))
    store.set(NAME, "in the keyring")
    assert list(backend.kept.values()) == ["in the keyring"]
    assert json.loads(store.path.read_text())["secrets"] == {str(NAME): None}
    assert not (tmp_path / "key").exists()
    assert store.read(NAME) == "in the keyring"
    assert store.remove(NAME)
    assert backend.kept == {}


def test_a_value_that_the_keyring_does_not_take_is_sealed_in_the_file(tmp_path):
    store = SecretStore(tmp_path / "secrets.json", tmp_path / "key", SystemKeyring(Memory(largest=10)))
    store.set(NAME, "longer than ten")
    assert store.read(NAME) == "longer than ten"


def test_a_keyring_that_is_asked_for_and_missing_is_an_error(monkeypatch):
    monkeypatch.setattr(SystemKeyring, "find", classmethod(lambda _: None))
    assert code_of(lambda: SecretStore.of(Config(secrets={"store": "keyring"}).secrets)) == "config_invalid"


def _set(folder, number):
    SecretStore(folder / "secrets.json", folder / "key").set(
        SecretName("global", f"key{number}"), f"value {number} " * 3
    )


def test_processes_that_set_secrets_at_once_lose_none(tmp_path):
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_set, args=(tmp_path, number)) for number in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    store = SecretStore(tmp_path / "secrets.json", tmp_path / "key")
    assert [str(name) for name in store.names()] == [f"global/key{number}" for number in range(4)]
    assert store.read(SecretName("global", "key3")) == "value 3 " * 3
