"""Behaviour of a hook when no service answers: it starts one for next time, records a pointer, and answers what it can.

A prompt that asks for the past is answered by keyword search (`keyword_answers`). Only the spool is written. It holds
no text of the session, only the path of a transcript and its session, which drawers a session received, and which
session started without orientation. If a payload is invalid, the reason goes to the log.
"""

from __future__ import annotations

import os
import time

from palazzo import paths
from palazzo.client import hook_log, rpc, startup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from palazzo.client import keyword_answers

NOTHING = b"{}\n"
CAPTURES = (
    *("stop", "subagent-stop", "pre-compact", "session-end"),
    *("Stop", "SubagentStop", "PreCompact", "SessionEnd", "agentStop", "sessionEnd", "AfterAgent", "PreCompress"),
)
"""Events after which new content can be read, by Palazzo's names and by the hosts' names."""
ENDINGS = ("session-end", "SessionEnd", "sessionEnd")
_PROMPTS = {
    "claude-code": "UserPromptSubmit",
    "codex": "UserPromptSubmit",
    "gemini-cli": "BeforeAgent",
    "copilot": "userPromptSubmitted",
    "opencode": "",
    "pi": "",
}
"""The hosts' names for the prompt event, in addition to Palazzo's own name. The payload shapes are those of
`hosts/`.
"""
_BEGINNINGS = ("session-start", "SessionStart", "sessionStart")
_LINES = {
    **dict.fromkeys(("claude-code", "codex", "gemini-cli"), "systemMessage"),
    **dict.fromkeys(("opencode", "pi"), "tell"),
}
"""The field in which a host reads a line for the user. Copilot reads none."""
_PATHS = ("agent_transcript_path", "transcript_path", "transcriptPath", "transcript")
_SESSIONS = ("session_id", "sessionId", "session")
_LONGEST = 4_096
_LARGEST = 10 << 20
"""Maximum bytes of a payload that are read."""
_FULL = 256 * 1024
"""Size in bytes of the file of injected ids above which nothing more is appended to it."""


def answer(host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str]) -> bytes:
    """Start a service without waiting for it, and return the answer to the host in the meantime."""
    began = time.monotonic()
    palace_path = rpc.chosen_palace(palace, variables)
    address = rpc.address(palace_path, variables)
    read, wrong = _parse_payload(host, event, payload)
    if wrong:
        hook_log.note(host, event, wrong, address.palace, variables)
    elif event in CAPTURES:
        _leave_pointer(address.palace, host, event, read, variables)
    trouble = startup.begin(address, variables) if rpc.is_wanted(variables) else ""
    response = NOTHING
    if event in ("prompt", _PROMPTS.get(host)) and host in _PROMPTS:
        response = _answer_prompt(host, read, palace_path, variables, began)
    elif event not in _BEGINNINGS:
        return NOTHING
    elif not wrong and rpc.is_wanted(variables):
        _leave_beginning(address.palace, host, read, variables)
    return _with_line(host, read, response, trouble, address, variables) if trouble else response


def _with_line(
    host: str,
    read: dict[str, object],
    response: bytes,
    line: str,
    address: rpc.Address,
    variables: Mapping[str, str],
) -> bytes:
    """Return the answer with a line for the user, if the host shows one and this session has not had it yet."""
    session = next((value for name in _SESSIONS if isinstance(value := read.get(name), str) and value), "")
    field = _LINES.get(host)
    if field is None or not startup.is_news(address, variables, session):
        return response
    body = response.strip().removeprefix(b"{")
    return (
        b"{"
        + _as_json({field: line}, keep_unicode=False).encode()[1:-1]
        + (b"," if body != b"}" else b"")
        + body
        + b"\n"
    )


def format_context(host: str, text: str) -> bytes:
    """Return the text for the model in the form that the host reads after a prompt."""
    if host in ("opencode", "pi"):
        answer: dict[str, object] = {"inject": text}
    elif host == "copilot":
        answer = {"additionalContext": text}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": _PROMPTS[host], "additionalContext": text}}
    try:
        return _as_json(answer, keep_unicode=True).encode() + b"\n"
    except UnicodeEncodeError:  # archived words may hold lone surrogates, which JSON writes as escapes
        return _as_json(answer, keep_unicode=False).encode() + b"\n"


def spool_file(palace: str, variables: Mapping[str, str]) -> str:
    """Return the file that holds the pointers to transcripts of a palace."""
    return _file("spool", palace, variables)


def told_file(palace: str, variables: Mapping[str, str]) -> str:
    """Return the file that lists the drawers shown by hooks without a service (`features/hooks/offline_answers`)."""
    return _file("told", palace, variables)


def late_file(palace: str, variables: Mapping[str, str]) -> str:
    """Return the file that lists the sessions that began without a service (`features/hooks/late_starts`)."""
    return _file("late", palace, variables)


def _file(kind: str, palace: str, variables: Mapping[str, str]) -> str:
    name = os.path.splitext(os.path.basename(rpc.address(palace, variables).socket))[0]
    return os.path.join(paths.state_place(variables), f"{kind}-{name}.txt")


def _answer_prompt(
    host: str, read: dict[str, object], palace: str, variables: Mapping[str, str], began: float
) -> bytes:
    from palazzo.client import keyword_answers

    if not isinstance(read.get("prompt"), str):
        return NOTHING
    request, file = keyword_answers.PromptRequest(host, read), told_file(palace, variables)
    context = keyword_answers.answer_prompt(request, palace, variables, _read_delivered_ids(file, request))
    if not context.text:
        return NOTHING
    _leave_note(file, request, context, began)
    return format_context(host, context.text)


# --- what is left for a service ----------------------------------------------------------------------------


def leave_pointer(palace: str, host: str, event: str, read: dict[str, object], variables: Mapping[str, str]) -> None:
    """Append one line to the spool: host, session, file, and whether the session has ended."""
    path = next((value for name in _PATHS if isinstance(value := read.get(name), str) and value), "")
    session = next((value for name in _SESSIONS if isinstance(value := read.get(name), str) and value), "")
    if not os.path.isabs(path) or len(path) > _LONGEST:
        if path:
            wrong = "the transcript was not read: its path is not absolute, or is too long"
            hook_log.note(host, event, wrong, palace, variables)
        return
    append(spool_file(palace, variables), (host[:40], session[:200], path, "ended" if event in ENDINGS else ""))


def _leave_pointer(palace: str, host: str, event: str, read: dict[str, object], variables: Mapping[str, str]) -> None:
    """Do the same as `leave_pointer`, but log an error if the spool cannot be written, so that the hook goes on."""
    try:
        leave_pointer(palace, host, event, read, variables)
    except OSError as error:
        wrong = f"the transcript could not be queued ({error.strerror}); it will be read when a later turn ends"
        hook_log.note(host, event, wrong, palace, variables)


def _leave_beginning(palace: str, host: str, read: dict[str, object], variables: Mapping[str, str]) -> None:
    """Append one line: the session to orient at its first prompt. A resumed or forked session needs none."""
    session = next((value for name in _SESSIONS if isinstance(value := read.get(name), str) and value), "")
    source = read.get("source")
    if not session or source in ("resume", "fork"):
        return
    file = late_file(palace, variables)
    try:
        if not os.path.exists(file) or os.path.getsize(file) <= _FULL:
            append(file, (host, session[:_LONGEST], source if isinstance(source, str) else ""))
    except OSError:
        return  # it goes on without having been oriented


def _leave_note(
    file: str, request: keyword_answers.PromptRequest, context: keyword_answers.PromptAnswer, began: float
) -> None:
    """Append one line for the ledger: the session, the drawers it was shown, and when; no archived text."""
    from palazzo.text.token_counts import estimate_tokens

    took = int((time.monotonic() - began) * 1e6)
    numbers = (time.time_ns() // 1_000, estimate_tokens(context.text), took)
    try:
        if not os.path.exists(file) or os.path.getsize(file) <= _FULL:  # else nobody reads it: no service may run
            append(file, (request.host, request.session, *map(str, numbers), ",".join(context.ids)))
    except OSError:
        return  # it is told all the same: what is missing is a line in a list


def _read_delivered_ids(file: str, request: keyword_answers.PromptRequest) -> frozenset[str]:
    """Return the ids that hooks without a service showed this session, if no service has read them yet."""
    start = "\t".join(map(_escape_part, (request.host, request.session))) + "\t"
    try:
        with open(file, "rb") as reader:
            lines = reader.read(2 * _FULL).decode("ascii", "replace").split("\n")
    except OSError:
        return frozenset()
    return frozenset(
        drawer_id for line in lines if line.startswith(start) for drawer_id in line.rpartition("\t")[2].split(",")
    )


def append(file: str, parts: tuple[str, ...]) -> None:
    """Append a line of tab-separated parts; they are escaped, so that one line is one record."""
    line = "\t".join(map(_escape_part, parts)) + "\n"
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line.encode("ascii"))
    finally:
        os.close(handle)


# --- JSON, without the eleven milliseconds that `json` takes to import ----------------------------------------


class _Plain:
    """The interface that the C scanner expects of its decoder: JSON is read as `json.loads` reads it."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


_WHITE = " \t\n\r"


def _parse_payload(host: str, event: str, payload: bytes) -> tuple[dict[str, object], str]:
    """Return the object that the payload holds, or an empty one and the problem."""
    if not hook_log.is_known(host, event):
        return {}, "not known"
    if len(payload) > _LARGEST:
        return {}, f"the payload of {len(payload):,} bytes is too large and was not read"
    text = payload.decode("utf-8-sig", "replace")
    try:
        read = _loads(text)
    except (ValueError, RecursionError, StopIteration):
        return {}, "the payload is not valid JSON"
    return (read, "") if isinstance(read, dict) else ({}, f"the payload is not an object but a {type(read).__name__}")


def _loads(text: str) -> object:
    try:
        from _json import make_scanner

        scan = make_scanner(_Plain)  # type: ignore[arg-type,unused-ignore]
    except (ImportError, AttributeError):  # another Python, or a later one that asks for more
        import json

        return json.loads(text)
    text = text.strip(_WHITE)
    read, end = scan(text, 0)
    if end != len(text):
        raise ValueError("there is unexpected text after the JSON value")
    return read


def _as_json(value: object, keep_unicode: bool) -> str:
    """Return strings, and objects of strings, as `json.dumps` writes them."""
    from _json import encode_basestring, encode_basestring_ascii

    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_as_json(k, keep_unicode)}: {_as_json(v, keep_unicode)}" for k, v in value.items()) + "}"
        )
    return (encode_basestring if keep_unicode else encode_basestring_ascii)(str(value))


def _escape_part(part: str) -> str:
    """Return a part of a line, percent-encoded as in a URL: bytes that are not printable ASCII become hexadecimal."""
    return "".join(
        chr(byte) if 32 < byte < 127 and byte != 37 else f"%{byte:02X}" for byte in part.encode("utf-8", "replace")
    )
