"""The command palazzo mcp: runs the MCP server, which is not an operation but a face of its own."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.client import launcher, rpc
from palazzo.errors import UsageError
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About

if TYPE_CHECKING:
    from collections.abc import Sequence

    from palazzo.hosts.host_descriptor import Host
    from palazzo.hosts.server_settings import ServerSettings


@frozen
class McpRequest:
    """Which tools to serve, and how."""

    address: Annotated[
        str | None, About("With --http: serve at HOST:PORT instead of 127.0.0.1:8377.", positional=True)
    ] = None
    toolset: Annotated[
        str,
        About("core: tools that a session needs; full: also tools to maintain a palace.", values=launcher.TOOLSETS),
    ] = "core"
    profile: Annotated[str, About("Whose tools to serve: palazzo, mempalace or shodh.", values=launcher.PROFILES)] = (
        "palazzo"
    )
    print_config: Annotated[
        str,
        About(
            "Print the settings entry for a host, and do not serve; with --http, for a client over HTTP.",
            metavar="HOST",
        ),
    ] = ""
    read_only: Annotated[bool, About("Serve only tools that read; refuse calls to other tools.")] = False
    http: Annotated[bool, About("Serve over HTTP at ADDRESS until ^C.")] = False


@frozen
class _Entry:
    """Settings for a host, the file that they belong to, and a command or a login that the person then needs."""

    host: str
    file: str
    entry: str
    next: str


def mcp(request: McpRequest, common: Common) -> int:
    """Serve this memory to an agent as MCP tools, on standard input and output.

    Hosts start this command themselves; 'palazzo mcp --print-config HOST' prints the settings for a host. With --http
    they call it at an address; 'palazzo token add' grants access.
    """
    _check(request.profile, "profile", launcher.PROFILES)
    _check(request.toolset, "toolset", launcher.TOOLSETS)
    palace = None if common.palace is None else str(common.palace)
    relay = launcher.RelayOptions(palace, request.profile, request.toolset, request.read_only)
    if request.print_config:
        if request.http:
            _print_entry(_http_entry(request.print_config, request.address), common)
            return 0
        _refuse_address(request)
        _print_entry(_entry(request.print_config, relay), common)
        return 0
    if request.http:
        return _serve_http(request.address, relay)
    _refuse_address(request)
    return launcher.run(relay)


def _refuse_address(request: McpRequest) -> None:
    if request.address is not None:
        raise UsageError(
            f"'{request.address}' is an address for --http; give --http as well, or leave the address out."
        )


def _check(value: str, kind: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise UsageError(f"Unknown {kind} '{value}'; choose one of: {', '.join(choices)}.")


def _serve_http(address: str | None, request: launcher.RelayOptions) -> int:
    """Replace this process with the server; an address that begins with a dash is not taken as an option."""
    command = [sys.executable, "-P", "-m", "palazzo.daemon.http_server"]
    command += ["--profile", request.profile, "--toolset", request.toolset]
    command += ["--read-only"] if request.read_only else []
    command += [] if request.palace is None else ["--palace", request.palace]
    return launcher.become([*command, *([] if address is None else ["--", address])])


def _entry(name: str, request: launcher.RelayOptions) -> _Entry:
    """Return the settings for a host that starts this program."""
    _, settings = _host(name)
    program, *words = [*_program(settings.has_shell), *_arguments(request)]
    command = settings.command.format(shlex.join([program, *words])) if settings.command else ""
    return _Entry(name, settings.file, settings.form(program, words), f"Or: {command}" if command else "")


def _http_entry(name: str, address: str | None) -> _Entry:
    """Return the settings for a client of the HTTP server, without the token, and how the client gets the token."""
    from palazzo.faces.http.http_socket import DEFAULT, host_and_port, url_of
    from palazzo.faces.mcp.http_guard import PATH
    from palazzo.hosts import host_registry

    host, settings = _host(name)
    if settings.http is None:
        known = host_registry.server_settings()
        usable_hosts = [usable for usable, (_, candidate) in known.items() if candidate.http is not None]
        raise UsageError(
            f"Palazzo has no HTTP server settings for {host.title}; it has them for: {', '.join(usable_hosts)}."
        )
    url = url_of(*host_and_port(address or DEFAULT)) + PATH.decode()
    login = f"{settings.login_hint} Create one with 'palazzo token add NAME --scope write'."
    return _Entry(name, settings.file, settings.http(url), login)


def _print_entry(entry: _Entry, common: Common) -> None:
    """Print the settings on standard output, and on standard error where to put them."""
    if common.as_json:
        from palazzo.faces.cli.json_output import write_json

        write_json(entry)
        return
    sys.stdout.buffer.write(f"{entry.entry}\n".encode())
    sys.stdout.flush()
    print(f"Add this to {entry.file}, and keep its other content.", file=sys.stderr)
    if entry.next:
        print(entry.next, file=sys.stderr)


def _host(name: str) -> tuple[Host, ServerSettings]:
    from palazzo.hosts.host_registry import server_settings

    known = server_settings()
    if name not in known:  # install and feed know some hosts by shorter names: copilot for copilot-cli
        known = {**known, **{host.name: (host, settings) for host, settings in known.values()}}
    if name not in known:
        known = server_settings()
        raise UsageError(f"Unknown host '{name}'; known hosts: {', '.join(known)}.")
    return known[name]


def _program(has_shell: bool) -> list[str]:
    """Return how a host starts Palazzo: by name if it can find that, else by the path of the current program."""
    sibling_path = Path(sys.executable).with_name("palazzo.exe" if sys.platform == "win32" else "palazzo")
    executable = shutil.which("palazzo")
    if executable is not None and has_shell:
        return ["palazzo"]
    if executable is not None:
        return [str(Path(executable).absolute())]
    return [str(sibling_path)] if sibling_path.exists() else [sys.executable, "-P", "-m", "palazzo"]


def _arguments(request: launcher.RelayOptions) -> list[str]:
    """Return arguments of `palazzo`, with the palace if a host with fewer variables would choose another."""
    arguments = ["mcp"]
    path = rpc.chosen_palace(request.palace, os.environ)
    bare = {
        name: value for name, value in os.environ.items() if name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA")
    }
    if path != rpc.chosen_palace(None, bare):
        arguments += ["--palace", path]
    default = launcher.RelayOptions()
    if request.profile != default.profile:
        arguments += ["--profile", request.profile]
    if request.toolset != default.toolset:
        arguments += ["--toolset", request.toolset]
    if request.read_only:
        arguments += ["--read-only"]
    return arguments


COMMAND = LocalCommand(
    "mcp", McpRequest, mcp, examples=("palazzo mcp --print-config codex", "palazzo mcp --http --read-only")
)
