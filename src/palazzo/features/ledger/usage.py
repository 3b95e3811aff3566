"""Detection of usage: an agent reads an injected entry in full, cites it, or opens a file that it names.

Most usage is visible in the captured session, which is examined once, as it arrives. A usage note is only for the
ledger. If it cannot be written, the agent's request is answered anyway.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.errors import PalazzoError
from palazzo.injection import usage_detection
from palazzo.injection.usage_detection import DeliveredItem, words_given
from palazzo.security.call_origin import SESSION
from palazzo.store import anchors, hook_sessions, ledger, transcripts

if TYPE_CHECKING:
    from palazzo.model import Micros
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.hook_sessions import HookSession
    from palazzo.store.ledger import Injection, Use
    from palazzo.store.transcripts import TranscriptMessage

_NAMED_BY = (SESSION, "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "PI_SESSION_ID")
_AT_ONCE = 5_000
"""The most messages that are examined at once; the rest is examined the next time."""
_PROMPTS = 3
"""The most preceding messages of the person that are examined: words that the agent knows from there are no evidence of
use.
"""


class _UseRecord(NamedTuple):
    """A use: the id of what was used, how, and when."""

    uid: str
    kind: Use
    at: Micros


def session_named(context: Context) -> str:
    """Return the id of the caller's session if the host states it; else an empty text."""
    return next(filter(None, (context.variables.get(name, "") for name in _NAMED_BY)), "")


def note_cited(context: Context, session: HookSession, text: str) -> None:
    """Record which injected entries the agent cites by id in its last message."""
    if not usage_detection.names_ids(text):
        return
    with context.reading().database.snapshot() as connection:
        cited_ids = usage_detection.find_cited_ids(text, ledger.read_session_uids(connection, session.row))
    if cited_ids:
        _note(context, session, [_UseRecord(uid, "cited", context.now) for uid in sorted(cited_ids)])


def note_fetched(context: Context, uids: Iterable[str]) -> None:
    """Record that the caller's session, if known, read these entries in full; only injected ones count."""
    session_id = session_named(context)
    if not session_id or not os.access(context.palace_path, os.W_OK):
        return
    with context.reading().database.snapshot() as connection:
        sessions = hook_sessions.of_id(connection, session_id)
        # A sub-agent's calls name the session as well: whoever was given the thing has fetched it.
        for session in [
            hearer for root_session in sessions for hearer in hook_sessions.with_agents(connection, root_session)
        ]:
            fetched_ids = ledger.read_session_uids(connection, session.row).intersection(uids)
            if fetched_ids:
                break
        else:
            return
    try:
        _note(context, session, [_UseRecord(uid, "fetched", context.now) for uid in sorted(fetched_ids)])
    except PalazzoError:  # somebody else writes, or nobody may: reading goes before
        return


def note_captured(context: Context, uri: str, session: HookSession | None) -> None:
    """Scan what was captured of a session since the last time, and record which injected entries it used.

    If no hook names the session, the transcript does.
    """
    with context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, uri, session.session if session is not None else "")
        if source is None:
            return
        sessions = hook_sessions.of_id(connection, transcripts.session_of(connection, source))
        candidates = [session] if session is not None else sessions
        injections_by_row = {
            hook_session.row: ledger.injections(connection, hook_session.row) for hook_session in candidates
        }
        for hook_session in candidates:
            start_row = ledger.looked_through(connection, hook_session.row, source)
            new = (
                transcripts.captured_since(connection, source, start_row, _AT_ONCE)
                if injections_by_row[hook_session.row]
                else []
            )
            if new:
                prompts = transcripts.read_user_messages(connection, source, start_row, _PROMPTS)
                use_records = list(_uses(connection, injections_by_row[hook_session.row], new, prompts))
                break
        else:
            return
    _note(context, hook_session, use_records, (source, new[-1].row))


def _note(
    context: Context, session: HookSession, use_records: Sequence[_UseRecord], position: tuple[int, int] | None = None
) -> None:
    """Record uses, and up to which position a source has been scanned."""
    with context.writing().database.transaction() as connection:
        for use in use_records:
            ledger.note_use(connection, session.row, use.uid, use.kind, use.at)
        if position is not None:
            ledger.look_on_from(connection, session.row, *position)


# --- what was captured -------------------------------------------------------------------------------------


def _uses(
    connection: Connection,
    injections: Sequence[Injection],
    new: Sequence[TranscriptMessage],
    prompts: Sequence[TranscriptMessage],
) -> Iterator[_UseRecord]:
    """Yield the uses that messages show, of entries that had been injected by then, in the order of the messages."""
    injected_items, since = _collect_injected_items(connection, injections)
    runs = {uid: usage_detection.runs(item.words) for uid, item in injected_items.items()}
    prompt_runs = frozenset(run for message in prompts for run in usage_detection.runs(message.text))
    for message in new:
        if message.role == "user":
            prompt_runs |= usage_detection.runs(message.text)
        elif message.role == "assistant":
            available_items = {uid: item for uid, item in injected_items.items() if since[uid] <= message.at}
            yield from (
                _UseRecord(uid, kind, message.at) for uid, kind in _used_in(message, available_items, runs, prompt_runs)
            )


def _collect_injected_items(
    connection: Connection, injections: Sequence[Injection]
) -> tuple[dict[str, DeliveredItem], dict[str, Micros]]:
    """Return the entries that a session received, by id, and since when; for erased text, only the id."""
    files = anchors.files_of(connection, (part.uid for injection in injections for part in injection.parts))
    injected_items: dict[str, DeliveredItem] = {}
    since: dict[str, Micros] = {}
    for injection in injections:
        words = words_given(injection.text or "", (part.uid for part in injection.parts))
        for part in injection.parts:
            injected_items.setdefault(
                part.uid, DeliveredItem(part.uid, words.get(part.uid, ""), files.get(part.uid, ()))
            )
            since.setdefault(part.uid, injection.at)
    return injected_items, since


def _used_in(
    message: TranscriptMessage,
    injected_items: Mapping[str, DeliveredItem],
    runs: Mapping[str, frozenset[tuple[str, ...]]],
    prompt_runs: frozenset[tuple[str, ...]],
) -> Iterator[tuple[str, Use]]:
    prose = message.text
    for part in sorted(message.parts, key=lambda part: -part.start):
        if part.kind != "tool_call":
            continue
        call = usage_detection.ToolCall(part.name, message.text[part.start : part.end])
        prose = prose[: part.start] + prose[part.end :]
        if usage_detection.reads_by_id(call):
            yield from ((uid, "fetched") for uid in sorted(usage_detection.find_cited_ids(call.text, injected_items)))
        files = usage_detection.find_opened_files(call)
        yield from (
            (uid, "touched")
            for uid, item in injected_items.items()
            if files and usage_detection.is_about_files(files, item)
        )
    matching_ids = usage_detection.find_cited_ids(prose, injected_items) | usage_detection.find_quoted_ids(
        prose, {uid: runs[uid] for uid in injected_items}, prompt_runs
    )
    yield from ((uid, "cited") for uid in sorted(matching_ids))
