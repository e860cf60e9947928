"""What other readers reject is found in any text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.manifest.portable import unportable


def test_a_tab_before_a_value_is_found_behind_line_ends_that_only_some_readers_know():
    for before in ("é: x\n", "# \x85\u2028\n", "a: |\r\n  b\r\n"):
        problems = list(unportable(f"---\n{before}name:\ta\ndescription: b\tc\n---\n"))
        assert [problem.message for problem in problems] == [
            "has a tab before a value, which agentskills.io does not read"
        ]


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab-:#[]{}\t\n\r \x85\u2028\u2029\ufeff'\"|>&*!é")))
def test_any_frontmatter_is_searched_for_what_other_readers_reject(text):
    assert all(str(problem) for problem in unportable(f"---\n{text}\n---\n"))
