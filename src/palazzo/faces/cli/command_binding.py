"""Command binding: turns a command's request into a Typer command, with its arguments and options.

Help is not Typer's: `help_pages` shows it, without Typer.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from palazzo.errors import UsageError
from palazzo.faces.cli import local_command
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.operations.operation import Operation, RequestField, request_fields

Command = Operation[Any, Any] | LocalCommand


def callback(command: Command) -> Callable[..., None]:
    """Return the function that Typer turns into a command; its signature is derived from the request."""
    fields = [field for field in request_fields(command.request) if not field.about.hidden]

    def run_command(**given: Any) -> None:
        context: typer.Context = given.pop("typer_context")
        common = _common(context, given)
        try:
            code = _run(command, lambda: _request(command, fields, given), common)
        except BrokenPipeError:  # the reader has gone, which Typer would call a failure
            from palazzo.faces.cli.runner import close_output

            code = close_output()
        if code:
            raise typer.Exit(code)

    parameters = [
        _parameter("typer_context", typer.Context),
        *(_of_field(field) for field in fields),
        *(parameter for field in fields for parameter in _of_aliases(field)),
        *_shared(command),
        *(_make_ignored_option(option) for option in command.ignored_options),
    ]
    run_command.__name__ = command.name
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run_command


def _run(command: Command, request: Callable[[], Any], common: Common) -> int:
    if isinstance(command, LocalCommand):
        return local_command.run(command, request, common)
    from palazzo.faces.cli import runner

    return runner.run(command, request, common)


def path(text: str) -> Path:
    """Read a path. An empty one means an unset variable, not the current directory."""
    if not text:
        raise typer.BadParameter("it is empty; '.' is the current directory.")
    return Path(text)


def _common(context: typer.Context, values: dict[str, Any]) -> Common:
    """Return the common options given before and after the command; those after the command take precedence."""
    outer_options = context.obj if isinstance(context.obj, Common) else Common()
    return Common(
        palace=values.pop("palace") or outer_options.palace,
        as_json=values.pop("as_json") or outer_options.as_json,
        debug=values.pop("debug") or outer_options.debug,
        yes=values.pop("assume_yes", False),
        no_pager=values.pop("no_pager") or outer_options.no_pager,
    )


def _request(command: Command, fields: list[RequestField], values: Mapping[str, Any]) -> Any:
    return command.request(**{field.name: _value(field, _given(field, values)) for field in fields})


def _given(field: RequestField, values: Mapping[str, Any]) -> Any:
    """Return what was given for a field, by its own name or by an alias; UsageError for both."""
    value = values[field.name]
    for number, alias in enumerate(field.about.aliases):
        other = values[_alias_name(field, number)]
        if other is None:
            continue
        if value is not None and value != field.default:
            name = field.placeholder if field.about.positional else field.option
            raise UsageError(f"{alias} is another name of {name}: give only one of them.")
        value = other
    return value


def _value(field: RequestField, value: Any) -> Any:
    """Return the value that Typer read, in the request's own type."""
    if field.about.stdin and (value is not None or not field.optional):
        from palazzo.faces.cli.confirmation import text_or_stdin

        return text_or_stdin(field.name, value)
    if field.about.file and value is not None:
        from palazzo.faces.cli.confirmation import text_of_file

        return text_of_file(value)
    if field.about.words:
        return " ".join(value)
    if get_origin(field.type) is tuple:
        return tuple(value or ())
    return value.value if isinstance(value, enum.Enum) else value


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _of_field(field: RequestField) -> inspect.Parameter:
    kind, default = _type_and_default(field)
    parser = path if field.type is Path or get_args(field.type)[:1] == (Path,) else None
    if field.about.positional:
        mark = typer.Argument(metavar=field.placeholder, parser=parser)
    else:
        names = [field.about.option] if field.about.option else []
        if default is False:
            names = [f"--{field.name.replace('_', '-')}"]  # left to itself Typer adds a --no- to it
        mark = typer.Option(*names, parser=parser)
    return _parameter(field.name, Annotated[kind, mark], default)


def _of_aliases(field: RequestField) -> Iterator[inspect.Parameter]:
    """Yield the other spellings of a field, which must be optional and hold one value."""
    for number, alias in enumerate(field.about.aliases):
        kind = field.type if field.type in (int, float) else str
        yield _parameter(_alias_name(field, number), Annotated[kind | None, typer.Option(alias, hidden=True)], None)


def _alias_name(field: RequestField, number: int) -> str:
    return f"{field.name}_alias_{number}"


def _type_and_default(field: RequestField) -> tuple[Any, Any]:
    """Return the type that Typer must read, and the default."""
    if field.about.words:
        return list[str], inspect.Parameter.empty
    if field.about.stdin:
        return str | None, None
    if get_origin(field.type) is tuple:
        member = get_args(field.type)[0]
        return (list[member], inspect.Parameter.empty) if field.is_required else (list[member] | None, None)  # type: ignore[valid-type]
    kind = field.type
    default = inspect.Parameter.empty if field.is_required else field.default
    if get_origin(kind) is Literal:
        choices = enum.Enum(field.name, {str(choice): choice for choice in get_args(kind)})  # type: ignore[misc]
        kind, default = choices, choices(default) if default in get_args(field.type) else default
    return (kind | None if field.optional else kind), default


def _make_ignored_option(option: str) -> inspect.Parameter:
    mark = typer.Option(option, hidden=True)
    return _parameter(option.strip("-").replace("-", "_"), Annotated[bool, mark], False)


def _shared(command: Command) -> list[inspect.Parameter]:
    parameters = [
        _parameter("palace", Annotated[Path | None, typer.Option("--palace")], None),
        _parameter("as_json", Annotated[bool, typer.Option("--json")], False),
        _parameter("debug", Annotated[bool, typer.Option("--debug")], False),
        _parameter("no_pager", Annotated[bool, typer.Option("--no-pager")], False),
    ]
    if isinstance(command, Operation) and (command.destructive or command.asks is not None):
        parameters.append(_parameter("assume_yes", Annotated[bool, typer.Option("--yes", "-y")], False))
    return parameters
