"""The templates and what they are rendered with: no way around the escaping, no inline code, nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from cortex_skills.doors.explorer import rendering
from cortex_skills.doors.explorer.error_pages import ErrorView
from cortex_skills.doors.explorer.page import Near
from cortex_skills.doors.explorer.rendering import Surroundings, render, template_folders
from tests.every_case import check_every

TEMPLATES = {
    str(path): path.read_text(encoding="utf-8") for folder in template_folders() for path in folder.glob("*.html")
}
FORBIDDEN = {
    "a filter or block that stops the escaping": r"\|\s*safe\b|autoescape|Markup|\bxmlattr\b",
    "inline style": r"\sstyle\s*=|<style",
    "an inline handler": r"\son[a-z]+\s*=",
    "an inline script": r"<script(?![^>]*\ssrc=)",
    "something from elsewhere": r"(?:src|href|action|content)=\"(?:https?:)?//",
    "a script address": r"javascript:",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_contains(what: str) -> None:
    def check(text: str) -> None:
        assert re.findall(FORBIDDEN[what], text, re.IGNORECASE) == []

    check_every(TEMPLATES, check)


def test_every_template_can_be_compiled() -> None:
    environment = rendering._environment()
    check_every({name: name for name in environment.list_templates(["html"])}, environment.get_template)


def test_a_value_in_an_attribute_is_quoted() -> None:
    def check(text: str) -> None:
        assert re.findall(r"\s[a-z-]+=\{[{%]", text) == []

    check_every(TEMPLATES, check)


def test_no_module_of_the_explorer_declares_markup_of_data() -> None:
    room = Path(rendering.__file__).parent
    users = [path.name for path in room.rglob("*.py") if re.search(r"\bMarkup\b", path.read_text(encoding="utf-8"))]
    assert users == []


def error(message: str) -> ErrorView:
    near = Near('<img src=x onerror="alert(1)">', "/explore/a?name=%22")
    return ErrorView("Not found", 404, "not_found", message, "", "0" * 16, (near,), "", 0)


def test_every_value_is_escaped() -> None:
    page = render("error.html", Surroundings("", '"/><script>'), error("</p><script>alert(1)</script>")).decode()
    assert "<script>" not in page
    assert "&lt;img src=x onerror=&#34;alert(1)&#34;&gt;" in page


def test_lone_surrogates_become_question_marks() -> None:
    assert b"a?b" in render("error.html", Surroundings("", "/explore"), error("a\ud800b"))


def test_a_name_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("error.html", Surroundings("", "/explore"), object())


def test_the_server_starts_without_the_template_engine() -> None:
    program = "import sys, cortex_skills.doors.server.app; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
