"""What shapes find in a change, beside the fields of the form that it is made with.

Rules kept here:
- what the change brings comes first; each finding states in words what the change does to it;
- violations that a change brings are accepted one by one with the statement: another statement, or another violation,
  has another `acceptance`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cortex_graph.naming.names import Names
from cortex_skills.doors.explorer.display import Display, ShownName, ShownText, shown_text
from cortex_skills.features.graph.change_checks import PARTS, ChangeFinding, CheckedChange
from cortex_skills.features.graph.looking.class_shapes import source_of

_WORDS = {"brings": "New {}", "keeps": "{} that stays", "resolves": "Resolved {}"}
_MARKS = {"violation": "bad", "warning": "warn"}
_OF_MESSAGE = 300
_IRI = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]*:[^<>\s\"{}|\\^`]+)>")
# What is accepted of a violation: its message may differ from one evaluation to the next.
_ACCEPTED = ("rule", "node", "path", "value", "shape", "rules")


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding.

    Attributes:
        mark: the colour of its words.
        words: what the change does to it, and its severity.
        message: of the shape.
        path: the predicate, where it is not that of the statement; None else.
        shape: what the shape is called; None without a name.
        source: where the shape is.
    """

    mark: str
    words: str
    message: ShownText
    path: ShownName | None
    shape: ShownText | None
    source: str


@dataclass(frozen=True, slots=True)
class ChangeCheckShown:
    """What shapes find in a change.

    Attributes:
        sentence: how much of it the change brings and resolves.
        by_part: the findings by the part of the statement.
        brings: how many violations it brings.
        acceptance: what accepts these; empty without any.
        not_evaluated: which rules were not, and why.
    """

    sentence: str
    by_part: Mapping[str, tuple[ShownFinding, ...]]
    brings: int
    acceptance: str
    not_evaluated: tuple[tuple[str, ShownText], ...]


def shown_check(
    checked: CheckedChange, statement: Mapping[str, Any], names: Names, display: Display
) -> ChangeCheckShown:
    """A check for the form.

    Args:
        checked: the check.
        statement: that the form stands for.
        names: of the namespace.
        display: shows names.
    """
    by_part: dict[str, tuple[ShownFinding, ...]] = {
        part: tuple(_shown(each, statement, names, display) for each in checked["findings"] if each["part"] == part)
        for part in PARTS
    }
    shapes = [each for each in checked["rules"] if each["rules"] != "core"]
    not_evaluated = [(source_of(each["rules"]), shown_text(each["reason"])) for each in shapes if each["reason"]]
    return ChangeCheckShown(
        _sentence(checked, sum(each["applied"] for each in shapes)),
        by_part,
        checked["brings"],
        acceptance_of(checked, statement),
        tuple(not_evaluated),
    )


def acceptance_of(checked: CheckedChange, statement: Mapping[str, Any]) -> str:
    """What a form sends to accept the violations that a statement brings; empty without any."""
    new = [each for each in checked["findings"] if each["effect"] == "brings" and each["severity"] == "violation"]
    if not new:
        return ""
    known = [{name: each.get(name) for name in _ACCEPTED} for each in new]
    digest = sha256(json.dumps([statement, known], sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:12]
    return f"{_counted(len(new), 'violation')} ({digest})"


def _shown(finding: ChangeFinding, statement: Mapping[str, Any], names: Names, display: Display) -> ShownFinding:
    effect, severity = finding["effect"], finding["severity"]
    word = "note" if severity == "info" else severity
    words = _WORDS[effect].format(word)
    path = display.name(finding["path"]) if finding["path"] else None
    is_own = path is not None and path.iri == names.node(str(statement["predicate"])).value
    return ShownFinding(
        "ok" if effect == "resolves" else "none" if effect == "keeps" or word == "note" else _MARKS[word],
        words[:1].upper() + words[1:],
        shown_text(_with_names(finding["message"], display), _OF_MESSAGE),
        None if is_own else path,
        shown_text(finding["shape"], _OF_MESSAGE) if finding["shape"] else None,
        source_of(finding["rules"]) if finding["rules"] != "core" else "the core rules",
    )


def _with_names(message: str, display: Display) -> str:
    """A message as a sentence, in which IRIs in angle brackets are the names of the page."""
    text = _IRI.sub(lambda found: display.iri(found[1]).plain, message)
    return text[:1].upper() + text[1:]


def _sentence(checked: CheckedChange, applied: int) -> str:
    counted = {
        effect: sum(each["effect"] == effect and each["severity"] == "violation" for each in checked["findings"])
        for effect in _WORDS
    }
    parts = [
        words.format(_counted(counted[effect], "violation"))
        for effect, words in (("brings", "brings {}"), ("resolves", "resolves {}"), ("keeps", "leaves {} as before"))
        if counted[effect]
    ]
    if not parts:
        return f"No violation: {_counted(applied, 'shape')} checked." if applied else ""
    return f"The change {', '.join(parts[:-1])}{' and ' if len(parts) > 1 else ''}{parts[-1]}."


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
