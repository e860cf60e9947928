"""How long answers are: a write names what it wrote, and a page of a query ends before it is too long for hosts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills import Plugin
from cortex_skills.gate.result import Result
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools.answer_sizes import IN_WRITES, LONGEST_PAGE, PAGE, _roughly, fitting, how_many_fit, size_of
from tests.tools.test_assert_several import HOSTS_TAKE, size

LONG = "word " * 60_000


@pytest.fixture
def notebook(plugin: Plugin) -> Plugin:
    plugin.load(builtin_skill(NOTEBOOK))
    return plugin


def asserted(plugin: Plugin, value: Any, subject: str = "s") -> Result:
    return plugin.call("skill_assert", {"subject": subject, "predicate": "text", "object": value})


def query(plugin: Plugin, **given: Any) -> Result:
    return plugin.call("skill_graph_query", {"scope": "namespace", **given})


@pytest.mark.parametrize("value", [LONG, "é" * 300_000, "\x01" * 300_000])
def test_a_write_names_a_long_object_by_its_beginning_its_length_and_its_hash(notebook: Plugin, value: str) -> None:
    result = asserted(notebook, value)
    assert size(result) < 4000
    assert result.details["object"] == value[:IN_WRITES]
    assert result.details["objectLength"] == 300_000
    assert "(the first 200 of 300,000 characters)\nhash " in result.text
    again = asserted(notebook, value)
    assert (again.details["created"], again.details["objectLength"]) == (False, 300_000)
    kept = notebook.graph.get_triple(result.details["tripleHash"])
    assert kept is not None
    assert kept["object"] == value
    retracted = notebook.call("skill_retract", {"tripleHash": result.details["tripleHash"]})
    assert retracted.details["objectLength"] == 300_000
    assert size(retracted) < 4000


def test_a_write_shows_a_short_object_whole(notebook: Plugin) -> None:
    result = asserted(notebook, "a" * IN_WRITES)
    assert result.details["object"] == "a" * IN_WRITES
    assert "objectLength" not in result.details


def pages(plugin: Plugin, **given: Any) -> list[Result]:
    found = [query(plugin, **given)]
    while cursor := found[-1].details["nextCursor"]:
        found.append(query(plugin, **given, cursor=cursor))
        assert len(found) < 100
    return found


def test_the_pages_of_long_texts_are_short_and_together_complete(notebook: Plugin) -> None:
    texts = {f"mayros:s{n}": f"{n} " + "x" * 15_000 for n in range(18)}
    notebook.graph.create_triples([{"subject": s, "predicate": "text", "object": text} for s, text in texts.items()])
    first = query(notebook)
    assert size(first) < PAGE * 1.5
    assert first.text.startswith("18 triples, the first 1:\n")
    assert f"more: cursor={first.details['nextCursor']}" in first.text
    found = pages(notebook, limit=100)
    assert all(size(page) < HOSTS_TAKE for page in found)
    assert {m["subject"]: m["object"] for page in found for m in page.details["matches"]} == texts
    assert sum(len(page.details["matches"]) for page in found) == 18


def test_a_page_of_many_short_triples_is_short_too(notebook: Plugin) -> None:
    notebook.graph.create_triples([{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(1500)])
    found = pages(notebook, limit=1000)
    assert all(size(page) < HOSTS_TAKE for page in found)
    assert len({match["id"] for page in found for match in page.details["matches"]}) == 1500
    assert len(query(notebook).details["matches"]) == 20


@pytest.mark.parametrize("value", [LONG, "\x01" * 100_000, "é" * 200_000, {"value": LONG, "language": "en"}])
def test_an_object_that_is_longer_than_a_page_is_cut_and_the_answer_says_so(notebook: Plugin, value: Any) -> None:
    notebook.graph.create_triples([{"subject": "s", "predicate": "text", "object": value}] * 1)
    notebook.graph.create_triples([{"subject": "t", "predicate": "text", "object": "short"}])
    text = value["value"] if isinstance(value, dict) else value
    for limit, most in (({}, PAGE * 1.5), ({"limit": 1}, HOSTS_TAKE)):
        found = pages(notebook, **limit, subject="s")
        assert size(found[0]) < most
        (match,) = found[0].details["matches"]
        shown = match["object"]["value"] if isinstance(value, dict) else match["object"]
        assert text.startswith(shown)
        assert len(shown) >= PAGE / 14  # of a character that JSON writes with six bytes, twice
        assert match["objectLength"] == len(text)
        assert f"of {len(text):,} characters)" in found[0].text
        assert "graph show ID" in found[0].text
    whole = query(notebook, subject="t")
    assert "objectLength" not in whole.details["matches"][0]


def test_an_object_that_is_longer_than_a_default_page_is_whole_with_a_limit(notebook: Plugin) -> None:
    asserted(notebook, "x" * 40_000)
    (match,) = query(notebook, limit=1).details["matches"]
    assert match["object"] == "x" * 40_000


def test_the_skill_gets_objects_whole_and_a_narrowed_page_keeps_its_triples(
    plugin: Plugin, skill: Callable[..., Path]
) -> None:
    answer = "{ results, additionalContext: { n: results[0].object.length } }"
    code = f"export default {{ name: 'probe', onQuery({{ results }}) {{ return {answer}; }} }};"
    plugin.load(skill("probe", code))
    asserted_by = plugin.graph.create_triples([{"subject": "s", "predicate": "p", "object": LONG}])
    result = query(plugin)
    assert '{"n":300000}' in result.text
    assert [match["id"] for match in result.details["matches"]] == [asserted_by[0]["id"]]
    assert "ignoredResults" not in result.details["enrichment"]


def test_a_page_with_proofs_is_short(opened: Callable[..., Plugin], skill: Callable[..., Path]) -> None:
    plugin = opened(sandbox={"maxAssertions": 1000})
    plugin.load(skill("probe"))
    statements = [{"subject": f"s{number}", "predicate": "sealed", "object": number} for number in range(100)]
    plugin.call("skill_assert", {"statements": statements})
    found = pages(plugin, prove="pol", limit=1000)
    assert all(size(page) < HOSTS_TAKE for page in found)
    assert sum(len(page.details["proofs"]) for page in found) == 100


def test_a_verification_names_a_long_object_by_its_beginning(notebook: Plugin) -> None:
    asserted(notebook, LONG)
    result = notebook.call("skill_verify_assertion", {"subject": "s", "predicate": "text"})
    assert result.details["found"] is True
    assert size(result) < 8000


objects = st.text() | st.text(alphabet="\x00\x1f<&é\u202e😀", max_size=50).map(lambda text: text * 5000) | st.integers()
objects |= (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.builds(dict, value=st.text(), language=st.just("en"), direction=st.just("ltr"))
)


@given(st.lists(objects, max_size=4), st.sampled_from([PAGE, LONGEST_PAGE]))
@settings(max_examples=100)
def test_what_fits_is_not_longer_than_its_bytes(values: list[Any], most: int) -> None:
    triples = [{"subject": "s", "predicate": "p", "object": value} for value in values]
    assert _roughly(triples) >= sum(map(size_of, triples))
    assert all(_roughly([triple]) >= size_of(triple) for triple in triples)
    fit = how_many_fit(triples, most)
    assert 1 <= fit <= len(triples) or not triples
    assert fit < 2 or sum(map(size_of, triples[:fit])) <= most
    for triple in triples:
        assert size_of(fitting(triple, most)) <= most
