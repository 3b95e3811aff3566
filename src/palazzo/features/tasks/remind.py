"""remind: set a reminder for a time, a file or a topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.tasks.task_results import ReminderView
from palazzo.model import Micros
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

LONGEST_TOPIC = 200


@dataclass(frozen=True, slots=True)
class RemindRequest:
    """The text, and the trigger. If several triggers are given, the first one that occurs counts."""

    text: Annotated[
        str, About("The text of the reminder; - reads it from standard input.", positional=True, stdin=True)
    ]
    at: Annotated[
        str | None,
        About("Due from this time: 'tomorrow 9:00', 'in 2 hours', 'next friday', 2026-03-04.", metavar="WHEN"),
    ] = None
    file: Annotated[
        str | None,
        About("Due when this file, or one in this directory, is opened.", option="--on-file", metavar="PATH"),
    ] = None
    topic: Annotated[
        str | None, About("Due when all of these words come up.", option="--on-topic", metavar="WORDS")
    ] = None
    wing: Annotated[str | None, About("File it in this wing. Default: the project's.")] = None
    by: Annotated[str, About("The author: an agent's or a person's name.", metavar="NAME")] = ""


@dataclass(frozen=True, slots=True)
class RemindResult:
    """The saved reminder. `note` is a warning, for example that a file does not exist yet."""

    reminder: ReminderView
    drawers: tuple[str, ...]
    note: str
    local: Annotated[str, PERSON_ONLY] = ""
    """The time in this machine's time zone."""


def remind(context: Context, request: RemindRequest) -> RemindResult:
    """Set a reminder: for a time, for when a file is opened, or for when a topic comes up.

    It stays due, in this session and in later ones, until it is done or dropped ('palazzo reminders done ID').
    """
    from palazzo.archive import archive_reader, task_notes
    from palazzo.archive.notes import Note
    from palazzo.features.tasks.task_results import check_text, file_task, reminder_view
    from palazzo.model import Place
    from palazzo.operations.arguments import speaker, wing_to_file_in
    from palazzo.operations.caller_clock import day_and_time, zone
    from palazzo.operations.caller_taint import whom_to_believe

    check_text("reminder", request.text)
    if request.at is None and request.file is None and request.topic is None:
        raise UsageError("Set at least one of --at (a time), --on-file (a path) and --on-topic (some words).")
    by = speaker(request.by)
    belief = whom_to_believe(context, request.wing)
    at = _moment(context, request.at)
    topic = _topic(context, request.topic)
    wing = wing_to_file_in(context, request.wing)
    file, note = _file(context, request.file, wing)
    about = {name: words for name, words in (("file", file), ("topic", topic)) if words}
    project = context.project
    task_note = Note(
        request.text,
        Place(wing, task_notes.ROOMS["reminder"]),
        author=by,
        attribution=belief,
        branch=project.branch,
        commit=project.commit,
        shelf="reminder",
        about=about,
    )
    task = file_task(context, task_note, "reminder", at, "remind")
    causes = ("time",) if at is not None and at <= context.now else ()
    with context.reading().database.snapshot() as connection:
        drawers = tuple(archive_reader.drawers_of_item(connection, task.item))
    local = "" if at is None else day_and_time(at, zone(context))
    return RemindResult(reminder_view(task, causes), drawers, note, local)


def _moment(context: Context, text: str | None) -> Micros | None:
    """Return the first moment of the stated time; for a day that has begun, now."""
    from palazzo.operations.caller_clock import day_and_time, to_come, zone
    from palazzo.text.times import to_iso

    if text is None:
        return None
    now = context.now
    start, end = to_come(context, "--at", text)
    if max(start, end) <= now:
        raise UsageError(
            f"--at: '{text}' is {day_and_time(start, zone(context))} ({to_iso(start)}), which has passed; give a "
            "future time."
        )
    return Micros(max(start, now))


def _topic(context: Context, words: str | None) -> str:
    from palazzo.archive.task_notes import topic_words
    from palazzo.text.names import tidy

    if words is None:
        return ""
    topic = tidy(words)
    if len(topic) > LONGEST_TOPIC:
        raise UsageError(f"--on-topic: a topic is a few words, at most {LONGEST_TOPIC} characters.")
    with context.writing().database.snapshot() as connection:
        if not topic_words(connection, topic):
            raise UsageError(f"--on-topic: '{topic}' contains no word that can be matched.")
    return topic


def _file(context: Context, raw_path: str | None, wing: str) -> tuple[str, str]:
    """Return the path in its stored form (relative to the root for the project's reminders), and a notice."""
    from palazzo.operations.arguments import absolute

    if raw_path is None:
        return "", ""
    if not raw_path.strip():
        raise UsageError("--on-file: the path is empty.")
    path = absolute(context, raw_path)
    root = context.project_root
    inside = path.is_relative_to(root) and wing == context.project_wing
    stored_path = path.relative_to(root).as_posix() if inside else path.as_posix()
    return stored_path, "" if path.exists() else f"{stored_path} does not exist yet; the reminder waits for it."


OPERATION = Operation(
    "remind",
    RemindRequest,
    RemindResult,
    remind,
    scope="write",
    writes=True,
    examples=(
        "palazzo remind \"Call the host\" --at 'tomorrow 9:00'",
        'palazzo remind "Keep the order of imports" --on-file src/main.py',
    ),
)
