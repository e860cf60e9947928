"""The arguments of an operation as a request has them.

Rules kept here:
- the types of the arguments are also those of the request: a text of a query string that has the form of an integer or
  of a boolean is one, and a list is a JSON array;
- an argument with a default may be left out; every request may name a namespace in its query string;
- a query string has no lists: one that may be left out is no parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict
from typing_extensions import TypedDict

from cortex_skills.doors.rest.model_types import BOOLEAN_FROM_QUERY, FROM_QUERY, Namespace, NamespaceQuery
from cortex_skills.operations.operation import Operation, wire_name


class WireArguments:
    """The models of the arguments of an operation.

    Args:
        operation: which.
        path: of the endpoint, with its parameters in braces.
        names: the names in requests of arguments that have others than those in camel case.
        defaults: arguments that a request may leave out, although the operation needs them.
        from_query: whether those that are not in the path are in the query string, and not in the body.

    Attributes:
        path_types: the types of the parameters of the path by name.
    """

    def __init__(
        self,
        operation: Operation[Any, Any],
        path: str,
        names: Mapping[str, str],
        defaults: Mapping[str, Any],
        *,
        from_query: bool,
    ) -> None:
        self._given = operation.given
        self._from_query = from_query
        self._defaults = defaults
        types = get_type_hints(self._given, include_extras=True)
        in_path = re.findall(r"\{(\w+)\}", path)
        self._names = {names.get(name, wire_name(name)): name for name in types}
        self.path_types = {wire: types[self._names[wire]] for wire in in_path}
        self._types = {wire: _on_wire(types[name]) for wire, name in self._names.items() if wire not in in_path}
        self._optional = {
            each.name
            for each in fields(self._given)
            if each.default is not MISSING or each.default_factory is not MISSING or each.name in defaults
        }

    @cached_property
    def query(self) -> Any:
        """The model of the query string."""
        if not self._from_query or not self._types:
            return NamespaceQuery
        members = {
            wire: _from_text(each)
            for wire, each in self._types.items()
            if not (_is_list(each) and self._names[wire] in self._optional)
        }
        return self._model("Query", {"namespace": NotRequired[Namespace], **members})

    @cached_property
    def body(self) -> Any:
        """The model of the body; None for a request without one."""
        return None if self._from_query or not self._types else self._model("Body", self._types)

    def given(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, of the members of a request."""
        given = {self._names.get(wire, wire): value for wire, value in members.items() if wire != "namespace"}
        return {**self._defaults, **given}

    def _model(self, kind: str, members: dict[str, Any]) -> Any:
        optional = {
            wire: NotRequired[each] if self._names.get(wire) in self._optional else each
            for wire, each in members.items()
        }
        make: Any = TypedDict
        model = make(f"{self._given.__name__}{kind}", optional)
        model.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
        model.__doc__ = self._given.__doc__
        return model


def _on_wire(type_: Any) -> Any:
    """The type of a JSON value: an array for a tuple; null is none, and needs no mention."""
    origin, parts = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType) and NoneType in parts and len(parts) == 2:
        return _on_wire(next(part for part in parts if part is not NoneType))
    if origin is Annotated:
        return Annotated[(_on_wire(parts[0]), *parts[1:])]
    return list[parts[0]] if origin is tuple else type_  # type: ignore[valid-type]


def _from_text(type_: Any) -> Any:
    """The type of a parameter of a query string."""
    kinds = base_types(type_)
    if _is_list(type_) or dict in kinds:
        raise TypeError(f"{type_} cannot be a parameter of a query string: offer the operation as a POST")
    if bool in kinds:
        return Annotated[type_, BOOLEAN_FROM_QUERY]
    return Annotated[type_, FROM_QUERY] if int in kinds else type_


def _is_list(type_: Any) -> bool:
    return list in base_types(type_)


def base_types(type_: Any) -> set[Any]:
    """The plain types that a type allows, such as `int` and `str`; without None."""
    origin, parts = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return base_types(parts[0])
    if origin in (Union, UnionType):
        return {each for part in parts if part is not NoneType for each in base_types(part)}
    return {origin or type_}
