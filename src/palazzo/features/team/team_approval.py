"""team approve: a maintainer has read what a teammate's agent wrote after untrusted content, and finds it right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import NotFound, UsageError
from palazzo.features.team.contract import TeamApproveRequest, TeamApproveResult
from palazzo.features.team.team_account import connect, find_team_wing
from palazzo.features.trust.quarantine_rows import only_a_person
from palazzo.team import protocol

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.team.client.team_connection import SharedHit, TeamConnection


def team_approve(context: Context, request: TeamApproveRequest) -> TeamApproveResult:
    """Approve teammates' notes, or take that back. All ids are looked up before the first is approved."""
    only_a_person(context, "approves")
    member, connection = connect(context)
    notes = [_find_note(connection, prefix) for prefix in request.ids]
    for note in notes:
        wing = find_team_wing(connection, note.wing)
        if wing is None:
            raise UsageError(f"The team has no wing '{note.wing}' any more that you may read.")
        role, wing_id = str(wing["role"]), str(wing["id"])
        if role == "reader":  # the key, by which a text is identified, is for those who may write
            raise UsageError(f"Your role in '{note.wing}' is reader; this needs maintainer.")
        digest = None
        if not request.revoke:
            key = bytes.fromhex(str(connection.describe_wing(wing_id)["key"]))
            digest = protocol.digest_text(note.text, key)
        connection.approve(wing_id, note.id, digest, member.key)
    return TeamApproveResult(tuple(note.id for note in notes), request.revoke)


def _find_note(connection: TeamConnection, prefix: str) -> SharedHit:
    notes = connection.read_drawers(prefix)
    if not notes:
        raise NotFound(f"Nothing that teammates share has an id that begins with '{prefix}'.")
    if len(notes) > 1:
        raise UsageError(f"Several entries have ids that begin with '{prefix}': give more digits.")
    return notes[0]
