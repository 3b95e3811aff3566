"""VS Code's chat sessions: one file per session, rewritten or continued while it is read.

Learned from VS Code's source (`src/vs/workbench/contrib/chat/common/model`: `chatSessionStore.ts`, which names and
writes the files, and `ISerializableChatData` in `chatModel.ts`, version 3), as it was in 2026. VS Code was not run.

`User/workspaceStorage/<workspace>/chatSessions/<session id>.json`, in newer versions `.jsonl` (see `chat_log`);
`User/globalStorage/emptyWindowChatSessions` for windows without a folder. A session is `{version, sessionId,
creationDate, customTitle, repoData, requests}`; what a request holds is said in `chat_requests`. The file of a
workspace's directory lies beside `chatSessions` (`hosts/editor_workspaces`).

The rows of a session are its own, then two for each request: what was asked, and the response. A response that is still
being written is left for the next read, for an hour.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.hosts.editor_workspaces import workspace_directory
from palazzo.hosts.vscode.chat_log import ChatLog, parse_session, replay
from palazzo.hosts.vscode.chat_requests import is_at_work, question, question_record, response, response_record
from palazzo.model import Micros
from palazzo.sources.formats import Collection, Identity, Noise, Row, Session, Unreadable
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import drop_keys, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.whole_files import read_file

KIND = "vscode"
IDLE_LIMIT = Micros(3600 * 1_000_000)
"""Time after a request after which its unfinished response is considered abandoned."""
_LOG_START = re.compile(rb'\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')
_REQUESTS = re.compile(rb'"requests"\s*:\s*\[')
_OWN_KEYS = (b'"responderUsername"', b'"creationDate"', b'"initialLocation"', b'"requesterUsername"')
_VOLATILE_KEYS = ("requests", "pendingRequests", "inputState", "hasPendingEdits", "lastMessageDate", "isNew")


def _read_clock() -> Micros:
    return Micros(time.time_ns() // 1000)


class VSCode:
    """Reads VS Code's chat sessions, one file at a time."""

    kind = KIND
    version = 1

    def __init__(self, clock: Callable[[], Micros] = _read_clock) -> None:
        self._now = clock

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file begins like a session, or like the log of one."""
        head = head.removeprefix(b"\xef\xbb\xbf")
        if path.suffix == ".jsonl":
            return bool(_LOG_START.match(head)) and any(key in head for key in _OWN_KEYS)
        is_object = path.suffix == ".json" and head.lstrip()[:1] == b"{"
        return is_object and bool(_REQUESTS.search(head)) and any(key in head for key in _OWN_KEYS)

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the one session. A damaged file becomes a session that says so."""
        data = read_file(path)
        try:
            log = replay(data) if path.suffix == ".jsonl" else parse_session(data, path.name)
        except SourceUnreadable as error:
            rows = [Row(0, data, Unreadable(str(error).rstrip(".")))] if data else []
            yield Session(Identity((KIND, path.stem), path.stem), stamp_of(data), lambda: iter(rows))
            return
        yield self._session(path, log, stamp_of(data))

    def _session(self, path: Path, log: ChatLog, stamp: str) -> Session:
        session = string(log.record, "sessionId") or path.stem
        requests = _requests(log.record)
        updated = _last_time(log.record, requests)
        is_resting = self._now() - (updated or 0) > IDLE_LIMIT
        is_settled = is_resting or not any(isinstance(one, dict) and is_at_work(one) for one in requests)
        return Session(
            Identity((KIND, session), session),
            stamp + ("" if is_settled else "+"),
            partial(_rows, log, requests, is_resting),
            string(log.record, "customTitle").strip(),
            workspace_directory(path.parent.parent),
            updated,
            is_settled,
        )


def _requests(record: JsonObject) -> list[object]:
    requests = record.get("requests")
    return requests if isinstance(requests, list) else []


def _last_time(record: JsonObject, requests: list[object]) -> Micros | None:
    times = [moment(one.get("timestamp")) for one in requests if isinstance(one, dict)]
    known_times = [at for at in (*times, moment(record.get("creationDate"))) if at is not None]
    return max(known_times, default=None)


def _rows(log: ChatLog, requests: list[object], is_resting: bool) -> Iterator[Row]:
    rows = Rows()
    repository = log.record.get("repoData")
    branch = string(repository, "localBranch") if isinstance(repository, dict) else ""
    title = string(log.record, "customTitle").strip()
    yield rows.row(drop_keys(log.record, *_VOLATILE_KEYS), Noise("session"), title)
    for request in requests:
        if not isinstance(request, dict):
            yield rows.row(request, Unreadable("not a request"))
            continue
        yield rows.row(question_record(request), question(request, branch))
        if not is_resting and is_at_work(request):
            break
        yield rows.row(response_record(request), response(request, branch))
    for line, reason in log.unread:
        yield rows.row({"line": line}, Unreadable(reason))


COLLECTIONS: tuple[Collection, ...] = (VSCode(),)
