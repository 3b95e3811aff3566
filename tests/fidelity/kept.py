"""Histories that programs and people keep on their own disk, as each writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import apsw
import zstandard

from .hosts import ascii_js, iso, js, named
from .told import START, Turn

Json = dict[str, object]
_LONE = re.compile(r"[\ud800-\udfff]")


def continue_dev(told: list[Turn], directory: Path, way: int) -> Path:
    """Continue: a file per session, and the index."""
    history: list[Json] = []
    for n, one in enumerate(told):
        parts = [{"type": "text", "text": one.text}]
        message: Json = {"role": one.role, "content": parts if way % 2 and one.role == "user" else one.text}
        if one.role == "tool":
            call = {"id": f"c{n}", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
            history.append({"message": {"role": "assistant", "content": "", "toolCalls": [call]}, "contextItems": []})
            message |= {"toolCallId": f"c{n}"}
        history.append({"message": message, "contextItems": []})
    session = named("session", 1)
    record = {
        "sessionId": session,
        "title": "Título",
        "workspaceDirectory": "file:///home/dev/acme",
        "history": history,
    }
    write = ascii_js if way % 3 == 1 else js
    (directory / f"{session}.json").write_bytes(write(record))
    if way % 2:
        return directory / f"{session}.json"
    index = [{"sessionId": session, "title": "Título", "dateCreated": "1795293302613", "workspaceDirectory": "x"}]
    (directory / "sessions.json").write_bytes(js(index))
    return directory


def cline_session(told: list[Turn], directory: Path, way: int) -> Path:
    """Cline since version 4: a session's messages, in a file beside what it noted of the session."""
    messages: list[Json] = []
    for n, one in enumerate(told):
        content: list[Json] = [{"type": "text", "text": one.text}]
        if one.role == "user" and way % 3:
            content = [{"type": "text", "text": f'<user_input mode="act">{one.text}</user_input>'}]
        elif one.role == "tool":
            name, own = "run_commands", f"c{n}"
            call = {"type": "tool_use", "id": own, "name": name, "input": {"commands": ["ls"]}}
            messages.append({"id": f"call{n}", "role": "assistant", "content": [call], "ts": one.at})
            outcome = {"query": "ls", "result": one.text, "success": True}
            content = [{"type": "tool_result", "tool_use_id": own, "name": name, "content": [outcome]}]
        role = "assistant" if one.role == "assistant" else "user"
        messages.append({"id": f"m{n}", "role": role, "content": content, "ts": one.at})
    session = "1795293302613_ab3de"
    (directory / session).mkdir(exist_ok=True)
    header = {
        "version": 1,
        "updated_at": iso(START),
        "agent": "lead",
        "sessionId": session,
        "origin": {"source": "cli"},
    }
    path = directory / session / f"{session}.messages.json"
    path.write_bytes(js({**header, "messages": messages, "system_prompt": "You are"}, 2 if way % 2 else None) + b"\n")
    manifest = {
        "session_id": session,
        "cwd": "/home/dev/acme",
        "metadata": {"title": "Título"},
        "started_at": iso(START),
    }
    (directory / session / f"{session}.json").write_bytes(js(manifest))
    return path


def task_files(told: list[Turn], directory: Path, way: int) -> Path:
    """A task of Cline's extension before version 4, or of Roo Code's: calls as blocks, or as XML in the text."""
    messages: list[Json] = []
    for n, one in enumerate(told):
        content: list[Json] = [{"type": "text", "text": one.text}]
        if one.role == "user":
            words = f"<{'user_message' if way % 3 else 'task'}>\n{one.text}\n</{'user_message' if way % 3 else 'task'}>"
            around: Json = {"type": "text", "text": "<environment_details>\n# Current Time\n</environment_details>"}
            content = [{"type": "text", "text": words}, around]
        elif one.role == "tool" and way % 2:
            call = "<execute_command>\n<command>ls</command>\n</execute_command>"
            messages.append({"role": "assistant", "content": [{"type": "text", "text": call}], "ts": one.at})
            content = [{"type": "text", "text": f"[execute_command for 'ls'] Result:\n{one.text}"}]
        elif one.role == "tool":
            called = {"type": "tool_use", "id": f"c{n}", "name": "execute_command", "input": {"command": "ls"}}
            messages.append({"role": "assistant", "content": [called], "ts": one.at})
            content = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": one.text}]
        role = "assistant" if one.role == "assistant" else "user"
        messages.append({"role": role, "content": content, "ts": one.at})
    task = directory / "tasks" / "1795293302613"
    task.mkdir(parents=True, exist_ok=True)
    (task / "api_conversation_history.json").write_bytes((ascii_js if way % 5 == 1 else js)(messages))
    (directory / "state").mkdir(exist_ok=True)
    entries = [{"id": task.name, "ts": START, "task": "Título", "cwdOnTaskInitialization": "/home/dev/acme"}]
    (directory / "state" / "taskHistory.json").write_bytes(js(entries))
    return task / "api_conversation_history.json"


def amp_thread(told: list[Turn], directory: Path, way: int) -> Path:
    """Amp: a thread in one file, a result as a message of the user."""
    messages: list[Json] = []
    for n, one in enumerate(told):
        content: list[Json] = [{"type": "text", "text": one.text}]
        if one.role == "tool":
            call = {"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {"cmd": "ls"}}
            messages.append({"role": "assistant", "messageId": 2 * n, "content": [call], "state": {"type": "complete"}})
            result: object = {"output": one.text, "exitCode": 0} if way % 3 else one.text
            content = [{"type": "tool_result", "toolUseID": f"c{n}", "run": {"status": "done", "result": result}}]
        role = "assistant" if one.role == "assistant" else "user"
        messages.append({"role": role, "messageId": 2 * n + 1, "content": content, "meta": {"sentAt": one.at}})
    own = f"T-{named('session', 1)}"
    tree = {"uri": "file:///home/dev/my%20acme", "repository": {"type": "git", "ref": "refs/heads/main"}}
    thread = {"v": 9, "id": own, "created": START, "title": "Título", "env": {"initial": {"trees": [tree]}}}
    path = directory / f"{own}.json"
    path.write_bytes((ascii_js if way % 2 else js)({**thread, "messages": messages, "usageLedger": {"events": []}}))
    return path


def aider(told: list[Turn], directory: Path, way: int) -> Path:
    """Aider's `io.py`: text mode, `errors="ignore"`, questions and its own lines with two spaces at their end."""
    end = "\r\n" if way % 2 else "\n"
    written = ["\n# aider chat started at 2026-11-21 21:00:00\n\n"]

    def append(text: str, linebreak: bool = False, quote: bool = False) -> None:
        text = f"> {text.strip()}" if quote else text
        text = f"{text.rstrip()}  \n" if linebreak else text
        written.append(text if text.endswith("\n") else f"{text}\n")

    append("Aider v0.86.0", linebreak=True, quote=True)
    for one in told:
        if one.role == "user":
            asked = "  \n#### ".join(one.text.splitlines()) if one.text else "<blank>"
            append(f"\n#### {asked}", linebreak=True)
        elif one.role == "assistant":
            append(f"\n{one.text.strip()}\n\n")
        else:
            append("Tokens: 1.2k sent, 10 received.", linebreak=True, quote=True)
    path = directory / ".aider.chat.history.md"
    path.write_bytes("".join(written).replace("\n", end).encode("utf-8", "ignore"))
    return path


def aider_keeps(told: list[Turn]) -> list[Turn]:
    """What aider's file can say: no lone surrogates, no two answers in a row, no answer that looks like a mark."""
    kept: list[Turn] = []
    for one in told:
        text = _LONE.sub("", one.text).replace("\r\n", "\n")
        if one.role == "user":
            text = "\n".join(text.splitlines())
        text = text.strip() if one.role == "assistant" else text
        looks = any(line[:5] == "#### " or (line[:1] == ">" and line[-2:] == "  ") for line in text.splitlines())
        answered = bool(kept) and one.role == "assistant" == kept[-1].role
        if text.strip() and not answered and not (one.role == "assistant" and looks) and "\r" not in text:
            kept.append(Turn(one.role, text, one.at))
    return kept


NAMES = (
    ("User", "Assistant"),
    ("Utilisateur", "Assistant"),
    ("用户", "助手"),
    ("Human", "Claude"),
    ("Användare", "Assistent"),
)
"""How people mark who speaks, in some of their languages."""


def plain_text(told: list[Turn], directory: Path, way: int) -> Path:
    """`User: …` on a line of its own, or before the words."""
    user, assistant = NAMES[way % len(NAMES)]
    colon = "：" if user == "用户" else " :" if user == "Utilisateur" else ":"
    joint = "\n" if way % 3 == 1 else " "
    text = "\n\n".join(f"{user if one.role == 'user' else assistant}{colon}{joint}{one.text}" for one in told)
    path = directory / "chat.txt"
    path.write_bytes((b"\xef\xbb\xbf" if way % 4 == 1 else b"") + text.encode() + b"\n")
    return path


def plain_text_keeps(told: list[Turn]) -> list[Turn]:
    """What text with marks can say: turns that alternate, no fence left open, nothing that looks like a mark."""
    kept: list[Turn] = [Turn("user", "first", 0), Turn("assistant", "second", 0)]
    for one in told:
        text = _LONE.sub("", one.text).replace("\0", "").strip().removeprefix("\ufeff").strip()
        unsafe = re.search(r"(?m)^.{0,3}(```|~~~)|[\r\v\f\x1c-\x1e\x85\u2028\u2029]|[:：]", text)
        if text and not unsafe and len(text) < 100_000:
            kept.append(Turn("assistant" if kept[-1].role == "user" else "user", text, 0))
    return kept


def quoted_turns(turns: list[Turn], directory: Path, way: int) -> Path:
    """What the person said behind `>`, the answer below it."""
    gap = "\n\n" if way % 2 else "\n"
    blocks = [
        "\n".join(f"> {line}" for line in turn.text.split("\n")) if turn.role == "user" else turn.text for turn in turns
    ]
    path = directory / "chat.md"
    path.write_bytes((b"\xef\xbb\xbf" if way % 4 == 1 else b"") + gap.join(blocks).encode() + b"\n")
    return path


def quoted_turns_keeps(turns: list[Turn]) -> list[Turn]:
    """What quotations can say: no answer with a quotation in it, no blank line in a question."""
    kept_turns: list[Turn] = []
    for turn in [*plain_text_keeps(turns), *plain_text_keeps([])]:
        lines = [line for line in turn.text.split("\n") if line.strip()]
        text = "\n".join(f"a{line}" for line in lines)
        kept_turns.append(Turn("assistant" if len(kept_turns) % 2 else "user", text, 0))
    return kept_turns


def chat_messages(turns: list[Turn], directory: Path, way: int) -> Path:
    """Messages with a role and content, as one of the APIs has them, in one document or one a line."""
    messages: list[object] = []
    for n, turn in enumerate(turns):
        timestamp = {"timestamp": iso(turn.at)}
        if turn.role == "tool":
            messages.append({"role": "tool", "tool_call_id": f"t{n}", "content": turn.text, **timestamp})
        elif way % 3 == 1:
            messages.append({"role": turn.role, "content": [{"type": "text", "text": turn.text}], **timestamp})
        elif way % 3 == 2:
            role = "model" if turn.role == "assistant" else turn.role
            messages.append({"role": role, "parts": [{"text": turn.text}], **timestamp})
        else:
            messages.append({"role": turn.role, "content": turn.text, **timestamp})
    path = directory / ("chat.jsonl" if way % 4 == 1 else "chat.json")
    if way % 4 == 1:
        path.write_bytes(b"".join(ascii_js(message) + b"\n" for message in messages))
    else:
        path.write_bytes(ascii_js({"messages": messages} if way % 2 else messages))
    return path


def diary(told: list[Turn], directory: Path, way: int) -> Path:
    """A day of a diary: a heading with the hour for each entry."""
    end = "\r\n" if way % 2 else "\n"
    text = "\n".join(f"## {_hour(one.at)} An entry\n\n{one.text}\n" for one in told)
    (directory / "diary").mkdir()
    path = directory / "diary" / "2026-11-21.md"
    path.write_bytes((b"\xef\xbb\xbf" if way % 5 == 1 else b"") + text.replace("\n", end).encode())
    return path


def _hour(at: int) -> str:
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%H:%M")


def diary_entries(told: list[Turn], way: int) -> list[tuple[str, int]]:
    """The entries that are expected: whole, with their heading, and when each was written."""
    day = int(datetime(2026, 11, 21, tzinfo=UTC).timestamp()) * 1000
    end = "\r\n" if way % 2 else "\n"
    found = []
    for one in told:
        hour, minute = map(int, _hour(one.at).split(":"))
        text = f"## {_hour(one.at)} An entry\n\n{one.text}\n".replace("\n", end).strip("\r\n")
        found.append((text, (day + (hour * 60 + minute) * 60_000) * 1000))
    return found


def opencode_storage(told: list[Turn], directory: Path, way: int) -> Path:
    """opencode before its database: a file for each session, message and part."""
    root = directory / "storage"

    def put(kind: str, folder: str, own: str, value: Json) -> None:
        (root / kind / folder).mkdir(parents=True, exist_ok=True)
        (root / kind / folder / f"{own}.json").write_text(json.dumps(value, indent=2))

    session = "ses_1"
    put(
        "session",
        "p1",
        session,
        {"id": session, "title": "Titel", "directory": "/home/dev/acme", "time": {"created": 1}},
    )
    (root / "message" / session).mkdir(parents=True)
    for n, one in enumerate(told):
        message = identifier("msg", one.at, n)
        role = "user" if one.role == "user" else "assistant"
        times = {"created": one.at} | ({"completed": one.at + 1} if role == "assistant" else {})
        put("message", session, message, {"id": message, "sessionID": session, "role": role, "time": times})
        own = identifier("prt", one.at, n)
        put("part", message, own, {"id": own, "messageID": message, "sessionID": session, **opencode_part(one, n)})
    return root if way % 2 else directory


def opencode_part(one: Turn, n: int) -> Json:
    """A part of opencode's, with the words of a turn."""
    if one.role == "tool":
        state = {"status": "completed", "input": {"command": "ls"}, "output": one.text, "time": {"start": one.at}}
        return {"type": "tool", "tool": "bash", "callID": f"c{n}", "state": state}
    return {"type": "text", "text": one.text}


def identifier(kind: str, at: int, n: int) -> str:
    """An id as opencode makes them: 48 bits of milliseconds and a counter, which begin anew after 795 days."""
    return f"{kind}_{(at * 4096 + n % 4096) % (1 << 48):012x}{n:014d}"


def vscode(told: list[Turn], directory: Path, way: int) -> Path:
    """VS Code: the session as an object, or as a log in which requests and their responses arrive one by one."""
    sessions = directory / "User" / "workspaceStorage" / "w1" / "chatSessions"
    sessions.mkdir(parents=True)
    (sessions.parent / "workspace.json").write_text(json.dumps({"folder": "file:///home/dev/acme%20shop"}))
    requests = [vscode_request(one, n) for n, one in enumerate(told)]
    session = named("session", 1)
    record: Json = {"version": 3, "responderUsername": "GitHub Copilot", "initialLocation": "panel", "requests": []}
    record |= {"sessionId": session, "creationDate": START, "customTitle": "Порт 港"}
    if way % 2 == 0:
        (sessions / f"{session}.json").write_bytes(js(record | {"requests": requests}, indent=2 if way % 4 else None))
        return sessions / f"{session}.json"
    changes: list[Json] = [{"kind": 0, "v": record}]
    for n, request in enumerate(requests):
        begun = request | {
            "response": [{"kind": "progressMessage", "content": {"value": "x"}}],
            "modelState": {"value": 0},
        }
        changes += [
            {"kind": 2, "k": ["requests"], "v": [begun]},
            {"kind": 2, "k": ["requests", n, "response"], "v": request["response"], "i": 0},
            {"kind": 1, "k": ["requests", n, "modelState"], "v": request["modelState"]},
        ]
    write = ascii_js if way % 4 == 1 else js
    (sessions / f"{session}.jsonl").write_bytes(b"".join(write(change) + b"\n" for change in changes))
    return sessions / f"{session}.jsonl"


def vscode_request(one: Turn, n: int) -> Json:
    """A request of VS Code's with the words of a turn: its question, a piece of its response, or a call's result."""
    response: list[Json] = []
    if one.role == "assistant":
        half = len(one.text) // 2
        response = [{"value": one.text[:half]}, {"kind": "undoStop", "id": "u"}, {"value": one.text[half:]}]
    elif one.role == "tool":
        shown: Json = {
            "kind": "terminal",
            "commandLine": {"original": "ls"},
            "terminalCommandOutput": {"text": one.text},
        }
        invocation: Json = {"kind": "toolInvocationSerialized", "toolCallId": f"c{n}", "toolId": "run_in_terminal"}
        response = [invocation, invocation | {"isComplete": True, "toolSpecificData": shown}]
    text = one.text if one.role == "user" else ""
    request: Json = {"requestId": named("request", n), "timestamp": one.at, "message": {"text": text, "parts": []}}
    return request | {"response": response, "modelState": {"value": 1, "completedAt": one.at}, "vote": 1}


def kiro_turn(one: Turn, n: int) -> Json:
    """A turn of Kiro's engine v1 with the words of one: a prompt, an answer, or a call with its result."""
    metadata = {"request_start_timestamp_ms": one.at, "stream_end_timestamp_ms": one.at, "model_id": "fake"}
    asked: Json = {"Prompt": {"prompt": one.text if one.role == "user" else ""}}
    answer: Json = {"Response": {"message_id": named("kiro", n), "content": ""}}
    if one.role == "assistant":
        answer = {"Response": {"message_id": named("kiro", n), "content": one.text}}
    elif one.role == "tool":
        result = {"tool_use_id": "c", "content": [{"Text": one.text}], "status": "Success"}
        asked = {"ToolUseResults": {"tool_use_results": [result]}}
    state = {"operating_system": "linux", "current_working_directory": "/home/dev/acme"}
    user: Json = {"additional_context": "hook output", "env_context": {"env_state": state}, "content": asked}
    user |= {"timestamp": iso(one.at) if one.role == "user" else None, "images": None}
    return {"user": user, "assistant": answer, "request_metadata": metadata}


def kiro_database(told: list[Turn], directory: Path, way: int) -> Path:
    """Kiro's engine v1: a row for each conversation, or for each directory; with tables that are not read."""
    path = directory / "data.sqlite3"
    turns: list[object] = [kiro_turn(one, n) for n, one in enumerate(told)]
    value = js({"conversation_id": named("conversation", 1), "history": turns, "transcript": ["> x"]}).decode()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT)")
    connection.execute("CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)")
    connection.execute(
        "CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,"
        " created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id))"
    )
    if way % 2:
        connection.execute("INSERT INTO conversations VALUES ('/home/dev/acme', ?)", (value,))
    else:
        cells = ("/home/dev/acme", named("conversation", 1), value, START, START)
        connection.execute("INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)", cells)
    connection.close()
    return path


def zed_message(one: Turn, n: int) -> Json:
    """A message of Zed's with the words of a turn; a result stands in the message with its call."""
    if one.role == "user":
        return {"User": {"id": named("message", n), "content": [{"Text": one.text}]}}
    if one.role == "assistant":
        return {"Agent": {"content": [{"Text": one.text}], "tool_results": {}, "reasoning_details": None}}
    arguments: Json = {"command": "ls", "cd": "acme"}
    use = {"id": f"c{n}", "name": "terminal", "raw_input": "{}", "input": arguments, "is_input_complete": True}
    result = {"tool_use_id": f"c{n}", "tool_name": "terminal", "is_error": False, "content": [{"Text": one.text}]}
    return {"Agent": {"content": [{"ToolUse": use}], "tool_results": {f"c{n}": result | {"output": None}}}}


class ZedStore:
    """Zed's database, written as it writes it, and open as it keeps it."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "threads.db"
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL,"
            " data_type TEXT NOT NULL, data BLOB NOT NULL, parent_id TEXT, folder_paths TEXT, folder_paths_order TEXT,"
            " created_at TEXT)"
        )

    def put(self, own: str, data: bytes, data_type: str = "zstd", **columns: str) -> None:
        """Write a thread's row."""
        packed = zstandard.compress(data, 3) if data_type == "zstd" else data
        usual = {"parent_id": None, "folder_paths": "/home/dev/acme\n/home/dev/lib", "folder_paths_order": "0,1"}
        cells = (own, "Порт 港", iso(START), data_type, packed, *(usual | columns).values())
        self.connection.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)", cells)

    def thread(self, own: str, messages: Sequence[object], **fields: object) -> None:
        """Write a thread."""
        record: Json = {"title": "Порт 港", "messages": messages, "updated_at": iso(START), "imported": False}
        self.put(own, js(record | {"version": "0.3.0"} | fields))


def zed(told: list[Turn], directory: Path, way: int) -> Path:
    """Zed's database, closed."""
    store = ZedStore(directory)
    messages = [zed_message(one, n) for n, one in enumerate(told)]
    if way % 2:
        store.put("t1", js({"title": "Порт 港", "messages": messages, "version": "0.3.0"}), "json")
    else:
        store.thread("t1", ["Resume", *messages])
    store.connection.close()
    return store.path


def cursor_bubble(one: Turn, n: int) -> Json:
    """A bubble of Cursor's, with the words of a turn."""
    bubble: Json = {"_v": 3, "bubbleId": named("bubble", n), "type": 1 if one.role == "user" else 2, "text": one.text}
    if one.role == "tool":
        result = json.dumps({"output": one.text, "exitCode": 0})
        call = {
            "name": "run_terminal_cmd",
            "rawArgs": '{"command": "ls"}',
            "toolCallId": f"c{n}",
            "status": "completed",
        }
        bubble |= {"text": "", "toolFormerData": {**call, "result": result}}
    return bubble | {"createdAt": one.at, "codeBlocks": [], "relevantFiles": []}


class CursorStore:
    """Cursor's two places, written as it writes them, and open as it keeps them."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "User" / "globalStorage" / "state.vscdb"
        self.path.parent.mkdir(parents=True)
        workspace = directory / "User" / "workspaceStorage" / "w1"
        workspace.mkdir(parents=True)
        (workspace / "workspace.json").write_text(json.dumps({"folder": "file:///home/dev/acme%20shop"}))
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute("PRAGMA journal_mode=WAL").fetchall()
        self.connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        self.connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        self.connection.execute("CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT)")

    def put(self, key: str, value: object) -> None:
        """Write one key; what is not bytes as JSON."""
        self.connection.execute(
            "INSERT INTO cursorDiskKV VALUES (?, ?)", (key, value if isinstance(value, bytes) else js(value))
        )

    def conversation(self, own: str, told: list[Turn], inline: bool = False, **fields: object) -> None:
        """Write a conversation; older versions have the bubbles inside."""
        bubbles = [cursor_bubble(one, n) for n, one in enumerate(told)]
        headers = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
        record: Json = {"composerId": own, "name": "Порт 港", "createdAt": 1_795_293_302_613, "status": "completed"}
        record |= {"conversation": bubbles} if inline else {"fullConversationHeadersOnly": headers}
        self.put(f"composerData:{own}", record | fields)
        self.connection.execute("INSERT OR REPLACE INTO composerHeaders VALUES (?, 'w1')", (own,))
        for bubble in [] if inline else reversed(bubbles):
            self.put(f"bubbleId:{own}:{bubble['bubbleId']}", bubble)
