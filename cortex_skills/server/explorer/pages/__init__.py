"""The pages of the explorer, one module a page: each has a `PAGE`.

`PAGES` is in the order of the navigation. Add a page here; its route, its place in the navigation and the tests of
every address follow from that.
"""

from cortex_skills.server.explorer.page import ExplorerPage
from cortex_skills.server.explorer.pages import (
    audit,
    home,
    map_page,
    skill,
    skills,
    sparql_page,
)

PAGES: tuple[ExplorerPage, ...] = (
    home.PAGE,
    sparql_page.PAGE,
    map_page.PAGE,
    audit.PAGE,
    skills.PAGE,
    skill.PAGE,
)
