"""Command lines of thin clients: the service parses them, runs them, and formats what the client prints.

A client (`palazzo.client.thin_command`) sends its arguments and describes where its output goes:

    {"id": 1, "arguments": ["search", "…"], "output": {"terminal": false, "width": 80, "encoding": "utf-8",
     "variables": {…}}, "surroundings": {…}}

    {"id": 1, "text": "…", "pages": false}     what to print, and whether a pager may show it
    {"id": 1, "unread": true}                  for a line that the full program must read, and for an error
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from typing import Any

from palazzo.client.thin_command import COMMANDS
from palazzo.errors import UsageError
from palazzo.faces.cli import runner
from palazzo.faces.cli.argument_parser import UnreadableLine
from palazzo.faces.cli.argument_parser import parse as parse_arguments
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.json_output import format_json
from palazzo.features.screen import Output
from palazzo.frozen_class import frozen
from palazzo.operations.context import Context
from palazzo.operations.operation import Operation

UNREAD = {"unread": True}
"""The answer by which the client runs the full program."""


@frozen
class CommandLine:
    """A parsed command line, and where its output goes."""

    operation: Operation[Any, Any]
    request: Any
    common: Common
    output: Output

    def answer(self, future: Future[Any]) -> Mapping[str, Any]:
        """Return what the client prints. The full program reports an error, if it meets it again."""
        try:
            result = future.result()
        except (Exception, CancelledError):  # noqa: BLE001 - the full program runs into it again, and reports it
            return UNREAD
        if self.common.as_json:
            return {"text": format_json(result, self.output.is_terminal), "pages": False}
        text = runner.format_text(self.operation, result, self.output)
        return {"text": text, "pages": not self.common.no_pager}


def parse(message: Mapping[str, Any]) -> CommandLine | None:
    """Return the command line of a client's message; None if the full program must read it."""
    arguments, description, around = (message.get(name) for name in ("arguments", "output", "surroundings"))
    if not isinstance(description, dict) or not isinstance(around, dict):
        return None
    output = _parse_output(description, around.get("variables"))
    if output is None or not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        return None
    if output.variables.get("TZ") != os.environ.get("TZ"):
        return None  # this process shows local times in its own zone
    try:
        line = parse_arguments(arguments)
        if not isinstance(line.command, Operation) or line.words[0] not in COMMANDS or line.reads_input:
            return None
        request = line.request()
    except (UnreadableLine, UsageError):
        return None
    if line.common.debug or getattr(request, "raw", False):
        return None
    return CommandLine(_TerminalOperation.of(line.command), request, line.common, output)


class _TerminalOperation(Operation[Any, Any]):
    """An operation that first tells of problems in settings files, as on a terminal."""

    @classmethod
    def of(cls, operation: Operation[Any, Any]) -> Operation[Any, Any]:
        """Return the same operation with these notices."""
        return cls(**{field.name: getattr(operation, field.name) for field in dataclasses.fields(operation)})

    def run(self, context: Context, request: Any) -> Any:
        for problem in context.settings.problems_by_file:
            context.notice(problem)
        return super().run(context, request)


def _parse_output(description: Mapping[str, Any], passed_variables: Any) -> Output | None:
    """Return where the output goes; its variables are those of the terminal, and all that a caller passes."""
    width, encoding, own_variables = (description.get(name) for name in ("width", "encoding", "variables"))
    if not isinstance(width, int | None) or not isinstance(encoding, str):
        return None
    if not isinstance(own_variables, dict) or not isinstance(passed_variables, dict):
        return None
    variables = {**passed_variables, **own_variables}
    if not all(isinstance(value, str) for value in variables.values()):
        return None
    return Output(description.get("terminal") is True, width, encoding, variables)
