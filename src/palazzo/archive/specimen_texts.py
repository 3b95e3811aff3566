"""Sample texts for testing a consumer: two notes, and a session in which a test fails and then passes."""

from __future__ import annotations

from palazzo.archive import ingest, notes
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.model import ItemId, Micros, Part, PartKind, Place, Role, Source, Trust
from palazzo.store.database import Connection

_AT = Micros(1_767_225_600_000_000)
_PLACE = Place("example", "notes")
_SESSION = Source(("session", "example"), "example", "file:///example.jsonl", "example", "Example")


def file_specimen(connection: Connection, guard: Guard) -> None:
    """Archive the notes and the session: a command fails, a file is edited, the command passes."""
    for n, text in enumerate(("The gateway listens on port 8443.", "The gateway listens on port 9443.")):
        notes.file_note(connection, text, _PLACE, Micros(_AT + n), guard, trust="user")
    ingest.file(connection, _SESSION, _PLACE, ingest.prepare(_messages(), guard), _AT)


def _messages() -> list[NewItem]:
    return [
        _message(0, "user", "Make the tests pass. Priya owns `src/app.py`."),
        _message(1, "assistant", '{"command": "pytest tests/test_app.py"}', "tool_call", "Bash", "1"),
        _message(2, "tool", "E   ValueError: not a number\n1 failed", "tool_result", "", "1", failed=True),
        _message(3, "assistant", '{"file_path": "src/app.py", "new_string": "x = 1"}', "tool_call", "Edit", "2"),
        _message(4, "tool", "done", "tool_result", "", "2"),
        _message(5, "assistant", '{"command": "pytest tests/test_app.py"}', "tool_call", "Bash", "3"),
        _message(6, "tool", "1 passed", "tool_result", "", "3"),
        _message(7, "assistant", "Fixed: `src/app.py:1` returns a number now."),
    ]


def _message(
    n: int, role: Role, text: str, kind: PartKind = "text", name: str = "", call: str = "", failed: bool = False
) -> NewItem:
    part = Part(kind, 0, len(text), name, call, failed=failed)
    trust: Trust = "user" if role == "user" else "agent" if role == "assistant" else "tool"
    uid = ItemId(f"{n:032x}")
    return NewItem(uid, text, "message", role, parts=(part,), ordinal=n, created_at=Micros(_AT + n), trust=trust)
