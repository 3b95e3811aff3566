"""Frozen data classes with slots, whose methods are not compiled for each class.

`@dataclass(frozen=True, slots=True)` compiles six methods for every class, most of which no run calls. A command that
loads sixty such classes spent three tenths of its processor time on that, and a service loads several hundred. Here one
is compiled, at the first call of the constructor. In every other way this is a data class: `fields`, `replace`,
`asdict`, `match`, copies and pickles work, and type checkers treat it as one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_Class]) -> type[_Class]:
    """Return a class as a frozen data class with slots.

    Methods that the class defines itself are kept. Fields are positional, and none is left to `__post_init__`
    alone: a class with `InitVar`, `KW_ONLY` or `init=False` stays a plain data class.

    Raises:
        TypeError: a field cannot be given to the constructor by its position.
    """
    defined_names = set(cls.__dict__)
    data_class: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    names = [member.name for member in fields(data_class)]
    if tuple(names) != data_class.__match_args__:
        raise TypeError(f"each field of {cls.__name__} must be a positional argument of its constructor")
    methods = {
        "__init__": _first_init(data_class),
        "__repr__": _repr,
        "__reduce__": _reduce_by(_getter(names)),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
    }
    if "__eq__" not in defined_names:
        read_compared = _getter([member.name for member in fields(data_class) if member.compare])
        methods |= {"__eq__": _equal_by(read_compared), "__hash__": _hash_by(read_compared)}
    for name, method in methods.items():
        if name not in defined_names:
            setattr(data_class, name, method)
    return data_class  # type: ignore[no-any-return]


def _first_init(cls: Any) -> Callable[..., None]:
    """Return a constructor that compiles the class's own at its first call, and puts it in its own place."""

    def init(self: Any, *values: Any, **named: Any) -> None:
        cls.__init__ = _compile_init(cls)
        cls.__init__(self, *values, **named)

    return init


def _compile_init(cls: Any) -> Callable[..., None]:
    """Return the constructor that `dataclass` would make; each value goes straight into its slot."""
    scope: dict[str, Any] = {"_default": MISSING}
    parameters, body = [], []
    for member in fields(cls):
        scope[f"_set_{member.name}"] = getattr(cls, member.name).__set__
        parameter, value = member.name, member.name
        if member.default_factory is not MISSING:
            scope[f"_make_{member.name}"] = member.default_factory
            parameter = f"{member.name}=_default"
            value = f"_make_{member.name}() if {member.name} is _default else {member.name}"
        elif member.default is not MISSING:
            scope[f"_default_{member.name}"] = member.default
            parameter = f"{member.name}=_default_{member.name}"
        parameters.append(parameter)
        body.append(f"_set_{member.name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__(self, {', '.join(parameters)}):\n " + "\n ".join(body or ["pass"]), scope)  # noqa: S102 - names of fields alone
    init: Callable[..., None] = scope["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads the fields of these names, as a tuple."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _equal_by(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash_by(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def hash_values(self: Any) -> int:
        return hash(values(self))

    return hash_values


def _reduce_by(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], tuple[type, tuple[Any, ...]]]:
    def reduce(self: Any) -> tuple[type, tuple[Any, ...]]:
        return type(self), values(self)

    return reduce


@recursive_repr()
def _repr(self: Any) -> str:
    values = ", ".join(f"{member.name}={getattr(self, member.name)!r}" for member in fields(self) if member.repr)
    return f"{type(self).__qualname__}({values})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
