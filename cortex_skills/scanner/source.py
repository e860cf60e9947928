"""The scan of one source text.

Rules kept here:
- pure, and never raises, whatever the text holds;
- time and memory are linear in the text, which is bounded: what is too large, or too costly to parse, is refused by a
  critical finding instead of being read in part;
- at most `FINDINGS_LIMIT` findings, in the order of the text, each place once a rule; one more tells of the rest.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from cortex_skills.escaping import one_line
from cortex_skills.scanner.findings import EVIDENCE_LIMIT, Finding, about_file, evidence_of
from cortex_skills.scanner.program import read_program
from cortex_skills.scanner.rules import FAMILIES
from cortex_skills.scanner.tree import ParseTooCostlyError, parse
from cortex_skills.scanner.whole_files import FILE_TOO_COMPLEX, FILE_TOO_LARGE, TOO_MANY_FINDINGS

if TYPE_CHECKING:
    from cortex_skills.scanner.rules import Hit
    from cortex_skills.scanner.tree import Tree

SOURCE_LIMIT = 512 * 1024
FINDINGS_LIMIT = 200

# tree-sitter compares unfinished type arguments pairwise: 2,000 take a tenth of a second, 30,000 a minute.
_ANGLE_LIMIT = 2_000


def scan_source(text: str, filename: str = "skill.ts") -> list[Finding]:
    """What breaks a rule in `text`.

    Args:
        text: TypeScript or JavaScript, at most `SOURCE_LIMIT` characters.
        filename: names the file in the findings; its suffix chooses the grammar (.ts, .tsx, .js, ...).

    Returns:
        The findings in the order of the text; empty when there are none.

    """
    if len(text) > SOURCE_LIMIT:
        message = f"the source has {len(text):,} characters; at most {SOURCE_LIMIT:,} are scanned"
        return [about_file(FILE_TOO_LARGE, filename, message)]
    if text.count("<") > _ANGLE_LIMIT:
        message = f"the source has more than {_ANGLE_LIMIT:,} `<`, which is too costly to parse"
        return [about_file(FILE_TOO_COMPLEX, filename, message)]
    try:
        tree = parse(text, filename)
    except ParseTooCostlyError:
        message = "the source is too costly to parse: it is broken, or nested beyond reason"
        return [about_file(FILE_TOO_COMPLEX, filename, message)]
    program = read_program(tree)
    found = {
        (hit.node.start, hit.rule.id, hit.node.end): hit for hit in chain.from_iterable(f(program) for f in FAMILIES)
    }
    hits = [found[place] for place in sorted(found)]
    findings = [_finding(tree, hit) for hit in hits[:FINDINGS_LIMIT]]
    if len(hits) > FINDINGS_LIMIT:
        message = f"{len(hits):,} findings; the first {FINDINGS_LIMIT} are shown"
        findings.append(about_file(TOO_MANY_FINDINGS, filename, message))
    return findings


def _finding(tree: Tree, hit: Hit) -> Finding:
    line, column = tree.position(hit.node.start)
    # Four bytes a character at most; what is cut off is not shown.
    source = tree.between(hit.node.start, min(hit.node.end, hit.node.start + 4 * EVIDENCE_LIMIT))
    return Finding(
        hit.rule.id,
        hit.rule.severity,
        one_line(tree.filename),
        line,
        column,
        evidence_of(source),
        one_line(hit.message),
        hit.hint or hit.rule.remedy,
    )
