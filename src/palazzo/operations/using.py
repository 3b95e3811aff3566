"""Noting what an agent used of what it was given: it cites an id in its last message, or reads the thing whole.

A note is for the ledger alone. Where it cannot be made, what the agent asked for is answered all the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.hook_sessions import HookSession
    from palazzo.store.ledger import Use

SESSION = "PALAZZO_SESSION"
"""The variable that names the caller's session, which a face sets where a client tells of it."""
_NAMED_BY = (SESSION, "CLAUDE_CODE_SESSION_ID")
_CITED = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{12,64}(?![0-9A-Za-z])")
"""An id, or a beginning of one that is long enough to be no accident: a commit's usual seven digits are not."""


def cited(text: str, given: Iterable[str]) -> set[str]:
    """Return the ids among `given` that a text cites, in full or by a beginning that only one of them has."""
    known = set(given)
    fitting = ({uid for uid in known if uid.startswith(word)} for word in set(_CITED.findall(text)))
    return {uid for uids in fitting if len(uids) == 1 for uid in uids}


def note_cited(context: Context, session: HookSession, text: str) -> None:
    """Note which of the things that a session was given its agent cites."""
    from palazzo.store import ledger

    if not _CITED.search(text):
        return
    with context.reading().database.snapshot() as connection:
        found = cited(text, ledger.given(connection, session.row))
    if found:
        _note(context, session, found, "cited")


def note_fetched(context: Context, uids: Iterable[str]) -> None:
    """Note that the caller's session, where it is known, read these whole; what it was not given is not noted."""
    from palazzo.store import hook_sessions, ledger

    said = next(filter(None, (context.variables.get(name, "") for name in _NAMED_BY)), "")
    if not said or not os.access(context.palace_path, os.W_OK):
        return
    with context.reading().database.snapshot() as connection:
        for session in hook_sessions.of_id(connection, said):
            found = ledger.given(connection, session.row).intersection(uids)
            if found:
                break
        else:
            return
    try:
        _note(context, session, found, "fetched")
    except PalazzoError:  # somebody else writes, or nobody may: reading goes before
        return


def _note(context: Context, session: HookSession, uids: Iterable[str], how: Use) -> None:
    from palazzo.store import ledger

    with context.writing().database.transaction() as connection:
        for uid in sorted(uids):
            ledger.note_use(connection, session.row, uid, how, context.now)
