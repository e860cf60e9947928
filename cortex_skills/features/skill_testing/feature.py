"""The feature `skill_testing`. Tests of skills, and a skill that is reloaded while it is written."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="skill_testing",
    rank=2,
    commands={
        "Write skills": {
            "dev": "cortex_skills.features.skill_testing.dev_command:dev",
            "test": "cortex_skills.features.skill_testing.test_command:test",
        },
    },
)
