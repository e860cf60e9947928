"""What a model is answered is short, whatever tool answers, and states what it lacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills import Plugin
from cortex_skills.doors.mcp.tools import answer
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.gate.long_answers import LONGEST, shortened
from cortex_skills.gate.result import Result
from tests.configs import config
from tests.plugin.skills import write_skill

pytestmark = pytest.mark.usefixtures("no_package_skills")

LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=300) | st.sampled_from(["漢" * 5000, "\x01" * 5000])
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=300), inner, max_size=9)
)


def size(result: Result) -> int:
    """The bytes of an answer on the wire."""
    return len(json.dumps([result.text, result.details], ensure_ascii=False).encode())


@given(st.text(max_size=3000) | st.sampled_from(["é" * 9000]), st.dictionaries(st.text(max_size=9), JSON, max_size=5))
@settings(max_examples=150)
def test_a_result_is_unchanged_or_short_and_says_so(text: str, details: dict[str, Any]) -> None:
    result = Result(text, details)
    found = shortened(result, 6000)
    if found is result:
        assert size(result) <= 12_000
        return
    assert size(found) <= 6600  # with blanks
    assert "shortened" in found.details or "characters are not shown" in found.text


@pytest.mark.parametrize("character", ["a", "漢", "\x01", "\n"])
def test_a_long_text_keeps_its_beginning_and_its_end_and_names_what_is_missing(character: str) -> None:
    whole = character * 2_000_000
    found = shortened(Result(f"first line\n{whole}\n[end 1234]", {"content": whole}))
    assert LONGEST / 2 < size(found) <= LONGEST
    assert found.text.startswith("first line\n")
    assert found.text.endswith("\n[end 1234]")
    shown, missing = found.text.count(character), int(found.text.split("(here ")[1].split()[0].replace(",", ""))
    assert abs(shown + missing - 2_000_000) < 30
    kept, _, note = found.details["content"].partition("…")
    assert note == f" ({2_000_000 - len(kept):,} more characters)"
    assert found.details["shortened"] == {"texts": 1, "members": 0}


def test_many_members_lose_their_long_texts_before_members_are_left_out() -> None:
    rows = [{"id": f"{n:064x}", "description": "d" * 1024} for n in range(100)]
    found = shortened(Result("100 skills", {"skills": rows, "cursor": "c" * 90}))
    assert [row["id"] for row in found.details["skills"]] == [row["id"] for row in rows]
    assert found.details["cursor"] == "c" * 90
    assert found.details["shortened"] == {"texts": 100, "members": 0}
    found = shortened(Result("many", {"ids": [f"{n:064x}" for n in range(5000)]}))
    assert len(found.details["ids"]) + found.details["shortened"]["members"] == 5000
    assert size(found) <= LONGEST


LONG = "漢字 é " * 60_000
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("fs_read", {"path": "docs/long.txt"}),
    ("fs_read", {"path": "docs/control.txt"}),
    ("skill_memory_context", {"query": "fox", "limit": 50}),
    ("search_index", {"query": "fox", "limit": 50, "minSimilarity": 0}),
    ("load_skill", {"name": "long"}),
    ("skill_read", {"name": "long"}),
    ("skill_read", {"limit": 50}),
    ("skill_find", {"query": "fox", "limit": 50}),
    ("memory_skill_get", {"skill_id": "long"}),
    ("memory_skill_get", {"skill_id": "files"}),
    ("memory_skill_list", {"limit": 100}),
    ("memory_skill_resource", {"skill_id": "files", "resource_path": "scripts/control.txt"}),
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    """A plugin with long files, memories and registered skills."""
    root = tmp_path_factory.mktemp("long")
    permissions = {"registry": ["read", "learn"], "memory": ["recall", "remember"], "actions": ["request"]}
    write_skill(root / "skills" / "reader", permissions={"graph": ["read"], **permissions}, assertions=[])
    files = root / "work" / "docs"
    files.mkdir(parents=True)
    (files / "long.txt").write_text(LONG)
    (files / "control.txt").write_text("\x01" * 100_000)
    package = root / "in" / "files"
    (package / "scripts").mkdir(parents=True)
    (package / "SKILL.md").write_text("---\nname: files\ndescription: A fox with files.\n---\nbody\n")
    (package / "scripts" / "control.txt").write_text("\x01" * 100_000)
    for number in range(600):
        (package / "scripts" / f"{number}{'n' * 200}.txt").write_text("")
    settings = config(
        skillSandbox={"maxCallsPerMinute": 1000},
        registry={"importRoot": str(root / "in")},
        tools={"profiles": ["core", "registry", "operator"]},
        actions={"trustLevel": "bounded_auto", "workspace": str(root / "work")},
    )
    with Plugin.open(settings, agent="a1", registers=False) as plugin:
        plugin.load(root / "skills")
        for number in range(50):
            plugin.call("skill_memory_remember", {"text": f"{number} fox {'漢' * 500}"[:512], "tags": ["漢" * 40]})
        for name, body in [("long", LONG), *((f"s{number}", "body") for number in range(100))]:
            document = inline_document({"name": name, "description": "fox " + "漢" * 1000, "body": body}, "mayros")
            plugin.registry.register(document, actor="ada", origin="human")
        assert not plugin.call("memory_skill_register", {"folder_path": "files"}).is_error
        yield plugin


def test_the_pages_of_a_list_of_long_descriptions_are_short_and_together_complete(hostile: Plugin) -> None:
    given, names = dict[str, Any](limit=100), list[str]()
    while True:
        result = hostile.call("memory_skill_list", given)
        shown = answer(result)
        assert len(shown.model_dump_json(by_alias=True).encode()) < LONGEST
        assert shown.structured_content == result.details  # nothing was cut
        found = [skill["name"] for skill in result.details["skills"]]
        assert all(f"{name}: " in result.text for name in found)
        names += found
        if result.details["cursor"] is None:
            break
        given["cursor"] = result.details["cursor"]
    assert sorted(names) == sorted(["long", "files", *(f"s{number}" for number in range(100))])


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=lambda each: each if isinstance(each, str) else "")
def test_no_tool_answers_a_model_at_length(hostile: Plugin, tool: str, arguments: dict[str, Any]) -> None:
    result = hostile.call(tool, arguments)
    assert not result.is_error, result.text
    assert len(answer(result).model_dump_json(by_alias=True).encode()) < LONGEST + 500
