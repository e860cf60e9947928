"""Prose is plain technical English: at most 1 word in 1,000 is on the list in `docs/words.md`."""

from __future__ import annotations

import pytest

from tests.docs.quaint_words import ROOT, TEXTS, Count, count, quaint_pattern, total


@pytest.mark.parametrize("kind", TEXTS)
def test_prose_has_at_most_one_listed_word_in_a_thousand(kind: str) -> None:
    counts = {path: count(text, quaint_pattern()) for path, text in TEXTS[kind]().items()}
    worst = sorted(counts.items(), key=lambda item: -len(item[1].quaint))[:10]
    listed = [f"{path.relative_to(ROOT)}: {', '.join(found.quaint)}" for path, found in worst if found.quaint]
    assert total(counts.values()).per_thousand <= 1, "\n".join(listed)


def test_words_are_counted_and_listed_words_found() -> None:
    assert count("Stop the process. Nobody tells it.", quaint_pattern()) == Count(6, ("nobody", "tells"))
    assert total([Count(700, ("said",)), Count(300, ())]).per_thousand == 1
