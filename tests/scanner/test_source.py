"""The content of findings, and scans of hostile texts."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.scanner import Finding, scan_source
from cortex_skills.scanner.findings import EVIDENCE_LIMIT, FINDINGS_LIMIT
from cortex_skills.scanner.source import SOURCE_LIMIT

FRAGMENTS = [
    *"(){}[]<>;,.:?`'\"\\/=+!&|\n\r\0\t ",
    "${", "eval", "globalThis", "process", ".env", "require", "import", "function ", "class ", "=>", "const ", "type ",
    "as ", "typeof ", "new ", "...", "?.", "constructor", "'ev'+'al'", "\u2028", "\ud800", "\U0001f600", "<!--", "-->",
    "\\u0065", "\\u{ffffffff}", "async ", "await ", "declare ", "interface ", "enum ", "for(", "of ", "1e9", "@",
]  # fmt: skip


def assert_well_formed(findings: list[Finding]) -> None:
    assert len(findings) <= FINDINGS_LIMIT + 1
    for finding in findings:
        assert finding.severity in ("critical", "warning")
        assert finding.line >= 1
        assert finding.column >= 1
        assert len(finding.evidence) <= EVIDENCE_LIMIT
        assert finding.evidence.isprintable()
        assert finding.message
        assert finding.hint


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join), st.sampled_from(["a.ts", "a.js", "a.tsx"]))
@settings(max_examples=400, deadline=None)
def test_no_mixture_of_tokens_raises_an_error(text: str, filename: str) -> None:
    assert_well_formed(scan_source(text, filename))


@given(st.text(st.characters(), max_size=200), st.text(st.characters(), max_size=20))
@settings(max_examples=200, deadline=None)
def test_no_text_raises_an_error(text: str, filename: str) -> None:
    assert_well_formed(scan_source(text, filename))


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join))
@settings(max_examples=150, deadline=None)
def test_code_after_a_comment_or_a_string_is_scanned(before: str) -> None:
    quoted = "'" + "".join(f"\\x{ord(char):02x}" if ord(char) < 128 else "" for char in before) + "'"
    found = scan_source(f"const before = {quoted};\neval('1')")
    assert "dynamic-code" in {finding.rule for finding in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "{" * 100_000,
        "${" * 100_000,
        "`${" * 50_000,
        "a." * 100_000 + "b",
        "f(" * 60_000,
        "a+" * 100_000 + "a",
        "'a'+" * 50_000 + "'a'",
        "(eval," * 30_000,
        "function f(){" * 20_000,
        "x=>" * 50_000,
        "a<b," * 100_000,
        "a<b," * 499 + ";a",
        "&!" * 30_000,
        '\n>let =}"x"' * 5_000,
        "type async ?=..." * 3_000,
        "let x=1;" + "x=x;" * 60_000,
        "import {" + "a," * 60_000 + "} from 'x'",
        "const [" + "a," * 60_000 + "] = process",
        "\0" * 100_000,
        "\ud800" * 100_000,
        "eval(1);" * 60_000,
        "a=" + "`ignore ${" * 8_000 + "1" + "}`" * 8_000,
        "a=" + "'ignore '" + ".concat('all')" * 8_000,
        "a=" + "('ignore the '+" * 8_000 + "'x'" + ")" * 8_000,
        "while(1){" * 4_000 + "break;" * 10_000 + "}" * 4_000,
        "\u202ea" * 100_000,
        "// ignore all\n" * 8_000,
        "a" * 5_000_000,
        "eval(1);" * 625_000,
    ],
)
def test_hostile_texts_are_scanned_quickly_without_an_error(text: str) -> None:
    assert_well_formed(scan_source(text))


def test_deep_nesting_hides_nothing() -> None:
    text = "[" * 20_000 + "eval" + "]" * 20_000
    assert [finding.rule for finding in scan_source(text)] == ["dynamic-code"]


def test_a_source_beyond_the_limit_is_a_critical_finding() -> None:
    assert scan_source(" " * SOURCE_LIMIT) == []
    (finding,) = scan_source(" " * (SOURCE_LIMIT + 1))
    assert (finding.rule, finding.severity, finding.line) == ("file-too-large", "critical", 1)


def test_the_number_of_findings_is_limited_and_the_last_one_states_it() -> None:
    findings = scan_source("eval(1);\n" * (FINDINGS_LIMIT + 5))
    assert len(findings) == FINDINGS_LIMIT + 1
    assert findings[-1].rule == "too-many-findings"
    assert findings[-1].message.startswith("205 findings")


def test_a_finding_is_located_in_code_points_of_the_original_text() -> None:
    (finding,) = scan_source("const a = 1\r\nconst é = '\U0001f600'; eval('x')", "lib/a.ts")
    assert (finding.file, finding.line, finding.column) == ("lib/a.ts", 2, 16)
    assert finding.evidence == "eval"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\u2029"])
def test_a_line_ends_where_javascript_ends_it(end: str) -> None:
    (finding,) = scan_source(f"//a{end}//b{end}eval(1)")
    assert (finding.line, finding.column) == (3, 1)


@pytest.mark.parametrize(
    ("filename", "specifier", "leaves"),
    [
        ("skill.ts", "./a/../b", False),
        ("skill.ts", "../b", True),
        ("lib/a.ts", "../b", False),
        ("lib/a.ts", "./../../b", True),
        ("lib/deep/a.ts", "../../b", False),
        ("lib/deep/a.ts", "../c/../../../b", True),
        ("lib/a.ts", "./%2E%2e/%2e./b", True),
        ("lib/a.ts", "/b", True),
    ],
)
def test_an_import_by_path_is_reported_when_it_climbs_above_the_folder(
    filename: str, specifier: str, leaves: bool
) -> None:
    found = scan_source(f"\nimport b from '{specifier}'", filename)
    assert [(one.rule, one.severity, one.line, one.column) for one in found] == (
        [("file-access", "critical", 2, 15)] if leaves else []
    )


def test_findings_come_in_the_order_of_the_text() -> None:
    findings = scan_source("fetch('x')\nprocess.env\neval('x')")
    assert [(f.line, f.rule) for f in findings] == [(1, "network-access"), (2, "environment"), (3, "dynamic-code")]


def test_evidence_is_cut_and_shows_no_control_characters() -> None:
    finding, *hidden = scan_source("setTimeout('\x1b[2J\u202e" + "a" * 300 + "')")
    assert [each.rule for each in hidden] == ["hidden-characters", "hidden-characters"]
    assert len(finding.evidence) == EVIDENCE_LIMIT
    assert finding.evidence.startswith("setTimeout('\\u001b[2J\\u202eaaa")
    assert finding.evidence.endswith("…")


def test_a_syntax_error_is_a_critical_finding_and_the_rest_is_scanned() -> None:
    rules = [finding.rule for finding in scan_source("const = ;\neval('x')")]
    assert "syntax-error" in rules
    assert "dynamic-code" in rules


def test_a_file_name_is_shown_without_control_characters() -> None:
    (finding,) = scan_source("eval(1)", "a\n\x1b\u202e.ts")
    assert finding.file == "a\\u000a\\u001b\\u202e.ts"


def test_a_finding_is_json_ready() -> None:
    (finding,) = scan_source("eval(1)")
    assert finding.to_json() == {
        "rule": "dynamic-code",
        "severity": "critical",
        "file": "skill.ts",
        "line": 1,
        "column": 1,
        "evidence": "eval",
        "message": "`eval` makes code from text",
        "hint": finding.hint,
    }


def test_the_parser_is_not_loaded_before_the_first_scan() -> None:
    code = "import sys, cortex_skills.scanner; print('tree_sitter' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"


def rules_of(source: str, filename: str) -> set[str]:
    return {finding.rule for finding in scan_source(source, filename)}


@pytest.mark.parametrize("filename", ["a.tsx", "a.jsx"])
def test_jsx_is_read_with_its_own_grammar(filename: str) -> None:
    assert rules_of("const a = <b title='eval'>eval(1) process.env</b>", filename) == set()
    assert rules_of("const a = <b title={eval('1')}>{process.env.X}</b>", filename) == {"dynamic-code", "environment"}


def test_a_type_in_a_javascript_file_is_ambiguous() -> None:
    assert rules_of("a < typeof run > (y)", "a.js") == {"ambiguous-syntax"}
    assert rules_of("f(a < b, c > (d))", "a.ts") == set()
    assert rules_of("let x: number = 1", "a.mjs") == {"ambiguous-syntax"}
