"""Exports of services, as each service writes them: a bare file, a directory, or an archive."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from .hosts import ascii_js, iso, js, named
from .told import Turn

Json = dict[str, object]


def packed(files: Mapping[str, object], directory: Path, way: int) -> Path:
    """Write the files of an export: a directory, an archive, or one with all in a folder; return its path."""
    raw = {
        name: ascii_js(value) if way % 3 == 1 else js(value, 2 if way % 3 == 2 else None)
        for name, value in files.items()
    }
    if way % 4 == 0:
        for name, data in raw.items():
            (directory / "export" / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / "export" / name).write_bytes(data)
        return directory / "export"
    kind = zipfile.ZIP_STORED if way % 4 == 1 else zipfile.ZIP_DEFLATED
    folder = "Экспорт 数据/" if way % 4 == 3 else ""
    with zipfile.ZipFile(directory / "data.zip", "w", kind) as archive:
        for name, data in raw.items():
            archive.writestr(folder + name, data)
    return directory / "data.zip"


def spread(conversations: list[object], others: Mapping[str, object], directory: Path, way: int) -> Path:
    """Write an export of conversations: one file alone, one among others, or several."""
    if way % 5 == 0:
        path = directory / "conversations.json"
        path.write_bytes((b"\xef\xbb\xbf" if way % 2 else b"") + js(conversations))
        return path
    if way % 5 == 1:
        parts = {f"conversations-{n:03}.json": [one] for n, one in enumerate(conversations)}
        return packed(parts or {"conversations-000.json": []}, directory, way)
    return packed({"conversations.json": conversations, **others}, directory, way)


def claude_ai(told: list[Turn], directory: Path, way: int) -> Path:
    """claude.ai: `chat_messages`, the words twice; a tool's result is a block of the assistant's message."""
    messages: list[Json] = []
    for n, one in enumerate(told):
        sender = "human" if one.role == "user" else "assistant"
        when = (
            datetime.fromtimestamp(one.at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{one.at % 1000:03}000+00:00"
        )
        content: list[Json] = [{"type": "text", "text": one.text, "citations": []}]
        if one.role == "tool":
            call: Json = {"type": "tool_use", "id": f"t{n}", "name": "web_search", "input": {"query": "x"}}
            shown = [{"type": "text", "text": one.text}]
            content = [call, {"type": "tool_result", "tool_use_id": f"t{n}", "name": "web_search", "content": shown}]
        parent = named("message", n - 1) if n else "00000000-0000-4000-8000-000000000000"
        message: Json = {"uuid": named("message", n), "text": "" if one.role == "tool" else one.text, "sender": sender}
        message |= {"created_at": when, "updated_at": when, "attachments": [], "files": []}
        messages.append(
            message
            | ({"content": content} if way % 7 or one.role == "tool" else {})
            | ({"parent_message_uuid": parent} if way % 2 else {})
        )
    conversation: Json = {
        "uuid": named("conversation", 1),
        "name": "Разговор 会話",
        "created_at": iso(0),
        "updated_at": iso(1),
    }
    other: Json = {"uuid": named("conversation", 2), "name": "", "chat_messages": []}
    whole: Json = {**conversation, "account": {"uuid": "u1"}, "chat_messages": messages}
    users = [{"uuid": "u1", "full_name": "Åsa"}]
    return spread([other, whole], {"users.json": users, "projects.json": []}, directory, way)


def chatgpt(told: list[Turn], directory: Path, way: int) -> Path:
    """ChatGPT: a tree; every second message has a sibling that was asked again and left."""
    mapping: dict[str, Json] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    last = "root"

    def add(own: str, role: str, text: str, at: int, parent: str) -> None:
        content: Json = {"content_type": "text", "parts": [text]}
        if role == "tool":
            content = {"content_type": "execution_output", "text": text}
        author: Json = {"role": role, "name": "python" if role == "tool" else None, "metadata": {}}
        message: Json = {"id": own, "author": author, "create_time": at / 1000, "content": content, "recipient": "all"}
        mapping[own] = {"id": own, "message": message | {"metadata": {}, "weight": 1}, "parent": parent, "children": []}
        children = mapping[parent]["children"]
        assert isinstance(children, list)
        children.append(own)

    for n, one in enumerate(told):
        if n % 2 and way % 3 == 0:
            add(named("left", n), one.role, f"left behind {n}", one.at, last)
        add(named("node", n), one.role, one.text, one.at, last)
        last = named("node", n)
    if way % 2:
        mapping = dict(reversed(mapping.items()))
    own = named("conversation", 1)
    conversation: Json = {"title": "Frågor 質問", "create_time": 1.5, "update_time": 2.5, "mapping": mapping}
    conversation |= {"current_node": last, "conversation_id": own, "id": own}
    return spread([conversation], {"user.json": {"id": "u"}}, directory, way)


def slack(told: list[Turn], directory: Path, way: int) -> Path:
    """Slack: a file per channel and day; `&`, `<` and `>` are escaped."""
    days: dict[str, list[Json]] = {}
    for n, one in enumerate(told):
        text = one.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        message: Json = {
            "type": "message",
            "user": f"U{one.role}",
            "text": text,
            "ts": f"{one.at // 1000}.{one.at % 1000:03}{n:03}",
        }
        days.setdefault(iso(one.at)[:10], []).append(message)
    users = [
        {"id": f"U{role}", "name": role, "profile": {"real_name": f"{role} Ångström"}}
        for role in ("user", "assistant", "tool")
    ]
    files: dict[str, object] = {"users.json": users, "channels.json": [{"id": "C1", "name": "общий-канал"}]}
    return packed(files | {f"общий-канал/{day}.json": listed for day, listed in days.items()}, directory, way)
