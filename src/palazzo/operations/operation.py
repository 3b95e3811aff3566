"""The type of an operation, and the metadata of the fields of its request and result."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import types
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NewType,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from palazzo.model import Micros

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
    `-`; `file` reads it from the named file. If the operation writes, such a text must be valid UTF-8, unless it
    `may_be_bytes`: invalid bytes are then lone surrogates. `hidden` reserves a field for programs. `aliases` are other
    spellings that a command line accepts and does not show. `negated_help` is the help of `--no-NAME`, for a field that
    is true by default. `values` are the values to complete, where the type does not list them.
    """

    help: str
    positional: bool = False
    option: str = ""
    metavar: str = ""
    words: bool = False
    stdin: bool = False
    file: bool = False
    may_be_bytes: bool = False
    hidden: bool = False
    aliases: tuple[str, ...] = ()
    negated_help: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PersonOnly:
    """Marks a field of a result that is for display only, and is not part of the stable JSON."""


PERSON_ONLY = PersonOnly()


@dataclass(frozen=True, slots=True)
class FieldDescription:
    """A field of a request or a result: all that command lines, tools, JSON and the service know about it.

    `hint` is its whole annotation; `type` is what that says without None and without metadata, and `optional` whether
    it allows None. Without a default, `default` is `dataclasses.MISSING`. `is_time` says that it is a time, and
    `is_person_only` that it is for display only.
    """

    name: str
    hint: Any
    type: Any
    optional: bool
    default: Any
    about: About
    is_time: bool
    is_person_only: bool

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
    """One operation. Its help is the docstring of its request.

    It stands in the `contract` of its feature, which is data: `engine` names the function that runs it, as
    `module:function` of the same feature, and is imported on the first call. Without it, that is the function and the
    module that have the operation's name.

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
    `failed` says whether a result is a failure (exit code 1), `interrupted` whether ^C cut it short (130). An operation
    with `steps` commits each step separately and can safely be run again, so it is never held back for a key
    (`idempotency`). A `warm` operation is better run in a service that is already running. `ignored_options` are
    options without a value that scripts give to another program of the same name: a command line accepts and
    ignores them. `examples` are command lines that its help shows.

    The help of the program lists a command under the heading `group`, with its `summary` of a few words; a subcommand
    has neither. Operations whose `callers` are our own `clients` or `programs` have no command and no tool.
    `tools/make_command_index.py` writes the names, groups and summaries of all operations to
    `operations/command_index`, from which the program reads them without importing the contracts.
    """

    name: str
    request: type[Q]
    result: type[R]
    _: KW_ONLY
    scope: TokenScope
    callers: Literal["everyone", "clients", "programs"] = "everyone"
    group: str = ""
    summary: str = ""
    engine: str = ""
    view: str = ""
    writes: bool = False
    destructive: bool = False
    failed: Callable[[R], bool] | None = None
    interrupted: Callable[[R], bool] | None = None
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
        return inspect.cleandoc(self.request.__doc__ or "")

    def run(self, context: Context, request: Q) -> R:
        """Run the operation in this process."""
        module, _, function = (self.engine or f"{self.name}:{self.name}").partition(":")
        feature = self.request.__module__.rpartition(".")[0]
        result: R = getattr(importlib.import_module(f"{feature}.{module}"), function)(context, request)
        return result


def describe_fields(kind: type) -> tuple[FieldDescription, ...]:
    """Return the fields of a request, a result or a part of one, in order."""
    return _describe_fields(kind)


@cache
def _describe_fields(kind: type) -> tuple[FieldDescription, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_describe_field(field, hints[field.name]) for field in dataclasses.fields(kind))


def bare_type(hint: Any) -> Any:
    """Return a type without metadata, and of a `NewType` what it stands for."""
    while get_origin(hint) is Annotated or isinstance(hint, NewType):
        hint = hint.__supertype__ if isinstance(hint, NewType) else get_args(hint)[0]
    return hint


def _describe_field(field: dataclasses.Field[Any], hint: Any) -> FieldDescription:
    plain, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    members = get_args(plain) if get_origin(plain) in (Union, types.UnionType) else (plain,)
    others = [member for member in members if member is not types.NoneType]
    is_optional = len(others) == 1 and len(members) == 2
    return FieldDescription(
        field.name,
        hint,
        others[0] if is_optional else plain,
        is_optional,
        field.default if field.default_factory is dataclasses.MISSING else field.default_factory(),
        next((extra for extra in extras if isinstance(extra, About)), About("")),
        Micros in members,
        any(isinstance(extra, PersonOnly) for extra in extras),
    )
