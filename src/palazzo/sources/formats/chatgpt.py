"""ChatGPT's data export: `conversations.json`, where every conversation is a tree of messages.

Learned from public readers of this export (mohamed-chs/convoviz' unofficial specification v3.0,
mitkury/chatgpt-export-parser, josephjohncox/chatgpt-json-to-md); OpenAI publishes no schema.

A conversation has `conversation_id` (older: `id`), `title`, `create_time`, `update_time`, `current_node` and `mapping`:
node id to `{id, parent, children, message}`. Asking again or editing a question makes another child. `current_node` is
the node that was shown last, and the conversation is the path from it up to the root; everything else is kept as
branches (`Message.thread`). The root has no message. The content of a message is described in `chatgpt_content`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from palazzo.model import ContentKind, Role
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.chatgpt_content import ROLES, compose
from palazzo.sources.formats.conversation_exports import Rows, conversations, export_at, key_of_messages
from palazzo.sources.formats.conversation_trees import Node, place
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import Element, drop_keys, stamp_of
from palazzo.sources.formats.source_times import moment

KIND = "chatgpt"
_VOLATILE_KEYS = ("mapping", "update_time", "current_node")
"""Fields of a conversation that change whenever it continues; its own row is the rest."""


class ChatGPT:
    """Reads ChatGPT exports."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the conversations at `path` are ChatGPT's."""
        return key_of_messages(path, head) == "mapping"

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the conversations."""
        return conversations(path, export_at(path), KIND, _session)


def _session(conversation: JsonObject, element: Element) -> Session:
    stamp = stamp_of(element.source)
    session = string(conversation, "conversation_id") or string(conversation, "id") or stamp
    title = string(conversation, "title").strip()
    updated_at = moment(conversation.get("update_time"))
    return Session(Identity((KIND, session), session), stamp, partial(_rows, element), title, updated_at=updated_at)


def _rows(element: Element) -> Iterator[Row]:
    conversation = element.value()
    if not isinstance(conversation, dict):
        return
    rows = Rows()
    yield rows.row(
        drop_keys(conversation, *_VOLATILE_KEYS), Noise("conversation"), string(conversation, "title").strip()
    )
    mapping = conversation.get("mapping")
    nodes = mapping if isinstance(mapping, dict) else {}
    for branch_node in place([_node(key, value) for key, value in nodes.items()], string(conversation, "current_node")):
        yield rows.row(
            nodes[branch_node.node.id], _content(branch_node.node, nodes[branch_node.node.id], branch_node.thread)
        )


def _node(key: str, value: object) -> Node:
    if not isinstance(value, dict):
        return Node(key, "")
    message = value.get("message")
    return Node(key, string(value, "parent"), moment(message.get("create_time")) if isinstance(message, dict) else None)


def _content(node: Node, record: object, thread: str) -> Content:
    message = record.get("message") if isinstance(record, dict) else None
    if message is None and isinstance(record, dict):
        return Noise("node without a message")
    if not isinstance(message, dict):
        return Unreadable("not a message")
    author = message.get("author")
    speaker = string(author, "role") if isinstance(author, dict) else ""
    role = ROLES.get(speaker)
    if role is None:
        return Unreadable(f"a message with the unknown role {speaker!r}")
    try:
        composer = compose(message, role)
    except RecursionError:
        return Unreadable("nested too deeply")
    if composer is None:
        return Unreadable("content of an unknown type")
    if not composer.text:
        return Noise(f"{speaker}, without words")
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    model = string(metadata, "model_slug")
    return Message(
        composer.text,
        role,
        standing=_classify_message(message, metadata, role),
        author=model if role == "assistant" else "",
        parts=composer.parts,
        uuid=string(message, "id") or node.id,
        parent=node.parent,
        thread=thread,
        created_at=node.created_at,
        meta={"model": model} if model else {},
    )


def _classify_message(message: JsonObject, metadata: JsonObject, role: Role) -> ContentKind:
    """Mark as `meta` what the person never saw: system messages, hidden ones, their custom instructions."""
    content = message.get("content")
    kind = string(content, "content_type") if isinstance(content, dict) else ""
    is_invisible = metadata.get("is_visually_hidden_from_conversation") is True
    return (
        "meta"
        if is_invisible or role == "system" or kind in ("user_editable_context", "model_editable_context")
        else "said"
    )
