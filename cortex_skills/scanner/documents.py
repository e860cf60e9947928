"""The scan of documents for a model: SKILL.md, the companion of the manifest, references.

Rules kept here:
- a scan has no side effects, never raises, and is linear in the text, whose size is bounded like that of a source;
- a document is judged paragraph by paragraph; of the frontmatter, each value as parsed, with escapes decoded, and each
  comment: neighbouring fields such as `user-invocable` and `model` are not a conversation;
- a finding is at the first line that breaks the rule alone, or else at the beginning of its paragraph.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from cortex_skills.safe_io.display import one_line
from cortex_skills.scanner.findings import EVIDENCE_LIMIT, Finding, evidence_of, file_finding, first_findings
from cortex_skills.scanner.prose import HIDDEN, INSTRUCTION, hidden_in, judge_document
from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.unlimited_queries import PROOF
from cortex_skills.scanner.source import SOURCE_LIMIT
from cortex_skills.scanner.tree import LINE_END
from cortex_skills.scanner.whole_files import FILE_TOO_LARGE

DOCUMENT_SUFFIXES = frozenset({".markdown", ".md", ".rst", ".txt", ".yaml", ".yml"})

_LINE = re.compile(r"[^\r\n]+")
_NO_PROOF = re.compile(r"[\"']?requireProof[\"']?[ \t]*:[ \t]*[\"']?(?:false|no|off)\b", re.IGNORECASE)
_COMMENT = re.compile(r"(?:(?<=\s)|^)#[^\r\n]*(?:\r?\n[ \t]*#[^\r\n]*)*", re.MULTILINE)
_LONGEST_PARAGRAPH = 8_192
_MOST_VALUES = 2_000
_ENOUGH_TO_FIND = 40

KeyPath = tuple[str | int, ...]


def scan_document(text: str, filename: str) -> list[Finding]:
    """Scan a document.

    Args:
        text: Markdown, YAML or plain text, at most `SOURCE_LIMIT` characters.
        filename: the name in the findings.

    Returns:
        The findings in the order of the text.
    """
    if len(text) > SOURCE_LIMIT:
        message = f"the document has {len(text):,} characters; at most {SOURCE_LIMIT:,} are scanned"
        return [file_finding(FILE_TOO_LARGE, filename, message)]
    found = {(start, rule.id): (rule, start, message) for rule, start, message in _places(text, filename)}
    places = [found[place] for place in sorted(found)]
    starts = [0, *(match.end() for match in LINE_END.finditer(text) if text[match.start() : match.end() + 1] != "\r\n")]
    return first_findings(places, lambda place: _finding(text, filename, starts, *place), filename)


def _finding(text: str, filename: str, starts: list[int], rule: Rule, start: int, message: str) -> Finding:
    row = bisect_right(starts, start) - 1
    line = _LINE.match(text, start)
    evidence = evidence_of(line[0][: EVIDENCE_LIMIT + 1]) if line is not None else ""
    place = (row + 1, start - starts[row] + 1)
    return Finding(rule.id, rule.severity, one_line(filename), *place, evidence, message, rule.remedy)


def _places(text: str, filename: str) -> Iterator[tuple[Rule, int, str]]:
    for start, _ in hidden_in(text):
        yield HIDDEN, start, "characters that are invisible to a reader"
    is_manifest = PurePosixPath(filename).name == "SKILL.md"
    front = _front_end(text) if is_manifest else 0
    for comment in _COMMENT.finditer(text, 0, front):
        if judge_document(comment[0]):
            yield INSTRUCTION, comment.start(), "this comment instructs a model"
    for first, end in _paragraphs(text, front):
        for start in range(first, end, _LONGEST_PARAGRAPH):
            piece = text[start : min(start + _LONGEST_PARAGRAPH, end)]
            if judge_document(piece):
                yield (
                    INSTRUCTION,
                    start + _first_guilty(piece),
                    "this text instructs a model beyond the use of the skill",
                )
    if is_manifest or filename.endswith((".yaml", ".yml")):
        yield from _of_manifest(text)


def _front_end(text: str) -> int:
    """The end of the frontmatter, before the closing line; 0 without one."""
    from cortex_skills.manifest.frontmatter import frontmatter_of

    front = frontmatter_of(text)
    return text.find(front) + len(front) if front else 0


def _paragraphs(text: str, place: int) -> Iterator[tuple[int, int]]:
    """The start and end of each run of lines that are not blank, from `place` on."""
    begin = -1
    for line in text[place:].splitlines(keepends=True):
        if line.isspace():
            if begin >= 0:
                yield begin, place
            begin = -1
        elif begin < 0:
            begin = place
        place += len(line)
    if begin >= 0:
        yield begin, place


def _first_guilty(paragraph: str) -> int:
    for line in _LINE.finditer(paragraph):
        if judge_document(line[0]):
            return line.start()
    return 0


def _of_manifest(text: str) -> Iterator[tuple[Rule, int, str]]:
    from cortex_skills.manifest.frontmatter import frontmatter_of, read_companion, read_frontmatter

    is_manifest = text.removeprefix("\ufeff").startswith("---")
    front = frontmatter_of(text) if is_manifest else text
    offset = text.find(front) if front else 0
    for match in _NO_PROOF.finditer(front):
        yield PROOF, offset + match.start(), "a proof is switched off"
    document = read_frontmatter(text).document if is_manifest else read_companion(text, "semantic.yaml")
    for path, value in _texts(document.data):
        if judge_document(value):
            at = text.find(value[:_ENOUGH_TO_FIND])
            start = at if at >= 0 else _start_of_line(text, document.mark(path).line or 1)
            yield INSTRUCTION, start, "the manifest instructs a model beyond the use of the skill"


def _start_of_line(text: str, line: int) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1]))


def _texts(data: Any) -> Iterator[tuple[KeyPath, str]]:
    """Every text of a document with its path, at most `_MOST_VALUES`."""
    pending: list[tuple[KeyPath, Any]] = [((), data)]
    for _ in range(_MOST_VALUES):
        if not pending:
            return
        path, value = pending.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            pending += [(path, key) for key in value]
            pending += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            pending += [((*path, place), inner) for place, inner in enumerate(value)]
