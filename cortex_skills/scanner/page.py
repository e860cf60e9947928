"""The page of the rules, from the rules: `python -m cortex_skills.scanner.page docs/scanner.md` writes it.

Rules kept here:
- everything about a rule on the page is in the rule, and its examples are scanned by the tests;
- the same rules make the same page, byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from cortex_skills.escaping import one_line
from cortex_skills.scanner.rule import Rule

_INTRO = """\
# The scanner

Made from the rules: `python -m cortex_skills.scanner.page docs/scanner.md` writes this page anew.

The scanner reads a skill's whole folder before anything of it runs: sources on their syntax tree, with constants folded
and names followed, so that comments and texts are not taken for code; SKILL.md and other documents for what they tell a
model. It is a second belt: [the sandbox](sandbox.md) stops what a skill tries, and the scanner says so before, with the
place.

- A **critical** finding stops the load (`verification.autoScan`); a **warning** does not.
- Each finding has its rule, severity, file, line, column (from 1, in code points), evidence (120 characters at most),
  message and hint.
- Symbolic links are not followed. Hidden folders and `node_modules` are skipped; nothing in them can be loaded.
- The time is linear in the text, which is bounded; what is beyond a bound is a critical finding, and not read in part.

`cortex-skills scan FOLDER` prints them like a compiler:

```text
verify-kyc/skill.ts:2:3: critical[dynamic-code]: `eval` makes code from text
  2 |   eval("1");
    |   ^
    hint: Write the code itself instead of building it from text; a skill cannot compile code while it runs.
```

`--json` gives one JSON document, and `--sarif FILE` writes SARIF 2.1.0 for code hosts and editors, with paths relative
to the current folder. The command answers 1 when there is a critical finding.

What it cannot do: tell what code means. Words that only a person would read as an instruction, and code that misuses
what a skill may do, pass it.
"""
_LANGUAGES = {"ts": "ts", "md": "markdown", "text": "text"}


def page(rules: Iterable[Rule], whole_files: Iterable[Rule]) -> str:
    """The page, in Markdown."""
    listed, whole = list(rules), list(whole_files)
    overview = ["| rule | severity | finds |", "|---|---|---|"]
    overview += [f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {rule.title} |" for rule in (*listed, *whole)]
    return "\n".join([_INTRO, *overview, "", *map(_section, (*listed, *whole))])


def _section(rule: Rule) -> str:
    parts = [
        f"## {rule.id}\n",
        f"**{rule.title}** ({rule.severity}).\n",
        f"{rule.finds}\n",
        f"What to do: {rule.remedy}\n",
    ]
    if rule.written_in == "text":
        return "\n".join([*parts, f"Is found: {rule.trips}. Is not: {rule.passes}.\n"])
    language = _LANGUAGES[rule.written_in]
    parts += ["Is found:\n", _block(language, rule.trips), "Is not:\n", _block(language, rule.passes)]
    return "\n".join(parts)


def _block(language: str, code: str) -> str:
    shown = "\n".join(map(one_line, code.split("\n")))
    return f"```{language}\n{shown}\n```\n"


if __name__ == "__main__":
    from cortex_skills.scanner.rules import RULES
    from cortex_skills.scanner.whole_files import RULES as WHOLE_FILES

    if len(sys.argv) != 2:
        sys.exit("usage: python -m cortex_skills.scanner.page FILE")
    Path(sys.argv[1]).write_text(page(RULES, WHOLE_FILES), encoding="utf-8")
