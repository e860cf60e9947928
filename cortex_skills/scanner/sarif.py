"""Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), for code hosts and editors.

Rules kept here:
- every location is a relative URI below `%SRCROOT%`, the current folder or the scanned one; no absolute path of the
  machine is written;
- columns count code points (`columnKind`), as in a finding;
- each rule is described once, with a name that is not its id (§3.49.7), its section of `docs/scanner.md` as help, and
  the absolute URI of that section (§3.49.12), a name and not an address on a network;
- the fingerprint of a finding depends on its rule, file and evidence, not on its position in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from cortex_skills.scanner.findings import Finding
from cortex_skills.scanner.page import section
from cortex_skills.scanner.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_DOCUMENTATION = "urn:cortex-skills:docs:scanner"
_LEVELS = {"critical": "error", "warning": "warning"}
# GitHub shows a security rule by this number: 9 and more is critical, from 4 it is medium.
_SECURITY_SEVERITY = {"critical": "9.0", "warning": "4.0"}


def to_sarif(findings: Iterable[tuple[str, Finding]], rules: Iterable[Rule], version: str) -> dict[str, Any]:
    """The SARIF log of one scan.

    Args:
        findings: each with the relative path of its file, with `/` as separator.
        rules: all rules of the scan.
        version: the version of the scanner.
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
                        "informationUri": _DOCUMENTATION,
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
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.finds},
        "helpUri": f"{_DOCUMENTATION}#{rule.id}",
        "help": {"text": f"{rule.finds} {rule.remedy}", "markdown": section(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["security"], "security-severity": _SECURITY_SEVERITY[rule.severity]},
    }


def _result(path: str, finding: Finding, place: int, seen: Counter[str]) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": finding.line, "startColumn": finding.column}
    if finding.evidence:
        region["snippet"] = {"text": finding.evidence}
    key = "\0".join((finding.rule, path, finding.evidence))
    seen[key] += 1
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
            "cortexSkillsFinding/v1": sha256(f"{key}\0{seen[key]}".encode("utf-8", "replace")).hexdigest()
        },
    }
