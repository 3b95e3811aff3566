"""Capture by hooks of a session without a readable transcript: the prompt and the last message of each turn.

These texts are only in the payload, so they go directly through ingest: secrets are redacted, and the origin of each
text is its speaker. `min_messages` does not apply here, because the number of messages is not known in advance.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import hook_messages
from palazzo.archive.hook_messages import HookMessage
from palazzo.archive.ingest_guard import Guard
from palazzo.security.clean_titles import title_from

if TYPE_CHECKING:
    from palazzo.features.hooks.hook_answers import HookCall

NO_SESSION_ID = "unnamed"
"""The id of sessions without an id; their texts cannot be told apart."""


def keep(call: HookCall) -> int:
    """File the messages in the payload that are not filed yet; return how many are new."""
    hook_event, context = call.hook_event, call.context
    messages = [HookMessage("user", hook_event.prompt), HookMessage("assistant", hook_event.last_message)]
    if hook_event.session == NO_SESSION_ID or hook_event.agent or not any(message.text.strip() for message in messages):
        return 0
    cwd = Path(hook_event.cwd or context.cwd)  # a host that names no directory starts its hooks in it
    directory = cwd if cwd.is_absolute() and context.has_directory else None
    if directory is not None and _is_excluded(call, directory):
        return 0
    database, place_finder = context.writing().database, context.place_finder
    project = None if directory is None else place_finder.project(directory)
    place = place_finder.of_conversation(project, hook_event.prompt)
    guard = Guard.of(database)
    title = title_from(guard.cover_erased_words(hook_event.prompt))
    source = hook_messages.source_of(
        hook_event.host, hook_event.session, title, "" if project is None else project.identity
    )
    batch = hook_messages.prepare(hook_event.host, messages, context.now, guard)
    with database.transaction() as connection:
        place_finder.record(connection, project, context.now)
        current = place_finder.current(connection, project, place)
        added = hook_messages.file(connection, source, current, batch, context.now)
    if added:
        from palazzo.features.service.background_process import start_embedding

        start_embedding(context, insist=False)
    return added


def _is_excluded(call: HookCall, directory: Path) -> bool:
    """Return whether sessions in this directory are excluded from capture."""
    from palazzo.operations.watched_sources import of_history

    return not of_history(call.context, directory).wanted.by_directory(str(directory))
