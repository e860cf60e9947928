"""What cleaning costs: documents of the evaluation that the process has not seen, by kind, and with attacks in them.

Rules kept here:
- a document is cleaned once, and holds texts that no other does, so that nothing is remembered but words;
- as in a process that has worked a while, a third of the documents comes first and is not measured;
- some processes clean them in different orders: what the collector of cycles takes falls on other documents in each;
- CPU time; the kinds are told by their middle document: the middle kind, and the dearest;
- attacks stand among plain facts, since what is taken out is what costs then.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from statistics import median
from typing import Any

from cortex_skills.enrichment import sanitize_enrichment
from tests.bench.measure import Row
from tests.eval.__main__ import records_in
from tests.eval.__main__ import rows as labelled

# Characters of a document, its names with them; of texts, as many documents as tell of a kind.
_SIZE, _ENOUGH = 3_300, 4
_SEED, _PROCESSES = 9, 5
_FACTS, _ATTACKS, _DOCUMENTS, _LONGEST = 44, 3, 90, 400


def rows() -> list[Row]:
    """The middle kind and the dearest, of single texts and of records; and facts with attacks among them."""
    taken: dict[str, dict[str, list[float]]] = {}
    for order in range(_PROCESSES):
        told = subprocess.run([sys.executable, "-m", __name__, str(order)], check=True, capture_output=True, text=True)
        for what, kinds in json.loads(told.stdout).items():
            for kind, times in kinds.items():
                taken.setdefault(what, {}).setdefault(kind, []).extend(times)
    attacked = median(taken.pop("attacked")["attacked"])
    enough = {kind: times for kind, times in taken["facts"].items() if len(times) >= _ENOUGH * _PROCESSES}
    return [
        *_rows("facts", enough),
        *_rows("records", taken["records"]),
        _row(f"cleaning 4 KB of facts with {_ATTACKS} attacks among them", attacked),
    ]


def _rows(what: str, taken: dict[str, list[float]]) -> list[Row]:
    middle = {kind: median(times) for kind, times in taken.items()}
    kinds = sorted(middle, key=lambda kind: middle[kind])
    return [
        _row(f"cleaning 3 to 4 KB, the {which} kind of {what} ({kind})", middle[kind])
        for which, kind in (("middle", kinds[len(kinds) // 2]), ("dearest", kinds[-1]))
    ]


def _row(figure: str, ms: float) -> Row:
    return Row(figure, ms, "what is allowed", 1.0, 1, unit="ms")


def by_kind(found: dict[str, list[str]], seed: int) -> dict[str, list[float]]:
    """Milliseconds of CPU that documents take, by kind, in an order that the seed tells."""
    order = [(kind, document) for kind, documents in found.items() for document in documents]
    random.Random(seed).shuffle(order)
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


def plain_facts(numbers: Iterable[int]) -> list[str]:
    """Short facts, another one for each number."""
    return [f"The bridge {n} over the river was opened in {1700 + n} and is {n % 90} m long." for n in numbers]


def _attacked() -> list[str]:
    """Documents of plain facts, and some attacks that the rules were tuned on."""
    attacks = [row["text"] for row in labelled("attacks") if row["split"] == "dev" and row["kind"] != "split"]
    chance = random.Random(_SEED)
    left = chance.sample([text for text in attacks if len(text) < _LONGEST], _DOCUMENTS * _ATTACKS)
    documents = []
    for number in range(_DOCUMENTS):
        texts = plain_facts(range(number * _FACTS, (number + 1) * _FACTS))
        for _ in range(_ATTACKS):
            texts.insert(chance.randrange(len(texts)), left.pop())
        documents.append(json.dumps({f"fact {place}": text for place, text in enumerate(texts)}, ensure_ascii=False))
    return documents


def _main() -> None:
    found = {"facts": _texts(), "records": _records(), "attacked": {"attacked": _attacked()}}
    taken = {what: by_kind(documents, int(sys.argv[1])) for what, documents in found.items()}
    json.dump(taken, sys.stdout)


if __name__ == "__main__":
    _main()
