"""diary write: add an entry to an agent's own diary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import archive_reader, diary_entries, identity, notes
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note
from palazzo.features.diary.contract import DiaryWriteRequest, DiaryWriteResult
from palazzo.features.service.background_process import start_embedding
from palazzo.operations.arguments import wing_to_file_in
from palazzo.operations.caller_taint import an_agents, change_actor
from palazzo.store import change_groups, place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def diary_write(context: Context, request: DiaryWriteRequest) -> DiaryWriteResult:
    """Write an entry in an agent's diary. The whole text is kept unchanged, in the agent's own wing."""
    agent = diary_entries.agent_name(request.agent)
    topic = diary_entries.topic_name(request.topic)
    diary_entries.check_entry(request.text)
    belief = an_agents(context, request.project)
    project = wing_to_file_in(context, request.project)
    palace = context.writing()
    with palace.database.snapshot() as connection:
        agent = diary_entries.find_spelling(connection, agent)
    place = diary_entries.place_of(agent)
    project_identity = context.project
    note = Note(request.text, place, agent, belief, branch=project_identity.branch, commit=project_identity.commit)
    draft = diary_entries.prepare(note, topic, project, context.now, Guard.of(palace.database))
    with palace.database.transaction() as connection:
        now = context.now
        group = change_groups.begin(
            connection, bytes.fromhex(identity.new_id(now)), change_actor(context), "diary write", now, ""
        )
        row = notes.file(connection, draft, now)
        change_groups.add(connection, group, "note", [row])
        change_groups.count(connection, group, 1)
    start_embedding(context)
    with palace.database.snapshot() as connection:
        entry = diary_entries.read(connection, row)
        wing = place_rows.leads_to(connection, place).wing
        drawers = tuple(archive_reader.drawers_of_item(connection, row))
    return DiaryWriteResult(entry.id, drawers, entry.agent, wing, entry.topic, entry.project, entry.at)
