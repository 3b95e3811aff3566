"""`palazzo hook HOST EVENT`: passes a host's event to the service and prints the answer. Exits with 0, in time.

    {"palazzo": 1, "want": "hook", "host": …, "event": …, "length": N, "within_ms": …, "surroundings": {…}}, payload
    {"palazzo": 1, "ok": true, …}, the bytes to print

It reads no JSON: only the service interprets the payload. If no service runs, the hook starts one. At a session's start
and for a prompt it waits for that service (`palazzo.client.service_wait`); other events, and those that waited in vain,
go to the spool (`palazzo.client.offline_hook`). If the service is switched off, `palazzo.faces.hooks.hook_process` runs
the operation in this process. Standard library only, and as little of it as possible: hosts wait for this on every
prompt and every tool call.
"""

from __future__ import annotations

import os
import time

from palazzo import __version__, host_names, paths
from palazzo.client import rpc
from palazzo.errors import ServiceUnavailable, UsageError

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
_START_SECONDS = 1.5
"""The same at a session's start and for a prompt: the service may have to be started, and has 0.7 s for that."""
_SPOOL_SECONDS = 0.2
"""Seconds of these that are reserved for leaving the event in the spool, if the service is not ready by then."""
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
PLAIN_TEXT = {"kiro": "context"}
"""Hosts that put whatever a hook prints before the model, and the field of an answer whose words they get."""
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
    nothing = _format_output(host, event, NOTHING)
    _be_in_time(seconds + (_TO_SPARE if is_alone else 0), nothing, has_answered)
    if is_off(variables):
        return _end(nothing, has_answered)
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
            answer = _ask_service(host, event, payload, palace, variables, began)
    except Exception as error:  # noqa: BLE001 - an agent must not stop because of its memory; the log names the error
        if is_alone or not isinstance(error, (ServiceUnavailable, OSError)):
            problem = f"palazzo hook: failed ({type(error).__name__}). See 'palazzo doctor'."
            _report(host, event, problem, palace, variables)
        answer = _answer_without_service(host, event, payload, palace, variables, began)
    return _end(_format_output(host, event, answer), has_answered)


def _seconds_for(host: str, event: str, is_alone: bool) -> float:
    """Return how many seconds a hook may take, from its first line to its end."""
    kind = host_names.event_of(host, event)
    is_turn_end = kind in ("stop", "subagent-stop")
    if kind == "pre-compact":
        return _COMPACTION_SECONDS
    if not is_alone:
        return _START_SECONDS if _waits_for_start(host, event) else _DEADLINE_SECONDS
    if kind == "session-end" or (is_turn_end and host in ("opencode", "kilo-code")):
        return _SESSION_END_SECONDS
    return _CAPTURE_SECONDS if is_turn_end else _OWN_PROCESS_SECONDS


def _waits_for_start(host: str, event: str) -> bool:
    """Return whether a session needs the answer to this event, so that its hook waits for a service that starts."""
    return host_names.event_of(host, event) in ("session-start", "prompt")


def _is_compaction(host: str, event: str) -> bool:
    return host_names.event_of(host, event) == "pre-compact"


def _hook_process() -> ModuleType:
    """Import `palazzo.faces.hooks.hook_process` by name: it belongs to a higher layer than this module."""
    from importlib import import_module

    paths.find_packages()
    return import_module("palazzo.faces.hooks.hook_process")


def _format_output(host: str, event: str, answer: bytes) -> bytes:
    """Return what to print: nothing for an empty answer that a host would put before the model.

    Claude Code does so before a compaction, into a summary's prompt. `mempalace hook run` sets the profile, and its
    contract is that each answer is an object.
    """
    if host in PLAIN_TEXT:
        return b"" if answer == NOTHING else _extract_words(answer, PLAIN_TEXT[host])
    is_unwanted = (
        host == "claude-code" and _is_compaction(host, event) and os.environ.get("PALAZZO_PROFILE") != "mempalace"
    )
    return b"" if answer == NOTHING and is_unwanted else answer


def _extract_words(answer: bytes, field: str) -> bytes:
    """Return the words of one field of an answer; nothing if it is not there."""
    import json

    words = json.loads(answer).get(field, "")
    return f"{words}\n".encode("utf-8", "replace") if words else b""


# --- unknown names -----------------------------------------------------------------------------------------


def _name_problem(host: str, event: str) -> str:
    """Return why the names of a host and an event are refused; '' if both are known."""
    if host_names.event_of(host, event):
        return ""
    if not host or host not in host_names.EVENTS:
        problem = f"{host[:40]!r} is not a known host" if host else "no host is named"
        return f"palazzo hook: {problem}. Known hosts: {', '.join(host_names.EVENTS)}."
    problem = f"{event[:40]!r} is not an event of {host}" if event else "no event is named"
    return f"palazzo hook: {problem}. Its events: {', '.join(sorted(host_names.EVENTS[host]))}."


def _known_events() -> str:
    names = sorted({event for events in host_names.EVENTS.values() for event in events.values()})
    half, hosts = len(names) // 2, [*host_names.EVENTS]
    lines = [
        f"hosts: {', '.join(hosts[:7])},",
        f"  {', '.join(hosts[7:])}",
        "events, or the host's own names for them:",
    ]
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
    """Return the host's standard input, up to its end or to one byte beyond the limit, which says that it is longer."""
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
    return b"".join(pieces)[: LARGEST + 1]  # the service reads no more, and a rest would break the connection


def _ask_service(
    host: str,
    event: str,
    payload: bytes,
    palace: str | None,
    variables: Mapping[str, str],
    began: float,
) -> bytes:
    """Return the service's answer; if none runs, start one and wait for it, where the event allows that."""
    waits = _waits_for_start(host, event)
    reserve = _HOLD_BACK_SECONDS if _is_compaction(host, event) else _SPOOL_SECONDS if waits else _TO_SPARE
    deadline = began + _seconds_for(host, event, False) - reserve

    def ask() -> bytes:
        return answer_of(host, event, payload, palace, variables, deadline)

    try:
        return ask()
    except (OSError, ServiceUnavailable):
        if not waits or time.monotonic() >= deadline:
            raise
    from palazzo.client import service_wait

    address = rpc.address(rpc.chosen_palace(palace, variables), variables)
    return service_wait.ask_started_service(address, variables, ask, deadline)


def answer_of(
    host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str], deadline: float
) -> bytes:
    """Return the service's answer; raises OSError, ValueError or ServiceUnavailable if there is none.

    The service receives the time that is left until the monotonic time `deadline`: an answer finished too late would
    count as shown, but be shown to no one.
    """
    cwd = paths.working_directory()
    address = rpc.address(rpc.chosen_palace(palace, variables, cwd), variables)
    seconds_left = deadline - time.monotonic()
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
    """Start a service for the next time, leave the event in the spool, and answer.

    A compaction cannot wait for the next time: this process captures the session.
    """
    try:
        from palazzo.client import offline_hook

        answer = offline_hook.answer(host, event, payload, palace, variables, _waits_for_start(host, event))
        if not _is_compaction(host, event):
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
    except (OSError, UsageError):
        return  # a palace named by a relative path, in a directory that was deleted


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
