"""The scan of one source text.

Rules kept here:
- a scan has no side effects and never raises, for any text;
- time and memory are linear in the text, whose size is bounded; a text that is too large or too expensive to parse is
  reported by a critical finding and not scanned in part;
- findings are in the order of the text, and each rule reports a place once.

The steps of a scan: `tree.parse` → `scopes.resolve_names` → `evaluation.evaluate` → the rules in `rules` → findings.
"""

from __future__ import annotations

from cortex_skills.safe_io.display import one_line
from cortex_skills.scanner.findings import EVIDENCE_LIMIT, Finding, evidence_of, file_finding, first_findings
from cortex_skills.scanner.parsed_source import read_source
from cortex_skills.scanner.rule import Hit
from cortex_skills.scanner.rules import FAMILIES
from cortex_skills.scanner.tree import ParseTooCostlyError, SyntaxTree, parse
from cortex_skills.scanner.whole_files import FILE_TOO_COMPLEX, FILE_TOO_LARGE

SOURCE_LIMIT = 512 * 1024

# tree-sitter compares unfinished type arguments pairwise: 2,000 take a tenth of a second, 30,000 a minute.
_ANGLE_LIMIT = 2_000


def scan_source(text: str, filename: str = "skill.ts") -> list[Finding]:
    """Scan a source text.

    Args:
        text: TypeScript or JavaScript, at most `SOURCE_LIMIT` characters.
        filename: the name in the findings; its suffix selects the grammar (.ts, .tsx, .js, ...).

    Returns:
        The findings in the order of the text.
    """
    if len(text) > SOURCE_LIMIT:
        message = f"the source has {len(text):,} characters; at most {SOURCE_LIMIT:,} are scanned"
        return [file_finding(FILE_TOO_LARGE, filename, message)]
    if text.count("<") > _ANGLE_LIMIT:
        message = f"the source has more than {_ANGLE_LIMIT:,} `<`, which is too expensive to parse"
        return [file_finding(FILE_TOO_COMPLEX, filename, message)]
    try:
        tree = parse(text, filename)
    except ParseTooCostlyError:
        message = "the source is too expensive to parse: it is invalid or nested too deeply"
        return [file_finding(FILE_TOO_COMPLEX, filename, message)]
    source = read_source(tree)
    hits = {(hit.node.start, hit.rule.id, hit.node.end): hit for find in FAMILIES for hit in find(source)}
    return first_findings([hits[place] for place in sorted(hits)], lambda hit: _finding(tree, hit), filename)


def _finding(tree: SyntaxTree, hit: Hit) -> Finding:
    line, column = tree.position(hit.node.start)
    # A character has at most four bytes in UTF-8.
    evidence = tree.between(hit.node.start, min(hit.node.end, hit.node.start + 4 * EVIDENCE_LIMIT))
    return Finding(
        hit.rule.id,
        hit.rule.severity,
        one_line(tree.filename),
        line,
        column,
        evidence_of(evidence),
        one_line(hit.message),
        hit.hint or hit.rule.remedy,
    )
