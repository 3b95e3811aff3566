"""Claude.ai's data export: conversations, and the knowledge of projects, as JSON in a zip file or a directory.

Learned from public readers of this export (Sinity/polylogue, withLinda/claude-conversation-exporter, and audits that
list its files); Anthropic publishes no schema, so every field may be missing.

`conversations.json` is a list of conversations: `uuid`, `name`, `created_at`, `updated_at`, `account`, and
`chat_messages`, each with `uuid`, `sender` (`human` or `assistant`), `created_at`, and its text twice: `content` as
blocks of the Messages API (plus claude.ai's own `token_budget`), and `text`, which is the only form in older exports.
`attachments` carry the text that was extracted from a file (`extracted_content`), `files` only names. Where messages
name their parent (`parent_message_uuid`; an all-zero uuid is the root) the conversation may have branches.
`projects.json` (also `projects/<uuid>.json`) lists projects with instructions (`prompt_template`) and documents
(`docs`); `users.json` has the names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath

from palazzo.errors import SourceUnreadable
from palazzo.model import Part, Role
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import Composer
from palazzo.sources.formats.claude_blocks import ToolCalls, compose
from palazzo.sources.formats.conversation_exports import Rows, conversations, export_at, key_of_messages
from palazzo.sources.formats.conversation_trees import Node, place
from palazzo.sources.formats.export_archives import Export, find
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import Element, drop_keys, objects_in, parse, stamp_of
from palazzo.sources.formats.source_times import moment

KIND = "claude-ai"
_ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_NOT_SAID = frozenset({"token_budget", "flag"})
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".svg", ".bmp"})
_VOLATILE_KEYS = ("chat_messages", "updated_at", "current_leaf_message_uuid")
"""Fields of a conversation that change whenever it continues; its own row is the rest."""


class ClaudeAI:
    """Reads claude.ai exports."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the conversations at `path` are claude.ai's."""
        return key_of_messages(path, head) == "chat_messages"

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the conversations, then a session for each project's knowledge."""
        export = export_at(path)
        names = _names(export)
        yield from conversations(path, export, KIND, partial(_session, names))
        if export is not None:
            for project in _projects(export):
                yield _project_session(project)


def _session(names: Mapping[str, str], conversation: JsonObject, element: Element) -> Session:
    uuid = string(conversation, "uuid") or stamp_of(element.source)
    return Session(
        Identity((KIND, uuid), uuid),
        stamp_of(element.source),
        partial(_rows, names, element),
        string(conversation, "name").strip(),
        updated_at=moment(conversation.get("updated_at")),
    )


def _rows(names: Mapping[str, str], element: Element) -> Iterator[Row]:
    conversation = element.value()
    if not isinstance(conversation, dict):
        return
    rows = Rows()
    yield rows.row(
        drop_keys(conversation, *_VOLATILE_KEYS), Noise("conversation"), string(conversation, "name").strip()
    )
    account = conversation.get("account")
    human = names.get(string(account, "uuid"), "") if isinstance(account, dict) else ""
    calls = ToolCalls(BytesIO(), 0)
    for record, thread in _in_order(conversation):
        yield rows.row(record, _content(record, thread, human, calls))


def _in_order(conversation: JsonObject) -> list[tuple[object, str]]:
    """Return the messages with their branches, in order; in listed order if they do not form a tree."""
    entries = conversation.get("chat_messages")
    messages: list[object] = entries if isinstance(entries, list) else []
    by_uuid = {string(message, "uuid"): message for message in messages if isinstance(message, dict)}
    parents = {string(message, "parent_message_uuid") for message in by_uuid.values()}
    if len(by_uuid) < len(messages) or "" in by_uuid or not parents & set(by_uuid):
        return [(message, "") for message in messages]
    nodes = [
        Node(uuid, string(message, "parent_message_uuid"), moment(message.get("created_at")))
        for uuid, message in by_uuid.items()
    ]
    leaf = string(conversation, "current_leaf_message_uuid") or nodes[-1].id
    return [(by_uuid[branch_node.node.id], branch_node.thread) for branch_node in place(nodes, leaf)]


def _content(record: object, thread: str, human: str, calls: ToolCalls) -> Content:
    if not isinstance(record, dict):
        return Unreadable("not a message")
    role = _ROLES.get(string(record, "sender"))
    if role is None:
        return Unreadable(f"a message with the unknown sender {string(record, 'sender')!r}")
    try:
        composer = _compose(record, calls)
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise(f"{string(record, 'sender')}, without words")
    parent = string(record, "parent_message_uuid")
    return Message(
        composer.text,
        role,
        author=human if role == "user" else string(record, "model"),
        parts=composer.parts,
        uuid=string(record, "uuid"),
        parent="" if parent.startswith("00000000-") else parent,
        thread=thread,
        created_at=moment(record.get("created_at")),
    )


def _compose(record: JsonObject, calls: ToolCalls) -> Composer:
    content = record.get("content")
    blocks = [element for element in content if not _is_bookkeeping(element)] if isinstance(content, list) else []
    for block in blocks:
        _name_tool(block, calls)
    composer, _ = compose(blocks, calls)
    if not composer.text:
        composer.add("text", string(record, "text"))
    for attachment in objects_in(record.get("attachments")):
        name = string(attachment, "file_name") or "pasted text"
        words = string(attachment, "extracted_content")
        composer.add("attachment", f"{name}\n{words}" if words else f"[{name}]", name=name, trust="tool")
    for file in objects_in(record.get("files")):
        name = string(file, "file_name") or string(file, "file_uuid") or "file"
        is_picture = string(file, "file_kind") == "image" or PurePosixPath(name).suffix.lower() in _PICTURES
        composer.add("image" if is_picture else "attachment", f"[{name}]", name=name)
    return composer


def _is_bookkeeping(block: object) -> bool:
    return isinstance(block, dict) and string(block, "type") in _NOT_SAID


def _name_tool(block: object, calls: ToolCalls) -> None:
    """Read the tool's name from a result itself: its call may not be in the export."""
    if isinstance(block, dict) and string(block, "type").endswith("tool_result") and string(block, "name"):
        call = string(block, "tool_use_id")
        if call and not calls.tool_of(call)[0]:
            calls.record_call(call, string(block, "name"), None)


def _names(export: Export | None) -> dict[str, str]:
    """Return the names of people by account."""
    file = find(export, "users.json") if export is not None else ""
    if export is None or not file:
        return {}
    try:
        users = parse(export.read(file), file)
    except SourceUnreadable:
        return {}
    return {string(user, "uuid"): string(user, "full_name") for user in objects_in(users)}


def _projects(export: Export) -> Iterator[JsonObject]:
    for name in export.names():
        path = PurePosixPath(name)
        is_listing = path.name == "projects.json" and len(path.parts) <= 2
        if is_listing or (path.suffix == ".json" and path.parent.name == "projects"):
            document = parse(export.read(name), name)
            yield from [document] if isinstance(document, dict) else objects_in(document)


def _project_session(project: JsonObject) -> Session:
    uuid = string(project, "uuid") or string(project, "name")
    identity = Identity((KIND, "project", uuid), f"project/{uuid}")
    return Session(identity, stamp_of(repr(project)), partial(_project_rows, project), string(project, "name").strip())


def _project_rows(project: JsonObject) -> Iterator[Row]:
    """Yield the project, its instructions, and each of its documents."""
    rows = Rows()
    name = string(project, "name").strip()
    header = drop_keys(project, "docs", "prompt_template", "updated_at")
    yield rows.row(header, _note(string(project, "description"), "description", project), name)
    yield rows.row({"prompt_template": project.get("prompt_template")}, _instructions(project))
    for document in objects_in(project.get("docs")):
        file = string(document, "filename") or "document"
        yield rows.row(document, _note(string(document, "content"), file, document))


def _instructions(project: JsonObject) -> Content:
    return _note(string(project, "prompt_template"), "instructions", project)


def _note(text: str, file: str, record: JsonObject) -> Content:
    """Build a note from a text that a person gave a project. Each new version is another note."""
    if not text:
        return Noise(f"project {file}, empty")
    return Message(
        text,
        "author",
        kind="note",
        parts=(Part("text", 0, len(text)),),
        uuid=f"{string(record, 'uuid')}/{file}/{stamp_of(text)}",
        created_at=moment(record.get("created_at")),
        meta={"file": file},
    )
