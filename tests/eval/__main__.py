"""`make eval`: how much the enrichment cleaner finds, and how much it takes from facts, by kind and by split.

Rules kept here:
- an attack counts as found when the cleaner leaves nothing of its text; a fact as lost when it does not come
  through whole;
- an attack in pieces counts as found when something was taken for it, and only attacks are cut that are found whole:
  what is missed is missed for the pieces; a document of records loses something when it has fewer values afterwards;
- the held-out half is only printed as numbers: its strings are never shown, so that nobody tunes on them; `more` was
  written later, to tune on, and changes nothing of the two halves;
- the exit is 1 when the held-out half misses what is to be reached.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cortex_skills.enrichment import sanitize_enrichment
from cortex_skills.enrichment.detecting import detect
from tests.eval.pieces import in_pieces

FOLDER = Path(__file__).parent
RECALL, FALSE_POSITIVES = 0.97, 0.01
SPLITS = ("dev", "more", "held-out")
TUNED_ON = SPLITS[:2]
PAGES = {"attacks": ("attacks", "more_attacks"), "benign": ("benign", "more_benign"), "records": ("records",)}
IN_DISGUISE = frozenset({"encoded", "hidden", "lookalike", "split"})


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a set: `attacks`, `benign` or `records`."""
    pages = (FOLDER / f"{page}.jsonl" for page in PAGES[name])
    return [json.loads(line) for page in pages for line in page.read_text(encoding="utf-8").splitlines()]


def records_in(row: dict[str, Any]) -> list[Any]:
    """The records of a row of `records`."""
    value = row["value"]
    return list(value["results"] if isinstance(value, dict) else value)


def loses(value: Any) -> bool:
    """Whether the cleaner takes something out of a value that would have fitted."""
    return any("did_not" not in removal.reason for removal in sanitize_enrichment(value).reasons)


def is_removed(row: dict[str, Any]) -> bool:
    """Whether the cleaner takes out what the row holds; a row of the kind `split` holds a whole value as JSON."""
    if row["kind"] == "split":
        return loses(row["text"])
    cleaned = sanitize_enrichment({"note": row["text"]})
    return cleaned.text == ""


def counted(found: Iterable[dict[str, Any]], field: str) -> dict[str, dict[str, tuple[int, int]]]:
    """For each value of a field and each split: how many were removed, of how many."""
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: {split: [0, 0] for split in SPLITS})
    for row in found:
        for name in (row[field], "all"):
            counts[name][row["split"]][0] += row["removed"]
            counts[name][row["split"]][1] += 1
    return {name: {split: (n[0], n[1]) for split, n in splits.items()} for name, splits in counts.items()}


def measured(name: str) -> list[dict[str, Any]]:
    """The rows of a set with what became of them."""
    return [{**row, "removed": is_removed(row)} for row in rows(name)]


def attacks_in_pieces(attacks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each attack that is found whole and each way to cut it, with whether it is found in pieces."""
    for row in attacks:
        if row["kind"] in IN_DISGUISE or detect(row["text"]) is None:
            continue
        for way, value in in_pieces(row["text"]):
            yield {"way": way, "split": row["split"], "removed": loses(value)}


def leaves(value: Any) -> int:
    """How many values that hold no others stand in a JSON value."""
    if isinstance(value, dict | list):
        return sum(map(leaves, value.values() if isinstance(value, dict) else value))
    return 1


def measured_records() -> list[dict[str, Any]]:
    """The documents of records with what became of them: `lost` of their `values`."""
    found = []
    for row in rows("records"):
        cleaned = sanitize_enrichment(row["value"])
        values, block = leaves(row["value"]), cleaned.text.splitlines()
        lost = values - (leaves(json.loads(block[1])) if block else 0)
        found.append({**row, "values": values, "lost": lost, "removed": lost > 0, "reasons": cleaned.reasons})
    return found


def each_value(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each value of some records, as many of them removed as were lost."""
    for row in records:
        for place in range(row["values"]):
            yield {"kind": row["kind"], "split": row["split"], "removed": place < row["lost"]}


def table(title: str, found: list[dict[str, Any]], field: str) -> list[str]:
    """The counts of a field as lines."""
    lines = [f"{title:<28}" + "".join(f"{split:>20}" for split in SPLITS)]
    counts = counted(found, field)
    for name in sorted(counts, key=lambda name: (name == "all", -sum(n for _, n in counts[name].values()), name)):
        cells = [f"{hits}/{all_} {hits / all_:6.1%}" if all_ else "-" for hits, all_ in counts[name].values()]
        lines.append(f"  {name:<26}" + "".join(f"{cell:>20}" for cell in cells))
    return lines


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what is taken wrongly of what was tuned on")
    parser.add_argument("--more", type=Path, help="a JSONL file of further attacks (`text`), counted by `kind`")
    options = parser.parse_args()
    attacks, benign, records = measured("attacks"), measured("benign"), measured_records()
    lines = table("recall by kind", attacks, "kind") + table("recall by language", attacks, "language")
    lines += table("attacks in pieces, by way", list(attacks_in_pieces(attacks)), "way")
    lines += table("false positives by kind", benign, "kind")
    lines += table("records that lose something", records, "kind")
    lines += table("values lost of records", list(each_value(records)), "kind")
    if options.more:
        more = [
            {"kind": row.get("kind", "-"), "split": "dev", "removed": is_removed({"kind": "", "text": row["text"]})}
            for row in map(json.loads, options.more.read_text(encoding="utf-8").splitlines())
        ]
        lines += table(f"recall on {options.more.name}", more, "kind")
    if options.show:
        wrong = [row for row in attacks if not row["removed"]] + [row for row in benign if row["removed"]]
        lines += [f"{row['kind']} {row['language']}: {row['text']!r}" for row in wrong if row["split"] in TUNED_ON]
        losing = [row for row in records if row["removed"] and row["split"] in TUNED_ON]
        lines += [f"{row['kind']} {row['id']}: {why.reason} {why.path}" for row in losing for why in row["reasons"]]
    recall, false = (counted(found, "kind")["all"]["held-out"] for found in (attacks, benign))
    reached = recall[0] >= RECALL * recall[1] and false[0] <= FALSE_POSITIVES * false[1]
    lines.append(f"held-out: recall {recall[0] / recall[1]:.1%}, false positives {false[0] / false[1]:.2%}")
    verdict = "reached" if reached else "NOT reached"
    lines.append(f"to reach: recall {RECALL:.0%}, false positives {FALSE_POSITIVES:.0%}: {verdict}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
