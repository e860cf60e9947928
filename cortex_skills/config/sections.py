"""The sections of the configuration, of the core and of the installed features, and what follows from their settings.

Rules kept here:
- a feature that declares a section of the core extends it: its type is one of that type;
- the schema and the names in the environment and in files are made of what is declared, once for each set of features.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property, reduce
from typing import Any

from cortex_skills.config.core_settings import CoreSettings
from cortex_skills.config.setting import (
    PathSetting,
    Setting,
    camel,
    default_of,
    section_schema,
    settings_of,
    snake,
)
from cortex_skills.feature import features, imported
from cortex_skills.safe_io.schemas import MadeSchema

log = logging.getLogger(__name__)

Name = tuple[str, ...]
"""A setting: section (if it has one) and name."""

ENVIRONMENT_PREFIX = "CORTEX_"


@dataclass(frozen=True, slots=True)
class UnusedSection:
    """The section of a feature that cannot be used: what it has is not read."""


@dataclass(frozen=True, eq=False)
class Declarations:
    """What is declared, by a set of features.

    Attributes:
        sections: their types by their names in snake_case.
        settings: by their names in snake_case.
    """

    sections: Mapping[str, type]
    settings: Mapping[Name, Setting]

    @cached_property
    def schema(self) -> MadeSchema:
        """The JSON Schema of a configuration."""
        made = section_schema(CoreSettings)
        made["properties"] |= {
            camel(name): {} if kind is UnusedSection else section_schema(kind) for name, kind in self.sections.items()
        }
        start = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "The configuration of Cortex Skills (cortex.yaml)",
        }
        return MadeSchema({**start, **made})

    @cached_property
    def rules(self) -> Mapping[Name, Mapping[str, Any]]:
        """The schema of each setting, by its name in camelCase."""
        return {tuple(map(camel, name)): each.schema for name, each in self.settings.items()}

    @cached_property
    def paths(self) -> Mapping[Name, PathSetting]:
        """The settings that are paths, by their names in snake_case, and their marks."""
        return {name: each.path for name, each in self.settings.items() if each.path is not None}

    @cached_property
    def former(self) -> Mapping[Name, tuple[Name, str]]:
        """The settings of earlier versions, by their names in camelCase: the new one, and what that is about."""
        found = ((tuple(map(camel, name)), each.former) for name, each in self.settings.items())
        return {(old.section, old.key): (name, old.covered) for name, old in found if old is not None}

    @cached_property
    def variables(self) -> Mapping[str, Name]:
        """The setting of each environment variable, in camelCase."""
        settings = (*self.rules, *self.former)
        return {ENVIRONMENT_PREFIX + "__".join(snake(part).upper() for part in name): name for name in settings}

    @cached_property
    def words(self) -> frozenset[tuple[str | int, ...]]:
        """The settings with a word such as `on` as a value, which YAML readers take for a boolean too."""
        return frozenset(name for name, rule in self.rules.items() if {"on", "off"} & set(rule.get("enum", ())))


def declared() -> Declarations:
    """What the core and the installed features declare."""
    found: dict[str, type] = {
        item.name: type(default) for item in fields(CoreSettings) if is_dataclass(default := default_of(item))
    }
    for feature in features():
        for name, place in feature.settings.items():
            (kind,) = imported(feature, [place]) or [UnusedSection]
            if name in found and not issubclass(kind, found[name]):
                if kind is UnusedSection:
                    continue
                log.warning(
                    "the settings %s of the feature %s are skipped: there is such a section", name, feature.name
                )
                continue
            found[name] = kind
    return _declared(tuple(found.items()))


@cache
def _declared(found: tuple[tuple[str, type], ...]) -> Declarations:
    settings: dict[Name, Setting] = {}
    for section, kind in found:
        settings |= {(section, name): each for name, each in settings_of(kind).items()}
    top: dict[Name, Setting] = {(name,): each for name, each in settings_of(CoreSettings).items()}
    return Declarations(dict(found), settings | top)


def path_settings(config: object) -> Iterator[tuple[str, str, PathSetting]]:
    """Each path that a `Config` names, as it is given, with the name of its setting and the mark of that.

    The paths of a list have the name of the list, those of a mapping its name and their key. A setting without a value
    is left out, and a store that is described by a mapping: it is on a server.

    >>> from cortex_skills.config import Config
    >>> config = Config(store="/data/graph", proofs={"shapes": {"stock": "stock.ttl"}})
    >>> [(name, value) for name, value, mark in path_settings(config) if mark.access != "public"]
    [('proofs.shapes.stock', 'stock.ttl'), ('store', '/data/graph')]
    """
    for setting, mark in declared().paths.items():
        name = ".".join(map(camel, setting))
        value: Any = reduce(getattr, setting, config)
        if isinstance(value, str):
            yield from [(name, value, mark)] if value else []
        elif not isinstance(value, Mapping):
            yield from ((name, path, mark) for path in value)
        elif name != "store":
            yield from ((f"{name}.{key}", path, mark) for key, path in value.items())
