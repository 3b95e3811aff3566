"""`logstream`, `task` and `artifact` of MemPalace: the log of events and artifacts between agents.

    python -P -m palazzo.faces.cli.mempalace_exchange logstream|task|artifact ACTION [options]

Options, layout and exit codes are those of MemPalace 3.11.0 (`wait` ends with 2 if no event came). Errors go to
standard error, or with --json as `{"error": …}` to standard output. `logstream watch`, `logstream sync` and `task
launch` name Palazzo's own command for that.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.cli import error_messages, standard_output
from palazzo.faces.cli.service_client import carried_out
from palazzo.faces.mcp.profiles.mempalace.mempalace_exchange_tools import artifact_fields, event_fields
from palazzo.features.exchange.contract import (
    ArtifactGetRequest,
    ArtifactGetResult,
    ArtifactPutRequest,
    ArtifactPutResult,
    EventAckRequest,
    EventAppendRequest,
    EventAppendResult,
    EventListRequest,
    EventListResult,
    EventTaskRequest,
    EventTaskResult,
    EventView,
    EventWaitRequest,
    EventWaitResult,
)
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.security.fences import fence_text
from palazzo.security.note_taint import is_agents
from palazzo.text.visible import visible

TIMED_OUT = 2
"""The exit code of `wait` if no event came in time."""
_ORDERS: dict[str, Literal["oldest", "newest"]] = {"asc": "oldest", "desc": "newest"}
_LONGEST_BODY = 80
"""The most characters of an event's text in a line."""
_ELSEWHERE = {
    ("logstream", "watch"): "'mempalace logstream wait' waits for events; run it again for the next ones.",
    ("logstream", "sync"): "'palazzo pull' gets the events of other devices.",
    ("task", "launch"): "paste the line of 'mempalace task create' into the session of the agent.",
}
"""Actions of MemPalace that are not here, and what to do instead."""
_FILTERS = {
    "--stream": "stream", "--room": "room", "--topic": "topic", "--type": "type", "--to-agent": "to",
    "--from-agent": "by", "--correlation-id": "correlation", "--status": "status", "--since-event-id": "after",
    "--since-created-at": "since",
}  # fmt: skip
"""Options of `list` and `wait`, with the fields of the request."""
_ROUTING = {"--to-agent": "to", "--correlation-id": "correlation", "--branch": "branch", "--base-commit": "commit"}

Action = Callable[[argparse.Namespace, Context], int]


def main(arguments: list[str] | None = None) -> int:
    """Run one action, and return its exit code."""
    parser = _parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown and (options.verb, options.action) not in _ELSEWHERE:
        parser.error(f"unknown: {' '.join(unknown)}")
    try:
        if (options.verb, options.action) in _ELSEWHERE:
            raise UsageError(f"{options.verb} {options.action} is not here: {_ELSEWHERE[options.verb, options.action]}")
        with Context(palace=options.palace, on_notice=_notice) as context:
            code = _ACTIONS[options.verb, options.action](options, context)
    except KeyboardInterrupt:
        return error_messages.report_interrupt(None)
    except (PalazzoError, OSError) as error:
        return _fail(str(error), options.json)
    return standard_output.flush(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mempalace")
    verbs = parser.add_subparsers(dest="verb", required=True)
    actions = {}
    for verb in ("logstream", "task", "artifact"):
        verb_parser = verbs.add_parser(verb)
        verb_parser.add_argument("--palace", type=Path)
        actions[verb] = verb_parser.add_subparsers(dest="action", required=True)
    _add_logstream(actions["logstream"])
    create = _add(actions["task"], "create", ("--project", "--from-agent", "--to-agent", "--branch", "--base-commit"))
    for option in ("goal", "done"):
        either = create.add_mutually_exclusive_group(required=True)
        either.add_argument(f"--{option}")
        either.add_argument(f"--{option}-file")
    _add(actions["task"], "launch")
    _add(actions["artifact"], "put", ("--kind", "--created-by"), ("--content", "--file", "--metadata"))
    _add(actions["artifact"], "get", (), ("--out",)).add_argument("artifact_id")
    return parser


def _add_logstream(actions: Any) -> None:
    append = _add(actions, "append", ("--type", "--stream", "--room", "--from-agent"), tuple(_ROUTING))
    for option in ("--topic", "--status", "--body", "--body-file", "--metadata"):
        append.add_argument(option)
    append.add_argument("--artifact-id", action="append", default=[])
    listing = _add(actions, "list", (), (*_FILTERS, "--before-event-id"))
    listing.add_argument("--order", choices=[*_ORDERS], default="asc")
    wait = _add(actions, "wait", (), tuple(_FILTERS))
    wait.add_argument("--timeout-ms", type=int, default=60_000)
    for parser in (listing, wait):
        parser.add_argument("--limit", type=int, default=50)
    _add(actions, "ack", ("--from-agent",), ("--status", "--topic", "--body")).add_argument("event_id")
    for action in ("watch", "sync"):
        _add(actions, action)


def _add(
    actions: Any, name: str, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name)
    for option in required:
        parser.add_argument(option, required=True)
    for option in optional:
        parser.add_argument(option)
    parser.add_argument("--json", action="store_true")
    return parser


# --- events ------------------------------------------------------------------------------------------------


def _append(options: argparse.Namespace, context: Context) -> int:
    request = EventAppendRequest(
        type=options.type,
        body=_read_text(options.body, options.body_file) or "",
        stream=options.stream,
        room=options.room,
        topic=options.topic,
        by=options.from_agent,
        status=options.status,
        metadata=options.metadata,
        artifacts=tuple(options.artifact_id),
        **_values(options, _ROUTING),
    )
    result: EventAppendResult = carried_out(operation("event_append"), request, context)
    return _show_event(result.event, "Appended:", options)


def _ack(options: argparse.Namespace, context: Context) -> int:
    request = EventAckRequest(
        options.event_id, options.body or "", by=options.from_agent, status=options.status, topic=options.topic
    )
    result: EventAppendResult = carried_out(operation("event_ack"), request, context)
    return _show_event(result.event, "Acknowledged:", options)


def _show_event(event: EventView, title: str, options: argparse.Namespace) -> int:
    _write(_json(event_fields(event)) if options.json else f"{title}\n{event_line(event_fields(event))}")
    return 0


def _list(options: argparse.Namespace, context: Context) -> int:
    request = EventListRequest(
        limit=options.limit,
        order=_ORDERS[options.order],
        before=options.before_event_id,
        **_values(options, _FILTERS),
    )
    result: EventListResult = carried_out(operation("event_list"), request, context)
    return _show_events(result.events, options, {})


def _wait(options: argparse.Namespace, context: Context) -> int:
    request = EventWaitRequest(limit=options.limit, timeout_ms=options.timeout_ms, **_values(options, _FILTERS))
    result: EventWaitResult = carried_out(operation("event_wait"), request, context)
    _show_events(result.events, options, {"timed_out": result.timed_out})
    return TIMED_OUT if result.timed_out else 0


def _show_events(events: tuple[EventView, ...], options: argparse.Namespace, more: dict[str, Any]) -> int:
    rows = [event_fields(event) for event in events]
    if options.json:
        _write(_json({"events": rows, **more, "count": len(rows)}))
    elif rows:
        _write("\n".join((f"{len(rows)} event(s):", *map(event_line, rows))))
    else:
        _write("Timed out; no matching events." if more.get("timed_out") else "No matching events.")
    return 0


def event_line(event: dict[str, Any]) -> str:
    """Return an event as one line, as MemPalace prints it."""
    body = event["body"].replace("\n", " ")
    if len(body) > _LONGEST_BODY:
        body = f"{body[: _LONGEST_BODY - 3]}..."
    pieces = (
        f"{event['id']}  {event['created_at']}  {event['type']}  {event['stream']}/{event['room']}  "
        f"{event['from_agent']}->{event['to_agent'] or '*'}",
        f"[{event['status']}]" if event["status"] else "",
        f"topic={event['topic']}" if event["topic"] else "",
        f"corr={event['correlation_id']}" if event["correlation_id"] else "",
        f"artifacts={len(event['artifact_ids'])}" if event["artifact_ids"] else "",
        f":: {body}" if body else "",
    )
    return f"  {' '.join(filter(None, pieces))}"


def _create(options: argparse.Namespace, context: Context) -> int:
    request = EventTaskRequest(
        goal=_read_text(options.goal, options.goal_file) or "",
        to=options.to_agent,
        done=_read_text(options.done, options.done_file) or "",
        branch=options.branch,
        commit=options.base_commit,
        project=options.project,
        by=options.from_agent,
    )
    result: EventTaskResult = carried_out(operation("event_task"), request, context)
    event = event_fields(result.event)
    if options.json:
        _write(_json({"task": event, "handoff": result.handoff}))
    else:
        lines = (f"Task created: {event['correlation_id']}", f"Event: {event['id']}", f"To: {options.to_agent}")
        _write("\n".join((*lines, "", "Ready to paste:", result.handoff)))
    return 0


# --- artifacts ---------------------------------------------------------------------------------------------


def _put(options: argparse.Namespace, context: Context) -> int:
    content = _read_text(options.content, options.file)
    content = _read_text(None, "-") if content is None else content
    request = ArtifactPutRequest(options.kind, content or "", by=options.created_by, metadata=options.metadata)
    result: ArtifactPutResult = carried_out(operation("artifact_put"), request, context)
    artifact = artifact_fields(result.artifact, result.warnings)
    if options.json:
        _write(_json(artifact))
    else:
        lines = (f"  sha256={artifact['sha256']}", f"  size={artifact['size_bytes']} bytes")
        _write("\n".join((f"Stored {artifact['id']}  kind={artifact['kind']}", *lines)))
    for warning in result.warnings:
        _notice(f"Warning: {warning}")
    return 0


def _get(options: argparse.Namespace, context: Context) -> int:
    request = ArtifactGetRequest(options.artifact_id)
    result: ArtifactGetResult = carried_out(operation("artifact_get"), request, context)
    content = result.content.encode("utf-8", "surrogateescape")
    artifact = artifact_fields(result.artifact) | {"metadata": json.loads(result.artifact.metadata)}
    if options.out:
        Path(options.out).expanduser().write_bytes(content)
    if options.json:
        more = {"content_written_to": options.out} if options.out else {"content": result.content}
        _write(_json(artifact | more))
    elif options.out:
        _write(f"Wrote {artifact['size_bytes']} bytes to {options.out}\n  sha256={artifact['sha256']}")
    elif sys.stdout.isatty():
        _write(result.content)
    else:
        sys.stdout.buffer.write(content)  # `git apply` reads it: nothing may stand around it
        sys.stdout.buffer.flush()
    return 0


# --- in and out --------------------------------------------------------------------------------------------


def _values(options: argparse.Namespace, fields: dict[str, str]) -> dict[str, Any]:
    return {field: getattr(options, option[2:].replace("-", "_")) for option, field in fields.items()}


def _read_text(text: str | None, file: str | None) -> str | None:
    """Return the text, or that of the file (`-`: standard input) with its line ends; None if neither is given."""
    if text is not None and file is not None:
        raise UsageError("Give the text or a file, not both.")
    if file is None:
        return text
    content = sys.stdin.buffer.read() if file == "-" else Path(file).expanduser().read_bytes()
    return content.decode("utf-8", "surrogateescape")


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _write(text: str) -> None:
    """Print a text, inside the fence if an agent reads the output in its shell; JSON stays JSON."""
    if sys.stdout.isatty():
        text = visible(text)
    elif is_agents(os.environ) and not text.startswith("{"):
        text = fence_text(text)
    sys.stdout.buffer.write(f"{text}\n".encode(errors="replace"))
    sys.stdout.flush()


def _notice(sentence: str) -> None:
    print(error_messages.one_line(sentence), file=sys.stderr)


def _fail(message: str, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"error": message}))
    else:
        _notice(f"Error: {message}")
    return error_messages.FAILED


_ACTIONS: dict[tuple[str, str], Action] = {
    ("logstream", "append"): _append,
    ("logstream", "list"): _list,
    ("logstream", "wait"): _wait,
    ("logstream", "ack"): _ack,
    ("task", "create"): _create,
    ("artifact", "put"): _put,
    ("artifact", "get"): _get,
}


if __name__ == "__main__":
    sys.exit(main())
