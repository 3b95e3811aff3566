"""Calls of operations by pages: the values of an address or a form become a request, which the engine carries out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.mcp.client_calls import Call, OperationCall, Surroundings
from palazzo.faces.web.web_sessions import Visitor
from palazzo.operations import registry
from palazzo.operations.operation import describe_fields
from palazzo.operations.serialisation import from_wire

PATIENCE = 20.0
"""Seconds after which a page no longer waits for an operation. Usually one takes some milliseconds; the first look at a
message of 10 MB takes a minute, because its digest is made then.
"""

_LOCK_WAIT = 10.0
"""Seconds that a page waits for a lock: less than for an operation, so that it says what it waited for."""


class PageCalls:
    """Runs operations for one visitor, as a person: with the directory and variables of the shell that asked.

    `derive_seconds` limits the work on data that is not derived yet; None sets no limit.
    """

    def __init__(self, call: Call, visitor: Visitor, derive_seconds: float | None = None) -> None:
        self._call, self._visitor, self.derive_seconds = call, visitor, derive_seconds
        self._surroundings = Surroundings(
            visitor.cwd,
            visitor.variables,
            trust="user",
            read_only=visitor.read_only,
            derive_seconds=derive_seconds,
        )
        self._impatient = replace(self._surroundings, lock_wait=_LOCK_WAIT)

    def with_work_limit(self, seconds: float) -> PageCalls:
        """Return calls that spend at most these seconds of work on data that is not derived yet."""
        return PageCalls(self._call, self._visitor, seconds)

    async def run(self, name: str, /, **values: Any) -> Any:
        """Return an operation's result; raise what it raises, and UsageError for values that do not fit.

        Values that are None or empty are left out, so that the request's own defaults apply.
        """
        operation = registry.operation(name)
        present_values = {field: value for field, value in values.items() if value not in (None, "", ())}
        request = from_wire(operation.request, _as_json(present_values))
        result = await self._wait(name, request, PATIENCE)
        if result is None:
            raise PalazzoError(
                "This takes longer than usual, and goes on in the background: reload the page in a minute."
            )
        return result[0]

    async def run_to_end(self, name: str, /, **values: Any) -> Any:
        """Return an operation's result, however long it takes; raise what it raises."""
        request = from_wire(registry.operation(name).request, _as_json(values))
        result = await self._wait(name, request, None)
        return None if result is None else result[0]

    async def _wait(self, name: str, request: Any, seconds: float | None) -> tuple[Any] | None:
        """Return the result in a tuple; None if the operation takes longer. It is not cancelled: its work is kept."""
        surroundings = self._surroundings if seconds is None else self._impatient
        call = OperationCall(name, request, surroundings, None, lambda progress: None, lambda line: None)
        task = asyncio.ensure_future(self._call(call))
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            task.add_done_callback(lambda late: late.cancelled() or late.exception())
            return None
        return (task.result(),)


def read_number(text: str | None, name: str, default: int, most: int) -> int:
    """Return the number of an address' parameter, at least 0; raise UsageError for anything else."""
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise UsageError(f"'{name}' must be a number from 0 to {most:,}.")
    return min(int(text), most)


def read_filters(parameters: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the parameters of an address that are filters and are set, as text."""
    filters = {name: parameters[name].strip() for name in names if parameters.get(name, "").strip()}
    for name, text in filters.items():
        check_text(text, name)
    return filters


def check_text(text: str, name: str) -> str:
    """Return a parameter of an address; raise UsageError if it has a NUL, which no name and no text has."""
    if "\0" in text:
        raise UsageError(f"'{name}' contains a NUL character, which nothing in the palace has.")
    return text


def request_values(operation_name: str, filters: Mapping[str, str]) -> dict[str, Any]:
    """Return filters as values of a request: a flag is `on` or `off`, a repeatable field gets one value."""
    fields = {field.name: field for field in describe_fields(registry.operation(operation_name).request)}
    values: dict[str, Any] = {}
    for name, text in filters.items():
        field = fields[name]
        values[name] = text == "on" if field.is_flag else [text] if field.is_repeatable else text
    return values


def _as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
