"""Generates the page of the rules: `python -m cortex_skills.scanner.page docs/scanner.md` writes it.

Rules kept here:
- everything about a rule on the page comes from the rule, and its examples are scanned by the tests;
- the same rules give the same page, byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from cortex_skills.safe_io.display import one_line
from cortex_skills.scanner.rule import Rule

_INTRO = """\
# The scanner

Generated from the rules by `python -m cortex_skills.scanner.page docs/scanner.md`.

The scanner reads the whole folder of a skill before any of its code runs. It works on the syntax tree of each source,
evaluates constants and follows names, so that comments and texts are not mistaken for code. In SKILL.md and other
documents it looks for instructions to a model. The scanner is a second line of defence: [the sandbox](sandbox.md) stops
forbidden operations while a skill runs; the scanner reports them earlier, with their location.

- A **critical** finding stops the load (`verification.autoScan`); a **warning** does not.
- A finding has a rule, severity, file, line, column (from 1, in code points), evidence (at most 120 characters),
  message and hint.
- Symbolic links are not followed. Hidden folders and `node_modules` are skipped; the bundler loads nothing from them.
- The time is linear in the text, whose size is limited; beyond a limit there is a critical finding, and the text is not
  scanned in part.

`cortex-skills scan FOLDER` prints findings in the format of a compiler:

```text
verify-kyc/skill.ts:2:3: critical[dynamic-code]: `eval` makes code from text
  2 |   eval("1");
    |   ^
    hint: Write the code itself instead of building it from text; a skill cannot compile code while it runs.
```

`--json` gives one JSON document, and `--sarif FILE` writes SARIF 2.1.0 for code hosts and editors, with paths relative
to the current folder. Each rule has a name there, its section of this page as help, and the address of that section,
`urn:cortex-skills:docs:scanner#RULE`: this page ships with the source and has no other address. The exit code is 1 when
there is a critical finding.

### What is evaluated, and what is not

The scanner evaluates literals with their escapes, names, `+`, templates, `concat` of a text, `join` of a list, constant
indexes and destructuring. It does not compute other calls, such as `atob`, `String.fromCharCode`, `split`, `reverse`,
`replace`, `slice`, `normalize` or `JSON.parse` of a constant. When such a call computes the name of a member from
constants, or decodes, reverses or replaces parts of a constant, or cuts a literal, the rule
[`obfuscation`](#obfuscation) reports the call. The computed text is unknown, so no other rule reads it: pieces that are
cut from a constant variable and joined again are not recognised as a text. This matters most in the direct mode, which
has no sandbox.

The scanner does not understand the meaning of code. It does not find instructions that only a person would recognise,
nor code that misuses the permissions of the skill.
"""
_LANGUAGES = {"ts": "ts", "md": "markdown", "text": "text"}


def page(rules: Iterable[Rule], whole_files: Iterable[Rule]) -> str:
    """The page, in Markdown."""
    listed, whole = list(rules), list(whole_files)
    overview = ["| rule | severity | finds |", "|---|---|---|"]
    overview += [f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {rule.title} |" for rule in (*listed, *whole)]
    return "\n".join([_INTRO, "### The rules\n", *overview, "", *map(section, (*listed, *whole))])


def section(rule: Rule) -> str:
    """The section of a rule, in Markdown."""
    parts = [
        f"## {rule.id}\n",
        f"**{rule.title}** ({rule.severity}).\n",
        f"{rule.finds}\n",
        f"What to do: {rule.remedy}\n",
    ]
    if rule.written_in == "text":
        return "\n".join([*parts, f"Reported: {rule.trips}. Not reported: {rule.passes}.\n"])
    language = _LANGUAGES[rule.written_in]
    parts += ["Reported:\n", _block(language, rule.trips), "Not reported:\n", _block(language, rule.passes)]
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
