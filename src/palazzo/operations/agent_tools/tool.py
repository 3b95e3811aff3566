"""A tool: an operation, the arguments that fill its request, and how its result is shown to a model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.operations import validation
from palazzo.operations.agent_tools import coercion
from palazzo.operations.agent_tools.host_arguments import HOST_ARGUMENTS
from palazzo.operations.operation import FieldDescription, describe_fields
from palazzo.operations.registry import operation
from palazzo.operations.validation import Schema

LARGEST_ARGUMENT = 1_000_000
"""Maximum characters of text in the arguments of one call: a note of 200,000 words. Longer text is a file for
`mine`.
"""
_UNSET: Any = object()


@frozen
class Argument:
    """An argument of a tool.

    It fills the request's field `field` (of its own name if omitted), and has that field's type and default; `schema`
    extends the type, or is the complete schema of an argument that fills no field (`field` is None: `Tool.fields` reads
    it). An argument that `is_ignored` has an effect in another server and none here, and the answer says so. `alias` is
    another name that clients use, which the tool's schema lists too; if a call has both, the argument's own name takes
    precedence. A call needs one of the two, so the schema requires neither.
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


def argument_without_effect(name: str, schema: Schema, default: Any = None) -> Argument:
    """Return an argument that has an effect in another server and none here."""
    return Argument(name, "", None, schema, default, is_ignored=True)


@frozen
class CallArguments:
    """The input of one call: its arguments with defaults for those omitted, the calling host, and its directory.

    `remarks` say which arguments were ignored or changed; the answer repeats them.
    """

    arguments: Mapping[str, Any]
    host: str = ""
    cwd: Path = Path()
    remarks: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]


@frozen
class Answer:
    """The output for a model: some hosts show only `structured`, others only `text`, so each contains everything."""

    structured: Mapping[str, Any]
    text: str = ""
    """If empty, it is `document` or else `structured`, as JSON."""
    failed: bool = False
    document: Any = None
    """The value that a client parses from the text block, if it is not all of `structured`; the block stays JSON."""

    @property
    def readable(self) -> str:
        """The text block."""
        return self.text or json.dumps(self.structured if self.document is None else self.document, ensure_ascii=False)


Failure = Callable[[str, Exception | None], Answer]
"""Makes an answer of the message of a refused call, and of its error."""


@frozen
class Step:
    """An operation that a tool carries out, and the fields of its request.

    `if_not_found` is the result if the operation raises NotFound, and `if_refused` makes one of any other UsageError,
    too; if both are None, the tool fails. `check` raises UsageError to stop the tool after a result.
    """

    operation: str
    fields: Mapping[str, Any]
    if_not_found: Any = None
    if_refused: Callable[[UsageError], Any] | None = None
    check: Callable[[Any], None] = lambda result: None


@frozen
class Hints:
    """Properties that a client may assume of a tool.

    All four are always stated: Codex does not run a write tool that omits one.
    """

    reads: bool = False
    destroys: bool = False
    idempotent: bool = False
    open_world: bool = False


READS = Hints(reads=True, idempotent=True)
ADDS = Hints()
CHANGES = Hints(destroys=True, idempotent=True)


@dataclass(frozen=True)
class Tool:
    """A tool for one operation, or for several `steps` (`answer` then gets the list of their results).

    The operation has the tool's own name, unless `operation` names another. `fields` returns fields of the request that
    no argument fills by itself. `output` is the JSON Schema of the value that `answer` returns as `structured`. An
    `always` tool must be loaded immediately by a host that loads tools on demand. `failure` converts the message of a
    refused call to an answer, for clients that read more than a sentence. `nowhere` answers a query about a nonexistent
    wing or room, for clients to which that is an empty place. A `tolerant` tool serves clients that were written for
    another server: it reads their arguments with `coercion`, and ignores unknown ones with a remark. `options` names
    the argument behind an option of the command line if `fields` or `steps` fill that option.
    """

    name: str
    description: str
    answer: Callable[[Any, CallArguments], Answer]
    operation: str = ""
    arguments: tuple[Argument, ...] = ()
    hints: Hints = READS
    output: Schema = dataclasses.field(default_factory=lambda: {"type": "object"})
    fields: Callable[[CallArguments], Mapping[str, Any]] = lambda given: {}
    steps: Callable[[CallArguments], Sequence[Step]] | None = None
    always: bool = False
    title: str = ""
    failure: Failure | None = None
    nowhere: Callable[[CallArguments], Answer] | None = None
    tolerant: bool = False
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "operation", self.operation or self.name)

    def with_arguments(self, *arguments: Argument) -> Tool:
        """Return the same tool with more arguments."""
        return dataclasses.replace(self, arguments=(*self.arguments, *arguments))

    @cached_property
    def input(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        properties = {argument.name: self._schema_of(argument) for argument in self.arguments}
        properties |= {
            argument.alias: {**properties[argument.name], "description": f"The same as {argument.name}."}
            for argument in self.arguments
            if argument.alias
        }
        mandatory_names = [
            argument.name for argument in self.arguments if self._is_required(argument) and not argument.alias
        ]
        input_schema: dict[str, Any] = {"type": "object", "properties": properties}
        if mandatory_names:
            input_schema["required"] = mandatory_names
        return input_schema

    def parse_call(self, arguments: Mapping[str, Any], host: str = "", cwd: Path = Path()) -> CallArguments:
        """Return a call's values; ValueError, naming it, for an unknown, missing, mistyped or too large one."""
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
                remarks.append(f"'{name}' has no effect here.")
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
        choice = f"there are: {', '.join(names)}" if names else "it has no arguments"
        return f"{self.name} has no argument '{name[:60]}'; {choice}."

    def _coerce(self, argument: Argument, values: dict[str, Any]) -> list[str]:
        """Convert a value to the form of the schema, and return remarks on it. Drop empty optional text."""
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
                f"{self.name}: '{name}' has {size:,} characters; the limit is {LARGEST_ARGUMENT:,}: give a part of it."
            )
        if problem := next(validation.problems(self.input["properties"][name], value, name), None):
            raise ValueError(f"{self.name}: {problem}")

    def plan_steps(self, call: CallArguments) -> Sequence[Step]:
        """Return the operations that a call requests."""
        if self.steps is not None:
            return self.steps(call)
        field_values = {
            argument.fills: call[argument.name] for argument in self.arguments if argument.fills is not None
        }
        return [Step(self.operation, {**field_values, **self.fields(call)})]

    @cached_property
    def names_of_options(self) -> Mapping[str, str]:
        """Map each command-line option to its argument, so that an error can name the argument."""
        names = {argument.fills: argument.name for argument in self.arguments}
        bound_options = {
            (field.about.option or f"--{field.name.replace('_', '-')}"): names[field.name]
            for field in self._request.values()
            if field.name in names
        }
        return {**bound_options, **self.options}

    @cached_property
    def _request(self) -> Mapping[str, FieldDescription]:
        return {field.name: field for field in describe_fields(operation(self.operation).request)}

    def _schema_of(self, argument: Argument) -> dict[str, Any]:
        argument_schema: dict[str, Any] = {}
        if argument.fills is not None and "type" not in argument.schema:
            argument_schema = validation.of_type(self._request[argument.fills].type)
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


def tolerant(tools: Iterable[Tool], failure: Failure | None = None) -> tuple[Tool, ...]:
    """Return the tools for clients written for another server; `failure` answers for tools without one of their own."""
    return tuple(dataclasses.replace(tool, tolerant=True, failure=tool.failure or failure) for tool in tools)


def request_of(step: Step) -> Any:
    """Return the request of a step, with lists as the tuples that requests hold."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in step.fields.items()}
    return operation(step.operation).request(**fields)


def _characters(value: object) -> int:
    """Return the number of characters in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(name) + _characters(member) for name, member in value.items())
    if isinstance(value, list):
        return sum(_characters(member) for member in value)
    return 8
