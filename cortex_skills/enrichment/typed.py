"""Which strings of a value are typed, which are text, and which are removed unread.

Rules kept here:
- typed is a string that equals a term of the answer, is enumerated for its field, or is a date of ISO 8601;
- a term has the verdict that it has as part of its triple: one that is withheld from a model is removed;
- a key is typed when the manifest declares it or when it is a term; a key of one word is text; others are removed with
  their members;
- other strings are text. They are removed unread when the skill is not signed by a trusted key and does not declare
  their field as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from cortex_skills.enrichment.fragments import Fragment, fragments_of, kind_of
from cortex_skills.enrichment.removal import Cleaned, is_word, without
from cortex_skills.enrichment.triples import is_quotation

_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


class DeclaredField(Protocol):
    """A field that a manifest declares: `manifest.EnrichmentField`."""

    @property
    def name(self) -> str:
        """The key of the field, at any depth."""

    @property
    def values(self) -> tuple[str, ...]:
        """The strings that the field may have."""

    @property
    def is_text(self) -> bool:
        """Whether the field holds text."""


class Vocabulary:
    """The strings that pass by structure in one answer, and whether other text may pass the detector.

    Args:
        triples: of the answer, with `subject`, `predicate` (texts) and `object` (a JSON value).
        fields: that the skill's manifest declares.
        signed: whether a trusted key signed the skill.
    """

    def __init__(
        self, triples: Iterable[Mapping[str, Any]] = (), fields: Iterable[DeclaredField] = (), signed: bool = True
    ) -> None:
        self._fields = {field.name: field for field in fields}
        self._signed = signed
        self._terms: set[str] = set()
        self._quotations: set[str] = set()
        for triple in triples:
            object_ = triple["object"]
            values = object_.values() if type(object_) is dict else (object_,)
            texts = [value for value in values if type(value) is str]
            self._terms.update((triple["subject"], triple["predicate"], *texts))
            if is_quotation(triple["predicate"]):
                self._quotations.update(texts)

    def is_text(self, fragment: Fragment) -> bool:
        """Whether a fragment is judged: it is not typed."""
        return not self._is_typed(fragment)

    def why_removed(self, fragment: Fragment) -> str | None:
        """Why a fragment is removed unread; None when it is not."""
        if fragment.text in self._terms:
            return None if fragment.text in self._quotations else kind_of(fragment.text)
        if self._is_typed(fragment):
            return None
        if fragment.is_key:
            return None if is_word(fragment.text) else "key_not_declared"
        field = self._fields.get(fragment.name)
        return None if self._signed or (field is not None and field.is_text) else "text_not_declared"

    def _is_typed(self, fragment: Fragment) -> bool:
        text = fragment.text
        if text in self._terms:
            return True
        if fragment.is_key:
            return text in self._fields
        field = self._fields.get(fragment.name)
        return (field is not None and text in field.values) or is_date(text)


def is_date(text: str) -> bool:
    """Whether a text is a calendar date, or a date with a time, in the extended format of ISO 8601.

    >>> [text for text in ("2026-02-28", "2026-02-30", "2026-11-23T09:30:00.5Z", "23 Nov 2026") if is_date(text)]
    ['2026-02-28', '2026-11-23T09:30:00.5Z']
    """
    if _DATE.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def drop_undeclared(value: Any, vocabulary: Vocabulary) -> Cleaned:
    """`value` without keys and strings that are removed unread."""
    found = [(fragment, vocabulary.why_removed(fragment)) for fragment in fragments_of(value)]
    reasons = {fragment.path: reason for fragment, reason in found if reason is not None}
    if not reasons:
        return Cleaned(value, ())
    return without(value, reasons, {fragment.path for fragment, reason in found if fragment.is_key and reason})
