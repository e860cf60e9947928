"""How well memories are recalled: the turns of conversations that answer questions, by words and by meaning.

`python -m eval.recall FILE …` prints the mean share of the evidence among the first 5, 10 and 20 memories.

Rules kept here:
- a file has the public form of LoCoMo (Maharana et al., 2024): a conversation, or a list of samples with one each as
  `conversation`. That has sessions `session_1`, … of turns with `speaker`, `text`, `dia_id` and perhaps `blip_caption`,
  their times `session_1_date_time`, and questions (`qa`) with the ids of the turns that answer them (`evidence`). No
  such file is part of the project;
- each turn is a memory, `SPEAKER: TEXT`, of one agent for each conversation, at the time of its session and `TURN_S`
  after the turn before; each question is recalled as it is, at the time of the last turn;
- questions without evidence are not counted.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.static_vectors import StaticVectors
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.model import MemoryQuery, NewMemory
from cortex_skills.features.memory.requests import MAX_QUERY, MAX_TEXT

FIRST = (5, 10, 20)
TURN_S = 20
IMPORTANCE = 0.5
_TURN = re.compile(r"D\d+:\d+")
_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class Turn:
    """A text of a speaker, and its time."""

    id: str
    text: str
    time: datetime


@dataclass(frozen=True)
class Question:
    """A question, and the ids of the turns that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    """Turns in their order, and questions about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def conversations(path: Path) -> Iterator[Conversation]:
    """The conversations of a file."""
    read = json.loads(path.read_text(encoding="utf-8"))
    for number, sample in enumerate(read if isinstance(read, list) else [read], start=1):
        turns = tuple(_turns(sample.get("conversation", sample)))
        known = {turn.id for turn in turns}
        asked = sample.get("qa", ())
        found = ((each["question"], known & set(_TURN.findall(" ".join(each["evidence"])))) for each in asked)
        questions = tuple(Question(text[:MAX_QUERY], frozenset(evidence)) for text, evidence in found if evidence)
        yield Conversation(str(sample.get("sample_id", f"{path.stem} {number}")), turns, questions)


def _turns(given: dict[str, Any]) -> Iterator[Turn]:
    for name in sorted((key for key in given if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
        time = datetime.strptime(given[f"{name}_date_time"], _TIME).replace(tzinfo=UTC)
        for number, turn in enumerate(given[name]):
            caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{caption}"[:MAX_TEXT].strip()
            yield Turn(turn["dia_id"], text, time + timedelta(seconds=TURN_S * number))


def shares(conversation: Conversation, embedder: Embedder | None) -> list[list[float]]:
    """For each question the shares of its evidence among the first memories (`FIRST`)."""
    now = [conversation.turns[0].time]
    store = open_store("memory:")
    try:
        memories = Memories(NamespacedGraph(store, "eval"), lambda: now[0], embedder)
        turn_of: dict[str, str] = {}
        for turn in conversation.turns:
            now[0] = turn.time
            identifier, _ = memories.remember(NewMemory(turn.text, IMPORTANCE, ()), agent="a1")
            turn_of.setdefault(identifier, turn.id)
        found = []
        for question in conversation.questions:
            recalled = memories.recall(MemoryQuery(question.text, max(FIRST), 0.0), agent="a1", timeout_s=600).found
            ids = [turn_of[memory.id] for memory, _ in recalled]
            found.append([len(question.evidence.intersection(ids[:k])) / len(question.evidence) for k in FIRST])
        return found
    finally:
        store.close()


def table(given: Iterable[Conversation]) -> Iterator[str]:
    """The lines of the table."""
    yield f"| conversation | turns | questions | found by | {' | '.join(f'first {k}' for k in FIRST)} |"
    yield "|---|---|---|---|" + "---|" * len(FIRST)
    embedders: Sequence[tuple[str, Embedder | None]] = (("words", None), ("words and meaning", StaticVectors()))
    every: dict[str, list[list[float]]] = {name: [] for name, _ in embedders}
    turns = 0
    for conversation in given:
        turns += len(conversation.turns)
        for name, embedder in embedders:
            of_one = shares(conversation, embedder)
            every[name] += of_one
            yield _line(conversation.name, len(conversation.turns), name, of_one)
    for name, of_all in every.items():
        yield _line("all", turns, name, of_all)


def _line(conversation: str, turns: int, by: str, found: Sequence[Sequence[float]]) -> str:
    means = " | ".join(f"{fmean(column):.3f}" for column in zip(*found, strict=True))
    return f"| {conversation} | {turns:,} | {len(found):,} | {by} | {means or '-'} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m eval.recall", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="conversations, as JSON in the form of LoCoMo")
    options = parser.parse_args()
    for line in table(each for path in options.files for each in conversations(path)):
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
