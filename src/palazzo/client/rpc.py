"""The client of the warm process: its address, a connection to it, and starting it.

    there = address(chosen_palace(None, os.environ), os.environ)
    with ensure_service(there, os.environ, {"want": "calls"}) as stream:
        stream.send({"id": 1, "operation": "status", "request": {}})
        answer = stream.read()

Owns the first line of either side, and how a service is started; `palazzo.client.service_address` is where it listens,
`palazzo.client.jsonl` how lines travel, `palazzo.daemon` the other end. Standard library only, and imported in a few
milliseconds (so no pathlib, json, socket or subprocess): hosts start a client for every session, and for every call of
a hook.

Both sides write lines of JSON. The client's first says who it is and what it wants (`"calls"` or `"mcp"`), the
service's answer is `{"palazzo": 1, "ok": true, "version": …, "pid": …}` or `{"ok": false, "reason": …}`. A service
whose client is newer gives way: it stops listening, finishes what it has begun and ends, and the client starts
another.
"""

from __future__ import annotations

import os
import sys
import time

from palazzo import __version__, paths
from palazzo.client.jsonl import Stream, peer_uid
from palazzo.client.service_address import Address as Address
from palazzo.client.service_address import address as address
from palazzo.client.service_address import check_directory as check_directory
from palazzo.client.service_address import make_directory as make_directory
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    Tell = Callable[[Mapping[str, Any]], object]

PROTOCOL = 1
GIVING_WAY = "giving way"
"""Why a service refuses a client that is newer than itself."""
PATIENCE = 10.0
"""Seconds for which a service that was started is waited for, where one waits."""
_ANSWERS_WITHIN = 5.0
"""Seconds in which a service answers the first line. It does so before anything else, so a longer wait is in vain."""
_LOOK_AGAIN = 0.02
"""Seconds between two looks for a service that is starting."""
_START_AGAIN = 1.0
"""Seconds after which another is started if none has taken the lock: the one before may have lost a race, or died."""
_PASSED = (
    *("HOME", "TZ", "LANG", "LANGUAGE", "NO_COLOR", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "OPENCODE_DB"),
    *("CLAUDE_CODE_SESSION_ID", "MEMPAL_DIR", "MEMPALACE_AGENT_NAME", "CLAUDECODE", "OPENCODE", "AI_AGENT"),
    *("PI_SESSION_ID", "GEMINI_CLI", "COPILOT_CLI", "CURSOR_AGENT", "CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI"),
)
_PASSED_FROM = (
    *("PALAZZO_", "XDG_", "LC_", "CLAUDE_CONFIG_", "CODEX_HOME", "PI_CODING_AGENT_", "GEMINI_CLI_HOME"),
    *("COPILOT_HOME", "CONTINUE_GLOBAL_", "AIDER_CHAT_", "CLAUDE_PLUGIN_OPTION_"),
)
"""Variables that an operation may ask for: what they say at the client holds for its calls."""
_PLUGINS_PALACE = "CLAUDE_PLUGIN_OPTION_PALACE"
"""How Claude Code hands on what a person has set for our plugin; `unset` is no value (`settings/setting_layers`)."""
_WINDOWS = sys.platform == "win32"


class GivingWay(ServiceUnavailable):
    """The service is older than this client, and has just stopped listening."""


# --- which palace, and where its service listens ---------------------------------------------------------------


def chosen_palace(palace: str | None, variables: Mapping[str, str], cwd: str | None = None) -> str:
    """Return the absolute path of the palace file: the named one, the environment's, the settings', the default.

    A path is taken as it is written, whatever characters it has: whoever opens it refuses what cannot be a palace's,
    and nothing is written to the default where another was named.
    """
    in_environment = _named_by(variables, "PALAZZO_PALACE") or _named_by(variables, _PLUGINS_PALACE)
    setting: object = palace or in_environment or _setting(variables, "palace")
    place = setting if isinstance(setting, str) and setting else os.path.join(paths.data_place(variables), "palace.db")
    path = os.path.expanduser(place)
    path = path if os.path.isabs(path) else os.path.join(cwd or os.getcwd(), path)
    if os.path.isdir(path) and os.path.basename(path) != "palace.db":
        return os.path.join(path, "palace.db")
    return os.path.normpath(path)


def is_wanted(variables: Mapping[str, str]) -> bool:
    """Whether the user lets background processes be started: `PALAZZO_SERVICE`, else the setting `service`."""
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
    """What the user's own settings file says, read as TOML only where it has the word; None where it says nothing."""
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
    """Return a stamp of the code that is installed here: when it was last changed, and how many files it is.

    Of what an installer put there one file is looked at, of a directory that is worked in all.
    """
    package = os.path.dirname(os.path.abspath(__file__))
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
    """Whether one build is newer than another: by version, then by when its code was last changed."""
    return (_numbers(version), _numbers(stamp)) > (_numbers(than_version), _numbers(than_stamp))


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers in a version or a stamp, to be compared; what comes before a release counts down to it."""
    for rank, mark in enumerate(("dev", "a", "b", "rc")):
        text = text.replace(mark, f".{rank - 4}.")
    return (*(int(part) for part in text.split(".") if part.lstrip("-").isdecimal()), 0)


# --- a connection ----------------------------------------------------------------------------------------------


def connect(endpoint: Address, hello: Mapping[str, Any], seconds: float = _ANSWERS_WITHIN) -> Stream:
    """Return a connection to the service that listens at `where`, after both have said who they are.

    `hello` says what is wanted: `{"want": "calls"}` or `{"want": "mcp", …}`; version and build are this package's
    unless it names others; with `"any": true` an older service is as good. Raises GivingWay where the service is
    older, ServiceUnavailable where none answers.
    """
    stream, _ = greet(endpoint, hello, seconds)
    stream.socket.settimeout(None)
    return stream


def greet(
    endpoint: Address, hello: Mapping[str, Any], seconds: float = _ANSWERS_WITHIN
) -> tuple[Stream, dict[str, Any]]:
    """Return a connection as `connect` does, with the service's answer; reading from it gives up after `seconds`."""
    try:
        stream = Stream(reach(endpoint, seconds))
    except OSError as error:
        raise ServiceUnavailable(f"No service runs for {endpoint.palace} ({error.strerror or error}).") from error
    try:
        stream.send({"palazzo": PROTOCOL, "version": __version__, "build": build(), **token(endpoint), **hello})
        answer = stream.read()
    except (OSError, ValueError) as error:
        stream.close()
        raise ServiceUnavailable(f"The service of {endpoint.palace} does not answer ({error}).") from error
    if answer is not None and answer.get("ok") is True:
        return stream, answer
    stream.close()
    reason = str((answer or {}).get("reason") or "it has just ended")
    if reason == GIVING_WAY:
        raise GivingWay(f"The service of {endpoint.palace} is older than this, and gives way.")
    raise ServiceUnavailable(f"The service of {endpoint.palace} refuses: {reason}.")


def reach(endpoint: Address, seconds: float) -> _socket.socket:
    """Return a bare connection to what listens at `where`, before anything is said; OSError where nothing does."""
    check_directory(endpoint)
    return _windows_socket(endpoint) if _WINDOWS else _unix_socket(endpoint, seconds)


def _unix_socket(endpoint: Address, seconds: float) -> _socket.socket:
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(endpoint.socket)
        if peer_uid(connection) not in (None, os.getuid()):
            raise ServiceUnavailable(f"What listens at {endpoint.socket} is somebody else's; it is not asked.")
    except BaseException:
        connection.close()
        raise
    return connection


def _windows_socket(endpoint: Address) -> _socket.socket:
    import socket

    return socket.create_connection(("127.0.0.1", int(_port_and_token(endpoint)[0])), _ANSWERS_WITHIN)


def token(endpoint: Address) -> dict[str, str]:
    """What shows that this client may read the user's files; on other platforms the socket's mode does."""
    return {"token": _port_and_token(endpoint)[1]} if _WINDOWS else {}


def _port_and_token(endpoint: Address) -> tuple[str, str]:
    with open(endpoint.socket, encoding="ascii") as file:
        port, _, token = file.read().strip().partition(" ")
    return port, token


# --- starting one ----------------------------------------------------------------------------------------------


def ensure_service(
    endpoint: Address, variables: Mapping[str, str], hello: Mapping[str, Any], seconds: float = PATIENCE
) -> Stream:
    """Return a connection as `connect` does; where no service answers, one is started and waited for.

    Raises ServiceUnavailable when the user wants none, or when none answers in time.
    """
    if not is_wanted(variables):
        raise ServiceUnavailable("Background processes are off (PALAZZO_SERVICE, or the setting `service`).")
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
    """Whether a process has the right to listen at `where`, listening or about to."""
    from palazzo import locks

    return locks.is_held(endpoint.lock)


def start(endpoint: Address, variables: Mapping[str, str]) -> None:
    """Start a service, detached, and wait for nothing. Of several that are started at once all but one end at once."""
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


def _spawn(command: list[str], environment: dict[str, str]) -> None:
    """Start a process in a session of its own. A shell between ends at once: hosts kill what descends from servers."""
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
    """Wait for a process that was started: a client that outlives it would keep it as a zombie."""
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        return  # somebody else has waited for all children


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, with import paths that hold wherever the process runs."""
    environment = dict(variables)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parts = [os.path.abspath(part) for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    if root not in parts and not paths.has_packages(root):
        parts.insert(0, root)
    if parts:
        environment["PYTHONPATH"] = os.pathsep.join(parts)
    environment.setdefault("MALLOC_ARENA_MAX", "2")  # glibc keeps a heap for each of many threads, and none shrinks
    return environment


# --- calls -----------------------------------------------------------------------------------------------------


class Caller:
    """Calls operations of a running service, one after the other; `connect` first, or let `call` do so.

    What was sent and not answered is sent again to the next service, by the same key: it is carried out once.
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
        """Connect to the service, starting one if need be and allowed; ServiceUnavailable where none answers."""
        hello = {"want": "calls"}
        if self._stream is None and self._starts:
            self._stream = ensure_service(self._where, self._variables, hello)
        elif self._stream is None:
            self._stream = connect(self._where, hello)
        return self._stream

    def call(
        self, operation: str, request: Mapping[str, Any], key: str | None = None, tell: Tell | None = None
    ) -> dict[str, Any]:
        """Return the service's answer: `{"result": …}` or `{"error": {"kind": …, "message": …}}`, as `wire` writes it.

        `tell` is told of every message before it, with `progress` or a `notice`. Raises ServiceUnavailable where no
        service answers, or where one was lost that may have carried out a call without a key.
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
                    raise ServiceUnavailable(f"The service of {self._where.palace} was lost ({error}).") from error

    def close(self) -> None:
        """Let go of the connection; what is being carried out is finished."""
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
        raise ConnectionError("it has ended")


# --- what is said ----------------------------------------------------------------------------------------------


def surroundings(cwd: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return what a service must know of a caller: where it stands, and the variables that an operation may ask for."""
    client_variables = {
        name: value for name, value in variables.items() if name in _PASSED or name.startswith(_PASSED_FROM)
    }
    return {"cwd": cwd, "variables": client_variables}
