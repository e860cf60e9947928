"""Limits of a skill document, digests, and the counters of a skill."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cortex_skills.features.registry.documents import document as limits
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource, Step, compat_digest, digest
from cortex_skills.features.registry.records.lifecycle import Quality, health, wilson
from cortex_skills.manifest import ManifestError

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def document(**fields) -> SkillDocument:
    return SkillDocument.checked(**{"namespace": "testns", "name": "demo", "description": "A demo skill."} | fields)


@pytest.mark.parametrize(
    "path",
    ["", "/a", "../a", "a/../b", "./a", "a//b", ".git/config", "a/.env", "a\\b", "c:x", "nul\0", "a\nb", "SKILL.md",
     "skill.MD", "semantic.yaml", "a ", "a.", "x" * 256, "d/" * 600 + "f"],
)  # fmt: skip
def test_a_path_that_some_file_system_cannot_hold_is_refused(path):
    with pytest.raises(ManifestError):
        document(resources=(SkillResource(path, b""),))


@pytest.mark.parametrize(("one", "other"), [("a.md", "A.md"), ("a", "a/b"), ("straße", "STRASSE")])
def test_paths_that_collide_are_refused(one, other):
    with pytest.raises(ManifestError):
        document(resources=(SkillResource(one, b""), SkillResource(other, b"")))


@pytest.mark.parametrize(
    "fields",
    [
        {"description": "x" * (limits.MAX_DESCRIPTION + 1)},
        {"compatibility": "x" * (limits.MAX_COMPATIBILITY + 1)},
        {"body": "x" * (limits.MAX_BODY + 1)},
        {"body": "a\0b"},
        {"body": "\ud800"},
        {"resources": (SkillResource("a", bytes(limits.MAX_RESOURCE + 1)),)},
        {"resources": tuple(SkillResource(f"f{n}", b"") for n in range(limits.MAX_RESOURCES + 1))},
        {"resources": tuple(SkillResource(f"f{n}", bytes(limits.MAX_RESOURCE)) for n in range(17))},
        {"depends_on": ("demo",)},
        {"depends_on": ("a", "a")},
        {"metadata": {"x": float("nan")}},
        {"metadata": {"x": {1, 2}}},
        {"steps": (Step("  "),)},
    ],
)
def test_what_is_beyond_a_limit_is_refused(fields):
    with pytest.raises(ManifestError):
        document(**fields)


def test_the_compat_digest_has_the_published_values():
    assert compat_digest(document(body="Body.\n")) == (
        "ac4d7953ddeca7021c5402cc5ef90cc7f95c79ab268ed5af1026954cf19c723f"
    )
    fetch = SkillDocument.checked(
        namespace="skills",
        name="fetch-data",
        description="Fetches data from an API endpoint.",
        license="Apache-2.0",
        compatibility=">=0.7.0",
        allowed_tools=("memory_recall", "memory_store"),
        body="# Fetch Data\n\nInstructions here.\n",
    )
    assert compat_digest(fetch) == "f2a51268e1ac6e28058fac2a3c7d7494f121e174d81c0ee4ee4db41eb0199cfb"


@pytest.mark.parametrize(
    "fields",
    [
        {"namespace": "other"},
        {"name": "demo-2"},
        {"description": "Another."},
        {"license": "MIT"},
        {"compatibility": "x"},
        {"allowed_tools": ("x",)},
        {"metadata": {"x": 1}},
        {"metadata": {"x": 1.0}},
        {"metadata": {"x": {"$double": (1.0).hex()}}},
        {"metadata": {"x": 2**60}},
        {"metadata": {"x": {"$integer": str(2**60)}}},
        {"body": "x"},
        {"steps": (Step("x"),)},
        {"steps": (Step("x", "y"),)},
        {"trigger_pattern": "x"},
        {"depends_on": ("x",)},
        {"conflicts_with": ("x",)},
        {"reflections": []},
        {"semantic": {}},
        {"resources": (SkillResource("a", b"x"),)},
        {"resources": (SkillResource("b", b"x"),)},
        {"resources": (SkillResource("scripts/a", b"x"),)},
        {"resources": (SkillResource("a", b"x", executable=True),)},
    ],
)
def test_the_digest_differs_when_anything_does(fields):
    every = [document(), document(metadata={"x": 1}), document(resources=(SkillResource("a", b"x"),))]
    changed = document(**fields)
    others = {digest(other) for other in every if other != changed}
    assert digest(changed) not in others
    assert digest(document(**fields)) == digest(changed)


def test_the_health_of_a_new_skill():
    assert health(Quality(), 0, NOW).overall == pytest.approx(0.59)
    assert health(Quality(), 10, NOW).overall == pytest.approx(0.34)


def test_ten_successes_make_a_skill_wholly_healthy():
    quality = Quality()
    for _ in range(10):
        quality = quality.after(success=True, now=NOW)
    assert (quality.invocations, quality.success_rate) == (10, 1.0)
    assert health(quality, 0, NOW).overall == pytest.approx(1.0)


def test_failures_lower_the_rate_and_never_the_utility_below_zero():
    quality = Quality().after(success=True, now=NOW)
    for _ in range(5):
        quality = quality.after(success=False, now=NOW)
    assert quality.success_rate == pytest.approx(1 / 6)
    assert quality.utility == 0.0
    assert health(quality, 1, NOW).risk == pytest.approx(5 / 6)


def test_freshness_falls_over_thirty_days():
    used = Quality(last_used_at=NOW)
    assert Quality().freshness(NOW) == 1.0
    assert used.freshness(NOW + timedelta(days=15)) == pytest.approx(0.5)
    assert used.freshness(NOW + timedelta(days=300)) == 0.05


def test_a_load_is_no_invocation():
    quality = Quality().loaded(100, NOW).loaded(300, NOW)
    assert (quality.loads, quality.invocations, quality.token_cost) == (2, 0, 200.0)


def test_merged_counters_are_sums_and_weighted_means():
    one = Quality(invocations=3, successes=3, utility=0.3, last_used_at=NOW)
    other = Quality(invocations=1, utility=0.7)
    merged = one.merged(other)
    assert (merged.invocations, merged.success_rate, merged.last_used_at) == (4, 0.75, NOW)
    assert merged.utility == pytest.approx(0.4)


def test_three_of_three_do_not_beat_ninety_six_of_a_hundred():
    assert wilson(3, 3)[0] < wilson(96, 100)[0]
    assert wilson(0, 0) == (0.0, 1.0)
