"""The suite of the W3C for SHACL, in the confined process; `docs/conformance.md` has the numbers."""

from __future__ import annotations

import pytest

from tests.docs.conformance_page import counts_of
from tests.proofs.logic.shacl_cases import SUITES, cases, passes

pytestmark = pytest.mark.skipif(not SUITES.is_dir(), reason="the suites are not there: python -m tests.graph.w3c.fetch")

ROWS = {"SHACL Core": "core", "SHACL-SPARQL": "sparql"}
# docs/conformance.md gives the reasons.
OTHERS = {
    "core/complex/shacl-shacl",
    "core/misc/severity-002",
    "core/node/minLength-001",
    "core/property/qualifiedValueShape-001",
    "sparql/component/validator-001",
    "sparql/node/prefixes-001",
    "sparql/pre-binding/shapesGraph-001",
}


@pytest.mark.slow
@pytest.mark.parametrize("row", ["SHACL Core", pytest.param("SHACL-SPARQL", marks=pytest.mark.extended)])
def test_each_case_passes_or_has_a_reason(row: str) -> None:
    found = list(cases(SUITES / ROWS[row] / "manifest.ttl"))
    failed = {case.name for case in found if not passes(case)}
    assert failed == {case.name for case in found} & OTHERS
    assert counts_of(row) == (len(found) - len(failed), len(failed))
