"""Findings as SARIF 2.1.0, which code hosts and editors read (OASIS, Static Analysis Results Interchange Format).

Rules kept here:
- every place is a relative URI below `%SRCROOT%`, the folder that the scan was started in or the one that was scanned;
  no absolute path of the machine is told;
- columns count code points (`columnKind`), as in a finding;
- each rule is described once, with its remedy as help;
- a finding keeps its fingerprint while its rule, file and evidence stay, wherever in the file it moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from cortex_skills.scanner.findings import Finding
from cortex_skills.scanner.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"critical": "error", "warning": "warning"}
# GitHub shows a security rule by this number: 9 and more is critical, from 4 it is medium.
_SECURITY_SEVERITY = {"critical": "9.0", "warning": "4.0"}


def to_sarif(findings: Iterable[tuple[str, Finding]], rules: Iterable[Rule], version: str) -> dict[str, Any]:
    """The log of one scan.

    Args:
        findings: each with its file's path, relative, with `/` between its parts.
        rules: that were looked for.
        version: of the scanner.

    """
    described = list(rules)
    places = {rule.id: place for place, rule in enumerate(described)}
    seen: Counter[str] = Counter()
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "cortex-skills scan",
                        "semanticVersion": version,
                        "rules": [_described(rule) for rule in described],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The folder that was scanned from."}}},
                "results": [_result(path, finding, places[finding.rule], seen) for path, finding in findings],
            }
        ],
    }


def _described(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.finds},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["security"], "security-severity": _SECURITY_SEVERITY[rule.severity]},
    }


def _result(path: str, finding: Finding, place: int, seen: Counter[str]) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": finding.line, "startColumn": finding.column}
    if finding.evidence:
        region["snippet"] = {"text": finding.evidence}
    told = "\0".join((finding.rule, path, finding.evidence))
    seen[told] += 1
    return {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.hint}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(path, safe="/"), "uriBaseId": "%SRCROOT%"},
                    "region": region,
                }
            }
        ],
        "partialFingerprints": {
            "cortexSkillsFinding/v1": sha256(f"{told}\0{seen[told]}".encode("utf-8", "replace")).hexdigest()
        },
    }
