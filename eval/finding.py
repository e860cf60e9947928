"""How well skills are found: the labelled questions, among other skills, by words and by meaning.

`python -m eval.finding` prints a table; `--show` also the questions whose skill is not among the first five.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.static_vectors import StaticVectors
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.skill_finder import SkillFinder

HERE = Path(__file__).parent
OTHERS = (50, 500, 5_000)
FIRST = 10
QUESTIONS = (
    ("a stranger", "strangers_questions.tsv"),  # who saw the names of the skills alone
    ("their author", "skill_questions.tsv"),
)

_ACTIONS = (  # noqa: SIM905
    "Checks Compares Converts Counts Exports Filters Imports Labels Monitors Orders Plans Prints Records Renames "
    "Reports Schedules Simulates Sorts Stores Translates Updates Verifies Watches Archives Collects"
).split()
_THINGS = (  # noqa: SIM905 - a list would take ninety lines
    "aquarium pumps|beehive sensors|bicycle parts|board game scores|bridge inspections|bus timetables|camera lenses|"
    "cargo manifests|cheese cultures|chess openings|choir rehearsals|church archives|clay glazes|coffee roasts|comic "
    "collections|crane loads|dental appointments|dog pedigrees|drone flights|elevator logs|farm subsidies|ferry "
    "bookings|film negatives|fishing quotas|fossil finds|greenhouse vents|guitar tunings|harbour tides|herb mixtures|"
    "hiking trails|horse feed|hospital beds|ice rinks|jewellery stones|kite designs|knitting patterns|lathe programs|"
    "library loans|lighthouse signals|lock keys|marble quarries|microscope slides|milk yields|mosaic tiles|museum "
    "loans|notary deeds|nursery slots|opera costumes|orchard harvests|organ pipes|paint mixtures|parking meters|"
    "parquet floors|piano repairs|pond filters|postage stamps|pottery kilns|radio licences|railway signals|referee "
    "rosters|rope knots|satellite passes|scuba dives|seed banks|sewing machines|ski lifts|solar panels|stage lights|"
    "stone walls|sugar beets|swimming lanes|tapestry threads|taxi fares|theatre seats|timber lots|tram tracks|tree "
    "cadastres|truck tyres|tunnel fans|vaccine stocks|violin strings|voting booths|wallpaper rolls|water meters|wind "
    "turbines|wine cellars|wool grades|yacht charters|zoo enclosures|ballet classes|candle moulds|carpet looms"
).split("|")
_WAYS = (
    "for small associations",
    "for municipal offices, with a yearly summary",
    "and warns of gaps and contradictions",
    "from photographs and notes",
    "with limits that can be set",
    "and keeps a history of changes",
)


@dataclass(frozen=True)
class Figures:
    """How many of the questions have their skill in first place, among the first five and ten; mean reciprocal rank."""

    first: int
    five: int
    ten: int
    reciprocal: float
    questions: int

    def cells(self) -> str:
        """The figures as cells of a table."""
        shares = (f"{hits / self.questions:.0%}" for hits in (self.first, self.five, self.ten))
        return f"{' | '.join(shares)} | {self.reciprocal:.2f}"


def pairs(file: str) -> list[tuple[str, str]]:
    """The lines of a file: a name and a text, separated by a tab."""
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return [(name, text) for name, _, text in (line.partition("\t") for line in lines)]


def others(count: int) -> list[tuple[str, str]]:
    """Other skills, made by a program from words for actions, things and circumstances."""
    every = list(product(_ACTIONS, _THINGS, _WAYS))
    random.Random(7).shuffle(every)
    return [
        (f"{action.lower()}-{thing.replace(' ', '-')}-{number}", f"{action} {thing} {way}.")
        for number, (action, thing, way) in enumerate(every[:count])
    ]


def registry_of(skills: Sequence[tuple[str, str]]) -> SkillRegistry:
    """A registry in memory with these skills, unsigned."""
    registry = SkillRegistry(open_store("memory:"), Names("eval"), lambda: None)
    for name, description in skills:
        document = SkillDocument.checked(namespace="eval", name=name, description=description)
        registry.register(document, actor="eval", origin="human")
    return registry


def ranks(finder: SkillFinder, questions: Sequence[tuple[str, str]]) -> list[int]:
    """The place of the skill of each question, from 1; 0 when it is not among the first ten."""
    found = []
    for name, question in questions:
        names = [each.record.key.name for each in finder.find(question, FIRST, timeout_s=600).skills]
        found.append(names.index(name) + 1 if name in names else 0)
    return found


def figures(places: Sequence[int]) -> Figures:
    """The figures of the places of all questions."""
    return Figures(
        first=sum(place == 1 for place in places),
        five=sum(1 <= place <= 5 for place in places),
        ten=sum(place > 0 for place in places),
        reciprocal=sum(1 / place for place in places if place) / len(places),
        questions=len(places),
    )


def table(sizes: Sequence[int] = OTHERS, *, show: bool = False) -> Iterator[str]:
    """The lines of the table."""
    skills = pairs("skills.tsv")
    sets = [(by, pairs(file)) for by, file in QUESTIONS]
    yield f"{len(skills)} skills; " + "; ".join(f"{len(questions)} questions by {by}" for by, questions in sets)
    yield "| questions by | others | found by | first | of five | of ten | MRR |"
    yield "|---|---|---|---|---|---|---|"
    embedders: tuple[tuple[str, Embedder | None], ...] = (("words", None), ("words and meaning", StaticVectors()))
    for count in sizes:
        registry = registry_of([*skills, *others(count)])
        for (found_by, embedder), (author, questions) in product(embedders, sets):
            places = ranks(SkillFinder(registry, embedder), questions)
            yield f"| {author} | {count:,} | {found_by} | {figures(places).cells()} |"
            if show:
                yield from (
                    f"  {n}: {q}" for (n, q), place in zip(questions, places, strict=True) if not 1 <= place <= 5
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m eval.finding", description=__doc__)
    parser.add_argument(
        "--show", action="store_true", help="print the questions whose skill is not among the first five"
    )
    parser.add_argument("--others", type=int, nargs="*", default=OTHERS, help="how many other skills there are")
    options = parser.parse_args()
    for line in table(options.others, show=options.show):
        print(line)  # noqa: T201


if __name__ == "__main__":
    main()
