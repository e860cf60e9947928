"""Rows of Proofs of Logic: the time of one proof, and that it does not grow with the graph.

Rules kept here:
- a verified proof is evaluated, signed, and replayed on an on-disk graph; another row writes an assertion with its
  proof;
- the sizes alternate, and the minimum of many rounds counts;
- shapes are evaluated in another process and timed by the wall clock, the core rules by CPU time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from bench.measure import Row, in_turn_s
from bench.stores import Shape, cache, copy_of
from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_skills.features.proofs.logic.prover import Prover
from cortex_skills.features.proofs.logic.shacl_engine import ENGINE
from cortex_skills.features.proofs.logic.verify import verify
from cortex_skills.skill_folder.rule_set import RuleSet, read_rules
from tests.configs import config

SMALL, LARGE = Shape(1_000), Shape(1_000_000)
ROUNDS, BATCH = 40, 10
ORIGIN = Provenance(skill="bench", skill_version="1.0.0", agent="a1")
# Constraints on the subject of the statement: cardinality, enumeration, a property path, and a SPARQL query.
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <urn:cortex:mayros:> .
:S a sh:NodeShape ; sh:targetSubjectsOf :isVerified ;
    sh:property [ sh:path :isVerified ; sh:maxCount 1 ; sh:datatype xsd:boolean ] ,
        [ sh:path :hasStatus ; sh:minCount 1 ; sh:in ( "approved" "pending" "rejected" ) ] ,
        [ sh:path ( :bought [ sh:inversePath :recalled ] ) ; sh:maxCount 0 ] ;
    sh:sparql [ sh:select "SELECT $this { $this <urn:cortex:mayros:hasBalance> ?b FILTER(?b < 0) }" ] .
"""


def rows() -> list[Row]:
    """All rows."""
    cache().mkdir(parents=True, exist_ok=True)
    rules = read_rules(SHAPES, "skill:bench")
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        folder = Path(scratch)
        graphs = [NamespacedGraph(open_store(str(copy_of(s, folder / s.name))), "mayros") for s in (SMALL, LARGE)]
        provers = [Prover(config(proofs={"keys": str(folder / "keys")}), graph) for graph in graphs]
        least = partial(in_turn_s, batch=BATCH, rounds=ROUNDS, of=min)
        proofs = [_proof(*each) for each in zip(provers, graphs, strict=True)]
        small, large = least(proofs, clock=time.process_time)
        written = least([_assertion(prover, None) for prover in provers], clock=time.process_time)
        shaped = least([_assertion(prover, rules) for prover in provers])
        for graph in graphs:
            graph.store.close()
    ENGINE.close()
    one = "a verified PoL, core rules: judged, signed, replayed"
    return [
        Row(one, small, "allowed", 1e-3, 1),
        Row(f"{one}, at {LARGE}", large, f"itself at {SMALL}", small, 1.3),
        Row(f"an assertion written with its PoL, core rules, at {LARGE}", written[1], f"at {SMALL}", written[0], 1.3),
        Row(
            f"an assertion written with its PoL, shapes of its node, at {LARGE}",
            shaped[1],
            f"at {SMALL}",
            shaped[0],
            1.3,
        ),
    ]


def _proof(prover: Prover, graph: NamespacedGraph) -> Callable[[], object]:
    number = count()

    def work() -> object:
        n = next(number)
        quad = graph.quad_of({"subject": f"customer:{n % 40}", "predicate": "isVerified", "object": True})
        evaluation, _ = prover.evaluate(quad, None)
        document, _ = prover.prove(quad, evaluation, skill="bench", version="1.0.0")
        return verify(document, graph)

    return work


def _assertion(prover: Prover, rules: RuleSet | None) -> Callable[[], object]:
    number = count()

    def work() -> object:
        n = next(number)
        # A new statement each time, about a customer that exists in both graphs.
        subject, predicate = (f"customer:{n % 40}", f"isKnown{n}") if rules is None else (f"new:{n}", "isVerified")
        if rules is not None:
            prover.graph.create_triple({"subject": subject, "predicate": "hasStatus", "object": "pending"})
        return prover.assert_proved({"subject": subject, "predicate": predicate, "object": True}, ORIGIN, rules)

    return work
