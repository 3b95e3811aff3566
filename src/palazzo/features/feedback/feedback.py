"""feedback: record a verdict on drawers as an act, by which search ranks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from palazzo.archive import acts, archive_reader, drawer_acts
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.features.feedback.contract import FeedbackRequest, FeedbackResult
from palazzo.operations.arguments import speaker
from palazzo.operations.caller_taint import change_actor, unless_tainted
from palazzo.operations.source_filter import resolve_drawers
from palazzo.store import change_groups
from palazzo.store.feedback_rows import PERSON, Verdict

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def feedback(context: Context, request: FeedbackRequest) -> FeedbackResult:
    """Record a verdict. A session that has read untrusted content cannot judge: that content could ask it to."""
    if request.verdict not in get_args(Verdict):
        raise UsageError(f"'{request.verdict}' is no verdict; give one of {', '.join(get_args(Verdict))}.")
    own_name = change_actor(context)
    actor = speaker(request.by) or own_name
    if actor == PERSON != own_name:  # a person's verdict counts twice, so no agent gives one under that name
        actor = own_name
    unless_tainted(context, "judge memories")
    with context.reading().database.snapshot() as connection:
        ids = resolve_drawers(connection, (request.id, *request.also))
    database = context.writing().database
    actor = Guard.of(database).words(actor)
    with database.transaction() as connection:
        now = context.now
        group = drawer_acts.begin_group(connection, own_name, "feedback", now)
        rows = [archive_reader.resolve_drawer(connection, drawer) for drawer in ids]
        acts.act_on_drawers(connection, "feedback", rows, actor, now, {"verdict": request.verdict}, group)
        change_groups.count(connection, group, len(rows))
        change = change_groups.read(connection, group).uid
    return FeedbackResult(tuple(ids), request.verdict, change)
