"""The private file of the indexes that were accepted."""

import threading
from dataclasses import replace

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index import SeenIndex
from cortex_skills.features.artifacts.index.seen_indexes import SeenIndexes

SEEN = SeenIndex("https://a.example/index.json", "a", "did:key:z6Mk", 3, "0" * 64, 5)


@pytest.fixture
def file(tmp_path):
    """The file, in a folder that does not exist."""
    return SeenIndexes(tmp_path / "data" / "indexes.json")


def test_what_is_kept_is_read_by_address_and_forgotten(file):
    assert file.all() == {}
    file.change(SEEN.url, lambda before: replace(SEEN, snapshot=9) if before else SEEN)
    assert file.all() == {SEEN.url: SEEN}
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.change("https://b.example/index.json", lambda _: replace(SEEN, url="https://b.example/index.json"))
    file.change(SEEN.url, lambda _: None)
    assert list(file.all()) == ["https://b.example/index.json"]


def test_an_error_of_a_change_leaves_the_file(file):
    file.change(SEEN.url, lambda _: SEEN)

    def fails(_):
        raise CortexError("index_invalid", "older")

    with pytest.raises(CortexError, match="older"):
        file.change(SEEN.url, fails)
    assert file.all() == {SEEN.url: SEEN}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "indexes": []}', '{"version": 1, "indexes": [{}]}',
                                  '{"version": 1, "indexes": [1]}', "null"])  # fmt: skip
def test_a_damaged_file_is_an_error_and_not_an_empty_one(file, text):
    file.path.parent.mkdir()
    file.path.write_text(text)
    file.path.chmod(0o600)
    with pytest.raises(CortexError, match="is damaged") as caught:
        file.all()
    assert caught.value.code == "config_invalid"


def test_a_value_of_another_type_is_damage(file):
    file.change(SEEN.url, lambda _: replace(SEEN, snapshot=True))
    with pytest.raises(CortexError, match="is damaged"):
        file.all()


def test_a_file_that_others_can_write_is_refused(file):
    file.change(SEEN.url, lambda _: SEEN)
    file.path.chmod(0o666)
    with pytest.raises(CortexError, match="can be read or written by others"):
        file.all()


def test_changes_at_once_are_all_kept(file):
    def add(number):
        url = f"https://{number}.example/index.json"
        file.change(url, lambda _: replace(SEEN, url=url))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.all()) == 8
