"""Finds syntax that other readers of the agentskills.io format reject, although this parser accepts it: warnings.

Rules kept here:
- only manifests in that format are checked: a semantic block in the frontmatter is outside the format;
- the reference validator (skills-ref) reads a subset of YAML without flow style (`{a: b}`, `[a, b]`) and without tabs
  between a key and its value, and no byte-order mark before the first `---`;
- in that validator the first `---` after the first line ends the frontmatter, at any position in its line.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.manifest.frontmatter import FILE_NAME, Frontmatter, frontmatter_of
from cortex_skills.safe_io.schemas import Mark, Problem


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
    """The values in flow style, and those after a tab."""
    import yaml

    try:
        for event in yaml.parse(frontmatter, Loader=yaml.CSafeLoader):
            mark = event.start_mark
            if mark is None:
                continue
            if isinstance(event, yaml.CollectionStartEvent) and event.flow_style:
                message = "is written in braces or brackets, which agentskills.io does not read"
                yield _problem(mark.line + 2, message, "write each entry on a line of its own: key: value, or - item")
            elif isinstance(event, yaml.ScalarEvent) and frontmatter[mark.index - 1 : mark.index] == "\t":
                yield _problem(
                    mark.line + 2, "has a tab before a value, which agentskills.io does not read", "write a space"
                )
    except (yaml.YAMLError, UnicodeEncodeError):
        return  # already reported by the parser
