"""The feature `scaffold`. The files of a new skill."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="scaffold",
    rank=1,
    commands={
        "Write skills": {
            "init": "cortex_skills.features.scaffold.init_command:init",
        },
    },
)
