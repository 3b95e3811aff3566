"""What a tool is: an operation, the arguments that fill its request, and how its result reads to a model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from palazzo.faces.mcp import argument_schema as schema
from palazzo.faces.mcp import coercion
from palazzo.faces.mcp.argument_schema import Schema
from palazzo.faces.mcp.host_arguments import HOST_ARGUMENTS
from palazzo.operations.operation import RequestField, request_fields
from palazzo.operations.registry import operation

LARGEST_ARGUMENT = 1_000_000
"""Characters of text that the arguments of one call may hold: a note of 200,000 words. More is a file, for `mine`."""
_UNSET: Any = object()


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool.

    It fills the request's field `field` (of its own name if left out), whose type and default it has; `schema` adds to
    what the type says, or says all of an argument that fills no field (`field` is None: `Tool.fields` reads it).
    An argument that `is_ignored` has an effect in another server and none here, and the answer says so. `alias` is
    another name that clients use; where a call has both, its own name counts.
    """

    name: str
    help: str = ""
    field: str | None = ""
    schema: Schema = dataclasses.field(default_factory=dict)
    default: Any = _UNSET
    is_required: bool | None = None
    is_ignored: bool = False
    alias: str = ""

    @property
    def fills(self) -> str | None:
        """The request's field that it fills, if any."""
        return self.name if self.field == "" else self.field


@dataclass(frozen=True, slots=True)
class CallArguments:
    """What one call gave: its arguments with the defaults of those left out; which host calls, and where.

    `remarks` say which arguments were ignored or changed; the answer repeats them.
    """

    arguments: Mapping[str, Any]
    host: str = ""
    cwd: Path = Path()
    remarks: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model is shown: some hosts show `structured` alone, others `text` alone, so each says everything."""

    structured: Mapping[str, Any]
    text: str = ""
    """Left empty it is `document` or else `structured`, as JSON."""
    failed: bool = False
    document: Any = None
    """What a client parses from the text block, where that is not all of `structured`; the block stays JSON."""

    @property
    def readable(self) -> str:
        """The text block."""
        return self.text or json.dumps(self.structured if self.document is None else self.document, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Step:
    """An operation that a tool carries out, and the fields of its request.

    `if_not_found` is the result where the operation raises NotFound; if it is None, the tool fails. `check` raises
    UsageError to stop the tool after a result.
    """

    operation: str
    fields: Mapping[str, Any]
    if_not_found: Any = None
    check: Callable[[Any], None] = lambda result: None


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may assume of a tool. All four are always stated: Codex runs no write tool that leaves one out."""

    reads: bool = False
    destroys: bool = False
    idempotent: bool = False
    open_world: bool = False


READS = Hints(reads=True, idempotent=True)
ADDS = Hints()
CHANGES = Hints(destroys=True, idempotent=True)


@dataclass(frozen=True)
class Tool:
    """A tool over one operation, or over several `steps` (`answer` is then given the list of their results).

    `fields` says fields of the request that no argument fills by itself. `output` is the JSON Schema of what `answer`
    returns as `structured`. An `always` tool is one that a host that loads tools when asked for is to load at once.
    `failure` makes an answer of what is said of a call that was refused, where a client reads more than a sentence.
    `nowhere` answers what is asked of a wing or room that there is not, for clients to whom that is an empty place.
    Clients that were written for another server call a `tolerant` tool: it reads their arguments with `coercion`, and
    ignores unknown ones with a remark. `options` names the argument behind an option of the command line where
    `fields` or `steps` fill that option.
    """

    name: str
    operation: str
    description: str
    answer: Callable[[Any, CallArguments], Answer]
    arguments: tuple[Argument, ...] = ()
    hints: Hints = READS
    output: Schema = dataclasses.field(default_factory=lambda: {"type": "object"})
    fields: Callable[[CallArguments], Mapping[str, Any]] = lambda given: {}
    steps: Callable[[CallArguments], Sequence[Step]] | None = None
    always: bool = False
    title: str = ""
    failure: Callable[[str, Exception | None], Answer] | None = None
    nowhere: Callable[[CallArguments], Answer] | None = None
    tolerant: bool = False
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def with_arguments(self, *arguments: Argument) -> Tool:
        """Return the same tool with more arguments."""
        return dataclasses.replace(self, arguments=(*self.arguments, *arguments))

    @cached_property
    def input(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        properties = {argument.name: self._schema_of(argument) for argument in self.arguments}
        mandatory_names = [argument.name for argument in self.arguments if self._is_required(argument)]
        input_schema: dict[str, Any] = {"type": "object", "properties": properties}
        if mandatory_names:
            input_schema["required"] = mandatory_names
        return input_schema

    def parse_call(self, arguments: Mapping[str, Any], host: str = "", cwd: Path = Path()) -> CallArguments:
        """Return what a call gives; ValueError, naming it, for what is unknown, missing, mistyped or too large."""
        properties = self.input["properties"]
        arguments = self._resolve_aliases(arguments)
        unknown_names = [name for name in arguments if name not in properties and name not in HOST_ARGUMENTS]
        if unknown_names and not self.tolerant:
            raise ValueError(self._describe_unknown(unknown_names[0]))
        remarks = [self._describe_unknown(name) for name in unknown_names if arguments[name] is not None]
        values = {name: value for name, value in arguments.items() if name in properties and value is not None}
        for argument in self.arguments:
            name = argument.name
            if name in values and self.tolerant:
                remarks += self._coerce(argument, values)
            if name not in values:
                if self._is_required(argument):
                    raise ValueError(" ".join([f"{self.name} needs the argument '{name}'.", *remarks]))
                continue
            self._check(argument, values[name])
            if argument.is_ignored and values[name] != self._default_of(argument):
                remarks.append(f"'{name}' changes nothing here.")
            if properties[name].get("type") == "integer":
                values[name] = int(values[name])  # JSON knows no whole numbers: some clients write 5.0
        defaults = {argument.name: self._default_of(argument) for argument in self.arguments}
        return CallArguments(defaults | values, host, cwd, tuple(remarks))

    def _resolve_aliases(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with the argument's own name in place of each alias."""
        names = {argument.alias: argument.name for argument in self.arguments if argument.alias}
        own = {name: value for name, value in arguments.items() if name not in names}
        alias_values = {names[alias]: value for alias, value in arguments.items() if alias in names}
        return {**own, **{name: value for name, value in alias_values.items() if own.get(name) is None}}

    def _describe_unknown(self, name: str) -> str:
        names = self.input["properties"]
        choice = f"there are: {', '.join(names)}" if names else "it takes none"
        return f"{self.name} has no argument '{name[:60]}'; {choice}."

    def _coerce(self, argument: Argument, values: dict[str, Any]) -> list[str]:
        """Put a value into the form that the schema asks for, and return remarks on it. Drop empty optional text."""
        value = values[argument.name]
        if value == "" and not self._is_required(argument):
            del values[argument.name]
            return []
        property_schema = self.input["properties"][argument.name]
        values[argument.name], remark = coercion.clamp(
            property_schema, coercion.coerce(property_schema, value), argument.name
        )
        return [remark] if remark else []

    def _check(self, argument: Argument, value: Any) -> None:
        """Raise ValueError for a value that is too large or does not fit the schema."""
        name = argument.name
        size = _characters(value)
        if size > LARGEST_ARGUMENT:
            raise ValueError(
                f"{self.name}: '{name}' has {size:,} characters, and may have {LARGEST_ARGUMENT:,}: give a part of it."
            )
        if problem := next(schema.problems(self.input["properties"][name], value, name), None):
            raise ValueError(f"{self.name}: {problem}")

    def plan_steps(self, call: CallArguments) -> Sequence[Step]:
        """Return the operations that a call asks for."""
        if self.steps is not None:
            return self.steps(call)
        field_values = {
            argument.fills: call[argument.name] for argument in self.arguments if argument.fills is not None
        }
        return [Step(self.operation, {**field_values, **self.fields(call)})]

    @cached_property
    def names_of_options(self) -> Mapping[str, str]:
        """The argument that stands for each option of the command line, so that an error can name it."""
        names = {argument.fills: argument.name for argument in self.arguments}
        bound_options = {
            (field.about.option or f"--{field.name.replace('_', '-')}"): names[field.name]
            for field in self._request.values()
            if field.name in names
        }
        return {**bound_options, **self.options}

    @cached_property
    def _request(self) -> Mapping[str, RequestField]:
        return {field.name: field for field in request_fields(operation(self.operation).request)}

    def _schema_of(self, argument: Argument) -> dict[str, Any]:
        argument_schema: dict[str, Any] = {}
        if argument.fills is not None and "type" not in argument.schema:
            argument_schema = schema.of_type(self._request[argument.fills].type)
        argument_schema |= argument.schema
        if argument.help:
            argument_schema["description"] = argument.help
        default = self._default_of(argument)
        if isinstance(default, int | float | str) and default not in ("", False):
            argument_schema["default"] = default
        return argument_schema

    def _default_of(self, argument: Argument) -> Any:
        if argument.default is not _UNSET:
            return argument.default
        if argument.fills is None or self._request[argument.fills].is_required:
            return None
        return self._request[argument.fills].default

    def _is_required(self, argument: Argument) -> bool:
        if argument.is_required is not None:
            return argument.is_required
        return argument.fills is not None and argument.default is _UNSET and self._request[argument.fills].is_required


def tolerant(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Return the tools for clients that were written for another server."""
    return tuple(dataclasses.replace(tool, tolerant=True) for tool in tools)


def request_of(step: Step) -> Any:
    """Return the request of a step, lists as the tuples that requests hold."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in step.fields.items()}
    return operation(step.operation).request(**fields)


def _characters(value: object) -> int:
    """How much text a value holds."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(name) + _characters(member) for name, member in value.items())
    if isinstance(value, list):
        return sum(_characters(member) for member in value)
    return 8
