"""What is found is what a comparison of every resource with the query finds, before and after changes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.finder import index_follower
from cortex_skills.features.finder.entities import EntityIndex
from cortex_skills.features.finder.entity_follower import EntityFollower

LANGUAGES = {None: "english", "en": "english", "de-AT": "german", "ja": None}
TEXT = (
    "anna annas hanna ana müller Mueller Häuser haus houses housing delivery Deliveries run running łódź Zoë zoe "
    "Straße ÉTUDE etudes Ωμέγα ωμεγα Чайка чайки наука 東京 東京都 京 u990 U99 x"
)
WORDS = TEXT.split()
PREDICATES = ("rdfs:label", "note", "name")


def folded(text: str) -> str:
    text = unicodedata.normalize("NFKD", text.casefold()).replace("ł", "l")
    return "".join(char for char in text if not unicodedata.combining(char))


def split(text: str) -> list[str]:
    """Words, as the documentation states: pairs of characters in scripts without spaces."""
    found = []
    for word in re.findall(r"[^\W_]+", text):
        if word >= "\u2e80":
            found += [word[place : place + 2] for place in range(len(word) - 1)] or [word]
        else:
            found.append(word)
    return found


def stem(language: str | None, word: str) -> set[str]:
    if language is None:
        return set()
    import tantivy

    step = tantivy.Filter.stemmer(language)
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).filter(step).build()
    lower = unicodedata.normalize("NFC", word.casefold())
    return {folded(analyzer.analyze(lower)[0]), folded(analyzer.analyze(folded(word))[0])}


def edits(one: str, other: str) -> int:
    """Optimal string alignment."""
    rows = {(i, j): max(i, j) for i in range(len(one) + 1) for j in range(len(other) + 1) if not i or not j}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            rows[i, j] = min(rows[i - 1, j] + 1, rows[i, j - 1] + 1, rows[i - 1, j - 1] + (one[i - 1] != other[j - 1]))
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i, j] = min(rows[i, j], rows[i - 2, j - 2] + 1)
    return rows[len(one), len(other)]


def matches(word: str, is_last: bool, texts: list[tuple[str, str | None]], typos: bool) -> bool:
    wanted = folded(word)
    for text, language in texts:
        for other in split(text):
            its = folded(other)
            if wanted == its or stem(language, word) & stem(language, other):
                return True
            if is_last and its.startswith(wanted) and (len(wanted) > 1 or not wanted.isascii()):
                return True
            if typos and len(wanted) >= 4 and edits(wanted, its) <= 1:
                return True
    return False


def oracle(entities: dict[str, list[tuple[str, str | None]]], query: str) -> set[str]:
    words = list(dict.fromkeys(folded(word) for word in split(query)))
    first = {folded(word): word for word in reversed(split(query))}
    for typos, enough in ((False, all), (True, all), (False, any), (True, any)):
        found = {
            subject
            for subject, texts in entities.items()
            if words
            and enough(
                [matches(first[word], place == len(words) - 1, texts, typos) for place, word in enumerate(words)]
            )
        }
        if found:
            return found
    return set()


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
statements = st.tuples(
    st.sampled_from("abcdefgh"), st.sampled_from(PREDICATES), texts, st.sampled_from(list(LANGUAGES))
)
changes = st.lists(st.tuples(st.booleans(), statements), min_size=1, max_size=6)


@st.composite
def queries(draw: st.DrawFn) -> str:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique_by=folded))
    place = draw(st.integers(0, len(words) - 1))
    word = words[place]
    match draw(st.sampled_from(["as it is", "upper", "cut", "two", "typo", "typo", "swap", "plain"])):
        case "upper":
            word = word.upper()
        case "cut":
            word = word[: draw(st.integers(1, len(word)))]
        case "two":
            words, word, place = words[:1], words[0][:2], 0
        case "typo" if word < "\u2e80":
            at = draw(st.integers(0, len(word) - 1))
            word = word[:at] + draw(st.sampled_from(["", "q", "qq"])) + word[at + 1 :]
        case "swap" if len(word) > 2 and word < "\u2e80":
            word = word[0] + word[2] + word[1] + word[3:]
        case "plain":
            word = folded(word)
    return " ".join([*words[:place], word, *words[place + 1 :]])


@pytest.fixture(scope="module", params=["memory", "folder"])
def graph(request, tmp_path_factory) -> Iterator[NamespacedGraph]:
    store = open_store("memory:" if request.param == "memory" else tmp_path_factory.mktemp("oracle") / "store")
    yield NamespacedGraph(store, "m", vocabularies={"rdfs": "http://www.w3.org/2000/01/rdf-schema#"})
    store.close()


@given(rounds=st.lists(st.tuples(changes, st.lists(queries(), min_size=1, max_size=4)), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_what_is_found_is_what_a_comparison_with_everything_finds(graph, rounds) -> None:
    graph.update("DELETE WHERE { ?s ?p ?o }")
    there: set[tuple[str, str, str, str | None]] = set()
    index = EntityIndex(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_follower, "MOVED_AT", 2)  # so that some are in the files, and some are not
        for changed, asked in rounds:
            for adds, statement in changed:
                write(graph, there, statement, adds=adds)
            entities: dict[str, list[tuple[str, str | None]]] = {}
            for subject, _, text, language in there:
                entities.setdefault(subject, [(subject, "english")]).append((text, LANGUAGES[language]))
            for query in asked:
                found = index.find(query, limit=100)
                assert {hit.subject.value.rpartition(":")[2] for hit in found.hits} == oracle(entities, query)
                assert (found.total, found.complete) == (len(found.hits), True)
                moved(graph)


def moved(graph: NamespacedGraph) -> None:
    """Wait for what is moved to the files."""
    thread = index_follower.follower_of(EntityFollower, graph)._thread
    if thread is not None:
        thread.join()


def write(graph: NamespacedGraph, there: set, statement: tuple, *, adds: bool) -> None:
    subject, predicate, text, language = statement
    if not adds:
        for old in sorted(there, key=str):
            if old[0] == subject:
                there.discard(old)
                graph.delete_triple(graph.as_json(graph.quad_of(triple(*old)))["id"])
                return
    graph.create_triple(triple(subject, predicate, text, language))
    there.add(statement)


def triple(subject: str, predicate: str, text: str, language: str | None) -> dict[str, object]:
    value = text if language is None else {"value": text, "language": language}
    return {"subject": subject, "predicate": predicate, "object": value}
