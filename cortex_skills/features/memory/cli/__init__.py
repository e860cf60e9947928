"""The `memory` commands, which are imported when they are used."""

from cortex_skills.doors.cli.commands import Group

_COMMANDS = "cortex_skills.features.memory.cli.memory_commands"

MEMORY = Group(
    "memory",
    help="Show, search, correct and forget what agents remember.",
    sections={
        "Show": {name: f"{_COMMANDS}:{name.upper()}" for name in ("list", "search", "show", "recall", "recalls")},
        "Change": {name: f"{_COMMANDS}:{name.upper()}" for name in ("remember", "correct", "forget")},
    },
)
