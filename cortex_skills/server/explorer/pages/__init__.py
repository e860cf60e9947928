"""The pages of the explorer, one module a page: each has a `PAGE`.

`PAGES` is in the order of the navigation. Add a page here; its route, its place in the navigation and the tests of
every address follow from that.
"""

from cortex_skills.server.explorer.page import ExplorerPage
from cortex_skills.server.explorer.pages import (
    approval_list,
    approval_page,
    artifact_list,
    artifact_page,
    assertion,
    audit_page,
    edit_skill,
    find_page,
    home,
    map_page,
    overview,
    proof_list,
    proof_page,
    registered_skill,
    registry_list,
    resource,
    skill_list,
    skill_page,
    sparql_page,
    triple_list,
    used,
)

PAGES: tuple[ExplorerPage, ...] = (
    home.PAGE,
    overview.PAGE,
    triple_list.PAGE,
    resource.PAGE,
    used.PAGE,
    find_page.PAGE,
    map_page.PAGE,
    sparql_page.PAGE,
    assertion.PAGE,
    proof_list.PAGE,
    proof_page.PAGE,
    approval_list.PAGE,
    approval_page.PAGE,
    artifact_list.PAGE,
    artifact_page.PAGE,
    audit_page.PAGE,
    skill_list.PAGE,
    skill_page.PAGE,
    registry_list.PAGE,
    registered_skill.PAGE,
    edit_skill.PAGE,
)
