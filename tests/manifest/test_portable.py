"""What other readers reject is found in any text."""

import pytest
import skills_ref
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.manifest.portable import unportable

TAB = "has a tab, which agentskills.io reads in quoted texts only"


def test_a_tab_is_found_behind_line_ends_that_only_some_readers_know():
    for before in ("é: x\n", "# \x85\u2028\n", "a: |\r\n  b\r\n"):
        problems = list(unportable(f"---\n{before}name:\ta\ndescription: b\n---\n"))
        assert [problem.message for problem in problems] == [TAB]


@pytest.mark.parametrize("tab", ["\t", " \t"])
@pytest.mark.parametrize(
    "text",
    [
        "name: demo\ndescription: {}d",
        "name: demo\ndescription: a{}b",
        "name: demo\ndescription: a{}",
        'name: demo\ndescription: "a"{}',
        'name: demo\ndescription: "a{}b"',
        "name: demo\ndescription: 'a{}b'",
        'name: demo\ndescription: "a\n  {}b # c"',
        "name: demo\ndescription: a{}# b",
        "name: demo\ndescription: a # b{}c",
        "name: demo\ndescription: a#{}b",
        "name: demo\ndescription: |\n  a{}b\n",
        "name: demo\ndescription: >-\n  a{}\n  b # c{}d",
        "name: demo\ndescription: >{}\n  a\n",
        "name: demo\ndescription: a\n  b{}c",
        "name: demo\ndescription: a\nmetadata:{}\n  a: b",
        "name: demo\ndescription: a\nmetadata:\n  a{}b: c",
        "name: demo\ndescription: a\nlicense{}: b",
        "name: demo{}\ndescription: |\n  a",
    ],
)
def test_a_tab_is_found_exactly_where_the_reference_validator_refuses_it(tmp_path, text, tab):
    folder = tmp_path / "demo"
    folder.mkdir()
    document = f"---\n{text.replace('{}', tab)}\n---\nBody.\n"
    (folder / "SKILL.md").write_text(document)
    found = [problem.message for problem in unportable(document)]
    assert found == [TAB] * bool(skills_ref.validate(folder))


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab-:#[]{}\t\n\r \x85\u2028\u2029\ufeff'\"|>&*!é")))
def test_any_frontmatter_is_searched_for_what_other_readers_reject(text):
    assert all(str(problem) for problem in unportable(f"---\n{text}\n---\n"))
