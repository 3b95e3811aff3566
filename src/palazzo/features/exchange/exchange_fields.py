"""Fields of events and artifacts, checked, and as faces show them. The operations of the feature share this module."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from palazzo.archive import exchange_log
from palazzo.archive.exchange_log import PROJECT, NewArtifact, NewEvent
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import NotFound, UsageError
from palazzo.git.project_rooms import slug
from palazzo.operations.caller_taint import is_tainted, speaks
from palazzo.sync.device_pairing import device_id

if TYPE_CHECKING:
    from palazzo.archive.exchange_log import PreparedEntry
    from palazzo.model import Micros, Trust
    from palazzo.operations.context import Context
    from palazzo.store.exchange_rows import ExchangeRow

LONGEST_NAME = 256
"""The most characters of a name by which events are routed: MemPalace's limit, so that its clients' names fit."""
LONGEST_BODY, LONGEST_METADATA = 256 * 1024, 64 * 1024
"""The most bytes of an event's words and of the further fields: MemPalace's limits. A longer text is an artifact."""
_TYPE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_ID = re.compile(r"[0-9a-f]{32}")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_DEPTH = 50
"""The deepest nesting of metadata: SQLite reads a thousand levels."""


# --- checks ------------------------------------------------------------------------------------------------


def route(subject: str, value: str | None, default: str = "") -> str:
    """Return a name by which events are routed, without outer spaces; UsageError if it cannot be one."""
    name = (value or default).strip()
    if value is not None and value and not name:
        raise UsageError(f"{subject} is empty.")
    if len(name) > LONGEST_NAME:
        raise UsageError(f"{subject} has {len(name):,} characters; the limit is {LONGEST_NAME}.")
    if any(ord(letter) < 32 or letter == "\x7f" for letter in name):
        raise UsageError(f"{subject} must stand on one line.")
    return name


def required_route(subject: str, value: str) -> str:
    """Return such a name that must not be empty."""
    name = route(subject, value)
    if not name:
        raise UsageError(f"{subject} is empty.")
    return name


def event_type(value: str) -> str:
    """Return an event's type; UsageError if it is not of the form of task.request."""
    name = value.strip()
    if not _TYPE.fullmatch(name):
        raise UsageError(
            f"'{name[:64]}' is not a type of event: use lower-case letters, digits, '.', '_' and '-', such as "
            "task.request."
        )
    return name


def one_of(option: str, value: str | None, choices: object) -> str:
    """Return a value of a fixed set, '' for none; UsageError for another, which the tools of MemPalace let through."""
    names = get_args(choices)
    if value and value not in names:
        raise UsageError(f"{option}: '{value[:40]}' is not one of {', '.join(names)}.")
    return value or ""


def check_body(body: str) -> str:
    """Return an event's words; UsageError if they are too many."""
    size = len(body.encode("utf-8", "surrogatepass"))
    if "\0" in body or size > LONGEST_BODY:
        why = "contains NUL" if "\0" in body else f"has {size:,} bytes; the limit is {LONGEST_BODY:,}"
        raise UsageError(f"The text of the event {why}. Store it with 'palazzo artifact put' and name the artifact.")
    return body


def parse_metadata(text: str | None) -> dict[str, object]:
    """Return further fields that a request has as JSON; UsageError if they are no object, or too large."""
    if not text:
        return {}
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or _is_deep(fields):
        raise UsageError('--metadata: give a JSON object, such as {"ticket": "SHOP-12"}.')
    if len(text.encode()) > LONGEST_METADATA:
        raise UsageError(f"--metadata has more than {LONGEST_METADATA:,} bytes.")
    return fields


def _is_deep(value: object, levels: int = _DEPTH) -> bool:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(_is_deep(child, levels - 1) for child in children)


def object_id(subject: str, value: str) -> str:
    """Return the id of an event or artifact; NotFound if it cannot be one."""
    if not _ID.fullmatch(value.strip()):
        raise NotFound(f"There is no {subject} '{value[:40]}'; its id has 32 hexadecimal digits.")
    return value.strip()


def commit_id(value: str) -> str:
    """Return a commit from which a task starts; UsageError for a branch or a tag, which may move."""
    if not _COMMIT.fullmatch(value.strip()):
        raise UsageError(
            f"--commit: '{value[:40]}' is not the id of a commit; give at least 7 hexadecimal digits, no branch or tag."
        )
    return value.strip().lower()


def stream_of(context: Context, stream: str | None) -> str:
    """Return the requested stream, or that of the current project."""
    return route("--stream", stream) or f"{PROJECT}{context.project_wing}"


def task_label(goal: str) -> str:
    """Return a new id that a task and its replies share: some words of the goal, and chance."""
    words = re.sub(r"[^a-z0-9]+", "_", goal.lower()).strip("_")[:40].rstrip("_")
    return f"task_{words or 'work'}_{secrets.token_hex(4)}"


def wing_of_project(context: Context, project: str | None) -> str:
    """Return the wing of a project that a request names, or of the current one."""
    return slug(required_route("--project", project)) if project is not None else context.project_wing


# --- writing -----------------------------------------------------------------------------------------------


def append(context: Context, *new_entries: NewEvent | NewArtifact) -> tuple[list[ExchangeRow], bool]:
    """Append entries, all or none; return them as stored, and whether anything was redacted.

    An event names the artifacts before it.

    What an agent writes that has read untrusted content is marked as external, and so is what its readers write later.
    """
    trust = _trust_of(context)
    database = context.writing().database
    guard, now = Guard.of(database), context.now
    entries: list[PreparedEntry] = []
    for new_entry in new_entries:
        stored_before = tuple(entry.uid for entry in entries)
        entries.append(_prepare(new_entry, stored_before, trust, now, guard))
    with database.transaction() as connection:
        rows = exchange_log.append(connection, entries, device_id(connection), now)
    return rows, any(entry.is_redacted for entry in entries)


def _prepare(
    entry: NewEvent | NewArtifact, artifacts: tuple[str, ...], trust: Trust, now: Micros, guard: Guard
) -> PreparedEntry:
    """Prepare an entry; an event also names the `artifacts` of the same call."""
    if isinstance(entry, NewArtifact):
        return exchange_log.prepare_artifact(entry, trust, now, guard)
    return exchange_log.prepare_event(replace(entry, artifacts=(*entry.artifacts, *artifacts)), trust, now, guard)


def _trust_of(context: Context) -> Trust:
    if not is_tainted(context):
        return speaks(context)
    context.notice("This session has read untrusted content, so what it writes here is marked as external.")
    return "external"
