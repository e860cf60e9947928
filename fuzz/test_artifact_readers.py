"""A bounded run of the fuzzer of artifact readers."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from .artifact_readers import READERS, VALID, Found, Mutations, check, fuzz


@pytest.mark.parametrize("name", READERS)
def test_each_reader_accepts_the_input_that_is_mutated(name: str) -> None:
    assert check(name, VALID[name]) == (True, None)


@pytest.mark.parametrize("seed", [1, 2])
def test_generated_artifacts_are_read_or_refused_with_a_typed_error(seed: int) -> None:
    counts, accepted, found = fuzz(seconds=0, seed=seed, least=100 * len(READERS))  # `make fuzz` takes five minutes
    assert found == []
    assert {name: count >= 100 for name, count in counts.items()} == dict.fromkeys(READERS, True)
    assert accepted.total() < counts.total() / 2


def test_an_error_that_is_not_typed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(READERS["provenance"], read=lambda data: data.index(b"none"))
    monkeypatch.setitem(READERS, "provenance", broken)
    accepted, found = check("provenance", b"{}")
    assert (accepted, found) == (False, Found("provenance", b"{}", "ValueError: subsection not found"))


def test_a_run_is_reproducible_by_its_seed() -> None:
    for reader in READERS.values():
        assert reader.generate(Mutations(random.Random(1))) == reader.generate(Mutations(random.Random(1)))
