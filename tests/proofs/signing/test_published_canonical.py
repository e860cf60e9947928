"""The published tests of RDF Dataset Canonicalization (`published/manifest.jsonld`), byte for byte.

The tests of the map from old to new labels are not run: nothing here returns it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Dataset, RdfFormat, parse

from cortex_skills.features.proofs.signing import UnsupportedError
from cortex_skills.features.proofs.signing.canonical import canonical
from tests.docs.conformance_page import counts_of

FOLDER = Path(__file__).parent / "published"
KINDS = ("rdfc:RDFC10EvalTest", "rdfc:RDFC10NegativeEvalTest")
CASES: dict[str, dict[str, Any]] = {
    entry["id"]: entry
    for entry in json.loads((FOLDER / "manifest.jsonld").read_text(encoding="utf-8"))["entries"]
    if entry["type"] in KINDS
}
SHA_384 = {name for name, entry in CASES.items() if entry.get("hashAlgorithm") == "SHA384"}


def dataset(name: str) -> Dataset:
    return Dataset(parse((FOLDER / CASES[name]["action"]).read_bytes(), RdfFormat.N_QUADS))


@pytest.mark.parametrize("name", sorted(CASES.keys() - SHA_384))
def test_a_published_dataset_has_its_canonical_form_or_is_refused_as_it_must_be(name: str) -> None:
    if CASES[name]["type"] == "rdfc:RDFC10NegativeEvalTest":
        with pytest.raises(UnsupportedError):
            canonical(dataset(name))
    else:
        assert canonical(dataset(name)) == (FOLDER / CASES[name]["result"]).read_bytes()


def test_the_counts_are_those_of_the_page() -> None:
    assert counts_of("RDFC-1.0") == (len(CASES) - len(SHA_384), len(SHA_384))
