"""Which tests `make check ROOM=…` runs."""

from __future__ import annotations

import pytest

from tests.room_tests import folders_of


@pytest.mark.extended
def test_a_room_is_tested_with_the_rooms_that_import_it() -> None:
    folders = folders_of("actions")
    assert folders[:2] == ["tests/actions", "tests/approvals"]
    assert {"tests/cli", "tests/mcp", "tests/server"} <= set(folders)
    assert "tests/manifest" not in folders


def test_the_tests_of_a_package_have_its_last_word() -> None:
    assert folders_of("cortex_sandbox")[:2] == ["tests/sandbox", "tests/wasm"]


def test_an_unknown_room_is_refused_with_those_that_exist() -> None:
    with pytest.raises(SystemExit, match=r"there is no room regstry; there are: .*registry"):
        folders_of("regstry")
