"""The index of skills is on disk, one for all processes of a store, and a filter is part of a query."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.errors import CortexError
from cortex_skills.features.finder import index_follower
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.records.lifecycle import STATES
from cortex_skills.features.registry.records.reading import PackageSkills
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.features.registry.skill_listing import GROUPS, in_group
from tests.graph.shared.processes import ended, line_of, python
from tests.property_examples import examples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def registry(folder: Path):
    opened = SkillRegistry(open_store(str(folder)), Names("mayros"), lambda: None)
    yield opened
    opened.store.close()


def add(registry: SkillRegistry, name: str, description: str = "Grates carrots.", origin: str = "human") -> SkillKey:
    document = SkillDocument.checked(namespace="mayros", name=name, description=description)
    registry.register(document, actor="ada", origin=origin)
    return SkillKey("mayros", name)


def found(registry: SkillRegistry, query: str = "carrots", **how) -> list[str]:
    skills = SkillFinder(registry).find(query, 100, timeout_s=60, **how).skills
    return sorted(each.record.key.name for each in skills)


AGAIN = """
import sys
from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_index
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.skill_finder import SkillFinder

skill_index.SkillFollower.every = None  # nothing is indexed again
registry = SkillRegistry(open_store(sys.argv[1]), Names("mayros"), lambda: None)
print(sorted(each.record.key.name for each in SkillFinder(registry).find("carrots", 100).skills))
registry.store.close()
"""


def test_the_next_process_indexes_nothing_again(registry, folder, monkeypatch) -> None:
    monkeypatch.setattr(index_follower, "MOVED_AT", 3)
    for number in range(8):
        add(registry, f"grate-{number}")
        assert len(found(registry)) == number + 1
    registry.purge(SkillKey("mayros", "grate-0"), actor="ada")
    other = python(AGAIN, folder)
    assert line_of(other) == str([f"grate-{number}" for number in range(1, 8)])
    assert ended(other) == (0, "", "")


KILLED = """
import sys, time
from cortex_skills.features.finder import index_follower, kept_documents
from tests.registry.test_skill_index import *

commit = kept_documents.DocumentsWriter.commit
index_follower.MOVED_AT = 3
made = []

def stopped(self, state):
    made.append(state)
    if len(made) == 2:
        print("waiting", flush=True)
        time.sleep(60)
    commit(self, state)

kept_documents.DocumentsWriter.commit = stopped
registry = SkillRegistry(open_store(sys.argv[1]), Names("mayros"), lambda: None)
for number in range(6):
    add(registry, f"grate-{number}")
    found(registry)
time.sleep(60)
"""


def test_a_kill_while_the_index_is_written_loses_and_repeats_nothing(folder: Path) -> None:
    other = python(KILLED, folder)
    assert line_of(other) == "waiting"
    os.kill(other.pid, signal.SIGKILL)
    other.wait(30)
    registry = SkillRegistry(open_store(str(folder)), Names("mayros"), lambda: None)
    first = found(registry)
    assert first == sorted(record.key.name for record in registry.all_records())
    assert len(first) >= 4
    registry.store.close()


def test_a_folder_that_cannot_be_written_to_costs_no_skill(registry, folder, monkeypatch, tmp_path) -> None:
    (folder / ".find").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    add(registry, "grate")
    assert found(registry) == ["grate"]
    assert list((tmp_path / "cache").glob("cortex-skills/find/*/v*/meta.json"))


def test_a_skill_of_the_package_is_found_before_and_after_it_is_stored(folder: Path) -> None:
    document = SkillDocument.checked(namespace="mayros", name="peel", description="Peels carrots.")
    package = PackageSkills((SkillKey("mayros", "peel"),), lambda: [(document, 0.0)])
    registry = SkillRegistry(open_store(str(folder)), Names("mayros"), lambda: None, package=package)
    add(registry, "grate")
    finder = SkillFinder(registry)
    for _ in range(2):
        assert [each.record.key.name for each in finder.find("peels carrots").skills] == ["peel", "grate"]
        assert [each.key.name for each in finder.listing().ordered()] == ["grate", "peel"]
        registry.deprecate(SkillKey("mayros", "grate"), "blunt", actor="ada")
        registry.promote(SkillKey("mayros", "grate"), actor="ada", unmeasured=True)
        registry.outcome(SkillKey("mayros", "peel"), success=True, actor="ada")
    registry.store.close()


STEPS = st.lists(
    st.tuples(st.sampled_from(["human", "learned", "deprecate", "retire", "promote"]), st.integers(0, 5)), max_size=12
)


@given(steps=STEPS)
@settings(max_examples=examples(25), deadline=None)
def test_a_filter_finds_all_skills_of_a_group_and_state_and_no_other(steps: list[tuple[str, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_follower, "MOVED_AT", 2)  # so that some are in the documents
        registry = SkillRegistry(open_store("memory:"), Names("mayros"), lambda: None)
        finder = SkillFinder(registry)
        there: set[int] = set()
        for step, number in steps:
            key = SkillKey("mayros", f"grate-{number}")
            if step in ("human", "learned") and number not in there:
                there.add(number)
                add(registry, key.name, origin=step)
            elif number in there and step in ("deprecate", "retire"):
                with suppress(CortexError):  # deprecated already
                    getattr(registry, step)(key, *(["blunt"] if step == "deprecate" else []), actor="ada")
            elif number in there and registry.record(key).standing.lifecycle != "released":
                registry.promote(key, actor="ada", unmeasured=True)
            finder.find("carrots", timeout_s=60)
        records = list(registry.all_records())
        for group in GROUPS:
            for state in (None, *STATES):
                expected = sorted(each.key.name for each in records if in_group(each.standing, group, state))
                assert found(registry, among="all", group=group, state=state) == expected
                assert sorted(each.key.name for each in finder.listing().ordered(group, state)) == expected
        registry.store.close()
