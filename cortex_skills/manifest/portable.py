"""Finds syntax that other readers of the agentskills.io format reject, although this parser accepts it: warnings.

Rules kept here:
- only manifests in that format are checked: a semantic block in the frontmatter is outside the format;
- the reference validator (skills-ref) reads a subset of YAML without flow style (`{a: b}`, `[a, b]`) and without tabs
  outside of quoted texts, text blocks and comments, and no byte-order mark before the first `---`;
- in that validator the first `---` after the first line ends the frontmatter, at any position in its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cortex_skills.manifest.frontmatter import FILE_NAME, Frontmatter, frontmatter_of
from cortex_skills.safe_io.schemas import Mark, Problem

_COMMENT = re.compile(r"(?:(?<=[ \t])|^)#[^\n]*", re.MULTILINE)


def is_agentskills(front: Frontmatter) -> bool:
    """Whether a SKILL.md is in the agentskills.io format: its frontmatter has no semantic block."""
    data = front.document.data
    return isinstance(data, dict) and "semantic" not in data


def unportable(text: str) -> Iterator[Problem]:
    """The parts of a SKILL.md that other readers reject."""
    if text.startswith("\ufeff"):
        yield _problem(1, "begins with a byte-order mark, which other readers reject", "save it as UTF-8 without one")
    frontmatter = frontmatter_of(text)
    for number, line in enumerate(frontmatter.splitlines(), 2):
        if "---" in line:
            message = "contains ---, which ends the frontmatter for other readers"
            yield _problem(number, message, "write a dash (–), or - - -")
            return
    yield from _unusual(frontmatter)


def _problem(line: int, message: str, hint: str) -> Problem:
    return Problem((), message, hint, Mark(FILE_NAME, line))


def _unusual(frontmatter: str) -> Iterator[Problem]:
    """The values in flow style, and the lines with a tab outside of quoted texts, text blocks and comments."""
    import yaml

    texts: list[tuple[int, int]] = []
    try:
        for event in yaml.parse(frontmatter, Loader=yaml.CSafeLoader):
            mark = event.start_mark
            if mark is None:
                continue
            if isinstance(event, yaml.CollectionStartEvent) and event.flow_style:
                message = "is written in braces or brackets, which agentskills.io does not read"
                yield _problem(mark.line + 2, message, "write each entry on a line of its own: key: value, or - item")
            elif isinstance(event, yaml.ScalarEvent) and event.style and event.end_mark is not None:
                start, end = mark.index, event.end_mark.index
                if event.style in "|>":  # the line with the indicator is no part of the text
                    start += len(frontmatter[start:end].partition("\n")[0])
                texts.append((start, end))
    except (yaml.YAMLError, UnicodeEncodeError):
        return  # already reported by the parser
    yield from _tabs(frontmatter, texts)


def _tabs(frontmatter: str, texts: list[tuple[int, int]]) -> Iterator[Problem]:
    """The lines with a tab outside of these texts and of comments."""
    parts, last = [], 0
    for start, end in texts:
        parts += [frontmatter[last:start], re.sub(r"[^\n]", "x", frontmatter[start:end])]
        last = end
    rest = _COMMENT.sub("", "".join([*parts, frontmatter[last:]]))
    for number, line in enumerate(rest.split("\n"), 2):
        if "\t" in line:
            yield _problem(number, "has a tab, which agentskills.io reads in quoted texts only", "write a space")
