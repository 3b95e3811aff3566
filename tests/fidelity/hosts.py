"""Hosts that append to one file per session, as each writes it."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime

from .told import Turn

Json = dict[str, object]
_LONE = re.compile(r"[\ud800-\udfff]")


def js(value: object, indent: int | None = None) -> bytes:
    """JSON as `JSON.stringify` writes it: compact, in UTF-8, with lone surrogates escaped (ECMAScript 2019)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=None if indent else (",", ":"))
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def ascii_js(value: object) -> bytes:
    """JSON as Python writes it: with spaces, in ASCII."""
    return json.dumps(value).encode()


def iso(at: int) -> str:
    """A time as `toISOString` writes it."""
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03}Z"


def lines(rows: list[Json], way: int) -> bytes:
    """Rows as JSON Lines: compact or spaced, LF or CRLF, with or without a byte order mark."""
    write = ascii_js if way % 3 == 1 else js
    end = b"\r\n" if way % 5 == 1 else b"\n"
    return (b"\xef\xbb\xbf" if way % 7 == 1 else b"") + b"".join(write(row) + end for row in rows)


def named(kind: str, n: int) -> str:
    """A UUID."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind} {n}"))


def claude_code(told: list[Turn], way: int) -> bytes:
    """Claude Code: one row per content block, a result as a row of the user, the host's own rows between."""
    rows: list[Json] = []
    parent: str | None = None
    session = named("session", 1)

    def add(kind: str, message: Json, at: int, **more: object) -> None:
        nonlocal parent
        own = named("row", len(rows))
        rows.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/dev/acme",
                "sessionId": session,
                "version": "2.1.330",
                "gitBranch": "main",
                "type": kind,
                "message": message,
                "uuid": own,
                "timestamp": iso(at),
                **more,
            }
        )
        parent = own

    rows.append({"type": "queue-operation", "operation": "enqueue", "timestamp": iso(0), "sessionId": session})
    for n, one in enumerate(told):
        model: Json = {"role": "assistant", "model": "fake", "id": f"msg_{n}", "type": "message"}
        if one.role == "user":
            content: object = one.text if way % 2 else [{"type": "text", "text": one.text}]
            add("user", {"role": "user", "content": content}, one.at)
            rows.append({"type": "last-prompt", "lastPrompt": one.text, "sessionId": session})
        elif one.role == "assistant":
            add("assistant", model | {"content": [{"type": "text", "text": one.text}]}, one.at)
        else:
            call: Json = {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {"command": "ls"}}
            add("assistant", model | {"content": [call]}, one.at)
            body: object = one.text if way % 2 else [{"type": "text", "text": one.text}]
            result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": body, "is_error": False}
            screen = {"stdout": one.text, "stderr": ""}
            add("user", {"role": "user", "content": [result]}, one.at, toolUseResult=screen)
    return lines(rows, way)


def codex(told: list[Turn], way: int) -> bytes:
    """Codex since 2025-09: `{timestamp, type, payload}`; with ids and ordinals since 0.169."""
    ids = way % 2 == 0
    rows: list[Json] = []

    def add(kind: str, payload: Json, at: int) -> None:
        row: Json = {"timestamp": iso(at)} | ({"ordinal": len(rows)} if ids else {})
        if ids and kind == "response_item":
            turn = {"turn_id": named("turn", len(rows))}
            payload = payload | {"id": f"msg_{len(rows)}", "internal_chat_message_metadata_passthrough": turn}
        rows.append(row | {"type": kind, "payload": payload})

    add("session_meta", {"id": named("thread", 1), "cwd": "/home/dev/acme", "git": {"branch": "main"}}, 0)
    for n, one in enumerate(told):
        add("turn_context", {"cwd": "/home/dev/acme", "model": "fake"}, one.at)
        if one.role == "tool":
            given = '{"command":["ls"]}'
            add("response_item", {"type": "function_call", "name": "shell", "arguments": given, "call_id": f"c{n}"}, 0)
            add("response_item", {"type": "function_call_output", "call_id": f"c{n}", "output": one.text}, one.at)
        else:
            kind = "input_text" if one.role == "user" else "output_text"
            content = [{"type": kind, "text": one.text}]
            add("response_item", {"type": "message", "role": one.role, "content": content}, one.at)
            event = "user_message" if one.role == "user" else "agent_message"
            add("event_msg", {"type": event, "message": one.text}, one.at)
    return lines(rows, way)


def pi(told: list[Turn], way: int) -> bytes:
    """pi: a header, then entries that name their parent."""
    rows: list[Json] = [{"type": "session", "version": 3, "id": "s", "timestamp": iso(0), "cwd": "/home/dev/acme"}]

    def add(message: Json, at: int) -> None:
        parent = None if len(rows) == 1 else f"{len(rows) - 1:08x}"
        entry = {"type": "message", "id": f"{len(rows):08x}", "parentId": parent, "timestamp": iso(at)}
        rows.append(entry | {"message": message | {"timestamp": at}})

    for n, one in enumerate(told):
        content = [{"type": "text", "text": one.text}]
        if one.role == "tool":
            call: Json = {"type": "toolCall", "id": f"c{n}", "name": "bash", "arguments": {"command": "ls"}}
            add({"role": "assistant", "content": [call], "model": "fake"}, one.at)
            result: Json = {"role": "toolResult", "toolCallId": f"c{n}", "toolName": "bash", "isError": False}
            add(result | {"content": content}, one.at)
        else:
            add({"role": one.role, "content": one.text if one.role == "user" and way % 2 else content}, one.at)
    return lines(rows, way)


GEMINI: Json = {"sessionId": "g1", "projectHash": "0" * 64, "startTime": "x", "lastUpdated": "x"}


def gemini_messages(told: list[Turn]) -> list[Json]:
    """Messages of Gemini CLI; a call with its result is one."""
    found: list[Json] = []
    for n, one in enumerate(told):
        base: Json = {"id": named("message", n), "timestamp": iso(one.at)}
        if one.role == "tool":
            answer = {"functionResponse": {"id": f"c{n}", "name": "ls", "response": {"output": one.text}}}
            call = {"id": f"c{n}", "name": "ls", "args": {}, "status": "success", "result": [answer]}
            found.append(base | {"type": "gemini", "content": "", "toolCalls": [call], "model": "fake"})
        elif one.role == "assistant":
            found.append(base | {"type": "gemini", "content": one.text, "model": "fake"})
        else:
            found.append(base | {"type": "user", "content": [{"text": one.text}]})
    return found


def gemini(told: list[Turn], way: int) -> bytes:
    """Gemini CLI since 2026: each message written twice, and all again in a `$set`."""
    listed = gemini_messages(told)
    rows: list[Json] = [GEMINI | {"kind": "main"}]
    for message in listed:
        rows += [message, {"$set": {"lastUpdated": "y"}}, message]
    return lines([*rows, {"$set": {"messages": listed}}], way)


def gemini_text(told: list[Turn], way: int) -> bytes:
    """Gemini CLI before: one text, indented by two."""
    return (b"\xef\xbb\xbf" if way % 7 == 1 else b"") + js(GEMINI | {"messages": gemini_messages(told)}, 2)


def qwen(told: list[Turn], way: int) -> bytes:
    """Qwen Code: rows like those of Claude Code, with contents as Gemini's API has them."""
    rows: list[Json] = []

    def add(kind: str, role: str, part: Json, at: int, **more: object) -> None:
        own, parent = named("record", len(rows)), named("record", len(rows) - 1) if rows else None
        around: Json = {"uuid": own, "parentUuid": parent, "sessionId": named("session", 2), "timestamp": iso(at)}
        around |= {"type": kind, "cwd": "/home/dev/acme", "version": "0.24.4", "gitBranch": "main"}
        rows.append(around | {"message": {"role": role, "parts": [part]}} | more)

    for n, one in enumerate(told):
        if one.role == "tool":
            call: Json = {"id": f"c{n}", "name": "run_shell_command", "args": {"command": "ls"}}
            add("assistant", "model", {"functionCall": call}, one.at, model="fake")
            answer: Json = {"id": f"c{n}", "name": "run_shell_command", "response": {"output": one.text}}
            result = {"callId": f"c{n}", "status": "success", "resultDisplay": one.text}
            add("tool_result", "user", {"functionResponse": answer}, one.at, toolCallResult=result)
        elif one.role == "assistant":
            add("assistant", "model", {"text": one.text}, one.at, model="fake")
        else:
            add("user", "user", {"text": one.text}, one.at, **({"provenance": "real_user"} if way % 2 else {}))
    telemetry: Json = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {}}}
    rows.append({"uuid": named("record", 0), "parentUuid": None, "sessionId": named("session", 2)} | telemetry)
    return lines(rows, way)


def droid(told: list[Turn], way: int) -> bytes:
    """Droid: a header, then messages as Anthropic's API has them, and the runs of hooks between."""
    start: Json = {"type": "session_start", "id": named("session", 3), "title": "Título", "cwd": "/home/dev/acme"}
    rows: list[Json] = [start | {"owner": "dev", "version": 2}]

    def add(role: str, block: Json, at: int, **more: object) -> None:
        own, parent = named("droid", len(rows)), named("droid", len(rows) - 1)
        message: Json = {"role": role, "content": [block], **more}
        rows.append({"type": "message", "id": own, "parentId": parent, "timestamp": iso(at), "message": message})

    for n, one in enumerate(told):
        text: Json = {"type": "text", "text": one.text}
        if one.role == "tool":
            call: Json = {"type": "tool_use", "id": f"c{n}", "name": "Execute", "input": {"command": "ls"}}
            add("assistant", call, one.at, modelId="fake")
            body: object = one.text if way % 2 else [text]
            result: Json = {"type": "tool_result", "tool_use_id": f"c{n}", "is_error": False, "content": body}
            add("user", {"type": "text", "text": "x"}, one.at, visibility="user_only", hookEventName="PostToolUse")
            add("user", result, one.at)
        elif one.role == "assistant":
            add("assistant", text, one.at, modelId="fake")
        else:
            add("user", text, one.at, interactionMode="auto")
    rows.append({"type": "agent_turn_outcome", "turnId": "t", "reason": "completed", "resultKind": "text"})
    return lines(rows, way)


def kiro(told: list[Turn], way: int) -> bytes:
    """Kiro's engine v3: events, with those of a turn and of hooks between."""
    rows: list[Json] = []

    def add(kind: str, at: int, **payload: object) -> None:
        rows.append({"id": named("kiro", len(rows)), "timestamp": iso(at), "payload": {"type": kind, **payload}})

    for n, one in enumerate(told):
        if one.role == "tool":
            add("tool_call", one.at, toolCallId=f"c{n}", toolName="execute_bash", args={"command": "ls"})
            add("tool_result", one.at, toolCallId=f"c{n}", content=one.text, success=True)
        elif one.role == "assistant":
            add("assistant", one.at, operationType="Reasoning", content="...")
            add("assistant", one.at, operationType="Say", content=one.text)
        else:
            add("turn_start", one.at)
            add("user", one.at, content=one.text, images=[], documents=[])
            add("steering_inclusion", one.at, documents=[{"displayName": "rules", "content": "use tabs"}])
    add("usage_summary", 0, promptTurnSummaries=[])
    return lines(rows, way)


def kiro_engine_2(told: list[Turn], way: int) -> bytes:
    """Kiro's engine v2: messages of blocks, of which only prompts have a time."""
    rows: list[Json] = []

    def add(kind: str, *blocks: Json, **more: object) -> None:
        rows.append(
            {"version": "v1", "kind": kind, "data": {"message_id": named("kiro", len(rows)), "content": blocks} | more}
        )

    for n, one in enumerate(told):
        add(
            "Prompt",
            {"kind": "text", "data": one.text if one.role == "user" else ""},
            meta={"timestamp": one.at / 1000},
        )
        if one.role == "tool":
            use = {"toolUseId": f"c{n}", "name": "shell", "input": {"command": "ls"}}
            add("AssistantMessage", {"kind": "text", "data": ""}, {"kind": "toolUse", "data": use})
            result = {"kind": "json", "data": {"exit_status": "exit status: 0", "stdout": one.text, "stderr": ""}}
            add(
                "ToolResults",
                {"kind": "toolResult", "data": {"toolUseId": f"c{n}", "content": [result], "status": "success"}},
            )
        elif one.role == "assistant":
            add("AssistantMessage", {"kind": "text", "data": one.text})
    add("Clear")
    return lines(rows, way)


def copilot(told: list[Turn], way: int) -> bytes:
    """Copilot CLI: events."""
    rows: list[Json] = []

    def add(kind: str, data: Json, at: int) -> None:
        parent = named("event", len(rows) - 1) if rows else None
        own = named("event", len(rows))
        rows.append({"type": kind, "data": data, "id": own, "timestamp": iso(at), "parentId": parent})

    add("session.start", {"sessionId": "c1", "context": {"cwd": "/home/dev/acme", "branch": "main"}}, 0)
    for n, one in enumerate(told):
        if one.role == "user":
            add("user.message", {"content": one.text, "transformedContent": f"<now/>{one.text}"}, one.at)
        elif one.role == "assistant":
            add("assistant.message", {"messageId": f"m{n}", "content": one.text, "toolRequests": []}, one.at)
        else:
            request = {"toolCallId": f"c{n}", "name": "bash", "arguments": {"command": "ls"}}
            add("assistant.message", {"messageId": f"m{n}", "content": "", "toolRequests": [request]}, one.at)
            add("tool.execution_start", {"toolCallId": f"c{n}", "toolName": "bash"}, one.at)
            result = {"content": one.text, "detailedContent": one.text}
            add("tool.execution_complete", {"toolCallId": f"c{n}", "success": True, "result": result}, one.at)
    return lines(rows, way)


def windsurf(told: list[Turn], way: int) -> bytes:
    """Windsurf: steps, each in an object named as its type, or as its type without a version."""
    rows: list[Json] = []
    for one in told:
        step: Json = {"status": "done", "timestamp": iso(one.at)}
        if one.role == "user":
            words = {"rules_applied": {"always_on": ["rule.md"]}, "user_response": one.text}
            rows.append(step | {"type": "user_input", "user_input": words})
        elif one.role == "assistant":
            rows.append(step | {"type": "planner_response", "planner_response": {"response": one.text}})
        elif way % 2:
            found = {"query": "port", "search_path": "/home/dev/acme", "output": one.text}
            rows.append(step | {"type": "grep_search_v2", "grep_search": found})
        else:
            ran = {"command": "ls", "cwd": "/home/dev/acme", "exit_code": 0, "output": one.text, "user_rejected": False}
            rows.append(step | {"type": "run_command", "run_command": ran})
    listed = {"path": "file:///home/dev/acme"}
    rows.append({"status": "done", "type": "list_directory", "list_directory": listed})
    return lines(rows, way)
