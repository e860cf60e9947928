"""The labelled questions of `eval/finding.py` are whole, and their skills are found."""

from __future__ import annotations

from cortex_skills.features.finder.static_vectors import StaticVectors
from cortex_skills.features.registry.skill_finder import SkillFinder
from eval.finding import QUESTIONS, figures, others, pairs, ranks, registry_of


def test_each_question_belongs_to_a_skill_and_each_skill_has_one():
    skills = pairs("skills.tsv")
    sets = {by: pairs(file) for by, file in QUESTIONS}
    assert len(skills) == 203
    assert {by: len(each) for by, each in sets.items()} == {"a stranger": 348, "their author": 305}
    for questions in sets.values():
        assert {name for name, _ in skills} == {name for name, _ in questions}
        assert len(set(questions)) == len(questions)
    assert len({name for name, _ in [*skills, *others(5_000)]}) == 5_203


def test_meaning_finds_more_skills_than_words():
    questions = pairs("strangers_questions.tsv")
    registry = registry_of([*pairs("skills.tsv"), *others(50)])
    by_words = figures(ranks(SkillFinder(registry), questions))
    by_meaning = figures(ranks(SkillFinder(registry, StaticVectors()), questions))
    assert by_words.five >= 0.50 * by_words.questions
    assert by_meaning.five >= 0.66 * by_meaning.questions
