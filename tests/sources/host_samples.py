"""Sessions of the other hosts: the real ones, and a conversation written in each host's format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from palazzo.sources.formats import Feeder, Message, Row

from .samples import line

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXPECTED = json.loads((FIXTURES / "claude-code" / "EXPECTED-18-turns.json").read_bytes())

Json = dict[str, object]


def sessions_of(host: str) -> list[Path]:
    """The real session files of a host."""
    return sorted(path for path in (FIXTURES / host).rglob("*.jsonl") if path.parent.name != "not-sessions")


def not_sessions() -> list[Path]:
    """What hosts wrote beside their sessions."""
    named = [FIXTURES / "claude-code" / name for name in ("hooks.jsonl", "stream-json.jsonl")]
    return named + sorted(path for path in FIXTURES.rglob("*.jsonl") if path.parent.name in ("not-sessions", "mcp"))


def rows_of(feeder: Feeder, path: Path) -> list[Row]:
    """Read a whole file."""
    with path.open("rb") as stream:
        return list(feeder.rows(stream))


def messages(rows: Iterable[Row]) -> list[Message]:
    """The messages among rows."""
    return [row.content for row in rows if isinstance(row.content, Message)]


def humans(rows: Iterable[Row]) -> list[str]:
    """What a person said."""
    return [one.text for one in messages(rows) if one.role == "user" and one.standing == "said"]


def written(*rows: Json) -> bytes:
    """The bytes of rows."""
    return b"".join(map(line, rows))


def through_json(text: str) -> str:
    """Text as JSON gives it back: two surrogates that make a pair become one character."""
    value = json.loads(json.dumps(text))
    assert isinstance(value, str)
    return value


# A conversation, and each host's way to write it


@dataclass(frozen=True)
class Turn:
    """One thing said: by a person, by the model, or by a tool (a call and what it printed)."""

    role: str
    text: str
    second: int

    @property
    def when(self) -> str:
        """The time, as hosts write it."""
        return f"2026-11-21T20:{self.second // 60:02}:{self.second % 60:02}.000Z"


def codex(turns: list[Turn], bare: bool = False) -> bytes:
    """A rollout, with the events that say all once more; `bare` as before September 2025."""
    meta: Json = {"id": "0a1b2c3d-0000-4000-8000-000000000001", "timestamp": "x", "cwd": "/w", "instructions": None}
    rows: list[Json] = [meta if bare else _codex_row("session_meta", "x", meta)]
    for number, turn in enumerate(turns):
        items: list[Json] = []
        if turn.role == "tool":
            call = f"call_{number}"
            items.append({"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": call})
            items.append({"type": "function_call_output", "call_id": call, "output": turn.text})
        else:
            kind = "input_text" if turn.role == "user" else "output_text"
            content = [{"type": kind, "text": turn.text}]
            items.append({"type": "message", "role": turn.role, "content": content})
        rows += items if bare else [_codex_row("response_item", turn.when, item) for item in items]
        if not bare and turn.role != "tool":
            event = "user_message" if turn.role == "user" else "agent_message"
            rows.append(_codex_row("event_msg", turn.when, {"type": event, "message": turn.text}))
    return written(*rows)


def _codex_row(kind: str, when: str, payload: Json) -> Json:
    return {"timestamp": when, "type": kind, "payload": payload}


def pi(turns: list[Turn]) -> bytes:
    """A session without branches."""
    rows: list[Json] = [{"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-21T20:00:00Z", "cwd": "/w"}]
    parent: str | None = None
    for number, turn in enumerate(turns):
        for message in _pi_messages(number, turn):
            identity = f"{len(rows):08x}"
            rows.append(pi_entry(identity, parent, message, turn.when))
            parent = identity
    return written(*rows)


def _pi_messages(number: int, turn: Turn) -> list[Json]:
    content = [{"type": "text", "text": turn.text}]
    if turn.role != "tool":
        return [{"role": turn.role, "content": content}]
    call: Json = {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"command": "ls"}}
    result: Json = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "bash", "content": content}
    return [{"role": "assistant", "content": [call]}, result | {"isError": False}]


def pi_entry(identity: str, parent: str | None, message: Json, when: str = "2026-11-21T20:00:00Z") -> Json:
    """One message of pi's tree."""
    return {"type": "message", "id": identity, "parentId": parent, "timestamp": when, "message": message}


GEMINI_HEADER: Json = {"sessionId": "g1", "projectHash": "h", "startTime": "x", "lastUpdated": "x", "kind": "main"}


def gemini_messages(turns: list[Turn]) -> list[Json]:
    """The messages of a recording, each once."""
    found: list[Json] = []
    for number, turn in enumerate(turns):
        base: Json = {"id": f"m{number}", "timestamp": turn.when}
        if turn.role == "tool":
            answer = {"id": f"c{number}", "name": "run_shell_command", "response": {"output": turn.text}}
            call: Json = {"id": f"c{number}", "name": "run_shell_command", "args": {"command": "ls"}}
            call |= {"status": "success", "result": [{"functionResponse": answer}]}
            found.append(base | {"type": "gemini", "content": "", "toolCalls": [call]})
        else:
            kind = "gemini" if turn.role == "assistant" else "user"
            content: object = turn.text if kind == "gemini" else [{"text": turn.text}]
            found.append(base | {"type": kind, "content": content})
    return found


def gemini(turns: list[Turn]) -> bytes:
    """A recording in JSON Lines, each message written twice, and all once more at the end."""
    listed = gemini_messages(turns)
    touched: Json = {"$set": {"lastUpdated": "x"}}
    rows = [row for message in listed for row in (message, touched, message)]
    return written(GEMINI_HEADER, *rows, {"$set": {"messages": listed}})


def gemini_text(turns: list[Turn]) -> bytes:
    """A session in one JSON text, as it was until early 2026."""
    return json.dumps({**GEMINI_HEADER, "messages": gemini_messages(turns)}, indent=2).encode()


def copilot(turns: list[Turn]) -> bytes:
    """An event log."""
    rows = [copilot_event("session.start", {"sessionId": "c1", "context": {"cwd": "/w", "branch": "main"}})]
    for number, turn in enumerate(turns):
        if turn.role == "tool":
            request = {"toolCallId": f"c{number}", "name": "bash", "arguments": {"command": "ls"}}
            rows.append(copilot_event("assistant.message", {"content": "", "toolRequests": [request]}, turn.when))
            result: Json = {"toolCallId": f"c{number}", "success": True, "result": {"content": turn.text}}
            rows.append(copilot_event("tool.execution_complete", result, turn.when))
        else:
            kind = f"{turn.role}.message"
            rows.append(copilot_event(kind, {"content": turn.text, "transformedContent": f"x {turn.text}"}, turn.when))
    return written(*({**row, "id": f"e{number}"} for number, row in enumerate(rows)))


def copilot_event(kind: str, data: Json, when: str = "2026-11-21T20:00:00Z", **fields: object) -> Json:
    """One event."""
    return {"type": kind, "data": data, "id": "e1", "timestamp": when, "parentId": None, **fields}


WRITERS: dict[str, list[Callable[[list[Turn]], bytes]]] = {
    "codex": [codex, lambda turns: codex(turns, bare=True)],
    "pi": [pi],
    "gemini": [gemini, gemini_text],
    "copilot": [copilot],
}

_odd = st.sampled_from(
    [
        "> quoted\n> twice",
        "a\r\nb\r\n",
        "```\nfence\n```",
        "\0",
        "\ud800 lone",
        "{}",
        '{"type": "text"}',
        "---",
        "x" * 9000,
    ]
)
_plain = st.text(alphabet=st.characters(exclude_categories=()), min_size=1, max_size=40)
_texts = st.lists(_odd | _plain, min_size=1, max_size=3).map("\n".join).filter(lambda text: text.strip() != "")
turns = st.lists(
    st.builds(Turn, st.sampled_from(["user", "assistant", "tool"]), _texts, st.integers(0, 3599)), max_size=6
)

# Rows in which anything may be amiss

_words = st.text(alphabet=st.characters(exclude_categories=()), max_size=12)
_ids = st.sampled_from(["a", "b", "c", "", "a"])
_any = st.recursive(
    st.none() | st.booleans() | st.integers() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words | _ids, inner, max_size=3),
    max_leaves=5,
)
_content = _any | st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "input_text", "image", "toolCall", "thinking", "x"]) | _any},
        optional={"text": _words | _any, "id": _ids, "name": _words, "arguments": _any, "data": _words},
    ),
    max_size=3,
)
_item = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                *("message", "reasoning", "function_call", "function_call_output", "local_shell_call"),
                *("custom_tool_call_output", "web_search_call", "user_message", "error", "agent_message"),
                *("item_completed", "x"),
            ]
        )
    },
    optional={
        "role": st.sampled_from(["user", "assistant", "developer"]) | _any,
        "content": _content,
        "summary": _content,
        "arguments": _words | _any,
        "call_id": _ids | _any,
        "output": _content | st.sampled_from(['{"output": 3}', "[1]", '{"content": [], "isError": true}', "{"]),
        "action": _any,
        "item": _any,
        "git": _any,
        "source": _any,
        "cwd": _words,
        "message": _words | _any,
    },
)
_codex_rows = st.fixed_dictionaries(
    {"timestamp": st.just("2026-11-21T20:00:00Z") | _any, "type": st.sampled_from(["response_item", "event_msg"])}
    | {"payload": _item | _any}
) | st.fixed_dictionaries(
    {"type": st.sampled_from(["session_meta", "turn_context", "compacted", "x"]), "payload": _item | _any}
)
_pi_rows = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "custom_message", "compaction", "label", "session", "session_info"])}
    | {"id": _ids | _any, "parentId": _ids | _any, "timestamp": st.just("2026-11-21T20:00:00Z") | _any},
    optional={
        "message": st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "toolResult", "bashExecution", "system"]) | _any},
            optional={"content": _content, "toolCallId": _ids, "command": _any, "output": _words, "sections": _any},
        )
        | _any,
        "content": _content,
        "summary": _words | _any,
        "cwd": _words,
        "name": _words,
    },
)
_gemini_message = st.fixed_dictionaries(
    {"id": _ids | _any, "type": st.sampled_from(["user", "gemini", "info"]) | _any, "content": _content},
    optional={
        "thoughts": _any,
        "displayContent": _content,
        "toolCalls": _any | st.lists(st.fixed_dictionaries({"id": _ids, "name": _words, "result": _any}), max_size=2),
    },
)
_gemini_rows = (
    _gemini_message
    | st.fixed_dictionaries({"$set": _any | st.fixed_dictionaries({"messages": st.lists(_gemini_message | _any)})})
    | st.fixed_dictionaries({"sessionId": _words, "projectHash": _words, "messages": st.lists(_gemini_message)})
    | st.just({"$rewindTo": "a"})
)
_copilot_rows = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user.message", "assistant.message", "tool.execution_complete", "session.start"]),
        "data": _any
        | st.fixed_dictionaries(
            {"content": _words | _any},
            optional={"toolRequests": _any, "result": _any, "error": _any, "toolCallId": _ids, "context": _any}
            | {"attachments": _any, "shellExecution": _any},
        ),
        "id": _ids | _any,
        "parentId": _any,
    }
)
_lines = st.builds(line, _codex_rows | _pi_rows | _gemini_rows | _copilot_rows, st.sampled_from([b"\n", b"\r\n"]))
_damaged = st.builds(lambda raw, at: raw[:at] + raw[at + 1 :].rstrip(b"\n") + b"\n", _lines, st.integers(0, 200))
host_files = st.builds(
    lambda lines, cut: b"".join(lines)[: len(b"".join(lines)) - cut],
    st.lists(_lines | _damaged, max_size=8),
    st.sampled_from([0, 0, 1, 9]),
)
