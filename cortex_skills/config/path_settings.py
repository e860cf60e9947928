"""Which settings are paths, and what agents may do with what is there.

Rules kept here:
- a setting that is a path, a list of paths or a mapping to paths has a mark where it is declared, in the metadata of
  its field; nothing else lists such settings. What is private, and what is expanded, is derived from the marks.

>>> from cortex_skills.config import Config
>>> config = Config(store="/data/graph", proofs={"shapes": {"stock": "stock.ttl"}})
>>> [(name, value) for name, value, mark in path_settings(config) if mark.access != "public"]
[('store', '/data/graph'), ('proofs.shapes.stock', 'stock.ttl')]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, Literal

_MARK = "path"

Setting = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathSetting:
    """The mark of a setting that is a path.

    Attributes:
        access: what the actions of agents may do with what is there, if it is in the workspace: nothing (`private`),
            read it (`read-only`), or what the rules of the workspace allow (`public`).
        may_be_address: whether a value may be something else: a URL, or a name such as `memory:`, `cortex`,
            `artifact:ID`.
    """

    access: Literal["private", "read-only", "public"]
    may_be_address: bool = False


def marked(mark: PathSetting) -> Mapping[str, PathSetting]:
    """The metadata of the field of a setting."""
    return MappingProxyType({_MARK: mark})


PRIVATE = marked(PathSetting("private"))
READ_ONLY = marked(PathSetting("read-only"))
PUBLIC = marked(PathSetting("public"))


def path_marks(settings: type[Any]) -> Iterator[tuple[Setting, PathSetting]]:
    """The marked settings of `Config` or of a section: section (if it has one) and name in snake_case, and the mark."""
    for item in fields(settings):
        if mark := item.metadata.get(_MARK):
            yield (item.name,), mark
        default = item.default if item.default_factory is MISSING else item.default_factory()
        if is_dataclass(default):
            yield from (((item.name, *setting), mark) for setting, mark in path_marks(type(default)))


def path_settings(config: object) -> Iterator[tuple[str, str, PathSetting]]:
    """Each path that a `Config` names, as it is given, with the name of its setting and the mark of that.

    The paths of a list have the name of the list, those of a mapping its name and their key. A setting without a value
    is left out, and a store that is described by a mapping: it is on a server.
    """
    from cortex_skills.config.sources import camel

    for setting, mark in path_marks(type(config)):
        name = ".".join(map(camel, setting))
        value: Any = reduce(getattr, setting, config)
        if isinstance(value, str):
            yield from [(name, value, mark)] if value else []
        elif not isinstance(value, Mapping):
            yield from ((name, path, mark) for path in value)
        elif name != "store":
            yield from ((f"{name}.{key}", path, mark) for key, path in value.items())
