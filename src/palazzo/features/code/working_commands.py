"""how: commands with a program that worked here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from palazzo.errors import UsageError
from palazzo.features.code.code_scope import CodeScope, read_scope, widening_options
from palazzo.features.code.command_shapes import count_commands, shapes_of_program
from palazzo.features.code.contract import HowRequest, HowResult, WorkingCommand
from palazzo.index import digest_work
from palazzo.knowledge.failures import error_in
from palazzo.model import Micros
from palazzo.store import tool_calls
from palazzo.text.count_phrases import count_noun
from palazzo.text.shell_text import words_of

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.tool_calls import CallMessage, CallResult

_HALF_LIFE = 30 * 86_400_000_000
"""Microseconds after which a use counts half as much for the order."""
_MOST_CALLS = 1_000
"""Maximum number of calls of the program that are read, the newest: about a second of work."""
_EXIT_STATUS = re.compile(
    r"^(?:Exit code:? |Process exited with code |Command exited with code )(\d{1,3})\b"
    r"|\"exit_code\": ?(\d{1,3})\b|<exited with exit code (\d{1,3})>",
    re.MULTILINE,
)
"""How hosts state the exit status in a result."""
_NEAR_END = 500
"""Characters at the beginning and at the end of a result in which a host states the exit status."""


def find_working_commands(context: Context, request: HowRequest) -> HowResult:
    """Show commands with a program that worked here: how often, when last, and with which exit status."""
    program = words_of(request.tool)
    if not program:
        raise UsageError("The program is empty: name one, such as pytest or docker compose.")
    scope = read_scope(context, request)
    with context.reading().database.snapshot() as connection:
        uses = _group_runs(_runs_of(connection, program, scope), context.now)
    worked = sorted((use for use in uses.values() if use.example is not None), key=lambda use: (-use.weight, use.shape))
    failed_only = sum(use.failed for use in uses.values() if use.example is None)
    return HowResult(
        tool=request.tool,
        wing=scope.wing,
        commands=tuple(_view(use, use.example) for use in worked[: request.limit] if use.example is not None),
        total=len(worked),
        failed_only=failed_only,
        advice="" if worked else _advice(request, scope, failed_only),
    )


def _advice(request: HowRequest, scope: CodeScope, failed: int) -> str:
    wider = widening_options(request, scope)
    suggestion = f"; try {wider}" if wider else ""
    if failed:
        return f"No command with {request.tool} passed; {count_noun(failed, 'run')} failed{suggestion}."
    return f"No session ran {request.tool}{suggestion}."


# --- runs --------------------------------------------------------------------------------------------------


class _Run(NamedTuple):
    """A run of a line with the program: its message, the line, the number of its commands, and the outcome."""

    message: CallMessage
    command: str
    size: int
    shapes: Sequence[str]
    has_passed: bool
    exit_status: int | None


class _Call(NamedTuple):
    """A call that runs the program: its message, the tool, its id, the command line and the shapes of its commands."""

    message: CallMessage
    tool: str
    call: str
    command: str
    shapes: Sequence[str]


@dataclass(slots=True)
class _Use:
    """The runs of one shape."""

    shape: str
    example: _Run | None = None
    last_at: Micros = Micros(0)
    worked: int = 0
    failed: int = 0
    weight: float = 0.0

    def add(self, run: _Run, now: Micros) -> None:
        """Count a run."""
        if not run.has_passed:
            self.failed += 1
            return
        if self.example is None or (run.size, -run.message.at) < (self.example.size, -self.example.message.at):
            self.example = run
        self.last_at = max(self.last_at, run.message.at)
        self.worked += 1
        self.weight += 0.5 ** (max(now - run.message.at, 0) / _HALF_LIFE)


def _group_runs(runs: Iterable[_Run], now: Micros) -> Mapping[str, _Use]:
    """Count runs by their shapes."""
    uses: dict[str, _Use] = {}
    for run in runs:
        for shape in run.shapes:
            uses.setdefault(shape, _Use(shape)).add(run, now)
    return uses


def _runs_of(connection: Connection, program: Sequence[str], scope: CodeScope) -> Iterator[_Run]:
    """Yield the runs of a program whose results are known, newest first."""
    calls = list(_calls_of(connection, program, scope))
    calls_by_source: dict[int, set[str]] = {}
    for call in calls:
        calls_by_source.setdefault(call.message.source, set()).add(call.call)
    results = {source: tool_calls.results_of(connection, source, ids) for source, ids in calls_by_source.items()}
    for call in calls:
        result = results[call.message.source].get(call.call)
        outcome = None if result is None else _outcome(call, result)
        if outcome is not None:
            yield _Run(call.message, call.command, count_commands(call.command), call.shapes, *outcome)


def _calls_of(connection: Connection, program: Sequence[str], scope: CodeScope) -> Iterator[_Call]:
    """Yield the calls that run the program and may be shown, newest first."""
    count, name = 0, program[0].rpartition("/")[2]
    for message in tool_calls.messages_with_calls(connection, scope.wings, scope.since, scope.until):
        if name not in message.text:
            continue
        for part in message.parts:
            place = digest_work.command_place(message.text, part.start, part.end) if part.kind == "tool_call" else None
            if place is None or (part.trust or "agent") not in scope.trusts:
                continue
            shell = digest_work.LISTED_SHELL.match(message.text, *place)
            command = message.text[shell.end() if shell else place[0] : place[1]]
            shapes = shapes_of_program(command, program)
            if shapes and tool_calls.is_call_shown(connection, message.item, *place, scope.trusts):
                yield _Call(message, part.name, part.call, command, shapes)
                count += 1
        if count >= _MOST_CALLS:
            return


def _outcome(call: _Call, result: CallResult) -> tuple[bool, int | None] | None:
    """Return whether a call passed and its exit status; None if it was not carried out."""
    text, part = result.text, result.part
    output = text[part.start : part.end]
    if digest_work.is_declined(output):
        return None
    status = _exit_status(output)
    lines = error_in(call.tool or part.name, call.command, text, part.start, part.end, part.failed)
    return not (part.failed or lines or status), status


def _exit_status(output: str) -> int | None:
    for piece in (output[:_NEAR_END], output[-_NEAR_END:]):
        if match := _EXIT_STATUS.search(piece):
            return int(next(filter(None, match.groups())))
    return None


def _view(use: _Use, run: _Run) -> WorkingCommand:
    return WorkingCommand(
        shape=use.shape,
        command=run.command,
        worked=use.worked,
        failed=use.failed,
        last_at=use.last_at,
        exit_status=run.exit_status,
        session=run.message.session,
        host=run.message.host,
        wing=run.message.wing,
        id=run.message.uid,
    )
