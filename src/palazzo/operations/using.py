"""Noting what an agent used of what it was given: it reads the thing whole, cites it, or opens a file that it names.

What is captured of a session shows most of it, and is looked through once, as it comes. A note is for the ledger alone.
Where it cannot be made, what the agent asked for is answered all the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.errors import PalazzoError
from palazzo.security.callers import SESSION

if TYPE_CHECKING:
    from palazzo.attention.uses import Given
    from palazzo.model import Micros
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.hook_sessions import HookSession
    from palazzo.store.ledger import Injection, Use
    from palazzo.store.transcripts import Captured

_NAMED_BY = (SESSION, "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "PI_SESSION_ID")
_AT_ONCE = 5_000
"""Messages that are looked through at once; what is more, the next time."""
_PROMPTS = 3
"""Messages of the person before those that are looked through: what they said, the agent has from them."""


class _Seen(NamedTuple):
    """A use: of what, how, and when."""

    uid: str
    how: Use
    at: Micros


def session_named(context: Context) -> str:
    """Return the id of the caller's session, where the host tells of it; empty elsewhere."""
    return next(filter(None, (context.variables.get(name, "") for name in _NAMED_BY)), "")


def note_cited(context: Context, session: HookSession, text: str) -> None:
    """Note which of the things that a session was given its agent cites by their ids, in its last message."""
    from palazzo.attention import uses
    from palazzo.store import ledger

    if not uses.names_ids(text):
        return
    with context.reading().database.snapshot() as connection:
        found = uses.cited(text, ledger.given(connection, session.row))
    if found:
        _note(context, session, [_Seen(uid, "cited", context.now) for uid in sorted(found)])


def note_fetched(context: Context, uids: Iterable[str]) -> None:
    """Note that the caller's session, where it is known, read these whole; what it was not given is not noted."""
    from palazzo.store import hook_sessions, ledger

    said = session_named(context)
    if not said or not os.access(context.palace_path, os.W_OK):
        return
    with context.reading().database.snapshot() as connection:
        named = hook_sessions.of_id(connection, said)
        # A sub-agent's calls name the session as well: whoever was given the thing has fetched it.
        for session in [hearer for one in named for hearer in hook_sessions.with_agents(connection, one)]:
            found = ledger.given(connection, session.row).intersection(uids)
            if found:
                break
        else:
            return
    try:
        _note(context, session, [_Seen(uid, "fetched", context.now) for uid in sorted(found)])
    except PalazzoError:  # somebody else writes, or nobody may: reading goes before
        return


def note_captured(context: Context, uri: str, session: HookSession | None) -> None:
    """Look through what was captured of a session since the last time, and note what it used of what it was given.

    Where no hook says which session it is, the transcript does.
    """
    from palazzo.store import hook_sessions, ledger, transcripts

    with context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, uri, session.session if session is not None else "")
        if source is None:
            return
        named = hook_sessions.of_id(connection, transcripts.session_of(connection, source))
        known = [session] if session is not None else named
        told = {one.row: ledger.injections(connection, one.row) for one in known}
        for one in known:
            after = ledger.looked_through(connection, one.row, source)
            new = transcripts.captured_since(connection, source, after, _AT_ONCE) if told[one.row] else []
            if new:
                before = transcripts.said_before(connection, source, after, _PROMPTS)
                found = list(_uses(connection, told[one.row], new, before))
                break
        else:
            return
    _note(context, one, found, (source, new[-1].row))


def _note(context: Context, session: HookSession, seen: Sequence[_Seen], looked: tuple[int, int] | None = None) -> None:
    """Enter uses, and up to where of which source they were looked for."""
    from palazzo.store import ledger

    with context.writing().database.transaction() as connection:
        for use in seen:
            ledger.note_use(connection, session.row, use.uid, use.how, use.at)
        if looked is not None:
            ledger.look_on_from(connection, session.row, *looked)


# --- what was captured -------------------------------------------------------------------------------------


def _uses(
    connection: Connection, told: Sequence[Injection], new: Sequence[Captured], before: Sequence[Captured]
) -> Iterator[_Seen]:
    """Yield what messages show that was used, of what had been told by then, in their order."""
    from palazzo.attention import uses

    given, since = _given(connection, told)
    runs = {uid: uses.runs(one.words) for uid, one in given.items()}
    said = frozenset(run for message in before for run in uses.runs(message.text))
    for message in new:
        if message.role == "user":
            said |= uses.runs(message.text)
        elif message.role == "assistant":
            known = {uid: one for uid, one in given.items() if since[uid] <= message.at}
            yield from (_Seen(uid, how, message.at) for uid, how in _used_in(message, known, runs, said))


def _given(connection: Connection, told: Sequence[Injection]) -> tuple[dict[str, Given], dict[str, Micros]]:
    """What a session was given, by id, and since when; of what an erase took, its id alone."""
    from palazzo.attention.uses import Given, words_given
    from palazzo.store import anchors

    files = anchors.files_of(connection, (part.uid for one in told for part in one.parts))
    given: dict[str, Given] = {}
    since: dict[str, Micros] = {}
    for one in told:
        words = words_given(one.text or "", (part.uid for part in one.parts))
        for part in one.parts:
            given.setdefault(part.uid, Given(part.uid, words.get(part.uid, ""), files.get(part.uid, ())))
            since.setdefault(part.uid, one.at)
    return given, since


def _used_in(
    message: Captured,
    known: Mapping[str, Given],
    runs: Mapping[str, frozenset[tuple[str, ...]]],
    said: frozenset[tuple[str, ...]],
) -> Iterator[tuple[str, Use]]:
    from palazzo.attention import uses

    prose = message.text
    for part in sorted(message.parts, key=lambda part: -part.start):
        if part.kind != "tool_call":
            continue
        call = uses.Called(part.name, message.text[part.start : part.end])
        prose = prose[: part.start] + prose[part.end :]
        if uses.reads_by_id(call):
            yield from ((uid, "fetched") for uid in sorted(uses.cited(call.text, known)))
        files = uses.opened(call)
        yield from ((uid, "touched") for uid, one in known.items() if files and uses.touched(files, one))
    cited = uses.cited(prose, known) | uses.quoted(prose, {uid: runs[uid] for uid in known}, said)
    yield from ((uid, "cited") for uid in sorted(cited))
