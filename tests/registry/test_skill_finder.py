"""Skills are found by words and meaning, ranked by quality, and the index follows the registry."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyoxigraph import Literal, Quad

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.store import Pattern
from cortex_skills import Config, Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedders import EmbedderError
from cortex_skills.features.finder.static_vectors import StaticVectors
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.features.registry.skill_texts import searchable
from tests.finder.embedding_server import embedding_server

SKILLS = {
    "extract-tables": "Takes tables out of spreadsheets and writes them as CSV.",
    "book-flight": "Books a flight between two airports.",
    "boil-eggs": "Boils eggs, soft or hard.",
    "review-contract": "Reads a contract and lists its risks.",
}


@pytest.fixture
def registry() -> SkillRegistry:
    registry = SkillRegistry(open_store("memory:"), Names("mayros"), lambda: None)
    for name, description in SKILLS.items():
        add(registry, name, description)
    return registry


@pytest.fixture(params=["words", "meaning"])
def finder(registry, request) -> SkillFinder:
    return SkillFinder(registry, StaticVectors() if request.param == "meaning" else None)


def key(name: str) -> SkillKey:
    return SkillKey("mayros", name)


def add(registry, name, description="Does it.", origin="human", **fields):
    document = SkillDocument.checked(namespace="mayros", name=name, description=description, **fields)
    return registry.register(document, actor="ada", origin=origin)


def names(found) -> list[str]:
    return [each.record.key.name for each in found.skills]


def test_a_skill_is_found_by_its_words_and_returned_with_its_version(finder):
    (found, *_) = finder.find("tables as CSV").skills
    assert (found.record.key.name, found.version.description) == ("extract-tables", SKILLS["extract-tables"])
    assert found.score > 0
    assert (found.coverage, found.to_json()["coverage"]) == (1.0, 1.0)
    (less, *_) = finder.find("tables as zebras").skills
    assert less.record.key.name == "extract-tables"
    assert 0 < less.coverage < 0.5


def test_a_skill_is_found_by_meaning_without_a_common_word(registry):
    query = "soften food in hot water"
    assert names(SkillFinder(registry).find(query)) == []
    found = SkillFinder(registry, StaticVectors()).find("open an Excel sheet")
    assert (names(found), found.skills[0].by, found.problem) == (["extract-tables"], "meaning", None)
    assert found.skills[0].similarity > 0.3


def test_a_trigger_pattern_and_a_name_find_a_skill_too(registry, finder):
    add(registry, "zzyzx-helper", "Helps.", trigger_pattern="reticulate the splines")
    assert names(finder.find("zzyzx"))[0] == "zzyzx-helper"
    assert names(finder.find("reticulating splines"))[0] == "zzyzx-helper"


def test_the_better_of_two_similar_skills_is_first(registry, finder):
    add(registry, "boil-eggs-again", SKILLS["boil-eggs"])
    assert names(finder.find("boils eggs soft or hard", 2)) == ["boil-eggs", "boil-eggs-again"]
    for _ in range(4):
        registry.outcome(key("boil-eggs-again"), success=True, actor="a1")
    assert names(finder.find("boils eggs soft or hard", 2)) == ["boil-eggs-again", "boil-eggs"]


def test_equal_skills_come_in_the_order_of_their_names_and_each_once(registry, finder):
    for name in ("same-c", "same-a", "same-b"):
        add(registry, name, "Grates carrots.", trigger_pattern="x" if name == "never" else None)
    found = names(finder.find("grates carrots same"))
    assert found[:3] == ["same-a", "same-b", "same-c"]
    assert len(found) == len(set(found))


def test_places_that_meaning_leaves_are_filled_by_words(registry):
    add(registry, "alpha", "Quuxify.")
    add(registry, "read-spreadsheet", "Opens an Excel sheet.")
    found = SkillFinder(registry, StaticVectors()).find("quuxify an Excel sheet").skills
    assert {each.by for each in found} >= {"meaning"}
    order = [each.by for each in found]
    assert order == sorted(order)  # meaning before words


def test_what_is_not_reliable_is_found_only_on_request(registry, finder):
    add(registry, "peel-carrots", "Peels carrots.", origin="learned")
    add(registry, "cut-carrots", "Cuts carrots.")
    registry.deprecate(key("cut-carrots"), "blunt", actor="ada")
    assert "carrots" not in str(names(finder.find("carrots")))
    assert sorted(names(finder.find("carrots", 2, among="all"))) == ["cut-carrots", "peel-carrots"]
    assert names(finder.find("carrots", among="candidates"))[0] == "peel-carrots"
    assert "cut-carrots" not in names(finder.find("carrots", among="candidates"))
    registry.promote(key("peel-carrots"), actor="ada", unmeasured=True)
    assert names(finder.find("carrots"))[0] == "peel-carrots"


def test_the_index_follows_the_registry(registry, finder):
    assert names(finder.find("contract"))[0] == "review-contract"
    add(registry, "review-contract", "Grates carrots.")
    assert names(finder.find("grates carrots"))[0] == "review-contract"
    add(registry, "shred-carrots", "Shreds carrots.")
    registry.merge(key("shred-carrots"), key("review-contract"), actor="ada")
    assert names(finder.find("grates carrots"))[:1] == ["shred-carrots"]
    registry.purge(key("shred-carrots"), actor="ada")
    assert "shred-carrots" not in names(finder.find("shreds carrots", among="all"))


def test_changes_of_another_process_are_found(registry, finder):
    finder.find("tables")
    other = SkillRegistry(registry.store, Names("mayros"), lambda: None)
    add(other, "grate-carrots", "Grates carrots.")
    assert names(finder.find("grates carrots"))[0] == "grate-carrots"


def test_a_registry_that_was_replaced_is_indexed_anew(registry, finder):
    finder.find("tables")
    store = registry.store
    store.apply(remove=list(store.quads(Pattern(Names("mayros").registry_graph))))
    other = SkillRegistry(store, Names("mayros"), lambda: None)
    for number in range(6):
        add(other, f"other-{number}", f"Grates carrots {number}.")
    assert sorted(names(finder.find("carrots"))) == [f"other-{number}" for number in range(6)]
    assert "extract-tables" not in names(finder.find("tables"))


def test_a_malformed_record_hides_no_other(registry, finder):
    graph, node = Names("mayros").registry_graph, registry.terms.record(key("boil-eggs"))
    old = list(registry.store.quads(Pattern(graph, node, terms.TRUST_TIER)))
    registry.store.apply(insert=[Quad(node, terms.TRUST_TIER, Literal("minus one"), graph)], remove=old)
    assert names(finder.find("tables"))[0] == "extract-tables"
    assert "boil-eggs" not in names(finder.find("boils eggs"))


@pytest.mark.parametrize(("query", "limit"), [("", 5), ("  ", 5), ("x" * 1001, 5), ("tea", 0), ("tea", 101)])
def test_a_query_or_limit_out_of_range_is_refused(finder, query, limit):
    with pytest.raises(CortexError) as caught:
        finder.find(query, limit)
    assert caught.value.code == "invalid_arguments"


@pytest.mark.parametrize(
    "query", ["the and of", "\ud800\x00\u202e", "'; DROP", '" AND (', "東京", "a" * 1000, "* ~ ^ \\"]
)
def test_any_text_is_a_query(finder, query):
    found = finder.find(query)
    assert found.problem is None
    assert len(names(found)) == len(set(names(found))) <= 4


def test_similar_skills_are_those_above_the_threshold_without_itself(registry, finder):
    add(registry, "boil-eggs-2", SKILLS["boil-eggs"])
    ((found, value),) = finder.similar(registry.record(key("boil-eggs")))
    assert (found, value > 0.78) == (key("boil-eggs-2"), True)
    assert finder.similar(registry.record(key("book-flight"))) == []
    text = searchable("boil-eggs", SKILLS["boil-eggs"])
    assert [each for each, _ in finder.similar_to(text)] == [key("boil-eggs"), key("boil-eggs-2")]
    registry.retire(key("boil-eggs-2"), actor="ada")
    assert finder.similar(registry.record(key("boil-eggs"))) == []


def test_an_embedder_that_fails_leaves_the_words_and_says_so(registry):
    class Down:
        name = "down"

        def embed(self, texts, timeout_s):
            raise EmbedderError("the server is down")

    found = SkillFinder(registry, Down()).find("tables")
    assert (names(found), str(found.problem)) == (["extract-tables"], "found by words alone: the server is down")


def test_old_outcomes_count_less(registry):
    for name in ("grate-a", "grate-b"):
        add(registry, name, "Grates carrots.")
    registry.outcome(key("grate-a"), success=True, actor="a1")
    now = datetime.now(UTC)
    assert names(SkillFinder(registry, clock=lambda: now).find("grates carrots")) == ["grate-a", "grate-b"]
    later = now.replace(year=now.year + 1)
    assert names(SkillFinder(registry, clock=lambda: later).find("grates carrots")) == ["grate-b", "grate-a"]


def test_a_plugin_finds_skills_and_memories_by_the_vectors_of_a_server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with embedding_server() as server:
        config = Config(finder={"embedder": "http", "endpoint": server.url, "model": "m"})
        with Plugin.open(config) as plugin:
            add(plugin.registry, "extract-tables", SKILLS["extract-tables"])
            found = plugin.skill_finder.find("open an Excel sheet")
            assert (names(found), found.problem) == (["extract-tables"], None)
            server.status = 500
            add(plugin.registry, "grate-carrots", "Grates carrots.")
            found = plugin.skill_finder.find("grates carrots")
            assert names(found) == ["grate-carrots"]
            assert "answers 500" in found.problem.reason
        assert "extract tables. Takes tables out of spreadsheets and writes them as CSV." in server.asked[0]["input"]


def test_the_local_embedder_finds_memories_by_meaning():
    from cortex_skills.features.memory.requests import memory_query, new_memory

    with Plugin.open(Config(finder={"embedder": "local"})) as plugin:
        plugin.memories.remember(new_memory("Ana extracts tables from a spreadsheet"), agent="a1")
        plugin.memories.remember(new_memory("Ben boils eggs"), agent="a1")
        found = plugin.memories.recall(memory_query("read an Excel file"), agent="a1")
        assert [memory.text for memory, _ in found.found] == ["Ana extracts tables from a spreadsheet"]
        assert (found.words, found.considered, found.problem) == (("read", "excel", "file"), 1, None)
        ((_, scored),) = found.found
        assert (scored.relevance, scored.coverage) == (1, 0)
        assert scored.similarity is not None
        assert 0.3 < scored.similarity < 1
