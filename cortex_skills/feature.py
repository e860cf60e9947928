"""`Feature`: what one capability adds to the plugin, and the list of those that are installed.

A distribution adds a feature with an entry point of the group `cortex_skills.features`:

    [project.entry-points."cortex_skills.features"]
    invoices = "my_package.feature:FEATURE"

Rules kept here:
- the core and the interfaces import no feature: they ask for what features add, which is imported at its first use;
- an entry point that cannot be imported or is no `Feature` is skipped with a warning, and never prevents a start;
- a feature of which a module cannot be imported is a fault of that feature alone: an error in the log and in `doctor`
  names it, and nothing more of it is used. Where it may be what refuses something, that is refused: the check of a
  folder, and everything if the feature `guards`;
- what a feature adds passes the same gate as everything else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any, Literal, get_args

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.added_entries import added_entries

log = logging.getLogger(__name__)

GROUP = "cortex_skills.features"
_CHECKS = frozenset({"folder_checks", "copies"})
_FAULTS: dict[str, str] = {}
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
    "copies",
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
        copies: parts (`StorePart`), as `module:name`, of what it keeps in a store beside the statements of a namespace,
            which `graph copy` takes along.
        settings: by the name of a section of the configuration in snake_case, its type, as `module:name`
            (`cortex_skills.config.setting`).
        members: classes, as `module:name`, whose properties and methods every `Plugin` gets, with itself as `self`.
        follows: by the name of an operation that changes something, a function of its call and its arguments, or a
            `Follower` (`cortex_skills.operations.operation`), as `module:name`, that runs after it.
        guards: whether it refuses what others may do, so that nothing runs while it cannot be imported.
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
    copies: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    follows: Mapping[str, str] = field(default_factory=dict)
    guards: bool = False


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
            _FAULTS[entry.name] = f"{type(error).__name__}: {error}"
            continue
        if found.setdefault(feature.name, feature) is not feature:
            log.warning("the feature %s is skipped: another one has the name %s", entry.value, feature.name)
    return tuple(sorted(found.values(), key=lambda feature: (feature.rank, feature.name)))


def added(kind: Modules, attribute: str) -> Iterator[Any]:
    """The attribute of each module that the features name for a purpose, in the order of the features."""
    for feature in features():
        yield from imported(feature, [f"{module}:{attribute}" for module in getattr(feature, kind)])


def functions(kind: Functions) -> Iterator[Any]:
    """The functions that the features name for a purpose, in the order of the features."""
    for feature in features():
        yield from imported(feature, getattr(feature, kind), refuses=kind in _CHECKS)


def imported(feature: Feature, names: Iterable[str], *, refuses: bool = False) -> list[Any]:
    """The objects that a feature names; none of them if it cannot be used.

    Args:
        feature: names them.
        names: modules, or `module:name`.
        refuses: whether they may refuse something.

    Raises:
        CortexError: `internal_error`: the feature cannot be used, and guards others, or `refuses`.
    """
    names = list(names)
    if feature.name not in _FAULTS:
        try:
            return [named(name) for name in names]
        except (Exception, SystemExit) as error:
            _FAULTS[feature.name] = f"{type(error).__name__}: {error}"
            log.error("the feature %s cannot be used: %s", feature.name, _FAULTS[feature.name], exc_info=error)
    if feature.guards or (refuses and names):
        raise unusable(feature.name)
    return []


def unusable(name: str) -> CortexError:
    """The error of a feature that cannot be used."""
    return CortexError(
        "internal_error",
        f"the feature {name} cannot be used: {_FAULTS[name]}",
        hint="install its distribution again, or remove it; `cortex-skills doctor` lists all that is wrong",
    )


def faults() -> Mapping[str, str]:
    """Why features cannot be used, by their names, of those that are known to be at fault."""
    return _FAULTS


def import_everything() -> None:
    """Import all that the features name, so that `faults` is complete."""
    for feature in features():
        lists: list[Iterable[str]] = [getattr(feature, kind) for kind in (*get_args(Modules), *get_args(Functions))]
        lists += [each.values() for each in (feature.settings, feature.follows, *feature.commands.values())]
        with suppress(CortexError):
            imported(feature, chain.from_iterable(lists))


def member(name: str) -> Any:
    """The property or the method of that name that a feature adds to a plugin.

    Raises:
        AttributeError: no installed feature adds one.
    """
    if name in member_names():
        return next(vars(members)[name] for members in functions("members") if name in vars(members))
    usable = ", ".join(feature.name for feature in features() if feature.name not in _FAULTS) or "none"
    raise AttributeError(f"no installed feature adds {name!r} to a plugin; installed: {usable}", name=name)


def member_names() -> set[str]:
    """The names that features add to a plugin."""
    return {name for members in functions("members") for name in vars(members) if not name.startswith("_")}


@cache
def followers(operation: str) -> tuple[Any, ...]:
    """The functions of features that follow an operation."""
    names = ((feature, [feature.follows[operation]]) for feature in features() if operation in feature.follows)
    return tuple(found for feature, name in names for found in imported(feature, name))


def named(name: str) -> Any:
    """The object that `module:name` names, or the module."""
    module, _, attribute = name.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found
