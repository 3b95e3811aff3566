"""Targets that are files on a disk: conversations of other programs, and documents that are not text."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Session, converted_documents
from palazzo.sources.formats.converted_notebooks import notebook_text
from palazzo.sources.formats.transcript_formats import COLLECTIONS, NAMED_FILE_COLLECTIONS, STATED_COLLECTIONS

_HEAD = 64 * 1024
_FILES = (
    *("conversations.json", "export.zip", "general/2026-03-04.json", ".aider.chat.history.md", "chat.txt"),
    *("sessions.json", "2026-03-04.md", "opencode.db", "s1.messages.json", "api_conversation_history.json"),
    "T-019b9d03-62e3-772f-9780-3e637f90eaec.json",
)
"""The names under which an input is read: readers look at the name before they look at the bytes."""
_T0 = 1_767_225_600.25


def conversation_files() -> list[bytes]:
    """Return a file of each kind of conversation."""
    chatgpt = [
        {
            "title": "A talk",
            "create_time": _T0,
            "update_time": _T0 + 9,
            "conversation_id": "c1",
            "current_node": "m1",
            "mapping": {
                "root": {"id": "root", "parent": None, "children": ["m0"], "message": None},
                "m0": _node("m0", "root", "user", {"content_type": "text", "parts": ["Which port?"]}, "m1"),
                "m1": _node("m1", "m0", "assistant", {"content_type": "code", "language": "sh", "text": "ss -l"}),
            },
        }
    ]
    claude = [
        {
            "uuid": "c1",
            "name": "Ports",
            "created_at": "2026-02-25T19:14:00Z",
            "updated_at": "2026-02-25T19:15:00Z",
            "account": {"uuid": "u1"},
            "chat_messages": [
                {
                    "uuid": "m1",
                    "sender": "human",
                    "text": "Which port?",
                    "content": [
                        {"type": "text", "text": "Which port?"},
                        {"type": "tool_use", "name": "a", "input": {}},
                    ],
                    "attachments": [{"file_name": "a.txt", "extracted_content": "8443"}],
                    "files": [{"file_name": "a.png"}],
                    "created_at": "2026-02-25T19:14:01.5Z",
                }
            ],
        }
    ]
    slack = [
        {"type": "message", "ts": "1772600000.000100", "user": "U1", "text": "hi <@U1> &amp; <http://a.b|x>"},
        {"type": "message", "ts": "1772600001.000100", "thread_ts": "1772600000.000100", "user": "U1", "text": "*yes*"},
    ]
    chat = {"messages": [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": [{"text": "1"}]}]}
    texts = (
        "\n# aider chat started at 2026-03-04 10:20:30\n\n\n#### Which port?  \n\n8443.\n\n> Applied edit to a.py  \n",
        "> Which port?\n\n8443.\n\n> And the host?\n\nhost-1.\n",
        "User: Which port?\n\nAssistant: 8443.\n\nUser: And the host?\n\nAssistant: host-1.\n",
        "# 2026-03-04\n\n## 10:20\n\nMoved the gateway.\n",
    )
    documents = [json.dumps(value).encode() for value in (chatgpt, claude, slack, chat)]
    return [
        *documents,
        *map(_json, (_CLINE, _TASK, _AMP)),
        _zip({"conversations.json": documents[0]}),
        _zip(_SLACK | {"general/2026-03-04.json": slack}),
    ] + [text.encode() for text in texts]


_CALL = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"cmd": "ls"}}
_CLINE: dict[str, object] = {
    "version": 1,
    "sessionId": "s1",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": '<user_input mode="act">Which?</user_input>'}]},
        {"role": "assistant", "content": [_CALL], "ts": 1795293302613},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "8443"}]},
    ],
}
_TASK = [
    {"role": "user", "content": [{"type": "text", "text": "<task>\nWhich?\n</task>"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "<read_file>\n<path>a</path>\n</read_file>"}]},
    {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a'] Result:\n8443"}]},
]
_AMP: dict[str, object] = {
    "id": "T-1",
    "created": 1795293302613,
    "messages": [
        {"role": "assistant", "content": [_CALL], "state": {"type": "complete"}},
        {"role": "user", "content": [{"type": "tool_result", "toolUseID": "c1", "run": {"status": "done"}}]},
    ],
}
_SLACK: dict[str, object] = {
    "users.json": [{"id": "U1", "name": "priya", "profile": {"real_name": "Priya Rao", "display_name": "pri"}}],
    "channels.json": [{"id": "C1", "name": "general"}],
}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _node(own: str, parent: str, role: str, content: object, *children: str) -> dict[str, object]:
    message = {"id": own, "author": {"role": role, "name": None}, "create_time": _T0, "content": content}
    return {"id": own, "parent": parent, "children": list(children), "message": message}


def _zip(files: dict[str, object]) -> bytes:
    """Return an archive without compression, so that a changed byte changes a file and not only a checksum."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return buffer.getvalue()


@contextlib.contextmanager
def open_collections() -> Iterator[Callable[[bytes], object]]:
    """Write an input under several names, and read each file, and its directory, with the readers that recognise it."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "general").mkdir()

        def read(data: bytes) -> object:
            paths = [directory / file for file in _FILES]
            for path in paths:
                path.write_bytes(data)
            for path in (directory, *paths):
                head = b"" if path.is_dir() else data[:_HEAD]
                for reader in (*COLLECTIONS, *NAMED_FILE_COLLECTIONS, *STATED_COLLECTIONS):
                    if reader.recognises(path, head):
                        _read_sessions(reader.sessions(path))
            return None

        yield read


def _read_sessions(sessions: Iterator[Session]) -> None:
    """Read every row. A refusal of one reader is an answer, so that the next file is read too."""
    with contextlib.suppress(SourceUnreadable):
        for session in sessions:
            for _ in session.rows():
                pass


def read_document(data: bytes) -> object:
    """Judge a document by its bytes, as is done before a converter sees it, and read it as a notebook."""
    for suffix in (".pdf", ".docx", ".epub", ".html"):
        path = PurePath(f"plan{suffix}")
        if converted_documents.refusal_by_head(path, data[:_HEAD]) in (None, converted_documents.NEEDS_EXTRA):
            converted_documents._refusal_by_bytes(suffix, data)
        converted_documents.is_page(path, data[:_HEAD])
    return notebook_text(data)
