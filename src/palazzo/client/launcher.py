"""Launcher of commands that must start at once, standard library only: `palazzo mcp`, as a relay, and `search`.

Parses only the command line of `palazzo mcp`. For the commands of `palazzo.client.thin_command` it asks a running
service, and `palazzo.client.unchanged_run` answers `mine` with nothing new. It passes every other to
`palazzo.faces.cli` in another Python process.
"""

from __future__ import annotations

import os
import sys

from palazzo import paths
from palazzo.client import rpc
from palazzo.client.jsonl import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROFILES = ("palazzo", "mempalace", "shodh")
TOOLSETS = ("core", "full")
_SERVICE_WITHIN = 6.0
"""Seconds before another way is tried. The least patient host waits ten for a server's first answer."""
_ENDS_WITHIN = 3.0
"""Seconds within which a server ends after its input has ended. It takes one."""


class RelayOptions:
    """The arguments of a relay's command line."""

    __slots__ = ("palace", "profile", "read_only", "toolset")

    def __init__(
        self, palace: str | None = None, profile: str = "palazzo", toolset: str = "core", read_only: bool = False
    ) -> None:
        self.palace, self.profile, self.toolset, self.read_only = palace, profile, toolset, read_only


def main(arguments: list[str], root: str) -> int:
    """Run a relay, or the whole command line in another Python; `root` is the directory that contains the package."""
    options = parse_options(arguments)
    if options is None:
        from palazzo.client import thin_command, unchanged_run

        code = thin_command.run(arguments, os.environ)
        if code is None:
            code = unchanged_run.run(arguments, os.environ)
        if code is not None:
            return code
        return become([sys.executable, "-P", os.path.join(root, "palazzo", "__main__.py"), *arguments])
    be_found(root)
    return run(options)


def parse_options(arguments: list[str]) -> RelayOptions | None:
    """Return the options of `palazzo mcp …`; None for every other command line, and for an invalid one."""
    options, has_command = RelayOptions(), False
    words = iter(arguments)
    for word in words:
        option, has_value, value = word.partition("=")
        if word == "mcp" and not has_command:
            has_command = True
        elif word == "--read-only":
            options.read_only = True
        elif option in ("--palace", "--profile", "--toolset"):
            value = value if has_value else next(words, "")
            if not value or value.startswith("-"):
                return None
            setattr(options, option[2:], value)
        else:
            return None
    return options if has_command and options.profile in PROFILES and options.toolset in TOOLSETS else None


def run(options: RelayOptions) -> int:
    """Relay between standard input/output and the palace's service until the input ends; return 0.

    If no service is wanted, this process becomes the server.
    """
    from palazzo.client import mcp_relay  # which imports json and threads

    variables = dict(os.environ)
    cwd = directory(variables)
    server_command = [
        sys.executable,
        "-P",
        "-m",
        "palazzo.faces.mcp.stdio_server",
        "--profile",
        options.profile,
        "--toolset",
        options.toolset,
    ]
    palace = rpc.chosen_palace(options.palace, variables, cwd)
    if options.palace is not None:
        server_command += ["--palace", palace]
    if options.read_only:
        server_command += ["--read-only"]
    if os.isatty(0):
        mcp_relay.remark(
            "this command is for a host to start; 'palazzo mcp --print-config HOST' prints the host's configuration."
        )
    if not rpc.is_wanted(variables):
        return become(server_command)
    address = rpc.address(palace, variables)
    hello = {
        "want": "mcp",
        "profile": options.profile,
        "toolset": options.toolset,
        "read_only": options.read_only,
        "surroundings": rpc.surroundings(cwd, variables),
    }

    def reach() -> Stream:
        return rpc.ensure_service(address, variables, hello, _SERVICE_WITHIN)

    mcp_relay.end_by_signals()
    mcp_relay.Relay(reach, lambda: Stream(OwnServer(server_command))).run()  # type: ignore[arg-type]
    return 0


def become(command: list[str]) -> int:
    """Replace this process by another program; if that is impossible, run it and return its exit code."""
    if sys.platform != "win32":
        os.execv(command[0], command)  # noqa: S606 - this Python, and this package
    import subprocess

    return subprocess.call(command)  # noqa: S603 - the same


def be_found(root: str) -> None:
    """Let child processes find the package, even if it was installed with `--prefix`."""
    search_path = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    if root not in search_path and not paths.has_packages(root):
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *search_path])


def directory(variables: Mapping[str, str]) -> str:
    """Return the client's working directory, by the name that the client uses for it.

    `PWD` may be another name of the current directory (through a link), the one that the user knows. opencode sets it
    to its project's directory server_command.
    """
    try:
        current = os.getcwd()
    except OSError:  # it was removed
        current = ""
    pwd = variables.get("PWD") or ""
    if not os.path.isabs(pwd) or not os.path.isdir(pwd):
        return current or os.path.expanduser("~")
    return pwd if not current or "OPENCODE" in variables or os.path.samefile(pwd, current) else current


class OwnServer:
    """A server in its own process, on two pipes that are used like a socket. It ends when they are closed."""

    def __init__(self, command: list[str]) -> None:
        import subprocess

        asks, self._to = os.pipe()
        self._from, answers = os.pipe()
        try:
            self._process = subprocess.Popen(command, stdin=asks, stdout=answers)  # noqa: S603 - this Python
        except OSError:
            os.close(self._to)
            os.close(self._from)
            raise
        finally:
            os.close(asks)
            os.close(answers)

    def recv(self, size: int) -> bytes:
        """Return the next bytes; none at the end of the stream."""
        return os.read(self._from, size)

    def sendall(self, data: bytes) -> None:
        """Write all of `data`; raise OSError if the process has ended."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._to, rest) :]

    def settimeout(self, seconds: float | None) -> None:
        """Do nothing: it serves one client, so it has no other work."""

    def shutdown(self, how: int) -> None:
        """Do nothing: `close` signals the end."""

    def close(self) -> None:
        """Close the connection; the server finishes or rolls back its current work."""
        import subprocess

        to, self._to = self._to, -1
        os.close(to)
        try:
            self._process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
