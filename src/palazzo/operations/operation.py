"""What an operation is, and what its request and result may say about their fields."""

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
    """What a person is told about a field of a request, and how a command line takes it.

    `positional` takes it by its place instead of by name. `option` is its name there where it is not the
    field's own (`--tag` for `tags`). `words` joins several words by spaces; `stdin` reads the text from
    standard input for `-`; `file` reads it from the file that is named. `hidden` keeps a field to programs.
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
    """Marks a field of a result that is for showing, and is not part of the stable JSON."""


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
        """Whether there is no default."""
        return self.default is dataclasses.MISSING


@dataclass(frozen=True, slots=True)
class Operation(Generic[Q, R]):
    """One verb. Its help is the docstring of `run`.

    `writes` says that it changes the palace. A `destructive` one takes `dry_run`, and a face for people asks
    before it is carried out; `confirmed` returns the request after a person's yes to the dry run's result. `failed`
    says of a result that it is bad news (exit code 1). One with `steps` commits each by itself and does no harm when it
    is run again, so it is never kept back for a key (`calling`). A `warm` one is worth asking of a service that is
    running. `unneeded` are options without a value that scripts give to another program of that name: a command line
    takes them, and they change nothing.
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
    ignored_options: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """What it does, for a person."""
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
