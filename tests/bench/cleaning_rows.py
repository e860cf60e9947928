"""What cleaning costs by kind: documents of texts and of records of the evaluation, which the process has not seen.

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
from typing import Any

from cortex_skills.enrichment import sanitize_enrichment
from tests.bench.measure import Row
from tests.eval.__main__ import records_in
from tests.eval.__main__ import rows as labelled

# Characters of a document, its names with them; of texts, as many documents as tell of a kind.
_SIZE, _ENOUGH = 3_300, 4
_SEED = 9


def rows() -> list[Row]:
    """The middle kind and the dearest, of single texts and of records."""
    texts = {kind: times for kind, times in by_kind(_texts()).items() if len(times) >= _ENOUGH}
    return [*_rows("facts", texts), *_rows("records", by_kind(_records()))]


def _rows(what: str, taken: dict[str, list[float]]) -> list[Row]:
    middle = {kind: median(times) for kind, times in taken.items()}
    kinds = sorted(middle, key=lambda kind: middle[kind])
    return [
        Row(
            f"cleaning 3 to 4 KB, the {which} kind of {what} ({kind})",
            middle[kind],
            "what is allowed",
            1.0,
            1,
            unit="ms",
        )
        for which, kind in (("middle", kinds[len(kinds) // 2]), ("dearest", kinds[-1]))
    ]


def by_kind(found: dict[str, list[str]]) -> dict[str, list[float]]:
    """Milliseconds of CPU that documents take, by kind."""
    order = [(kind, document) for kind, documents in found.items() for document in documents]
    random.Random(_SEED).shuffle(order)
    taken: dict[str, list[float]] = {}
    for place, (kind, document) in enumerate(order):
        start = time.process_time()
        sanitize_enrichment(document)
        if place > len(order) // 3:
            taken.setdefault(kind, []).append((time.process_time() - start) * 1e3)
    return taken


def _texts() -> dict[str, list[str]]:
    """Documents of single texts, each under a name of its own."""
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


def _records() -> dict[str, list[str]]:
    """Documents of records, as many of a kind as fit."""
    found: dict[str, list[str]] = {}
    left: dict[str, list[Any]] = {}
    for row in labelled("records"):
        for record in records_in(row):
            some = left.setdefault(row["kind"], [])
            some.append(record)
            if len(json.dumps(some, ensure_ascii=False)) > _SIZE:
                found.setdefault(row["kind"], []).append(json.dumps(left.pop(row["kind"]), ensure_ascii=False))
    return found
