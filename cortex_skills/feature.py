"""`Feature`: what one capability adds to the plugin, and the list of those that are installed.

A distribution adds a feature with an entry point of the group `cortex_skills.features`:

    [project.entry-points."cortex_skills.features"]
    invoices = "my_package.feature:FEATURE"

Rules kept here:
- the core and the interfaces import no feature: they ask for what features add, which is imported at its first use;
- an entry point that cannot be imported or is no `Feature` is skipped with a warning, and never prevents a start. What
  a feature names is not skipped: it may be what refuses a call;
- what a feature adds passes the same gate as everything else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Literal

from cortex_skills.safe_io.added_entries import added_entries

log = logging.getLogger(__name__)

GROUP = "cortex_skills.features"
Modules = Literal["operations", "tools", "rest", "pages"]
Functions = Literal[
    "attach",
    "tasks",
    "routes",
    "mcp",
    "folder_checks",
    "host_functions",
    "keeps_journal",
    "members",
    "attention",
    "numbers",
]


@dataclass(frozen=True, slots=True)
class Feature:
    """One capability. Modules are named, and imported when they are needed.

    Attributes:
        name: of the feature.
        rank: features are listed by it, and so are their tools and commands.
        operations: modules that declare operations with `@operation`.
        tools: modules whose `TOOLS` are tools for agents.
        default_tools: the names of its tools that a skill may call if its manifest names none.
        rest: modules whose `OPERATIONS` are operations of the REST API.
        pages: modules whose `PAGE` is a page of the explorer.
        commands: by the title of the section of the help, the commands by name, as `module:name` of a command or of an
            operation; one of a group is named with it, as in `trust import`.
        attach: functions of a `Gate`, as `module:name`, that connect the feature when a plugin opens.
        tasks: asynchronous functions of a `Service` and an event, as `module:name`, which run while a server does.
        routes: functions of a `Config`, as `module:name`, that return further routes of the HTTP server; each of them
            decides itself who may read it.
        mcp: functions of a `Plugin` and of the bus of subscriptions, as `module:name`, that return an `McpExtension`.
        folder_checks: functions of the folder of a skill, as `module:name`, which raise an error where it should not be
            signed as it is.
        host_functions: functions of the `HostFunctions` of a skill, as `module:name`, that return further functions
            for its code by name.
        keeps_journal: functions of a `Config`, as `module:name`, that return whether it wants the journal of the audit.
        attention: functions of a `PageCall`, as `module:name`, that return what needs a look (`Attention`) in the
            namespace of the skills, for a caller who may see it.
        numbers: functions of a `Plugin`, as `module:name`, that return the names, texts and values of what `/metrics`
            shows.
        settings: by the name of a section of the configuration in snake_case, its type, as `module:name`
            (`cortex_skills.config.setting`).
        members: classes, as `module:name`, whose properties and methods every `Plugin` gets, with itself as `self`.
        follows: by the name of an operation that changes something, a function of its call and its arguments, as
            `module:name`, that runs after it.
    """

    name: str
    rank: int = 100
    operations: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    default_tools: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    commands: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attach: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    folder_checks: tuple[str, ...] = ()
    host_functions: tuple[str, ...] = ()
    keeps_journal: tuple[str, ...] = ()
    attention: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    follows: Mapping[str, str] = field(default_factory=dict)


@cache
def features() -> tuple[Feature, ...]:
    """The installed features by rank."""
    found: dict[str, Feature] = {}
    for entry in added_entries(GROUP, "features"):
        try:
            feature = entry.load()
            if not isinstance(feature, Feature):
                raise TypeError(f"it is a {type(feature).__name__}, not a Feature")
        except (Exception, SystemExit) as error:
            log.warning("the feature %s is skipped: %s: %s", entry.value, type(error).__name__, error)
            continue
        if found.setdefault(feature.name, feature) is not feature:
            log.warning("the feature %s is skipped: another one has the name %s", entry.value, feature.name)
    return tuple(sorted(found.values(), key=lambda feature: (feature.rank, feature.name)))


def added(kind: Modules, attribute: str) -> Iterator[Any]:
    """The attribute of each module that the features name for a purpose, in the order of the features."""
    for feature in features():
        for module in getattr(feature, kind):
            yield getattr(import_module(module), attribute)


def functions(kind: Functions) -> Iterator[Any]:
    """The functions that the features name for a purpose, in the order of the features."""
    for feature in features():
        for name in getattr(feature, kind):
            yield named(name)


def member(name: str) -> Any:
    """The property or the method of that name that a feature adds to a plugin.

    Raises:
        AttributeError: no installed feature adds one.
    """
    if name in member_names():
        return next(vars(members)[name] for members in functions("members") if name in vars(members))
    installed = ", ".join(feature.name for feature in features()) or "none"
    raise AttributeError(f"no installed feature adds {name!r} to a plugin; installed: {installed}", name=name)


def member_names() -> set[str]:
    """The names that features add to a plugin."""
    return {name for members in functions("members") for name in vars(members) if not name.startswith("_")}


@cache
def followers(operation: str) -> tuple[Any, ...]:
    """The functions of features that follow an operation."""
    return tuple(named(feature.follows[operation]) for feature in features() if operation in feature.follows)


def named(name: str) -> Any:
    """The object that `module:name` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
