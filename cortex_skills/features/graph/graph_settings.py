"""The settings of the feature: `graph`."""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.config.setting import setting


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """How the graph is shown."""

    labels: tuple[str, ...] = setting(
        (),
        "Properties that name things, before rdfs:label and the like: names or IRIs.",
        items={"description": "A name or an IRI.", "minLength": 1, "maxLength": 1024},
        maxItems=20,
        uniqueItems=True,
    )
    languages: tuple[str, ...] = setting(
        (),
        "The languages in which labels are shown, the best one first.",
        items={
            "description": "A language tag, such as sv or en-GB.",
            "pattern": "^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$",
            "maxLength": 64,
        },
        maxItems=20,
        uniqueItems=True,
    )
