"""The `registry` commands."""

from cortex_skills.doors.cli.commands import Group
from cortex_skills.features.registry.cli.change_skills import (
    add,
    deprecate,
    maintain,
    merge,
    promote,
    purge,
    retire,
    trust,
    unretire,
)
from cortex_skills.features.registry.cli.learn import learn
from cortex_skills.features.registry.cli.show_skills import events, export, find, list_, show

__all__ = ["registry"]

registry = Group(
    "registry",
    help="Keep, find and hand on skills: versions, states, signatures.",
    sections={
        "Skills": [add, list_, show, find, export],
        "Versions": {
            "history": "cortex_skills.features.registry.cli.skill_versions:HISTORY",
            "diff": "cortex_skills.features.registry.cli.skill_versions:DIFF",
            "rollback": "cortex_skills.features.registry.cli.change_skills:rollback",
        },
        "States": [promote, deprecate, merge, retire, unretire, trust, purge, maintain],
        "What would happen": {
            "preview": "cortex_skills.features.registry.skill_previews:preview_change",
            "preview-folders": "cortex_skills.features.registry.skill_previews:preview_folders",
        },
        "Learning": [learn],
        "Events": [events],
    },
)
