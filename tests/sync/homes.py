"""Palaces of persons who carry them about: each call is a command of its own."""

from __future__ import annotations

from pathlib import Path

from tests.archive import conversations
from tests.archive.conversations import called, said
from tests.features.hooks.test_hook import Clock

from palazzo.features.diary.contract import DiaryWriteRequest
from palazzo.features.diary.diary_write import diary_write
from palazzo.features.facts.contract import KgAddRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.notes.contract import ForgetRequest, RememberRequest
from palazzo.features.notes.forget import forget
from palazzo.features.notes.remember import remember
from palazzo.features.portability.contract import ExportRequest, ExportResult, ImportRequest, ImportResult
from palazzo.features.portability.export import export
from palazzo.features.portability.importer import import_
from palazzo.features.tasks.contract import RemindRequest, TodoAddRequest, TodoDoneRequest
from palazzo.features.tasks.remind import remind
from palazzo.features.tasks.todo_add import todo_add
from palazzo.features.tasks.todo_done import todo_done
from palazzo.operations.context import Context

HOSTILE = (
    "Look: ```\n# not a title\n~~~\n````\n<img src=x onerror=alert(1)> ![x](https://evil.example/p.png)\n</details>"
)


class Home:
    """A palace of one person; each call is a command of its own."""

    def __init__(self, place: Path) -> None:
        self.place, self.clock = place, Clock()
        self.variables = {"HOME": str(place), "PALAZZO_SERVICE": "off", "TZ": "UTC"}
        (place / "shop").mkdir(parents=True)

    def at(self) -> Context:
        """Return a caller's surroundings."""
        return Context(self.place / "palace.db", self.place / "shop", self.variables, clock=self.clock)

    def bytes(self) -> bytes:
        """Return the export of all, without the keyed hash at its end, which is another in each palace."""
        whole = self.export().read_bytes()
        content, mark, _ = whole.rpartition(b',"mac":"')
        assert (mark, whole.count(b"\n", len(content))) == (b',"mac":"', 1)
        return content + b"}\n"

    def export(self) -> Path:
        """Export all."""
        path = self.place / "all.jsonl"
        with self.at() as context:
            export(context, ExportRequest(path))
        return path

    def take(self, path: Path, **fields: object) -> ImportResult:
        """Import a file: an export of one's own, if nothing else is said."""
        fields.setdefault("trust", "user")
        with self.at() as context:
            return import_(context, ImportRequest(path, **fields))  # type: ignore[arg-type]

    def pages(self, **fields: object) -> tuple[ExportResult, dict[str, str]]:
        """Export as Markdown; return what was said of it, and the pages."""
        out = self.place / str(fields.pop("out", "out"))
        with self.at() as context:
            result = export(context, ExportRequest(out, "markdown", **fields))  # type: ignore[arg-type]
        found = (page for page in sorted(out.rglob("*.md")))
        return result, {page.relative_to(out).as_posix(): page.read_bytes().decode() for page in found}

    def works(self) -> None:
        """Do a little of everything: a conversation, notes with a tag, a diary, facts, a to-do, a reminder."""
        with self.at() as context:
            rows = [said(1, "user", "Why is it slow?"), said(2, "assistant", HOSTILE), called(3, "Bash", "ls", "c1")]
            conversations.file_rows(context.writing(), rows)
            for text, tags in (("We chose SQLite.", ("storage",)), ("The grey cat sleeps.", ())):
                remember(context, RememberRequest(text, wing="shop", room="notes", kind="decision", tags=tags))
            diary_write(context, DiaryWriteRequest("Claude", "Today it rained.\n\nTomorrow too."))
            kg_add(context, KgAddRequest("palazzo", "uses", "a | pipe <b>", valid_from="2026-01-01", everywhere=True))
            kg_add(context, KgAddRequest("shop", "opened_in", "Rome", wing="shop"))
            done = todo_add(context, TodoAddRequest("Write the docs.\n\nAll of them.", wing="shop")).todo.id
            todo_done(context, TodoDoneRequest((done,)))
            wrong = remember(context, RememberRequest("This is wrong.", wing="shop")).id
            forget(context, ForgetRequest((wrong,)))
            remind(context, RemindRequest("Look at the cat.", wing="shop", at="2027-01-01"))


def filled(place: Path) -> Home:
    """Return a home in which a little of everything was done."""
    home = Home(place)
    home.works()
    return home
