"""The type of an operation, and the metadata of the fields of its request and result."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from palazzo.operations.context import Context

Q = TypeVar("Q")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class About:
    """The help of a request's field, and how a command line accepts it.

    `positional` accepts it by position instead of by name. `option` is its option name, if it differs from the field's
    own (`--tag` for `tags`). `words` joins several words with spaces; `stdin` reads the text from standard input for
    `-`; `file` reads it from the named file. `hidden` reserves a field for programs.
    """

    help: str
    positional: bool = False
    option: str = ""
    metavar: str = ""
    words: bool = False
    stdin: bool = False
    file: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class PersonOnly:
    """Marks a field of a result that is for display only, and is not part of the stable JSON."""


PERSON_ONLY = PersonOnly()


@dataclass(frozen=True, slots=True)
class RequestField:
    """A field of a request: its type without None, whether None is allowed, its default, and its help."""

    name: str
    type: Any
    optional: bool
    default: Any
    about: About

    @property
    def is_required(self) -> bool:
        """Return whether the field has no default."""
        return self.default is dataclasses.MISSING


@dataclass(frozen=True, slots=True)
class Operation(Generic[Q, R]):
    """One operation. Its help is the docstring of `run`.

    `writes` says that it changes the palace. A `destructive` operation accepts `dry_run`, and an interface for people
    asks for confirmation before it runs; `confirm_request` returns the request to run after a person has confirmed the
    dry run's result. Nobody is asked to confirm a dry run's result that `changes_nothing`. `failed` says whether a
    result is a failure (exit code 1). An operation with `steps` commits each step separately and can safely be run
    again, so it is never held back for a key (`idempotency`). A `warm` operation is better run in a service that is
    already running. `ignored_options` are options without a value that scripts give
    to another program of the same name: a command line accepts and ignores them.
    """

    name: str
    request: type[Q]
    result: type[R]
    run: Callable[[Context, Q], R]
    writes: bool = False
    destructive: bool = False
    failed: Callable[[R], bool] | None = None
    steps: bool = False
    warm: bool = False
    asks: Callable[[Q], bool] | None = None
    confirm_request: Callable[[Q, R], Q] | None = None
    changes_nothing: Callable[[R], bool] | None = None
    ignored_options: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """Return what the operation does, for a person."""
        return (self.run.__doc__ or "").strip()


def request_fields(request: type) -> Iterator[RequestField]:
    """Yield the fields of a request class, in order."""
    hints = get_type_hints(request, include_extras=True)
    for field in dataclasses.fields(request):
        hint, about = _split(hints[field.name])
        bare, optional = _split_optional(hint)
        yield RequestField(field.name, bare, optional, field.default, about or About(""))


def _split(hint: Any) -> tuple[Any, About | None]:
    if get_origin(hint) is Annotated:
        bare, *extras = get_args(hint)
        return bare, next((extra for extra in extras if isinstance(extra, About)), None)
    return hint, None


def _split_optional(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        if len(members) == 1 and len(get_args(hint)) == 2:
            return members[0], True
    return hint, False
