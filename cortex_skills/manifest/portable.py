"""What other readers of agentskills.io's format refuse, though it could be read here.

Rules kept here:
- it is asked of manifests in that format only: one with its semantic block in the frontmatter is not in it;
- the reference validator (skills-ref) reads a subset of YAML, without flow style (`{a: b}`, `[a, b]`), and no
  byte-order mark before the first `---`;
- the first `---` after the first line ends the frontmatter there, wherever in its line it stands.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.manifest.parse import FILE_NAME, Frontmatter, frontmatter_of
from cortex_skills.schemas import Mark, Problem


def is_agentskills(front: Frontmatter) -> bool:
    """Whether a SKILL.md means to be in agentskills.io's format: no semantic block stands in it."""
    data = front.document.data
    return isinstance(data, dict) and not {"type", "semantic"} & data.keys()


def unportable(text: str) -> Iterator[Problem]:
    """What other readers refuse of a SKILL.md that could be read here."""
    if text.startswith("\ufeff"):
        yield _problem(1, "begins with a byte-order mark, which others do not read", "save it as UTF-8 without one")
    frontmatter = frontmatter_of(text)
    for number, line in enumerate(frontmatter.splitlines(), 2):
        if "---" in line:
            message = "holds ---, which ends the frontmatter for other readers"
            yield _problem(number, message, "write a dash (–), or - - -")
            return
    for number in _flow_lines(frontmatter):
        message = "is written in braces or brackets, which agentskills.io does not read"
        yield _problem(number, message, "write each entry on a line of its own: key: value, or - item")


def _problem(line: int, message: str, hint: str) -> Problem:
    return Problem((), message, hint, Mark(FILE_NAME, line))


def _flow_lines(frontmatter: str) -> Iterator[int]:
    """The lines of the file on which a value in flow style begins."""
    import yaml

    try:
        for event in yaml.parse(frontmatter, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionStartEvent) and event.flow_style and event.start_mark is not None:
                yield event.start_mark.line + 2
    except (yaml.YAMLError, UnicodeEncodeError):
        return  # told of already, where it was read
