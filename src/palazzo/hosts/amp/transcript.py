"""Amp's threads: `~/.local/share/amp/threads/T-<uuid>.json`, copies of those that Amp keeps on its server.

Amp publishes no format, and no file of it was captured for Palazzo. Independent public readers agree on the following
(jonathan-kellerai/cross_agent_session_resumer's `amp.rs`, plyght/amp-acp's `amp_agent.rs`, noamsto/houston's
`AMP_AGENT_SUPPORT.md`, and for `usageLedger` ccusage's reader of Amp):

    {id, title, created, env: {initial: {cwd, trees: [{uri, repository: {ref}}]}}, messages, usageLedger}
    messages      {role: user | assistant | info, messageId, content, state: {type}, usage: {model}, meta: {sentAt}}
    content       {type: text | thinking | tool_use: {id, name, input} | tool_result: {toolUseID, run} | summary | …}
    run           {status: done | error | cancelled | rejected-by-user | …, result | progress}
    usageLedger   {events: [{timestamp, toMessageId}]}

Older versions of the editor extension kept threads in its global storage, in `threads3`. A result is a message of the
user; the time of an answer is that of its event, else that of the message before it. A message that the model is still
writing, or whose tool is still running, and everything after it, is left for the next read, for an hour.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.hosts.json_sessions import read_header, read_records_so_far
from palazzo.model import Micros, Role
from palazzo.sources.formats import Collection, Content, Identity, Message, Noise, Row, Session, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text, media_text
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls, trust_of_call
from palazzo.sources.formats.row_records import decode_json_text, objects_in, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.whole_files import read_file

KIND = "amp"
IDLE_LIMIT = Micros(3600 * 1_000_000)
"""Time after the last change of the file after which a running tool is considered abandoned."""
_NAME = re.compile(r"T-[0-9a-fA-F-]{8,40}\.json")
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{(?=.*"id"\s*:\s*"T-)', re.DOTALL)
_MESSAGES = re.compile(r'"messages"\s*:\s*(?=\[)')
_ENDED_STATES = frozenset({"complete", "cancelled", "error"})
_FAILED = frozenset({"error", "cancelled", "rejected-by-user"})
_ENDED_RUNS = _FAILED | {"done"}
_RESULT_WORDS = ("output", "content", "diff", "text", "message", "error")
_FIXED_KEYS = ("id", "created", "env", "agentMode")
"""Fields of a thread that stay as they are while it goes on."""


def _read_clock() -> Micros:
    return Micros(time.time_ns() // 1000)


class Amp:
    """Reads one thread, given its file."""

    kind = KIND
    version = 2  # 1 gave a command that printed nothing the words "result", "output:" and "exitCode: 0"

    def __init__(self, clock: Callable[[], Micros] = _read_clock) -> None:
        self._now = clock

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a thread's file, by its name and its id."""
        return _NAME.fullmatch(path.name) is not None and _BEGINNING.match(head) is not None

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the one thread."""
        data = read_file(path)
        thread, records, fault = _parse(decode_json_text(data), path)
        changed_at = _changed_at(path)
        is_resting = self._now() - changed_at > IDLE_LIMIT
        count = _count_finished(records, is_resting)
        session = string(thread, "id") or path.stem
        scene = _scene_of(thread)
        yield Session(
            Identity((KIND, session), session),
            stamp_of(data, str(count)),
            partial(_rows, thread, records[:count], fault, scene),
            string(thread, "title").strip(),
            scene.cwd,
            changed_at,
            count == len(records),
        )


@frozen
class _Scene:
    """Where a thread began."""

    cwd: str
    branch: str


def _parse(text: str, path: Path) -> tuple[JsonObject, list[object], str]:
    """Return a thread, its messages, and why reading ended early; "" if it did not."""
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        match = _MESSAGES.search(text)
        if match is None:
            raise SourceUnreadable(f"{path} is not valid JSON, and has no list of messages.") from None
        return read_header(text, match.start()), *read_records_so_far(text, match.end(), path.name)
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise SourceUnreadable(f"{path} has no list of messages, so it is not a thread of Amp.")
    return value, value["messages"], ""


def _changed_at(path: Path) -> Micros:
    try:
        return Micros(path.stat().st_mtime_ns // 1000)
    except OSError:
        return Micros(0)


def _scene_of(thread: JsonObject) -> _Scene:
    env = thread.get("env")
    initial = env.get("initial") if isinstance(env, dict) else None
    initial = initial if isinstance(initial, dict) else {}
    tree = next(iter(objects_in(initial.get("trees"))), {})
    repository = tree.get("repository")
    ref = string(repository, "ref") if isinstance(repository, dict) else ""
    branch = ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""
    return _Scene(string(initial, "cwd") or _path_of(tree.get("uri")), branch)


def _path_of(uri: object) -> str:
    """Return the path of a workspace: of a `file:` URI, a plain path, or an object of the editor's."""
    if isinstance(uri, dict):
        return string(uri, "fsPath") or string(uri, "path")
    text = uri if isinstance(uri, str) else ""
    try:
        return unquote(urlsplit(text).path) if text.startswith("file://") else text if text.startswith("/") else ""
    except ValueError:  # brackets that are not those of an address
        return ""


# --- messages ----------------------------------------------------------------------------------------------


def _count_finished(records: list[object], is_resting: bool) -> int:
    """Return how many messages come before the first one that is not finished; all if the thread rests."""
    if is_resting:
        return len(records)
    running = (index for index, record in enumerate(records) if isinstance(record, dict) and _is_running(record))
    return next(running, len(records))


def _is_running(message: JsonObject) -> bool:
    state = message.get("state")
    kind = string(state, "type") if isinstance(state, dict) else ""
    if string(message, "role") == "assistant" and kind and kind not in _ENDED_STATES:
        return True
    runs = [block.get("run") for block in objects_in(message.get("content")) if string(block, "type") == "tool_result"]
    statuses = [string(run, "status") for run in runs if isinstance(run, dict)]
    return any(status and status not in _ENDED_RUNS for status in statuses)


def _rows(thread: JsonObject, records: list[object], fault: str, scene: _Scene) -> Iterator[Row]:
    rows, calls, times = Rows(), Calls(), _times_of_answers(thread)
    header = {key: thread[key] for key in _FIXED_KEYS if key in thread}
    yield rows.row(header, Noise("thread"), string(thread, "title").strip())
    said_at = moment(thread.get("created"))
    for record in records:
        if not isinstance(record, dict):
            yield rows.row(record, Unreadable("not a message"))
            continue
        said_at = _time_of(record, times, said_at)
        try:
            content = _content(record, calls, scene, said_at)
        except RecursionError:
            content = Unreadable("nested too deeply")
        yield rows.row(record, content)
    if fault:
        yield rows.row({"fault": "the end of the file is not valid JSON"}, Unreadable(fault))


def _times_of_answers(thread: JsonObject) -> dict[object, Micros | None]:
    ledger = thread.get("usageLedger")
    events = objects_in(ledger.get("events")) if isinstance(ledger, dict) else []
    ids = ((event.get("toMessageId"), event) for event in events)
    return {own: moment(event.get("timestamp")) for own, event in ids if isinstance(own, int | str)}


def _time_of(message: JsonObject, times: Mapping[object, Micros | None], before: Micros | None) -> Micros | None:
    meta, own = message.get("meta"), message.get("messageId")
    sent_at = moment(meta.get("sentAt")) if isinstance(meta, dict) else None
    answered_at = times.get(own) if isinstance(own, int | str) else None
    return next((value for value in (sent_at, answered_at) if value is not None), before)


def _content(message: JsonObject, calls: Calls, scene: _Scene, said_at: Micros | None) -> Content:
    speaker = string(message, "role")
    if speaker not in ("user", "assistant", "info"):
        return Unreadable(f"a message with the unknown role {speaker!r}")
    composer = Composer()
    content = message.get("content")
    if isinstance(content, str):
        composer.add("text", content)
    for block in objects_in(content):
        _add_block(composer, block, calls)
    if not composer.text:
        return Noise(f"{speaker}, without words")
    usage = message.get("usage")
    return Message(
        composer.text,
        _role(speaker, composer),
        standing="summary" if speaker == "info" else "said",
        author=string(usage, "model") if isinstance(usage, dict) and speaker == "assistant" else "",
        parts=composer.parts,
        created_at=said_at,
        cwd=scene.cwd,
        branch=scene.branch,
    )


def _role(speaker: str, composer: Composer) -> Role:
    if speaker == "user":
        kinds = {part.kind for part in composer.parts}
        return "tool" if "tool_result" in kinds and "text" not in kinds else "user"
    return "assistant" if speaker == "assistant" else "system"


def _add_block(composer: Composer, block: JsonObject, calls: Calls) -> None:
    kind = string(block, "type")
    if kind == "text":
        composer.add("text", string(block, "text"))
    elif kind == "thinking":
        composer.add("thinking", string(block, "thinking"))
    elif kind == "tool_use":
        name, call = string(block, "name"), string(block, "id")
        calls.record_call(call, name, trust_of_call(name, block.get("input")))
        composer.add("tool_call", call_text(name or "tool", block.get("input")), name=name, call=call)
    elif kind == "tool_result":
        _add_result(composer, block, calls)
    elif kind == "image":
        composer.add("image", media_text(block, "image"))
    elif kind == "summary":
        summary = block.get("summary")
        composer.add("text", string(summary, "summary") if isinstance(summary, dict) else "")
    elif kind != "redacted_thinking":
        composer.add("attachment", block_text(block), trust="external")


def _add_result(composer: Composer, block: JsonObject, calls: Calls) -> None:
    call, run = string(block, "toolUseID") or string(block, "tool_use_id"), block.get("run")
    name, trust = calls.tool_of(call)
    run = run if isinstance(run, dict) else {"result": block.get("content")}
    result = next((run[key] for key in ("result", "progress", "error") if run.get(key) not in (None, "", [], {})), "")
    failed = string(run, "status") in _FAILED or block.get("is_error") is True
    failed = failed or (isinstance(result, dict) and result.get("exitCode", 0) not in (0, None))
    composer.add("tool_result", _text_of(result), name=name, call=call, failed=failed, trust=trust)


def _text_of(result: object) -> str:
    """Return the words of a result: text, blocks or lines of text, or an object that holds them."""
    if isinstance(result, str):
        return result
    if isinstance(result, list):
        joint = "\n" if all(isinstance(piece, str) for piece in result) else JOINT
        return joint.join(filter(None, map(_text_of, result)))
    if isinstance(result, dict):
        words = [text for key in _RESULT_WORDS if isinstance(text := result.get(key), str) and text]
        is_silent = not words and result.get("exitCode") == 0  # a command that printed nothing
        return "\n".join(words) if words or is_silent else call_text("result", result)
    return "" if result is None else json.dumps(result)


COLLECTIONS: tuple[Collection, ...] = (Amp(),)
