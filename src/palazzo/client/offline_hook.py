"""What a hook does if no service answers it: it leaves its event for the next service, and says so once a session.

Only the spool is written. It holds no text of the session, only the path of a transcript and its session, and which
session started without orientation. If a payload is invalid, the reason goes to the log.
"""

from __future__ import annotations

import os

from palazzo import host_names, paths
from palazzo.client import hook_log, rpc, startup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING = b"{}\n"
CAPTURES = ("stop", "subagent-stop", "pre-compact", "session-end")
"""Events after which new content can be read."""
_PATHS = ("agent_transcript_path", "transcript_path", "transcriptPath", "transcript")
_SESSIONS = ("session_id", "sessionId", "session")
_LONGEST = 4_096
_LARGEST = 10 << 20
"""Maximum bytes of a payload that are read."""
_FULL = 256 * 1024
"""Size in bytes of the file of sessions without orientation above which nothing more is appended to it."""
_NOT_IN_TIME = (
    "Palazzo's service did not answer in time, so nothing from memory was added here; new messages are ingested later. "
    "If this repeats, 'palazzo service status' says more."
)


def answer(
    host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str], has_waited: bool = False
) -> bytes:
    """Start a service for the next hook, leave the event in the spool, and return the answer to the host.

    `has_waited` says that this hook waited for a service in vain.
    """
    address = rpc.address(rpc.chosen_palace(palace, variables), variables)
    kind = host_names.event_of(host, event)
    read, wrong = _parse_payload(host, event, payload)
    if wrong:
        hook_log.note(host, event, wrong, address.palace, variables)
    elif kind in CAPTURES:
        _leave_pointer(address.palace, host, event, read, variables)
    elif kind == "session-start" and rpc.is_wanted(variables):
        leave_beginning(address.palace, host, read, variables)
    trouble = startup.begin(address, variables) if rpc.is_wanted(variables) else ""
    if kind not in ("session-start", "prompt"):
        return NOTHING
    line = trouble or (_NOT_IN_TIME if has_waited else "")
    if not line:
        return NOTHING
    hook_log.note(host, event, line, address.palace, variables)
    return _with_line(host, read, line, address, variables)


def _with_line(
    host: str, read: dict[str, object], line: str, address: rpc.Address, variables: Mapping[str, str]
) -> bytes:
    """Return the answer with a line for the user, if the host shows one and this session has not had it yet."""
    session = next((value for name in _SESSIONS if isinstance(value := read.get(name), str) and value), "")
    field = host_names.NOTICE_FIELDS.get(host)
    if field is None or not startup.is_news(address, variables, session):
        return NOTHING
    import json

    return json.dumps({field: line}).encode() + b"\n"


def spool_file(palace: str, variables: Mapping[str, str]) -> str:
    """Return the file that holds the pointers to transcripts of a palace."""
    return _file("spool", palace, variables)


def late_file(palace: str, variables: Mapping[str, str]) -> str:
    """Return the file that lists the sessions that began without a service (`features/hooks/late_starts`)."""
    return _file("late", palace, variables)


def _file(kind: str, palace: str, variables: Mapping[str, str]) -> str:
    name = os.path.splitext(os.path.basename(rpc.address(palace, variables).socket))[0]
    return os.path.join(paths.state_place(variables), f"{kind}-{name}.txt")


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
    append(
        spool_file(palace, variables),
        (host[:40], session[:200], path, "ended" if host_names.event_of(host, event) == "session-end" else ""),
    )


def _leave_pointer(palace: str, host: str, event: str, read: dict[str, object], variables: Mapping[str, str]) -> None:
    """Do the same as `leave_pointer`, but log an error if the spool cannot be written, so that the hook goes on."""
    try:
        leave_pointer(palace, host, event, read, variables)
    except OSError as error:
        wrong = f"the transcript could not be queued ({error.strerror}); it will be read when a later turn ends"
        hook_log.note(host, event, wrong, palace, variables)


def leave_beginning(palace: str, host: str, read: dict[str, object], variables: Mapping[str, str]) -> None:
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


def append(file: str, parts: tuple[str, ...]) -> None:
    """Append a line of tab-separated parts; they are escaped, so that one line is one record."""
    line = "\t".join(map(_escape_part, parts)) + "\n"
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line.encode("ascii"))
    finally:
        os.close(handle)


def _parse_payload(host: str, event: str, payload: bytes) -> tuple[dict[str, object], str]:
    """Return the object that the payload holds, or an empty one and the problem."""
    if not host_names.event_of(host, event):
        return {}, "not known"
    if len(payload) > _LARGEST:
        return {}, f"the payload of {len(payload):,} bytes is too large and was not read"
    import json

    try:
        read = json.loads(payload.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}, "the payload is not valid JSON"
    return (read, "") if isinstance(read, dict) else ({}, f"the payload is not an object but a {type(read).__name__}")


def _escape_part(part: str) -> str:
    """Return a part of a line, percent-encoded as in a URL: bytes that are not printable ASCII become hexadecimal."""
    return "".join(
        chr(byte) if 32 < byte < 127 and byte != 37 else f"%{byte:02X}" for byte in part.encode("utf-8", "replace")
    )
