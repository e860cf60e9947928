"""The structure of the product: no circles between rooms, unambiguous names, a current picture."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.docs.rooms import PICTURE, ROOT, direct, imports, picture, repeated_classes, repeated_modules, rooms, rows

LOOSE_FILES = 7


def test_no_room_imports_itself_through_others() -> None:
    try:
        tuple(TopologicalSorter(rooms()).static_order())
    except CycleError as error:
        pytest.fail(f"rooms import each other: {' -> '.join(reversed(error.args[1]))}")


def test_no_module_imports_itself_through_others() -> None:
    try:
        tuple(TopologicalSorter(imports()).static_order())
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(reversed(error.args[1]))}")


def test_the_picture_is_current() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(), "draw it again: python -m tests.docs.rooms"


def test_no_module_name_occurs_more_than_twice() -> None:
    assert repeated_modules(most=2) == {}


def test_no_public_class_name_occurs_twice() -> None:
    assert repeated_classes(most=1) == {}


def test_the_root_of_the_plugin_has_few_modules() -> None:
    loose = [path.name for path in (ROOT / "cortex_skills").glob("*.py") if not path.name.startswith("__")]
    assert len(loose) <= LOOSE_FILES, sorted(loose)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    named = re.findall(r"`([\w./-]+\.(?:py|toml|md))`", (ROOT / page).read_text(encoding="utf-8"))
    missing = {name for name in named if "NAME" not in name and not any(ROOT.rglob(name))}
    assert missing == set()


def test_rows_and_arrows_follow_the_imports() -> None:
    graph = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert rows(graph) == {"a": 2, "b": 1, "c": 0}
    assert direct(graph) == [("a", "b"), ("b", "c")]
