"""Command binding: turns an operation's request into a command, with its options, their types, defaults and help."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from palazzo.faces.cli.common_options import Common
from palazzo.operations.operation import Operation, RequestField, request_fields

PALACE_HELP = "Use this palace instead of the configured one."
DEBUG_HELP = "Show where an error occurred."
JSON_HELP = "Print one JSON document instead of text."
YES_HELP = "Do not ask for confirmation."
PAGER_HELP = "Do not show long output in a pager. PALAZZO_PAGER, else PAGER, names the pager."
NO_VALUE = ""
"""The value that help shows for an option without a value. By default Typer shows `<bool>`."""
UNNEEDED_HELP = "Accepted for compatibility with scripts written for another program; has no effect."


def callback(operation: Operation[Any, Any]) -> Callable[..., None]:
    """Return the function that Typer turns into a command; its signature is derived from the request."""
    fields = list(request_fields(operation.request))
    visible_fields = [field for field in fields if not field.about.hidden]

    def command(**given: Any) -> None:
        from palazzo.faces.cli.runner import run

        context: typer.Context = given.pop("typer_context")
        common = _common(context, given)
        code = run(operation, lambda: _request(operation, visible_fields, given), common)
        if code:
            raise typer.Exit(code)

    parameters = [
        _parameter("typer_context", typer.Context),
        *(_of_field(field) for field in visible_fields),
        *_shared(operation),
        *(_make_ignored_option(option) for option in operation.ignored_options),
    ]
    command.__doc__ = _join_lines(operation.help)
    command.__name__ = operation.name
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _join_lines(text: str) -> str:
    """Return a docstring with its lines joined to paragraphs, for a screen that wraps them at its own width."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))


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
        as_json=values.pop("as_json"),
        debug=values.pop("debug") or outer_options.debug,
        yes=values.pop("assume_yes", False),
        no_pager=values.pop("no_pager", False) or outer_options.no_pager,
    )


def _request(operation: Operation[Any, Any], fields: list[RequestField], values: Mapping[str, Any]) -> Any:
    return operation.request(**{field.name: _value(field, values[field.name]) for field in fields})


def _value(field: RequestField, value: Any) -> Any:
    """Return the value that Typer read, in the request's own type."""
    if field.about.stdin:
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
        mark = typer.Argument(help=field.about.help, metavar=_metavar(field), show_default=False, parser=parser)
    else:
        names = [field.about.option] if field.about.option else []
        if default is False:
            names = [f"--{field.name.replace('_', '-')}"]  # left to itself Typer adds a --no- to it
        show = default not in (None, False)
        metavar = NO_VALUE if kind is bool else field.about.metavar or None
        mark = typer.Option(*names, help=field.about.help, metavar=metavar, show_default=show, parser=parser)
    return _parameter(field.name, Annotated[kind, mark], default)


def _type_and_default(field: RequestField) -> tuple[Any, Any]:
    """Return the type that Typer must read, and the default that it must show."""
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
    mark = typer.Option(option, help=UNNEEDED_HELP, hidden=True)
    return _parameter(option.strip("-").replace("-", "_"), Annotated[bool, mark], False)


def _metavar(field: RequestField) -> str:
    return field.about.option or field.name.upper()


def _shared(operation: Operation[Any, Any]) -> list[inspect.Parameter]:
    parameters = [
        _parameter(
            "palace", Annotated[Path | None, typer.Option("--palace", help=PALACE_HELP, show_default=False)], None
        ),
        _parameter("as_json", Annotated[bool, typer.Option("--json", help=JSON_HELP, metavar=NO_VALUE)], False),
        _parameter("debug", Annotated[bool, typer.Option("--debug", help=DEBUG_HELP, metavar=NO_VALUE)], False),
    ]
    if not operation.writes:
        pager_option = typer.Option("--no-pager", help=PAGER_HELP, metavar=NO_VALUE)
        parameters.append(_parameter("no_pager", Annotated[bool, pager_option], False))
    if operation.destructive or operation.asks is not None:
        parameters.append(
            _parameter(
                "assume_yes", Annotated[bool, typer.Option("--yes", "-y", help=YES_HELP, metavar=NO_VALUE)], False
            )
        )
    return parameters
