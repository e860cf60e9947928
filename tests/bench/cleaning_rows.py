"""What cleaning costs by kind of text: documents of the evaluation set, which the process has not seen before.

Rules kept here:
- a document is cleaned once, and holds texts that no other does, so that nothing is remembered but words;
- as in a process that has worked a while, a third of the documents comes first and is not measured;
- CPU time; the kinds are told by their middle document: the middle kind, and the dearest.
"""

from __future__ import annotations

import json
import random
import time
from statistics import median

from cortex_skills.enrichment import sanitize_enrichment
from tests.bench.measure import Row
from tests.eval.__main__ import rows as labelled

# Characters of a document, its names with them; as many documents as tell of a kind.
_SIZE, _ENOUGH = 3_300, 4
_SEED = 9


def rows() -> list[Row]:
    """The middle kind and the dearest."""
    taken = by_kind()
    kinds = sorted(taken, key=lambda kind: taken[kind])
    return [
        Row(f"cleaning 3 to 4 KB, {what} ({kind})", taken[kind], "what is allowed", 1.0, 1, unit="ms")
        for what, kind in (("the middle kind of facts", kinds[len(kinds) // 2]), ("the dearest kind", kinds[-1]))
    ]


def by_kind() -> dict[str, float]:
    """Milliseconds of CPU that the middle document of each kind takes."""
    order = [(kind, document) for kind, documents in _documents().items() for document in documents]
    random.Random(_SEED).shuffle(order)
    taken: dict[str, list[float]] = {}
    for place, (kind, document) in enumerate(order):
        start = time.process_time()
        sanitize_enrichment(document)
        if place > len(order) // 3:
            taken.setdefault(kind, []).append((time.process_time() - start) * 1e3)
    return {kind: median(times) for kind, times in taken.items() if len(times) >= _ENOUGH}


def _documents() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    left: dict[str, dict[str, str]] = {}
    texts = labelled("benign")
    random.Random(_SEED).shuffle(texts)
    for number, row in enumerate(texts):
        members = left.setdefault(row["kind"], {})
        members[f"fact {number}"] = row["text"]
        if sum(map(len, members)) + sum(map(len, members.values())) > _SIZE:
            found.setdefault(row["kind"], []).append(json.dumps(left.pop(row["kind"]), ensure_ascii=False))
    return found
