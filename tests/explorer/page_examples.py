"""The addresses with which the tests of all pages open each page."""

from __future__ import annotations

from cortex_skills.doors.explorer.page import ExplorerPage


def is_of_one(page: ExplorerPage) -> bool:
    """Whether the path of a page names what it shows, beside the namespace."""
    return "{" in page.path.replace("{namespace}", "")


def example_of(page: ExplorerPage, name: str, form: str = "html") -> dict[str, str]:
    """The parameters of the example of a page, or of one of its forms, about the resource of that name."""
    given = {**page.example, **(page.forms[form].example if form in page.forms else {})}
    return {key: value.replace("{name}", name) for key, value in given.items()}
