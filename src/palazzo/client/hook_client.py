"""`palazzo hook HOST EVENT`: passes a host's event to the service and prints the answer. Exits with 0, in time.

    {"palazzo": 1, "want": "hook", "host": …, "event": …, "length": N, "within_ms": …, "surroundings": {…}}, payload
    {"palazzo": 1, "ok": true, …}, the bytes to print

It reads no JSON: only the service interprets the payload. If no service answers, the hook starts one without waiting
for it, and `palazzo.client.offline_hook` does what is possible without a service. If the service is switched off,
`palazzo.hosts.hook_process` runs the operation in this process. Standard library only, and as little of it as possible:
hosts wait for this on every prompt and every tool call.
"""

from __future__ import annotations

import os
import time

from palazzo import __version__
from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

NOTHING = b"{}\n"
"""The empty answer: every host accepts it, except Claude Code before a compaction."""
LARGEST = 10 << 20
"""Maximum bytes of a payload that are forwarded."""
_DEADLINE_SECONDS = 1.0
"""Maximum seconds from start to end of this program in all cases; hosts wait ten times as long, but must not have
to.
"""
_TO_SPARE = 0.1
"""Seconds of it that are reserved for returning the answer."""
_OWN_PROCESS_SECONDS = 1.5
"""The same for a hook that does the work in its own process: it first loads the engine, which takes 0.3 s."""
_CAPTURE_SECONDS = 8.0
"""The same for a hook that reads the new lines of a transcript in its own process. Hosts wait 10 s."""
_SESSION_END_SECONDS = 2.5
"""The same at a session's end, for which Codex waits 3 s, and at the end of a turn in OpenCode."""
_COMPACTION_SECONDS = 10.0
"""Maximum seconds before a compaction, in which the session is captured or the compaction is held back. Hosts wait 60
s.
"""
_HOLD_BACK_SECONDS = 1.5
"""Seconds of these that are reserved for the answer that holds it back if the service does not answer."""
_COMPACTIONS = ("pre-compact", "PreCompact", "PreCompress")
_ENDS = ("session-end", "SessionEnd", "sessionEnd")
_TURN_ENDS = ("stop", "subagent-stop", "Stop", "SubagentStop", "agentStop", "AfterAgent")
_GREETING_OK = b'"ok":true'
HELP = """\
usage: palazzo hook HOST EVENT [--palace PATH]

Answer one event of an agent's session. Hosts run this: 'palazzo install HOST'
writes it into their settings. The host's JSON is read from standard input, and
JSON that the host understands is printed. The exit code is always 0.

"""


def main(arguments: list[str]) -> int:
    """Answer one event: `hook HOST EVENT [--palace PATH]`; return 0."""
    began = time.monotonic()
    has_answered = [False]
    if "--help" in arguments or "-h" in arguments:
        return _end((HELP + _known_events()).encode(), has_answered)
    host, event, palace = parse_arguments(arguments)
    variables = os.environ
    is_alone = not rpc.is_wanted(variables)
    seconds = _seconds_for(host, event, is_alone)
    _be_in_time(seconds + (_TO_SPARE if is_alone else 0), _format_output(host, event, NOTHING), has_answered)
    if is_off(variables):
        return _end(_format_output(host, event, NOTHING), has_answered)
    problem = _name_problem(host, event)
    if problem:
        return _refuse(host, event, problem, palace, variables, has_answered)
    payload = read_all()
    try:
        if is_alone:
            process = _hook_process()  # first: what its import takes is no longer there for the work
            seconds_left = seconds - _TO_SPARE - (time.monotonic() - began)
            answer = process.answer(host, event, payload, palace, variables, seconds_left)
        else:
            answer = answer_of(host, event, payload, palace, variables, began)
    except Exception as error:  # noqa: BLE001 - an agent must not stop because of its memory; the log names the error
        if is_alone or not isinstance(error, (ServiceUnavailable, OSError)):
            problem = f"palazzo hook: failed ({type(error).__name__}). See 'palazzo doctor'."
            _report(host, event, problem, palace, variables)
        answer = _answer_without_service(host, event, payload, palace, variables, began)
    return _end(_format_output(host, event, answer), has_answered)


def _seconds_for(host: str, event: str, is_alone: bool) -> float:
    """Return how many seconds a hook may take, from its first line to its end."""
    if event in _COMPACTIONS:
        return _COMPACTION_SECONDS
    if not is_alone:
        return _DEADLINE_SECONDS
    if event in _ENDS or (event in _TURN_ENDS and host == "opencode"):
        return _SESSION_END_SECONDS
    return _CAPTURE_SECONDS if event in _TURN_ENDS else _OWN_PROCESS_SECONDS


def _hook_process() -> ModuleType:
    """Import `palazzo.hosts.hook_process` by name: it belongs to a higher layer than this module."""
    from importlib import import_module

    from palazzo.client import keyword_answers

    keyword_answers.find_packages()
    return import_module("palazzo.hosts.hook_process")


def _format_output(host: str, event: str, answer: bytes) -> bytes:
    """Return what to print: nothing for an empty answer that Claude Code would put into a summary's prompt."""
    return b"" if answer == NOTHING and host == "claude-code" and event in _COMPACTIONS else answer


# --- unknown names -----------------------------------------------------------------------------------------


def _name_problem(host: str, event: str) -> str:
    """Return why the names of a host and an event are refused; '' if both are known."""
    from palazzo.client import hook_log

    if hook_log.is_known(host, event):
        return ""
    if not host or host not in hook_log.EVENTS:
        problem = f"{host[:40]!r} is not a known host" if host else "no host is named"
        return f"palazzo hook: {problem}. Known hosts: {', '.join(hook_log.EVENTS)}."
    problem = f"{event[:40]!r} is not an event of {host}" if event else "no event is named"
    return f"palazzo hook: {problem}. Its events: {', '.join(sorted(hook_log.EVENTS[host].split()))}."


def _known_events() -> str:
    from palazzo.client import hook_log

    names = sorted({name for names in hook_log.EVENTS.values() for name in names.split() if name.islower()})
    half = len(names) // 2
    lines = [f"hosts: {', '.join(hook_log.EVENTS)}", "events, or the host's own names for them:"]
    return "\n".join([*lines, f"  {', '.join(names[:half])},", f"  {', '.join(names[half:])}", ""])


def _refuse(
    host: str, event: str, problem: str, palace: str | None, variables: Mapping[str, str], has_answered: list[bool]
) -> int:
    """Report the problem, and give the host an empty answer."""
    _report(host, event, problem if host else f"{HELP}{problem}", palace, variables)
    if not os.isatty(0):
        read_all()  # a host may fail if nothing reads its input; the timer ends a read that the host keeps open
    return _end(_format_output(host, event, NOTHING), has_answered)


def parse_arguments(arguments: list[str]) -> tuple[str, str, str | None]:
    """Return the host, the event and the palace of a command line; missing ones are empty."""
    words: list[str] = []
    palace: str | None = None
    rest = iter(arguments)
    for word in rest:
        option, has_value, value = word.partition("=")
        if option == "--palace":
            palace = value if has_value else next(rest, "")
        else:
            words.append(word)
    words = [*words[1:3], "", ""]
    return words[0], words[1], palace or None


def is_off(variables: Mapping[str, str]) -> bool:
    """Return whether the person has disabled everything."""
    return (variables.get("PALAZZO_OFF") or "").strip().lower() in ("1", "true", "yes", "on")


def read_all() -> bytes:
    """Return the host's standard input, up to its end or to the limit of what is passed on."""
    pieces: list[bytes] = []
    size = 0
    while size <= LARGEST:
        try:
            piece = os.read(0, 1 << 16 if size < 1 << 18 else 1 << 20)
        except OSError:
            break  # there is no standard input
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def answer_of(
    host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str], began: float
) -> bytes:
    """Return the service's answer; raises OSError, ValueError or ServiceUnavailable if there is none.

    The service receives the time limit: an answer finished too late would count as shown, but be shown to no one.
    """
    cwd = os.getcwd()
    address = rpc.address(rpc.chosen_palace(palace, variables, cwd), variables)
    reserve = _HOLD_BACK_SECONDS if event in _COMPACTIONS else _TO_SPARE
    seconds_left = _seconds_for(host, event, False) - (time.monotonic() - began) - reserve
    if seconds_left <= 0:
        raise ServiceUnavailable("There is no time left to call the service.")
    socket = rpc.reach(address, seconds_left)
    try:
        around = rpc.surroundings(cwd, variables)
        socket.sendall(_hello(address, host, event, len(payload), int(seconds_left * 1_000), around) + payload)
        response = b""
        while piece := socket.recv(1 << 16):
            response += piece
    finally:
        socket.close()
    header, _, answer = response.partition(b"\n")
    if _GREETING_OK not in header.replace(b" ", b"") or not answer.endswith(b"\n"):
        raise ServiceUnavailable("The service does not answer hooks.")
    return answer


def _hello(
    address: rpc.Address, host: str, event: str, length: int, timeout_ms: int, surroundings: Mapping[str, object]
) -> bytes:
    handshake = {
        "palazzo": rpc.PROTOCOL,
        "version": __version__,
        "build": "",
        "want": "hook",
        "host": host,
        "event": event,
        "length": length,
        "within_ms": timeout_ms,
        "surroundings": surroundings,
        **rpc.token(address),
    }
    return encode_json(handshake).encode("ascii") + b"\n"


def encode_json(value: object) -> str:
    """Return texts, numbers and objects of them as JSON, without the 8 ms that importing `json` takes."""
    from _json import encode_basestring_ascii as quoted

    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(str(name))}:{encode_json(member)}" for name, member in value.items()) + "}"
    return str(value) if isinstance(value, int) else quoted(str(value))


# --- without a service -------------------------------------------------------------------------------------


def _answer_without_service(
    host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str], began: float
) -> bytes:
    """Start a service for the next time, leave a pointer to the transcript, and answer.

    A compaction cannot wait for the next time: this process captures the session.
    """
    try:
        from palazzo.client import offline_hook

        answer = offline_hook.answer(host, event, payload, palace, variables)
        if event not in _COMPACTIONS:
            return answer
        process = _hook_process()
        seconds_left = _COMPACTION_SECONDS - _TO_SPARE - (time.monotonic() - began)
        if seconds_left > 2 * _HOLD_BACK_SECONDS:
            answer = process.answer(host, event, payload, palace, variables, seconds_left - _TO_SPARE)
        else:
            problem = "Palazzo's service does not answer. See 'palazzo service status'."
            answer = process.fault_answer(host, event, payload, palace, variables, problem)
        return bytes(answer)
    except Exception as error:  # noqa: BLE001 - an agent must not stop because of its memory; the log names the error
        _log(host, event, f"it failed without a service ({type(error).__name__})", palace, variables)
        return NOTHING


def _report(host: str, event: str, problem: str, palace: str | None, variables: Mapping[str, str]) -> None:
    """Write a problem to standard error and to the log."""
    try:
        os.write(2, f"{problem}\n".encode("utf-8", "replace"))
    except OSError:
        pass  # there is no standard error
    _log(host, event, problem, palace, variables)


def _log(host: str, event: str, problem: str, palace: str | None, variables: Mapping[str, str]) -> None:
    from palazzo.client import hook_log

    try:
        hook_log.note(host, event, problem, rpc.chosen_palace(palace, variables), variables)
    except OSError:
        return  # the working directory is gone, so no log can be found


# --- in time -----------------------------------------------------------------------------------------------


def _be_in_time(seconds: float, nothing: bytes, has_answered: list[bool]) -> None:
    """End this process after that many seconds with an empty answer, whatever it is doing."""

    def end(number: int, frame: object) -> None:
        if not has_answered[0]:
            _write(nothing)
        os._exit(0)

    import _signal  # type: ignore[import-not-found]  # as `signal`, without the ten milliseconds of its enumerations

    if hasattr(_signal, "setitimer"):
        import atexit

        _signal.signal(_signal.SIGALRM, end)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)
        # Python's last steps run without handlers: a signal then would kill a hook that has answered
        atexit.register(_signal.setitimer, _signal.ITIMER_REAL, 0)


def _end(answer: bytes, has_answered: list[bool]) -> int:
    has_answered[0] = True
    _write(answer)
    return 0


def _write(answer: bytes) -> None:
    rest = memoryview(answer)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except OSError:
        return  # the host has gone: there is nobody to tell
