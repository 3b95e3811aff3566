"""Execution of a tool call for a connection, and its answer on the wire. Tools, resources and prompts share it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from palazzo.errors import NoSuchPlace, NotFound, PalaceMissing, PalazzoError, PathRefused, UsageError
from palazzo.faces.mcp.client_calls import Call, OperationCall, OperationCancelled, Surroundings
from palazzo.faces.mcp.client_hosts import host_of
from palazzo.faces.mcp.progress_reports import Reports, relay_reports
from palazzo.operations.agent_tools.tool import Answer, CallArguments, Tool, request_of
from palazzo.operations.empty_palace import read_nothing
from palazzo.security.call_origin import HOST, SESSION
from palazzo.security.fences import FENCE, escape_tags, fence_text

KEY = "palazzo/key"
"""The field of a call's `_meta` that identifies the call, so that a repeated call is carried out only once."""
_TURN = "x-codex-turn-metadata"
"""The member of a call's `_meta` in which Codex states the session of the call."""
PAGE = 100
"""Members of one page of a list. Some clients read only the first page."""

_NOTHING_KEPT = "Nothing is stored yet: there is no palace. The first write, such as `remember`, creates it."

_log = logging.getLogger(__name__)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_Member = TypeVar("_Member")


@dataclass(frozen=True, slots=True, eq=False)
class ClientConnection:
    """One client's connection: the client's environment, and the function that carries out its calls.

    `permit`, if set, is called before each call with the tool and the HTTP request; it returns the reason for a
    refusal.
    """

    surroundings: Surroundings
    call: Call
    permit: Callable[[Tool, Any], str] | None = None


Context = ServerRequestContext[ClientConnection, Any]


class ToolCallError(Exception):
    """The call was understood but is not carried out, or could not be; the message is the sentence that says why.

    `error` is the exception that the operation raised, if any.
    """

    def __init__(self, why: str, error: Exception | None = None) -> None:
        super().__init__(why)
        self.error = error


async def answer(context: Context, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
    """Execute a tool call and return its answer, with the operation's remarks.

    Raises Refused; and MCPError (-32602) for arguments that the tool does not accept, which it names.
    """
    connection = context.lifespan_context
    if connection.permit is not None and (why := connection.permit(tool, context.request)):
        raise ToolCallError(why)
    try:
        call = tool.parse_call(arguments, host_of(context), connection.surroundings.cwd)
    except ValueError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from None
    async with relay_reports(context) as reports:
        outcome = await _run_tool(context, tool, call, reports)
    if isinstance(outcome, ToolCallError):
        raise outcome
    return _with_remarks(outcome, call.remarks, in_document=True)


async def _run_tool(context: Context, tool: Tool, call: CallArguments, reports: Reports) -> Answer | ToolCallError:
    """Execute the call. Raises only a cancellation: the task group around it would wrap errors in groups."""
    try:
        return _with_remarks(await _carried_out(context, tool, call, reports), reports.notices)
    except NoSuchPlace as error:
        if tool.nowhere is None:
            return ToolCallError(in_arguments(tool, str(error)), error)
        return _with_remarks(fence_answer(tool, tool.nowhere(call)), [*reports.notices, in_arguments(tool, str(error))])
    except PalazzoError as error:
        return ToolCallError(in_arguments(tool, str(error)), error)
    except OperationCancelled:
        await anyio.lowlevel.checkpoint()
        return ToolCallError(f"{tool.name} was stopped; work completed by then is kept.")
    except Exception as error:  # noqa: BLE001 - the boundary: whatever else is raised is a bug, told of and logged as one
        if (refusal := PathRefused.from_system(error)) is not None:
            return ToolCallError(in_arguments(tool, str(refusal)), refusal)
        _log.exception("the tool %s failed", tool.name)
        message = f"{tool.name} failed inside Palazzo ({type(error).__name__}): its write was rolled back."
        return ToolCallError(message, error)


async def _carried_out(context: Context, tool: Tool, call: CallArguments, reports: Reports) -> Answer:
    connection = context.lifespan_context
    key = (context.meta or {}).get(KEY)
    surroundings = in_session(connection.surroundings, context.meta, host_of(context))
    results = []
    for n, step in enumerate(tool.plan_steps(call)):
        operation_call = OperationCall(
            step.operation,
            request_of(step),
            surroundings,
            None if key is None else f"{key}:{n}" if n else str(key),
            reports.progress,
            reports.notice,
        )
        try:
            results.append(await connection.call(operation_call))
            step.check(results[-1])
        except UsageError as error:
            if step.if_refused is not None:
                results.append(step.if_refused(error))
            elif isinstance(error, NotFound) and step.if_not_found is not None:
                results.append(step.if_not_found)
            else:
                raise
        except PalaceMissing as error:
            if not tool.hints.reads:
                raise
            results.append(await _of_nothing(error, operation_call))
            if _NOTHING_KEPT not in reports.notices:
                reports.notice(_NOTHING_KEPT)
    return fence_answer(tool, tool.answer(results if tool.steps is not None else results[0], call))


def fence_answer(tool: Tool, raw_answer: Answer) -> Answer:
    """Return an answer as it may be shown to a model: no stored text contains a tag of the fence, and text is fenced.

    The tool's own text needs no fence: its notice, or the line that says what it wrote.
    """
    fields = escape_json(raw_answer.structured)
    document = None if raw_answer.document is None else escape_json(raw_answer.document)
    text = raw_answer.text
    if text and not text.startswith(f"<{FENCE}>\n"):
        is_own = text == raw_answer.structured.get("notice") or not (tool.hints.reads or "\n" in text)
        text = escape_tags(text) if is_own else fence_text(text)
    return Answer(fields, text, raw_answer.failed, document)


def escape_json(value: Any) -> Any:
    """Return `value`, to be encoded as JSON, with every tag of the fence in its texts escaped."""
    if isinstance(value, str):
        return escape_tags(value)
    if isinstance(value, Mapping):
        return {escape_json(name): escape_json(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [escape_json(member) for member in value]
    return value


async def _of_nothing(error: PalaceMissing, operation_call: OperationCall) -> Any:
    """Return the answer if there is no palace yet."""
    around = operation_call.surroundings
    client_state = (around.cwd, around.variables, around.palace, around.trust)
    return await anyio.to_thread.run_sync(
        partial(read_nothing, error, operation_call.operation, operation_call.request, *client_state)
    )


def in_session(surroundings: Surroundings, meta: Mapping[str, Any] | None, host: str = "") -> Surroundings:
    """Return the environment of a call, with the client's host, and the call's session if it names one."""
    turn = (meta or {}).get(_TURN)
    session = turn.get("session_id") if isinstance(turn, Mapping) else None
    call_variables = {HOST: host, SESSION: session if isinstance(session, str) else ""}
    stated_variables = {name: value for name, value in call_variables.items() if value}
    return (
        replace(surroundings, variables={**surroundings.variables, **stated_variables})
        if stated_variables
        else surroundings
    )


def _with_remarks(answer: Answer, remarks: Sequence[str], *, in_document: bool = False) -> Answer:
    """Return an answer with remarks added. Remarks on the call itself are also put into the parsed document."""
    if not remarks:
        return answer
    remarks = [escape_tags(remark) for remark in remarks]
    fields = {**answer.structured, "remarks": [*answer.structured.get("remarks", ()), *remarks]}
    if in_document and isinstance(answer.document, Mapping):
        return replace(answer, structured=fields, document={**answer.document, "remarks": remarks})
    if answer.document is not None:
        return replace(answer, structured=fields)
    return Answer(fields, "\n".join((answer.readable, *remarks)), answer.failed)


def in_arguments(tool: Tool, sentence: str) -> str:
    """Return an error's sentence with the tool's arguments in place of the command-line options."""
    return escape_tags(_OPTION.sub(lambda found: tool.names_of_options.get(found[0], found[0]), sentence))


def whole(value: Any) -> Any:
    """Return `value` encodable as JSON: lone surrogates, which old transcripts contain, become U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _HALF_PAIR.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {whole(name): whole(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [whole(member) for member in value]
    return value


def page(
    members: Sequence[_Member], params: types.PaginatedRequestParams | None
) -> tuple[Sequence[_Member], str | None]:
    """Return a page of a list, and the cursor of the next page if there is one. A cursor is a start index."""
    cursor = params.cursor if params is not None else None
    start = 0 if cursor is None else int(cursor) if re.fullmatch(r"[0-9]{1,9}", cursor) else -1
    if not 0 <= start <= len(members):
        raise MCPError(
            types.INVALID_PARAMS, f"'{(cursor or '')[:60]}' is not a cursor of this list; start without one."
        )
    end = start + PAGE
    return members[start:end], str(end) if end < len(members) else None
