"""`palazzo hook HOST EVENT`: hands what a host tells of to the service, and its answer back. It ends with 0, in time.

    {"palazzo": 1, "want": "hook", "host": …, "event": …, "length": N, "within_ms": …, "surroundings": {…}}, payload
    {"palazzo": 1, "ok": true, …}, the bytes to print

It reads no JSON: the payload is the service's to understand. Where no service answers, one is started and not waited
for, and `palazzo.alone` does what can be done without. Where none is wanted, `palazzo.hook_process` runs the operation
in this process. Standard library only, and as little of it as can be: hosts wait for this on every prompt and every
call of a tool.
"""

from __future__ import annotations

import os
import time

from palazzo import __version__, client
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

NOTHING = b"{}\n"
"""Nothing to add: every host takes it, but for Claude Code before a compaction."""
LARGEST = 10 << 20
"""Bytes of a payload that are passed on."""
_WITHIN = 1.0
"""Seconds from the first line of this to its end, whatever happens; hosts wait ten times as long, and are not to."""
_TO_SPARE = 0.1
"""Seconds of it that are kept for the answer's way back."""
_ALONE_WITHIN = 1.5
"""The same where the hook does the work in its own process: it loads the engine first, which takes 0.3 s."""
_CAPTURES_ALONE_WITHIN = 8.0
"""The same for reading what is new in a transcript. Hosts wait 10 s."""
_ENDS_ALONE_WITHIN = 2.5
"""The same at a session's end, for which Codex waits 3 s; and for the ends of turns where the host waits as long."""
_COMPACTS_WITHIN = 10.0
"""Seconds before a compaction, in which the session is kept, or the compaction is held back. Hosts wait 60 s."""
_TO_HOLD_BACK = 1.5
"""Seconds of it that are kept for saying that it is held back, where the service does not answer."""
_COMPACTIONS = ("pre-compact", "PreCompact", "PreCompress")
_ENDS = ("session-end", "SessionEnd", "sessionEnd")
_TURN_ENDS = ("stop", "subagent-stop", "Stop", "SubagentStop", "agentStop", "AfterAgent")
_GREETED = b'"ok":true'
HELP = """\
usage: palazzo hook HOST EVENT [--palace PATH]

Answer one event of an agent's session. Hosts run this: 'palazzo install HOST'
writes it into their settings. The host's JSON is read from standard input, and
JSON that the host understands is printed. The exit code is always 0.

"""


def main(arguments: list[str]) -> int:
    """Answer one event: `hook HOST EVENT [--palace PATH]`; return 0."""
    began = time.monotonic()
    answered = [False]
    if "--help" in arguments or "-h" in arguments:
        return _end((HELP + _known_events()).encode(), answered)
    host, event, palace = asked(arguments)
    variables = os.environ
    is_alone = not client.is_wanted(variables)
    seconds = _seconds_for(host, event, is_alone)
    _be_in_time(seconds + (_TO_SPARE if is_alone else 0), _printed(host, event, NOTHING), answered)
    if is_off(variables):
        return _end(_printed(host, event, NOTHING), answered)
    problem = _unknown(host, event)
    if problem:
        return _refuse(host, event, problem, palace, variables, answered)
    payload = read_all()
    try:
        if is_alone:
            left = seconds - _TO_SPARE - (time.monotonic() - began)
            answer = _own_process().answer(host, event, payload, palace, variables, left)
        else:
            answer = answer_of(host, event, payload, palace, variables, began)
    except Exception:  # noqa: BLE001 - whatever it is, the agent works on
        answer = _without(host, event, payload, palace, variables, began)
    return _end(_printed(host, event, answer), answered)


def _seconds_for(host: str, event: str, is_alone: bool) -> float:
    """How long a hook may take, from its first line to its end."""
    if event in _COMPACTIONS:
        return _COMPACTS_WITHIN
    if not is_alone:
        return _WITHIN
    if event in _ENDS or (event in _TURN_ENDS and host == "opencode"):
        return _ENDS_ALONE_WITHIN
    return _CAPTURES_ALONE_WITHIN if event in _TURN_ENDS else _ALONE_WITHIN


def _own_process() -> ModuleType:
    """The engine in this process. It is imported by name, since it stands on floors above this one."""
    from importlib import import_module

    from palazzo import unaided

    unaided.find_packages()
    return import_module("palazzo.hook_process")


def _printed(host: str, event: str, answer: bytes) -> bytes:
    """What is written of an answer: of nothing, nothing, where Claude Code would put it into a summary's prompt."""
    return b"" if answer == NOTHING and host == "claude-code" and event in _COMPACTIONS else answer


# --- what is not known -------------------------------------------------------------------------------------


def _unknown(host: str, event: str) -> str:
    """What is wrong with the names of a host and an event; empty where both are known."""
    from palazzo import hook_log

    if hook_log.is_known(host, event):
        return ""
    if not host or host not in hook_log.EVENTS:
        named = f"{host[:40]!r} is not a known host" if host else "no host is named"
        return f"palazzo hook: {named}. Known hosts: {', '.join(hook_log.EVENTS)}."
    named = f"{event[:40]!r} is not an event of {host}" if event else "no event is named"
    return f"palazzo hook: {named}. Its events: {', '.join(sorted(hook_log.EVENTS[host].split()))}."


def _known_events() -> str:
    from palazzo import hook_log

    ours = sorted({name for names in hook_log.EVENTS.values() for name in names.split() if name.islower()})
    half = len(ours) // 2
    lines = [f"hosts: {', '.join(hook_log.EVENTS)}", "events, or the host's own names for them:"]
    return "\n".join([*lines, f"  {', '.join(ours[:half])},", f"  {', '.join(ours[half:])}", ""])


def _refuse(
    host: str, event: str, problem: str, palace: str | None, variables: Mapping[str, str], answered: list[bool]
) -> int:
    """Say what is wrong on standard error and in the log, and give the host an empty answer."""
    from palazzo import hook_log

    try:
        os.write(2, (HELP if not host else f"{problem}\n").encode("utf-8", "replace"))
        hook_log.note(host, event, problem, client.chosen_palace(palace, variables), variables)
    except OSError:
        pass  # there is no standard error, or no directory: the host is answered all the same
    if not os.isatty(0):
        read_all()  # a host may not expect that its input is refused; one that keeps it open is waited for no longer
    return _end(_printed(host, event, NOTHING), answered)


def asked(arguments: list[str]) -> tuple[str, str, str | None]:
    """Return the host, the event and the palace that a command line names; what is missing is empty."""
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
    """Whether the person has switched all of it off."""
    return (variables.get("PALAZZO_OFF") or "").strip().lower() in ("1", "true", "yes", "on")


def read_all() -> bytes:
    """Return what the host writes to standard input, to its end or to more than is passed on."""
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
    """Return what the service answers; OSError, ValueError or ServiceUnavailable where none does.

    It is told how long it has: what it finished too late would count as told, and be shown to nobody.
    """
    here = os.getcwd()
    where = client.address(client.chosen_palace(palace, variables, here), variables)
    to_spare = _TO_HOLD_BACK if event in _COMPACTIONS else _TO_SPARE
    within = _seconds_for(host, event, False) - (time.monotonic() - began) - to_spare
    if within <= 0:
        raise ServiceUnavailable("There is no time left to ask.")
    socket = client.reach(where, within)
    try:
        around = client.surroundings(here, variables)
        socket.sendall(_hello(where, host, event, len(payload), int(within * 1_000), around) + payload)
        received = b""
        while piece := socket.recv(1 << 16):
            received += piece
    finally:
        socket.close()
    greeting, _, answer = received.partition(b"\n")
    if _GREETED not in greeting.replace(b" ", b"") or not answer.endswith(b"\n"):
        raise ServiceUnavailable("The service does not answer hooks.")
    return answer


def _hello(
    where: client.Address, host: str, event: str, length: int, within: int, surroundings: Mapping[str, object]
) -> bytes:
    told = {
        "palazzo": client.PROTOCOL,
        "version": __version__,
        "build": "",
        "want": "hook",
        "host": host,
        "event": event,
        "length": length,
        "within_ms": within,
        "surroundings": surroundings,
        **client.token(where),
    }
    return encoded(told).encode("ascii") + b"\n"


def encoded(value: object) -> str:
    """Return texts, numbers and objects of them as JSON, without the eight milliseconds that `json` takes to import."""
    from _json import encode_basestring_ascii as quoted

    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(str(name))}:{encoded(one)}" for name, one in value.items()) + "}"
    return str(value) if isinstance(value, int) else quoted(str(value))


# --- without a service -------------------------------------------------------------------------------------


def _without(
    host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str], began: float
) -> bytes:
    """What can be done alone: start a service for the next time, keep a pointer to what is to be read, and answer.

    A compaction does not wait for the next time: the session is kept in this process.
    """
    try:
        from palazzo import alone

        answer = alone.answer(host, event, payload, palace, variables)
        if event not in _COMPACTIONS:
            return answer
        left = _COMPACTS_WITHIN - _TO_SPARE - (time.monotonic() - began)
        if left > 2 * _TO_HOLD_BACK:
            answer = _own_process().answer(host, event, payload, palace, variables, left - _TO_SPARE)
        else:
            problem = "Palazzo's service does not answer. 'palazzo service status' says more."
            answer = _own_process().fault_answer(host, event, payload, palace, variables, problem)
        return bytes(answer)
    except Exception:  # noqa: BLE001 - whatever it is, the agent works on
        return NOTHING


# --- in time -----------------------------------------------------------------------------------------------


def _be_in_time(seconds: float, nothing: bytes, answered: list[bool]) -> None:
    """End this process after so many seconds with nothing to add, wherever it is."""

    def end(number: int, frame: object) -> None:
        if not answered[0]:
            _write(nothing)
        os._exit(0)

    import _signal  # type: ignore[import-not-found]  # as `signal`, without the ten milliseconds of its enumerations

    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, end)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _end(answer: bytes, answered: list[bool]) -> int:
    answered[0] = True
    _write(answer)
    return 0


def _write(answer: bytes) -> None:
    rest = memoryview(answer)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except OSError:
        return  # the host has gone: there is nobody to tell
