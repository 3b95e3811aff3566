"""remind: set a reminder for a time, a file or a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import archive_reader, task_notes
from palazzo.archive.notes import Note
from palazzo.archive.task_notes import topic_words
from palazzo.errors import UsageError
from palazzo.features.tasks.contract import RemindRequest, RemindResult
from palazzo.features.tasks.task_changes import check_text, file_task
from palazzo.features.tasks.task_results import reminder_view
from palazzo.model import Micros, Place
from palazzo.operations.arguments import absolute, speaker, wing_to_file_in
from palazzo.operations.caller_clock import day_and_time, to_come, zone
from palazzo.operations.caller_taint import whom_to_believe
from palazzo.text.names import tidy
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context

LONGEST_TOPIC = 200


def remind(context: Context, request: RemindRequest) -> RemindResult:
    """Set a reminder: for a time, for when a file is opened, or for when a topic comes up."""
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
    if raw_path is None:
        return "", ""
    if not raw_path.strip():
        raise UsageError("--on-file: the path is empty.")
    path = absolute(context, raw_path)
    root = context.project_root
    inside = path.is_relative_to(root) and wing == context.project_wing
    stored_path = path.relative_to(root).as_posix() if inside else path.as_posix()
    return stored_path, "" if path.exists() else f"{stored_path} does not exist yet; the reminder waits for it."
