"""The type of an operation, and the metadata of the fields of its request and result."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.token_rows import TokenScope

Q = TypeVar("Q")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class About:
    """The help of a request's field, and how a command line accepts it.

    `positional` accepts it by position instead of by name. `option` is its option name, if it differs from the field's
    own (`--tag` for `tags`). `words` joins several words with spaces; `stdin` reads the text from standard input for
    `-`; `file` reads it from the named file. `hidden` reserves a field for programs. `aliases` are other spellings that
    a command line accepts and does not show. `negated_help` is the help of `--no-NAME`, for a field that is true by
    default. `values` are the values to complete, where the type does not list them.
    """

    help: str
    positional: bool = False
    option: str = ""
    metavar: str = ""
    words: bool = False
    stdin: bool = False
    file: bool = False
    hidden: bool = False
    aliases: tuple[str, ...] = ()
    negated_help: str = ""
    values: tuple[str, ...] = ()


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

    @property
    def is_flag(self) -> bool:
        """Return whether a command line gives it as an option without a value."""
        return self.type is bool and not self.about.positional

    @property
    def is_repeatable(self) -> bool:
        """Return whether a command line accepts several values."""
        return get_origin(self.type) is tuple or self.about.words

    @property
    def option(self) -> str:
        """Return the option of a command line; for a flag that is true by default, the option that makes it false."""
        name = self.about.option or f"--{self.name.replace('_', '-')}"
        return f"--no-{name[2:]}" if self.is_flag and self.default is True else name

    @property
    def placeholder(self) -> str:
        """Return what help shows in place of the value."""
        if self.about.positional:
            return self.about.option or self.name.upper()
        if self.is_flag:
            return ""
        return self.about.metavar or (self.name.removesuffix("s") if self.is_repeatable else self.name).upper()

    @property
    def help(self) -> str:
        """Return what giving it on a command line does."""
        return self.about.negated_help if self.is_flag and self.default is True else self.about.help

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the only values that its type allows; none if there are others."""
        return tuple(str(choice) for choice in get_args(self.type)) if get_origin(self.type) is Literal else ()


@dataclass(frozen=True, slots=True)
class Operation(Generic[Q, R]):
    """One operation. Its help is the docstring of `run`.

    `scope` is the scope that a token needs for it over HTTP. The client is then on another machine, so an operation
    that reads or writes files of the server's own machine at a path that the client gives is `admin`, whatever it does
    to the palace: a client that may mine any file may read it. So are settings, bulk changes and long work; `write` is
    for changes of single things, each of which `undo` can revert. `view` names the function that shows a result on a
    terminal, as `module:function` of the operation's own feature; without it, that is the function in `view` that has
    the operation's name.

    `writes` says that it changes the palace. A `destructive` operation accepts `dry_run`, and an interface for people
    asks for confirmation before it runs; `confirm_request` returns the request to run after a person has confirmed the
    dry run's result, and `question` the question to ask instead of "Go on?". To this question Enter means yes; an empty
    one says that there is nothing to confirm. Nobody is asked to confirm a dry run's result that `changes_nothing`.
    `failed` says whether a result is a failure (exit code 1). An operation with `steps` commits each step separately
    and can safely be run again, so it is never held back for a key (`idempotency`). A `warm` operation is better run in
    a service that is already running. `ignored_options` are options without a value that scripts give to another
    program of the same name: a command line accepts and ignores them. `examples` are command lines that its help shows;
    `operations/command_groups` names its group in the help.
    """

    name: str
    request: type[Q]
    result: type[R]
    run: Callable[[Context, Q], R]
    _: KW_ONLY
    scope: TokenScope
    view: str = ""
    writes: bool = False
    destructive: bool = False
    failed: Callable[[R], bool] | None = None
    steps: bool = False
    warm: bool = False
    asks: Callable[[Q], bool] | None = None
    confirm_request: Callable[[Q, R], Q] | None = None
    question: Callable[[R], str] | None = None
    changes_nothing: Callable[[R], bool] | None = None
    ignored_options: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

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
