r"""Strict YAML, the only YAML reader of the plugin.

Rules kept here:
- the result has only dicts with text keys, lists, text, finite numbers, booleans and None; tags are errors;
- anchors, aliases (which a "billion laughs" attack needs), merge keys and a second document are errors;
- a key occurs once in its mapping, at any depth;
- at most `MAX_DEPTH` levels; the caller limits the size;
- an unquoted word that YAML 1.1 and YAML 1.2 read differently (`no`, `010`, `1:30`, `2024-01-01`, `1e3`) is an error:
  it must be quoted, or written as `true`, `false` or a decimal number; so is a number that has no exact value. At a
  path where the caller allows only text, an unquoted word is that text, and so is such a word at a path that the
  caller does not interpret;
- U+0085, U+2028 and U+2029 are errors, because they end a line only in YAML 1.1;
- nothing is raised: every problem has its path and line, and the rest of the text is still read.

PyYAML takes 30 ms to import: import this module where it is used.

>>> document = read("graph: [read]\ngraph: []", file="SKILL.md")
>>> document.data
{'graph': ['read']}
>>> [str(problem) for problem in document.problems]
['SKILL.md:2:graph: is given twice in its mapping (keep one of the two)']
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from yaml.resolver import Resolver

from cortex_skills.safe_io.schemas import LocatedDocument, Mark, Path, Problem

MAX_DEPTH = 16
_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?")
_NUMBER_OF_YAML_1_2 = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?|0o[0-7]+")
_LINE_BREAK_OF_YAML_1_1 = re.compile("[\x85\u2028\u2029]")
_TEXT_TAG = "tag:yaml.org,2002:str"

_LINE_BREAK = re.compile("\r\n|[\r\n]")
_ESCAPE = "remove it, or write it as an escape in double quotes"

_MAX_EXACT = 2**53  # beyond it a JSON reader may round
_MAX_EXACT_LENGTH = len(str(-_MAX_EXACT))


def read(
    text: str,
    *,
    file: str = "",
    first_line: int = 1,
    at: Path = (),
    is_text: Callable[[Path], bool] = lambda _: False,
    is_foreign: Callable[[Path], bool] = lambda _: False,
) -> LocatedDocument:
    """Read one YAML document; never raises.

    Args:
        text: the YAML text.
        file: the file's name, for messages.
        first_line: the line of that file on which `text` begins.
        at: the path of the document inside a larger one.
        is_text: whether only text is allowed at a path.
        is_foreign: whether the value at a path is only kept, so that a word with several readings is text.
    """
    reader = _Reader(yaml.parse(text, Loader=yaml.CSafeLoader), file, first_line, is_text, is_foreign)
    for match in _LINE_BREAK_OF_YAML_1_1.finditer(text):
        line = first_line + len(_LINE_BREAK.findall(text, 0, match.start()))
        reader.fail(at, line, f"contains U+{ord(match[0]):04X}, which ends a line in some YAML readers only", _ESCAPE)
        break
    data = None
    try:
        text.encode("utf-8")  # libyaml would raise on a lone surrogate
        data = reader.document(at)
    except UnicodeEncodeError:
        reader.fail(at, first_line, "contains text that is not valid Unicode")
    except _TooDeepError as error:
        reader.fail(at, error.line, _TOO_DEEP)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + first_line if error.problem_mark else first_line
        problem = error.problem or str(error.context)
        hint = "put text with a colon in quotes" if "mapping values" in problem else ""
        # libyaml has a limit too, and reads ahead of the events.
        reader.fail(at, line, _TOO_DEEP if "nesting depth" in problem else f"is not valid YAML: {problem}", hint)
    except yaml.YAMLError as error:
        reader.fail(at, first_line, f"is not valid YAML: {getattr(error, 'reason', 'unreadable')}")
    return LocatedDocument(data, reader.marks, reader.texts, tuple(reader.problems))


class _TooDeepError(Exception):
    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


class _Reader:
    """Builds data from YAML events, with the location of each part and the problems."""

    def __init__(
        self,
        events: Iterator[yaml.Event],
        file: str,
        first_line: int,
        is_text: Callable[[Path], bool],
        is_foreign: Callable[[Path], bool],
    ) -> None:
        self.is_text = is_text
        self.is_foreign = is_foreign
        self.events = events
        self.file = file
        self.first_line = first_line
        self.resolver = Resolver()
        self.marks: dict[Path, Mark] = {}
        self.texts: dict[Path, str] = {}
        self.problems: list[Problem] = []

    def fail(self, path: Path, line: int, message: str, hint: str = "") -> None:
        """Record a problem; the value at its path is None."""
        self.problems.append(Problem(path, message, hint, Mark(self.file, line)))

    def document(self, path: Path) -> Any:
        self.marks[path] = Mark(self.file, self.first_line)
        next(self.events)  # the stream starts
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return None
        data = self.value(next(self.events), path, 0)
        next(self.events)  # the document ends
        if not isinstance(event := next(self.events), yaml.StreamEndEvent):
            self.fail(path, self.line(event), "contains more than one YAML document")
        return data

    def value(self, event: yaml.Event, path: Path, depth: int) -> Any:
        line = self.line(event)
        if isinstance(event, yaml.AliasEvent):
            self.fail(path, line, "aliases (*) are not allowed", "repeat the value")
            return None
        if depth >= MAX_DEPTH:
            raise _TooDeepError(line)
        if event.anchor:  # type: ignore[attr-defined]  # of every event that starts a value
            self.fail(path, line, "anchors (&) are not allowed", "repeat the value")
        if event.tag:  # type: ignore[attr-defined]
            self.fail(path, line, "tags (!) are not allowed", "write a plain value; quote what is text")
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(path, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(path, depth)
        assert isinstance(event, yaml.ScalarEvent)  # noqa: S101 - the grammar of YAML leaves nothing else
        return self.scalar(event, path)

    def sequence(self, path: Path, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            inner = (*path, len(items))
            self.marks[inner] = Mark(self.file, self.line(event))
            items.append(self.value(event, inner, depth + 1))
        return items

    def mapping(self, path: Path, depth: int) -> dict[str, Any]:
        pairs: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            line = self.line(event)
            key = self.key(event, path, depth)
            if key is None:
                self.value(next(self.events), path, depth + 1)
                continue
            inner = (*path, key)
            if key in pairs:
                self.value(next(self.events), inner, depth + 1)
                self.fail(inner, line, "is given twice in its mapping", "keep one of the two")
                continue
            self.marks[inner] = Mark(self.file, line)
            pairs[key] = self.value(next(self.events), inner, depth + 1)
        return pairs

    def key(self, event: yaml.Event, path: Path, depth: int) -> str | None:
        """The key that `event` begins, or None for an invalid key."""
        if not isinstance(event, yaml.ScalarEvent):
            self.value(event, path, depth + 1)
            self.fail(path, self.line(event), "has a list or a mapping as a key", "use text as the key")
            return None
        inner = (*path, event.value)
        if event.implicit[0] and event.value == "<<":
            self.fail(inner, self.line(event), "merge keys are not allowed", "repeat the keys")
            return None
        known = len(self.problems)
        key = self.value(event, inner, depth + 1)
        if isinstance(key, str):
            return key
        if len(self.problems) == known:
            self.fail(inner, self.line(event), "is a key that is not text", "put the key in quotes")
        return None

    def scalar(self, event: yaml.ScalarEvent, path: Path) -> Any:
        text = event.value
        if not event.implicit[0] or self.is_text(path):
            return text  # quoted, or a block
        if text in _NULLS:
            return None
        if text in _BOOLEANS:
            self.texts[path] = text
            return _BOOLEANS[text]
        if _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
            self.texts[path] = text
            return self.number(text, path, self.line(event))
        tag = self.resolver.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        if self.is_foreign(path) or (tag == _TEXT_TAG and not _NUMBER_OF_YAML_1_2.fullmatch(text)):
            return text
        self.fail(
            path,
            self.line(event),
            "is a word that YAML readers read differently: as text, a boolean, a number or a date",
            "put it in quotes if it is text; otherwise write true, false or a decimal number",
        )
        return None

    def number(self, text: str, path: Path, line: int) -> int | float | str | None:
        if _FLOAT.fullmatch(text):
            number: int | float = float(text)
        else:
            number = int(text) if len(text) <= _MAX_EXACT_LENGTH else math.inf
        if math.isfinite(number) and (isinstance(number, float) or abs(number) <= _MAX_EXACT):
            return number
        if self.is_foreign(path):
            return text
        self.fail(path, line, "is too large to be represented exactly", "put it in quotes if it is text")
        return None

    def line(self, event: yaml.Event) -> int:
        mark = event.start_mark
        return self.first_line + (mark.line if mark else 0)
