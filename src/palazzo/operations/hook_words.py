"""What hooks keep of a session that has no transcript to be read: the prompt and the last message of each turn.

They are in the payload alone, so they pass the door as they come: what is secret is taken out, and each has whoever
said it for its origin. `min_messages` does not hold here: nobody knows how many there will be.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import heard
from palazzo.archive.guarding import Guard
from palazzo.archive.heard import Heard
from palazzo.guard.titles import title_from

if TYPE_CHECKING:
    from palazzo.operations.hook_answers import Asked

UNNAMED = "unnamed"
"""The id of sessions that have none; their words cannot be told apart."""


def keep(asked: Asked) -> int:
    """File what the payload says was said, unless it is there already; return how many messages are new."""
    happening, context = asked.happening, asked.context
    said = [Heard("user", happening.prompt), Heard("assistant", happening.last_message)]
    if happening.session == UNNAMED or happening.agent or not any(one.text.strip() for one in said):
        return 0
    directory = Path(happening.cwd) if happening.cwd and Path(happening.cwd).is_absolute() else None
    if directory is not None and _is_excluded(asked, directory):
        return 0
    database, placing = context.writing().database, context.placing
    project = None if directory is None else placing.project(directory)
    place = placing.of_conversation(project, happening.prompt)
    guard = Guard.of(database)
    title = title_from(guard.without_erased(happening.prompt))
    source = heard.source_of(happening.host, happening.session, title, "" if project is None else project.identity)
    prepared = heard.prepare(happening.host, said, context.now, guard)
    with database.transaction() as connection:
        placing.record(connection, project, context.now)
        current = placing.current(connection, project, place)
        added = heard.file(connection, source, current, prepared, context.now)
    if added:
        from palazzo.operations.background import start_embedding

        start_embedding(context, insist=False)
    return added


def _is_excluded(asked: Asked, directory: Path) -> bool:
    """Whether nothing is to be read of sessions that were held there."""
    from palazzo.operations.watched import of_history

    return not of_history(asked.context, directory).wanted.by_directory(str(directory))
