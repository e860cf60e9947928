"""`SchemaCounters`: how much of what a graph has, as sums over the shapes of its subjects.

Rules kept here:
- adding the shapes of all subjects, in any order, or replacing some of them, gives the same numbers;
- an example is of a subject that is counted. When that one is replaced, it is one of its new values, or that of another
  subject (`without_example`, `set_example`);
- a subject of several classes counts in each of them; one without a class, in the class None;
- graphs with more than `MAX_USES` pairs of a class and a predicate are not counted so (`is_too_large`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

import orjson
from pyoxigraph import NamedNode

from cortex_graph.index.schema_in_use import (
    MAX_CLASSES,
    MAX_LANGUAGES,
    MAX_PREDICATES,
    ClassInUse,
    KindInUse,
    PredicateInUse,
    SchemaInUse,
)
from cortex_skills.features.finder.subject_shapes import Example, Kind, Shape

MAX_USES = 20_000

Use = tuple[str, str]  # a class, empty for none, and a predicate


@dataclass(slots=True)
class _Kind:
    """Values of a kind: how many, an example, and the subject that has it; empty without one."""

    count: int = 0
    example: Example = ("", "")
    subject: str = ""


@dataclass(slots=True)
class _Use:
    """How many subjects have so many values, and the kinds of the values."""

    having: Counter[int] = field(default_factory=Counter)
    kinds: dict[Kind, _Kind] = field(default_factory=dict)


class SchemaCounters:
    """The counters of one graph. Not safe for concurrent use."""

    def __init__(self) -> None:
        self._subjects: Counter[str] = Counter()  # by class
        self._uses: dict[Use, _Use] = {}
        self._languages: Counter[str] = Counter()
        self._triples = 0
        self._cut = 0

    @property
    def is_too_large(self) -> bool:
        """Whether there are more classes and predicates than are kept."""
        return len(self._uses) > MAX_USES

    def add(self, subject: str, shape: Shape) -> None:
        """Count a subject."""
        self._count(shape, 1)
        for of in shape.classes or ("",):
            for (predicate, kind), example in shape.examples.items():
                found = self._uses[of, predicate].kinds[kind]
                if not found.subject:
                    found.example, found.subject = example, subject

    def discard(self, subject: str, shape: Shape) -> None:
        """Do not count a subject any more."""
        self._count(shape, -1)
        for of in shape.classes or ("",):
            for predicate, kind in shape.kinds:
                if (use := self._uses.get((of, predicate))) is None or (found := use.kinds.get(kind)) is None:
                    continue
                if found.subject == subject:
                    found.example, found.subject = ("", ""), ""

    def _count(self, shape: Shape, sign: int) -> None:
        self._triples += sign * sum(shape.values.values())
        self._cut += sign * shape.is_cut
        _sum(self._languages, shape.languages, sign)
        for of in shape.classes or ("",):
            _sum(self._subjects, {of: 1}, sign)
            for predicate, values in shape.values.items():
                use = self._uses.setdefault((of, predicate), _Use())
                _sum(use.having, {values: 1}, sign)
                if not use.having:
                    del self._uses[of, predicate]
            for (predicate, kind), count in shape.kinds.items():
                if (counted := self._uses.get((of, predicate))) is not None:
                    found = counted.kinds.setdefault(kind, _Kind())
                    found.count += sign * count
                    if not found.count:
                        del counted.kinds[kind]

    def without_example(self) -> Iterator[tuple[Use, Kind]]:
        """What has no example."""
        for of, use in self._uses.items():
            for kind, found in use.kinds.items():
                if not found.subject:
                    yield of, kind

    def set_example(self, use: Use, kind: Kind, example: Example, subject: str) -> None:
        """Set the example of a kind of values, and the subject that has it."""
        found = self._uses[use].kinds[kind]
        found.example, found.subject = example, subject

    def written(self) -> bytes:
        """The counters, for `counters_in`."""
        uses = [
            [
                *of,
                [*use.having.items()],
                [[*kind, each.count, *each.example, each.subject] for kind, each in use.kinds.items()],
            ]
            for of, use in self._uses.items()
        ]
        return orjson.dumps([self._subjects, uses, self._languages, self._triples, self._cut])

    def schema(self, first: str, last: str, counted_at: datetime) -> SchemaInUse:
        """The most used classes and predicates.

        Args:
            first: when the earliest statement was asserted.
            last: when the latest one was.
            counted_at: the moment of the counters.
        """
        largest = sorted(self._subjects.items(), key=lambda each: (not each[0], -each[1], each[0]))
        used = sorted(self._uses.items(), key=lambda each: (-each[1].having.total(), each[0]))
        predicates: dict[str, list[PredicateInUse]] = {}
        for (of, predicate), use in islice(used, MAX_PREDICATES):
            predicates.setdefault(of, []).append(_predicate(predicate, use))
        return SchemaInUse(
            triples=self._triples,
            classes=tuple(
                ClassInUse(NamedNode(of) if of else None, subjects, tuple(predicates.get(of, ())))
                for of, subjects in largest[:MAX_CLASSES]
            ),
            languages=tuple(language for language, _ in self._languages.most_common(MAX_LANGUAGES)),
            first=first,
            last=last,
            is_exact=not self._cut and len(largest) <= MAX_CLASSES and len(used) <= MAX_PREDICATES,
            counted_at=counted_at,
        )


def counters_in(data: bytes) -> SchemaCounters:
    """The counters that were written."""
    found = SchemaCounters()
    subjects, uses, languages, found._triples, found._cut = orjson.loads(data)
    found._subjects, found._languages = Counter(subjects), Counter(languages)
    for of, predicate, having, kinds in uses:
        by_kind = {
            (is_node, kind): _Kind(count, (text, language), subject)
            for is_node, kind, count, text, language, subject in kinds
        }
        found._uses[of, predicate] = _Use(Counter(dict(having)), by_kind)
    return found


def _predicate(predicate: str, use: _Use) -> PredicateInUse:
    kinds = sorted(use.kinds.items(), key=lambda each: (-each[1].count, each[0][1]))
    return PredicateInUse(
        NamedNode(predicate),
        subjects=use.having.total(),
        triples=sum(values * subjects for values, subjects in use.having.items()),
        most=max(use.having),
        values=tuple(KindInUse(NamedNode(kind), each.count, node, *each.example) for (node, kind), each in kinds),
    )


def _sum(counter: Counter[Any], more: Mapping[Any, int], sign: int) -> None:
    """Add to a counter, in which no number is 0."""
    for key, count in more.items():
        counter[key] += sign * count
        if not counter[key]:
            del counter[key]
