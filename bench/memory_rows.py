"""The row of memories: an agent with 100,000 memories on disk remembers one more and recalls."""

from __future__ import annotations

import random
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import accumulate, count
from pathlib import Path

import tantivy

from bench.measure import Row, in_turn_s
from cortex_graph import NamespacedGraph, open_store
from cortex_graph.memory_graphs import memory_id
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.memory_triples import triples_of
from cortex_skills.features.memory.model import NewMemory
from cortex_skills.features.memory.requests import memory_query

MEMORIES = 100_000
WORDS = 20_000
LENGTH = 20
ROUNDS = 40
_CHUNK = 2000


def rows() -> list[Row]:
    """All rows."""
    words = _vocabulary()
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(str(Path(scratch, "store")))
        try:
            graph = NamespacedGraph(store, "bench")
            texts = _fill(graph, words)
            return [_remembered(graph, texts, words[99])]
        finally:
            store.close()


def _remembered(graph: NamespacedGraph, texts: list[str], word: str) -> Row:
    memories = Memories(graph)
    memories.recall(memory_query(word), agent="a1", timeout_s=600)
    raw = _RawIndex(texts)
    numbers = count()

    def ours() -> None:
        memories.remember(NewMemory(f"{next(numbers)} {word}", 0.5, ()), agent="a1")
        memories.recall(memory_query(word), agent="a1")

    def theirs() -> None:
        raw.add(f"{next(numbers)} {word}")
        raw.search(word)

    figure, reference = "remember, then recall among 100,000", "tantivy's own add, commit, reload, search"
    mine, its = in_turn_s([ours, theirs], 1, rounds=ROUNDS)
    return Row(figure, mine, reference, its, 1.3)


class _RawIndex:
    """An index of the same texts in tantivy, without the plugin."""

    def __init__(self, texts: list[str]) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("words", tokenizer_name="en_stem", index_option="freq")
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema)
        self._writer = self._index.writer(15_000_000, 1)
        for text in texts:
            self._writer.add_document(tantivy.Document(words=text))
        self._writer.commit()

    def add(self, text: str) -> None:
        """Add a text and make it searchable."""
        self._writer.add_document(tantivy.Document(words=text))
        self._writer.commit()
        self._index.reload()

    def search(self, word: str) -> object:
        """The 200 best matches, which is what a recall ranks."""
        query = tantivy.Query.term_query(self._schema, "words", word, "freq")
        return self._index.searcher().search(query, limit=200, count=False).hits


def _vocabulary() -> list[str]:
    chance = random.Random(1)
    return ["w" + "".join(chance.choices("bcdfgklmnprt", k=6)) for _ in range(WORDS)]


def _fill(graph: NamespacedGraph, words: list[str]) -> list[str]:
    """Write memories over a year with words in a Zipf distribution. Returns their texts."""
    chance = random.Random(2)
    weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
    now = datetime.now(UTC)
    texts = []
    own = AgentGraph(graph, "a1")
    key = own.make_key()
    for begin in range(0, MEMORIES, _CHUNK):
        triples = []
        for number in range(begin, begin + _CHUNK):
            text = f"{number} {' '.join(chance.choices(words, cum_weights=weights, k=LENGTH))}"
            texts.append(text)
            moment = now - timedelta(minutes=5 * (MEMORIES - number))
            new = NewMemory(text, round(chance.random(), 2), ())
            triples += triples_of(own, memory_id(key, text), new, "bench", moment)
        own.create_triples(triples)
    return texts
