"""`palazzo hook HOST EVENT`: hands what a host tells of to the service, and its answer back. It ends with 0, in time.

    {"palazzo": 1, "want": "hook", "host": …, "event": …, "length": N, "within_ms": …, "surroundings": {…}}, payload
    {"palazzo": 1, "ok": true, …}, the bytes to print

It reads no JSON: the payload is the service's to understand. Where no service answers, one is started and not waited
for, and `palazzo.alone` does what can be done without. Standard library only, and as little of it as can be: hosts wait
for this on every prompt and every call of a tool.
"""

from __future__ import annotations

import os
import time

from palazzo import __version__, client
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING = b"{}\n"
"""Nothing to add: every host takes it, but for Claude Code before a compaction."""
LARGEST = 10 << 20
"""Bytes of a payload that are passed on."""
_WITHIN = 1.0
"""Seconds from the first line of this to its end, whatever happens; hosts wait ten times as long, and are not to."""
_TO_SPARE = 0.1
"""Seconds of it that are kept for the answer's way back."""
_CAPTURES_WITHIN = 30.0
"""Seconds for what must be kept before a host goes on: it is compacting, or its session has just ended a turn."""
_LONG = ("pre-compact", "PreCompact", "PreCompress")
_GREETED = b'"ok":true'


def main(arguments: list[str]) -> int:
    """Answer one event: `hook HOST EVENT [--palace PATH]`; return 0."""
    began = time.monotonic()
    answered = [False]
    host, event, palace = asked(arguments)
    _be_in_time(_CAPTURES_WITHIN if event in _LONG else _WITHIN, _printed(host, event, NOTHING), answered)
    variables = os.environ
    if is_off(variables):
        return _end(_printed(host, event, NOTHING), answered)
    payload = read_all()
    try:
        answer = answer_of(host, event, payload, palace, variables, began)
    except (OSError, ValueError, ServiceUnavailable):
        answer = _without(host, event, payload, palace, variables)
    return _end(_printed(host, event, answer), answered)


def _printed(host: str, event: str, answer: bytes) -> bytes:
    """What is written of an answer: of nothing, nothing, where Claude Code would put it into a summary's prompt."""
    return b"" if answer == NOTHING and host == "claude-code" and event in _LONG else answer


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
    if not client.is_wanted(variables):
        raise ServiceUnavailable("Background processes are off.")
    here = os.getcwd()
    where = client.address(client.chosen_palace(palace, variables, here), variables)
    within = (_CAPTURES_WITHIN if event in _LONG else _WITHIN) - (time.monotonic() - began) - _TO_SPARE
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


def _without(host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str]) -> bytes:
    """What can be done alone: start a service for the next time, keep a pointer to what is to be read, and answer."""
    try:
        from palazzo import alone

        return alone.answer(host, event, payload, palace, variables)
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
