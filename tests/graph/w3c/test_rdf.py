"""The suites of the W3C for RDF formats, as imports read them; `docs/conformance.md` has the numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_graph import GraphError
from tests.docs.conformance_page import counts_of
from tests.graph.w3c.manifests import SUITES, Case, cases
from tests.graph.w3c.rdf_cases import run

pytestmark = pytest.mark.skipif(not SUITES.is_dir(), reason="the suites are not there: python -m tests.graph.w3c.fetch")

ROWS = {"N-Triples": "ntriples", "N-Quads": "nquads", "Turtle": "turtle", "TriG": "trig", "RDF/XML": "rdf-xml"}
# RDF 1.0 demands the canonical form of XML literals, RDF 1.1 does not.
OTHERS = {
    "xml-canon-test001": "older edition",
    "localName_with_assigned_nfc_PN_CHARS_BASE_character_boundaries": "no IRI of RFC 3987",
}


def passes(case: Case, folder: Path) -> bool:
    try:
        run(case, folder)
    except (GraphError, SyntaxError):
        return "Negative" in case.kind
    except AssertionError:
        return False
    return "Negative" not in case.kind


@pytest.mark.parametrize("row", ROWS)
def test_each_case_passes_or_has_a_reason(row: str, tmp_path: Path) -> None:
    found = cases(ROWS[row])
    failed = [case.name for case in found if not passes(case, tmp_path)]
    assert set(failed) == {case.name for case in found} & OTHERS.keys()
    assert counts_of(row) == (len(found) - len(failed), len(failed))
