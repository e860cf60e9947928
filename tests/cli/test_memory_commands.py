"""The owner of the store lists, searches, shows, corrects and forgets what agents remember."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def command(run: Any) -> Any:
    def of_memory(*words: str, code: int = 0) -> Any:
        done = run("memory", *words, "--json")
        assert done.exit_code == code, done.stderr
        return done.error if code else done.json

    return of_memory


def texts(answer: Any) -> list[str]:
    return [each["text"] for each in answer["memories"]]


def test_what_agents_remember_is_listed_searched_corrected_and_forgotten(command: Any) -> None:
    remembered = command("remember", "Ana moved to Oslo in June", "--agent", "ada", "--tags", "ana", "--tags", "oslo")
    assert remembered["created"] is True
    command("remember", "Bob likes Oslo")
    assert texts(command("list")) == ["Bob likes Oslo", "Ana moved to Oslo in June"]
    assert texts(command("list", "--agent", "ada")) == ["Ana moved to Oslo in June"]
    assert texts(command("search", "moved to oslo")) == ["Ana moved to Oslo in June", "Bob likes Oslo"]
    assert command("recall", "oslo", "--agent", "ada")["found"][0][0]["agent"] == "ada"
    recalls = command("recalls", "--id", remembered["id"])
    assert (recalls["recalls"], recalls["since"]) == ([], None)  # no journal is kept here
    before = command("show", remembered["id"])
    assert (before["agent"], before["tags"], before["writtenBy"]) == ("ada", ["ana", "oslo"], [])
    corrected = command("correct", remembered["id"], "--text", "Ana moved to Bergen")
    assert (corrected["text"], corrected["tags"], corrected["time"]) == (
        "Ana moved to Bergen",
        ["ana", "oslo"],
        before["time"],
    )
    assert texts(command("search", "bergen")) == ["Ana moved to Bergen"]
    assert texts(command("search", "oslo")) == ["Bob likes Oslo", "Ana moved to Bergen"]  # by its tag
    assert command("show", remembered["id"], code=1)["code"] == "not_found"
    command("forget", corrected["id"])
    assert texts(command("list")) == ["Bob likes Oslo"]
    assert command("forget", corrected["id"], code=1)["code"] == "not_found"


def test_pages_of_a_list_have_each_memory_once(command: Any) -> None:
    for number in range(7):
        command("remember", f"note {number}", "--agent", f"a{number % 2}")
    found, cursor = [], []
    for _ in range(4):
        page = command("list", "--limit", "2", *cursor)
        assert page["total"] == 7
        found += texts(page)
        cursor = ["--cursor", page["cursor"]] if page["cursor"] else []
    assert found == [f"note {number}" for number in reversed(range(7))]
    assert cursor == []
    assert command("list", "--cursor", "no cursor", code=1)["code"] == "invalid_arguments"
    assert command("correct", command("list")["memories"][0]["id"], "--text", "note 4", code=1)["code"] == (
        "invalid_arguments"
    )
