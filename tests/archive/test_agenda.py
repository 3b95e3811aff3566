"""What is on whose mind: of a wing, for an agent, now and as of a day."""

from __future__ import annotations

from collections.abc import Callable

from tests.archive.conversations import PLACE

from palazzo.archive import diary_entries, notes, task_notes
from palazzo.archive.agenda import Agenda, agenda
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note
from palazzo.archive.task_notes import Moment
from palazzo.model import Micros, Place
from palazzo.palace import Palace
from palazzo.security.note_taint import AGENT
from palazzo.store import change_groups
from palazzo.store.task_rows import TaskKind


def file_task(palace: Palace, kind: TaskKind, text: str, wing: str, due: int | None = None, **about: str) -> str:
    """File a to-do or a reminder; return its id."""
    note = Note(text, Place(wing, task_notes.ROOMS[kind]), shelf=kind, about=about)
    prepared = notes.prepare(note, palace.clock(), Guard.of(palace.database))
    with palace.database.transaction() as connection:
        task_notes.file(connection, prepared, kind, None if due is None else Micros(due), palace.clock())
    return prepared.id


def write(palace: Palace, agent: str, text: str, project: str) -> None:
    with palace.database.snapshot() as connection:
        spelled = diary_entries.find_spelling(connection, agent)
    note = Note(text, PLACE, spelled, AGENT)
    prepared = diary_entries.prepare(note, diary_entries.GENERAL, project, palace.clock(), Guard.of(palace.database))
    with palace.database.transaction() as connection:
        notes.file(connection, prepared, palace.clock())


def close(palace: Palace, uid: str) -> None:
    with palace.database.transaction() as connection:
        now = palace.clock()
        task_notes.close(
            connection,
            "todo",
            [uid],
            "done",
            now,
            lambda: change_groups.begin(connection, b"g" * 16, "user", "done", now, ""),
        )


def of(palace: Palace, wing: str | None, agent: str | None = None) -> tuple[list[str], list[str], list[str]]:
    with palace.database.snapshot() as connection:
        return words(agenda(connection, Moment(palace.clock()), wing, agent))


def words(found: Agenda) -> tuple[list[str], list[str], list[str]]:
    return (
        [task.text for task in found.todos],
        [one.task.text for one in found.due],
        [entry.text for entry in found.entries],
    )


def filled(palace: Palace) -> str:
    """Two projects, two agents; return the id of the first to-do."""
    first = file_task(palace, "todo", "jitter", "api")
    file_task(palace, "todo", "weeds", "garden")
    file_task(palace, "reminder", "look", "api", due=1)
    file_task(palace, "reminder", "much later", "api", due=palace.clock() * 2)
    file_task(palace, "reminder", "lock", "api", file="lock.py")
    write(palace, "Codex", "about api", "api")
    write(palace, "codex", "about the garden", "garden")
    write(palace, "Pi", "also about api", "api")
    return first


def test_it_is_what_concerns_the_wing_and_the_agent(palace: Palace) -> None:
    filled(palace)
    assert of(palace, "api", "CODEX") == (["jitter"], ["look"], ["about api"])
    assert of(palace, "api") == (["jitter"], ["look"], ["also about api", "about api"])
    assert of(palace, None, "codex")[2] == ["about the garden", "about api"]
    assert of(palace, "garden", "codex") == (["weeds"], [], ["about the garden"])


def test_an_agent_that_never_wrote_has_no_entries_and_is_no_error(palace: Palace) -> None:
    filled(palace)
    assert of(palace, "api", "nobody") == (["jitter"], ["look"], [])
    assert of(palace, "no such wing") == ([], [], [])


def test_a_file_that_is_opened_brings_up_what_waits_for_it(palace: Palace) -> None:
    filled(palace)
    with palace.database.snapshot() as connection:
        moment = Moment(palace.clock(), (("lock.py", "api"), ("/home/me/api/lock.py", None)))
        assert words(agenda(connection, moment, "api"))[1] == ["look", "lock"]
        elsewhere = Moment(palace.clock(), (("lock.py", "garden"), ("/home/me/garden/lock.py", None)))
        assert words(agenda(connection, elsewhere, "api"))[1] == ["look"]


def test_another_process_sees_at_once_what_was_closed(palace: Palace, open_palace: Callable[[], Palace]) -> None:
    first = filled(palace)
    other = open_palace()
    assert of(other, "api")[0] == ["jitter"]
    close(palace, first)
    assert of(other, "api")[0] == []


def test_as_of_a_moment_it_is_what_was_open_then(palace: Palace) -> None:
    first = filled(palace)
    then = palace.clock()
    close(palace, first)
    write(palace, "codex", "later", "api")
    palace.follow_past()
    with palace.as_of(then) as connection:
        assert words(agenda(connection, Moment(then), "api", "codex")) == (["jitter"], ["look"], ["about api"])
    assert of(palace, "api", "codex") == ([], ["look"], ["later", "about api"])


def test_what_was_forgotten_of_a_long_entry_is_not_told(palace: Palace) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "Words were said. " * 30 for n in range(20))
    write(palace, "codex", text, "api")
    with palace.database.snapshot() as connection:
        (row,) = diary_entries.entries(connection)
        entry = diary_entries.read(connection, row)
        drawers = connection.execute("SELECT uid FROM drawer WHERE kind = 'diary' ORDER BY id")
        second = [bytes(uid).hex() for (uid,) in drawers][1]
    assert entry.text == text
    gone = palace.drawer(second).text
    palace.forget([second])
    with palace.database.snapshot() as connection:
        left = diary_entries.read(connection, row).text
    assert gone not in left
    assert left.startswith("Paragraph 0.")
    assert left.rstrip().endswith(text.rstrip()[-200:])
