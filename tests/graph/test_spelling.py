"""The words that a misspelt or shortened one may stand for."""

from __future__ import annotations

import pytest

from cortex_graph.naming.spelling import nearest

SETTINGS = ["sandboxEnabled", "memoryLimitBytes", "executionTimeoutMs", "maxGraphQueries", "proofTimeoutMs"]


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("pred", ["subject", "predicate", "object"], "predicate"),
        ("timeout", SETTINGS, "executionTimeoutMs"),
        ("MEMORY", SETTINGS, "memoryLimitBytes"),
        ("permisions", ["version", "permissions"], "permissions"),
        ("querys", ["assertions", "queries"], "queries"),
        ("licence", ["license", "description"], "license"),
        ("sta", ["status", "list"], "status"),
        ("zzz", SETTINGS, None),
        ("", SETTINGS, None),
        ("x" * 65, ["x" * 66], None),
    ],
)
def test_prefixes_and_parts_come_before_similar_words(word: str, known: list[str], found: str | None) -> None:
    assert nearest(word, known) == ([] if found is None else [found])


def test_several_are_the_best_first_and_each_once() -> None:
    assert nearest("query", ["queries", "maxQuery", "query-all", "quarry"], 3) == ["query-all", "maxQuery", "quarry"]
