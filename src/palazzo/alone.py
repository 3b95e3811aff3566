"""What a hook does where no service answers: start one for the next time, leave a pointer, and say the little it can.

Standard library only; APSW is looked for where the package lies, and what needs it is not done where it is not there.
Nothing is written but the spool, and that has no words: where a transcript lies, of which session.
"""

from __future__ import annotations

import os

from palazzo import client, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING = b"{}\n"
_CAPTURES = (
    *("stop", "subagent-stop", "pre-compact", "session-end"),
    *("Stop", "SubagentStop", "PreCompact", "SessionEnd", "agentStop", "sessionEnd", "AfterAgent", "PreCompress"),
)
"""Events after which there is something to read, by our names and by the hosts'."""
_PATHS = ("agent_transcript_path", "transcript_path", "transcriptPath", "transcript")
_SESSIONS = ("session_id", "sessionId", "session")
_LONGEST = 4_096


def answer(host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str]) -> bytes:
    """Start a service that is waited for by nobody, and return what a host is answered meanwhile."""
    where = client.address(client.chosen_palace(palace, variables), variables)
    if event in _CAPTURES:
        _leave_pointer(where.palace, host, payload, variables)
    if client.is_wanted(variables) and not client.is_starting(where):
        client.start(where, variables)
    return NOTHING


def spool_file(palace: str, variables: Mapping[str, str]) -> str:
    """Return the file that holds the pointers of a palace."""
    name = os.path.splitext(os.path.basename(client.address(palace, variables).socket))[0]
    return os.path.join(paths.state_place(variables), f"spool-{name}.txt")


def _leave_pointer(palace: str, host: str, payload: bytes, variables: Mapping[str, str]) -> None:
    """Append one line to the spool: who, which session, which file."""
    read = _object(payload)
    path = next((one for name in _PATHS if isinstance(one := read.get(name), str) and one), "")
    session = next((one for name in _SESSIONS if isinstance(one := read.get(name), str) and one), "")
    if not os.path.isabs(path) or len(path) > _LONGEST:
        return
    file = spool_file(palace, variables)
    line = "\t".join(map(_escaped, (host[:40], session[:200], path))) + "\n"
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line.encode("ascii"))
    finally:
        os.close(handle)


def _object(payload: bytes) -> dict[str, object]:
    import json

    try:
        read = json.loads(payload.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _escaped(part: str) -> str:
    """A part of a line, as in a URL: what is no printable ASCII is its bytes in hexadecimal."""
    return "".join(
        chr(byte) if 32 < byte < 127 and byte != 37 else f"%{byte:02X}" for byte in part.encode("utf-8", "replace")
    )
