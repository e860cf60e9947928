"""What of a resource of the graph is searched: its name, its labels and its other literals, by their words.

Rules kept here:
- the words of a name are those of its local part; those of an IRI without a prefix, of its last part;
- of a literal the first `MAX_TEXT` characters are searched, of a resource its first `MAX_STATEMENTS` statements. A
  resource with more is `is_cut`, so that a search that finds nothing can state it;
- literals of every datatype are searched by their lexical form, languages of texts by their tags.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from pyoxigraph import Literal, NamedNode

from cortex_graph.namespace.labels import LABELS
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import TYPE
from cortex_skills.features.finder.folded_words import UNTAGGED, folded, language_of, name_words, stems_of_all
from cortex_skills.features.finder.subject_shapes import Shape
from cortex_skills.features.finder.words import words

MAX_TEXT = 1_000
MAX_STATEMENTS = 2_000
_NAMING = frozenset({"altlabel", "label", "name", "preflabel", "title"})  # local names of predicates that name things


@dataclass(frozen=True)
class EntityText:
    """A text of a resource.

    Attributes:
        predicate: that has the text; None for the name of the resource itself.
        value: the text, or its beginning.
        language: of its words.
        is_name: whether it names the resource.
        literal: that has it; None for the name of the resource itself.

    """

    predicate: NamedNode | None
    value: str
    language: str
    is_name: bool
    literal: Literal | None = None

    @cached_property
    def words(self) -> list[str]:
        """Its folded words."""
        if self.predicate is None:
            return name_words(self.value)
        return self._words if self.value.isascii() else [folded(word) for word in self._words]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words, each with the language: `en:run`."""
        given = self.words if self.predicate is None else self._words
        language = self.language
        return frozenset([f"{language}:{stem}" for stem in stems_of_all(language, given)])

    @cached_property
    def _words(self) -> list[str]:
        return words(self.value)


@dataclass(frozen=True)
class EntityTexts:
    """What of a resource is searched.

    Attributes:
        subject: the resource.
        classes: its classes, sorted.
        texts: its name first, then its literals in the order of the store.
        is_cut: whether it has more, or longer ones, than are searched.
        shape: what of it the schema counts; None where that is not counted.

    """

    subject: NamedNode
    classes: tuple[NamedNode, ...]
    texts: tuple[EntityText, ...]
    is_cut: bool
    shape: Shape | None = None

    def label(self) -> str | None:
        """The first label, English or without a language before others."""
        named = [
            (LABELS.index(text.predicate), text.language != UNTAGGED, text.value)
            for text in self.texts
            if text.predicate in LABELS
        ]
        return min(named)[2] if named else None


def entity_texts(
    subject: NamedNode, statements: Iterable[tuple[NamedNode, NamedNode | Literal]], names: Names
) -> EntityTexts:
    """What of a resource is searched, from its statements, of which no more than necessary are read."""
    texts = [EntityText(None, local_name(subject.value, names), UNTAGGED, is_name=True)]
    classes = set()
    is_cut = False
    for count, (predicate, object_) in enumerate(statements):
        if count == MAX_STATEMENTS:
            is_cut = True
            break
        if isinstance(object_, Literal):
            is_cut = is_cut or len(object_.value) > MAX_TEXT
            language = language_of(object_.language)
            value, is_name = object_.value[:MAX_TEXT], is_naming(predicate.value)
            texts.append(EntityText(predicate, value, language, is_name, object_))
        elif predicate == TYPE:
            classes.add(object_)
    return EntityTexts(subject, tuple(sorted(classes, key=str)), tuple(texts), is_cut)


def local_name(iri: str, names: Names) -> str:
    """The searched part of a name: `person:ada` of `NS:person:ada`; of an IRI without a prefix the last part."""
    name = names.name(iri)
    prefix, colon, local = name.partition(":")
    if colon and (prefix == names.namespace or prefix in names.vocabularies):
        return local
    parts = [part for part in iri.replace("#", "/").split("/") if part]
    return unquote(parts[-1]) if parts else iri


def is_naming(predicate: str) -> bool:
    """Whether a predicate names things, by the last part of its IRI: `label`, `name`, `title`."""
    return predicate[max(map(predicate.rfind, "/#:")) + 1 :].lower() in _NAMING
