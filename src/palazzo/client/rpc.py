"""The client of the warm process: its address, a connection to it, and starting it.

    there = address(chosen_palace(None, os.environ), os.environ)
    with ensure_service(there, os.environ, {"want": "calls"}) as stream:
        stream.send({"id": 1, "operation": "status", "request": {}})
        answer = stream.read()

This module defines the first line of either side, and how a service is started. `palazzo.client.service_address`
defines where it listens, `palazzo.client.jsonl` how lines are sent, and `palazzo.daemon` is the other end. It uses
the standard library only and is imported in a few milliseconds (so no pathlib, json, socket or subprocess): hosts start
a client for every session, and for every call of a hook.

Both sides write lines of JSON. The client's first line says who it is and what it wants (`"calls"` or `"mcp"`); the
service's answer is `{"palazzo": 1, "ok": true, "version": …, "pid": …}` or `{"ok": false, "reason": …}`. A service
whose client is newer gives way: it stops listening, finishes the work that it has begun and ends, and the client starts
another.
"""

from __future__ import annotations

import os
import sys
import time

from palazzo import __version__, host_names, paths
from palazzo.client.jsonl import Stream, peer_uid
from palazzo.client.service_address import Address as Address
from palazzo.client.service_address import address as address
from palazzo.client.service_address import check_directory as check_directory
from palazzo.client.service_address import make_directory as make_directory
from palazzo.errors import ServiceUnavailable, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    Tell = Callable[[Mapping[str, Any]], object]

PROTOCOL = 1
GIVING_WAY = "giving way"
"""The reason that a service gives when it refuses a client that is newer than itself."""
PATIENCE = 10.0
"""Maximum seconds of waiting for a started service, where waiting is allowed."""
_ANSWERS_WITHIN = 5.0
"""Seconds within which a service answers the first line. It answers before any other work, so a longer wait is
useless.
"""
_LOOK_AGAIN = 0.02
"""Seconds between two checks for a service that is starting."""
_START_AGAIN = 1.0
"""Seconds after which another service is started if none holds the lock: the previous one may have lost a race, or
died.
"""
_PASSED = frozenset([
    *("HOME", "TZ", "LANG", "LANGUAGE", "NO_COLOR", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "AI_AGENT"),
    *("MEMPAL_DIR", "MEMPALACE_AGENT_NAME"),
    *(*host_names.AGENT_VARIABLES, *host_names.SESSION_VARIABLES, *host_names.OWN_VARIABLES),
])  # fmt: skip
_PASSED_FROM = ("PALAZZO_", "XDG_", "LC_", "CLAUDE_PLUGIN_OPTION_")
"""Prefixes of variables that an operation may read: the client's values apply to its calls."""
_PLUGINS_PALACE = "CLAUDE_PLUGIN_OPTION_PALACE"
"""The variable in which Claude Code passes the user's setting for Palazzo's plugin; `unset` means no value
(`settings/setting_layers`).
"""
_WINDOWS = sys.platform == "win32"


class GivingWay(ServiceUnavailable):
    """The service is older than this client, and has just stopped listening."""


# --- which palace, and where its service listens ---------------------------------------------------------------


def chosen_palace(palace: str | None, variables: Mapping[str, str], cwd: str | None = None) -> str:
    """Return the absolute path of the palace file: the named one, the environment's, the settings', the default.

    A path is used exactly as written, whatever characters it has: if it cannot be a palace, opening it fails, and
    nothing is written to the default when another one was named.
    """
    in_environment = _named_by(variables, "PALAZZO_PALACE") or _named_by(variables, _PLUGINS_PALACE)
    setting: object = palace or in_environment or _setting(variables, "palace")
    place = setting if isinstance(setting, str) and setting else os.path.join(paths.data_place(variables), "palace.db")
    path = os.path.expanduser(place)
    if not os.path.isabs(path):
        cwd = cwd or paths.working_directory()
        if cwd == paths.DELETED_DIRECTORY:
            raise UsageError(paths.NO_DIRECTORY.format(path=path))
        path = os.path.join(cwd, path)
    if os.path.isdir(path) and os.path.basename(path) != "palace.db":
        return os.path.join(path, "palace.db")
    return os.path.normpath(path)


def is_wanted(variables: Mapping[str, str]) -> bool:
    """Return whether the user allows background processes: `PALAZZO_SERVICE`, else the setting `service`."""
    value = _variable(variables, "PALAZZO_SERVICE").lower()
    if value in ("true", "on", "yes", "1"):
        return True
    if value in ("false", "off", "no", "0"):
        return False
    return _setting(variables, "service") not in (False, "false", "off", "no", "0")


def _named_by(variables: Mapping[str, str], variable: str) -> str:
    value = variables.get(variable) or ""
    return "" if value.isspace() or (value == "unset" and variable == _PLUGINS_PALACE) else value


def _variable(variables: Mapping[str, str], name: str) -> str:
    value = (variables.get(name) or "").strip()
    return value if value.isprintable() else ""


def _setting(variables: Mapping[str, str], name: str) -> object:
    """Return the value in the user's settings file, parsed as TOML only if it contains the name; None if unset."""
    try:
        with open(os.path.join(paths.config_place(variables), "config.toml"), "rb") as file:
            raw = file.read(256 * 1024)
    except OSError:
        return None
    if name.encode() not in raw:
        return None
    import tomllib

    try:
        value = tomllib.loads(raw.decode("utf-8-sig", "replace")).get(name)
    except (ValueError, RecursionError):
        return None  # `palazzo settings` says what is wrong with the file; nothing in it is used
    if isinstance(value, str):
        return (value if name == "palace" else value.strip()) if value.strip() else None
    return value if isinstance(value, bool) else None


# --- who is newer ----------------------------------------------------------------------------------------------


def build() -> str:
    """Return a stamp of the code that is installed here: the time of its last change, and the number of its files.

    For an installed package only one file is checked; for a working directory, all files.
    """
    package = os.path.join(paths.import_root(), "palazzo")
    if os.path.basename(os.path.dirname(package)) in ("site-packages", "dist-packages"):
        return f"{os.stat(__file__).st_mtime_ns}.1"
    newest = count = 0
    directories = [package]
    while directories:
        with os.scandir(directories.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    newest, count = max(newest, entry.stat().st_mtime_ns), count + 1
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    directories.append(entry.path)
    return f"{newest}.{count}"


def is_newer(version: str, stamp: str, than_version: str, than_stamp: str) -> bool:
    """Return whether one build is newer than another: by version, then by the time of the last code change."""
    return (_numbers(version), _numbers(stamp)) > (_numbers(than_version), _numbers(than_stamp))


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version or a stamp, for comparison; pre-releases sort before their release."""
    for rank, mark in enumerate(("dev", "a", "b", "rc")):
        text = text.replace(mark, f".{rank - 4}.")
    return (*(int(part) for part in text.split(".") if part.lstrip("-").isdecimal()), 0)


# --- a connection ----------------------------------------------------------------------------------------------


def connect(endpoint: Address, hello: Mapping[str, Any], seconds: float = _ANSWERS_WITHIN) -> Stream:
    """Return a connection to the service that listens at `endpoint`, after both sides have identified themselves.

    `hello` says what is wanted: `{"want": "calls"}` or `{"want": "mcp", …}`; version and build are this package's
    unless it names others; with `"any": true` an older service is accepted. Raises GivingWay if the service is older,
    ServiceUnavailable if none answers.
    """
    stream, _ = greet(endpoint, hello, seconds)
    stream.socket.settimeout(None)
    return stream


def greet(
    endpoint: Address, hello: Mapping[str, Any], seconds: float = _ANSWERS_WITHIN
) -> tuple[Stream, dict[str, Any]]:
    """Return a connection as `connect` does, with the service's answer; reading from it times out after `seconds`."""
    try:
        stream = Stream(reach(endpoint, seconds))
    except OSError as error:
        raise ServiceUnavailable(f"No service is running for {endpoint.palace} ({error.strerror or error}).") from error
    try:
        stream.send({"palazzo": PROTOCOL, "version": __version__, "build": build(), **token(endpoint), **hello})
        answer = stream.read()
    except (OSError, ValueError) as error:
        stream.close()
        raise ServiceUnavailable(f"The service of {endpoint.palace} does not answer ({error}).") from error
    if answer is not None and answer.get("ok") is True:
        return stream, answer
    stream.close()
    reason = str((answer or {}).get("reason") or "it has just stopped")
    if reason == GIVING_WAY:
        raise GivingWay(f"The service of {endpoint.palace} is an older version and is shutting down.")
    raise ServiceUnavailable(f"The service of {endpoint.palace} refused the connection: {reason}.")


def reach(endpoint: Address, seconds: float) -> _socket.socket:
    """Return a raw connection to the listener at `endpoint`, before any message; OSError if there is none."""
    check_directory(endpoint)
    return _windows_socket(endpoint) if _WINDOWS else _unix_socket(endpoint, seconds)


def _unix_socket(endpoint: Address, seconds: float) -> _socket.socket:
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(endpoint.socket)
        if peer_uid(connection) not in (None, os.getuid()):
            raise ServiceUnavailable(
                f"The process listening at {endpoint.socket} belongs to another user, so it is not called."
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _windows_socket(endpoint: Address) -> _socket.socket:
    import socket

    return socket.create_connection(("127.0.0.1", int(_port_and_token(endpoint)[0])), _ANSWERS_WITHIN)


def token(endpoint: Address) -> dict[str, str]:
    """Return the proof that this client may read the user's files; on other platforms the socket's mode is enough."""
    return {"token": _port_and_token(endpoint)[1]} if _WINDOWS else {}


def _port_and_token(endpoint: Address) -> tuple[str, str]:
    with open(endpoint.socket, encoding="ascii") as file:
        port, _, token = file.read().strip().partition(" ")
    return port, token


# --- starting one ----------------------------------------------------------------------------------------------


def ensure_service(
    endpoint: Address, variables: Mapping[str, str], hello: Mapping[str, Any], seconds: float = PATIENCE
) -> Stream:
    """Return a connection as `connect` does; if no service answers, start one and wait for it.

    Raises ServiceUnavailable if the user allows none, or if none answers in time.
    """
    if not is_wanted(variables):
        raise ServiceUnavailable("Background processes are disabled (PALAZZO_SERVICE, or the setting `service`).")
    deadline = time.monotonic() + seconds
    retry_time = 0.0
    while True:
        try:
            return connect(endpoint, hello)
        except GivingWay:
            # One is enough: where what is started here is older still than what is asked for, it does.
            hello = {**hello, "any": True}
            retry_time = 0.0
        except ServiceUnavailable:
            if time.monotonic() > deadline:
                raise
        if time.monotonic() >= retry_time and not is_starting(endpoint):
            start(endpoint, variables)
            retry_time = time.monotonic() + _START_AGAIN
        time.sleep(_LOOK_AGAIN)


def is_starting(endpoint: Address) -> bool:
    """Return whether a process holds the right to listen at `endpoint`, and listens or will soon."""
    from palazzo import locks

    return locks.is_held(endpoint.lock)


def start(endpoint: Address, variables: Mapping[str, str]) -> None:
    """Start a detached service without waiting for it. If several start at once, all but one exit immediately.

    Raises ServiceUnavailable if none can be started, or if the file there is no palace.
    """
    refuse_other_file(endpoint)
    make_directory(endpoint)
    command = [sys.executable, "-P", "-m", "palazzo.daemon.service", endpoint.palace]
    environment = _environment(variables)
    if not _WINDOWS:
        _spawn(command, environment)
        return
    import subprocess

    flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP  # type: ignore[attr-defined,unused-ignore]
    nothing = subprocess.DEVNULL
    subprocess.Popen(  # noqa: S603 - this Python, and this package
        command, env=environment, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=flags, close_fds=True
    )


def refuse_other_file(endpoint: Address) -> None:
    """Raise ServiceUnavailable if the file to serve is no palace."""
    from palazzo.client import palace_file

    if not palace_file.can_be_palace(endpoint.palace):
        raise ServiceUnavailable(f"The file {endpoint.palace} is not a palace, so no service is started for it.")


def _spawn(command: list[str], environment: dict[str, str]) -> None:
    """Start a process in a session of its own. An intermediate shell ends at once: hosts kill their descendants."""
    import _thread

    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    try:
        between = ["/bin/sh", "-c", '"$@" &', "sh", *command]
        pid = os.posix_spawn(between[0], between, environment, file_actions=actions, setsid=True, setsigmask=())
    except OSError as error:
        raise ServiceUnavailable(f"The service cannot be started ({error.strerror}).") from error
    _thread.start_new_thread(_collect, (pid,))


def _collect(pid: int) -> None:
    """Wait for a process that was started: otherwise a client that outlives it would keep it as a zombie."""
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        return  # somebody else has waited for all children


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment, with import paths that are valid wherever the process runs."""
    environment = dict(variables)
    root = paths.import_root()
    cwd = paths.working_directory()
    parts = [
        os.path.normpath(os.path.join(cwd, part))
        for part in environment.get("PYTHONPATH", "").split(os.pathsep)
        if part
    ]
    if root not in parts and not paths.has_packages(root):
        parts.insert(0, root)
    if parts:
        environment["PYTHONPATH"] = os.pathsep.join(parts)
    environment.setdefault("MALLOC_ARENA_MAX", "2")  # glibc keeps a heap for each of many threads, and none shrinks
    return environment


# --- calls -----------------------------------------------------------------------------------------------------


class Caller:
    """Calls operations of a running service, one after the other. Call `connect` first, or let `call` do so.

    A request that was sent and not answered is sent again to the next service with the same key: it is carried out
    once.
    """

    def __init__(self, endpoint: Address, variables: Mapping[str, str], cwd: str, starts: bool = True) -> None:
        self._where, self._variables, self._starts = endpoint, variables, starts
        self._surroundings = surroundings(cwd, variables)
        self._stream: Stream | None = None
        self._sent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> Stream:
        """Connect to the service, starting one if necessary and allowed; ServiceUnavailable if none answers."""
        hello = {"want": "calls"}
        if self._stream is None and self._starts:
            self._stream = ensure_service(self._where, self._variables, hello)
        elif self._stream is None:
            self._stream = connect(self._where, hello)
        return self._stream

    def call(
        self, operation: str, request: Mapping[str, Any], key: str | None = None, tell: Tell | None = None
    ) -> dict[str, Any]:
        """Return the service's answer, as `serialisation` writes it.

        It is `{"result": …}` or `{"error": {"kind": …, "message": …}}`. `tell` is called with every message before it,
        with `progress` or a `notice`. Raises ServiceUnavailable if no service answers, or if one was lost that may have
        carried out a call without a key.
        """
        self._sent += 1
        message = {"id": self._sent, "operation": operation, "request": request, "surroundings": self._surroundings}
        message = message if key is None else {**message, "key": key}
        while True:
            stream, is_sent = self.connect(), False
            try:
                stream.send(message)
                is_sent = True
                return self._answer(stream, message["id"], tell)
            except (OSError, ValueError) as error:
                self.close()
                if not self._starts or (is_sent and key is None):
                    raise ServiceUnavailable(
                        f"The connection to the service of {self._where.palace} was lost ({error})."
                    ) from error

    def close(self) -> None:
        """Close the connection; a call that is being carried out is finished."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _answer(self, stream: Stream, number: object, tell: Tell | None) -> dict[str, Any]:
        while (message := stream.read()) is not None:
            if message.get("id") != number:
                continue
            if "result" in message or "error" in message:
                return message
            if tell is not None:
                tell(message)
        raise ConnectionError("the connection was closed")


# --- what is said ----------------------------------------------------------------------------------------------


def surroundings(cwd: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return what a service must know of a caller: its directory, and the variables that an operation may read."""
    client_variables = {
        name: value for name, value in variables.items() if name in _PASSED or name.startswith(_PASSED_FROM)
    }
    return {"cwd": cwd, "variables": client_variables}
