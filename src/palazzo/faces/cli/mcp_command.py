"""The command palazzo mcp: runs the MCP server, which is not an operation but a face of its own."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palazzo.client import launcher, rpc
from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.cli import command_binding, error_messages
from palazzo.faces.cli.common_options import Common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from palazzo.faces.mcp.client_configs import Host


def mcp(
    context: typer.Context,
    toolset: Annotated[
        str, typer.Option("--toolset", help="core: tools that a session needs; full: also tools to maintain a palace.")
    ] = "core",
    profile: Annotated[
        str, typer.Option("--profile", help="Whose tools to serve: palazzo, mempalace or shodh.")
    ] = "palazzo",
    print_config: Annotated[
        str,
        typer.Option(
            "--print-config",
            metavar="HOST",
            help="Print the settings entry for a host, and do not serve; with --http, for a client over HTTP.",
        ),
    ] = "",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Serve only tools that read; refuse calls to other tools.")
    ] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP at ADDRESS until ^C.")] = False,
    address: Annotated[
        str | None,
        typer.Argument(help="With --http: serve at HOST:PORT instead of 127.0.0.1:8377.", show_default=False),
    ] = None,
    palace: Annotated[
        Path | None, typer.Option("--palace", help=command_binding.PALACE_HELP, show_default=False)
    ] = None,
) -> None:
    """Serve this memory to an agent as MCP tools, on standard input and output.

    Hosts start this command themselves; 'palazzo mcp --print-config HOST' prints the settings for a host. With --http
    they call it at an address; 'palazzo token add' grants access.
    """
    common = context.obj if isinstance(context.obj, Common) else Common()
    palace_path = palace or common.palace
    try:
        _check(profile, "profile", launcher.PROFILES)
        _check(toolset, "toolset", launcher.TOOLSETS)
        request = launcher.RelayOptions(None if palace_path is None else str(palace_path), profile, toolset, read_only)
        if http and print_config:
            code = _print_http_config(print_config, address)
        elif http:
            code = _serve_http(address, request)
        elif address is not None:
            raise UsageError(f"'{address}' is an address for --http; give --http as well, or leave the address out.")
        else:
            code = _print_config(print_config, request) if print_config else launcher.run(request)
    except PalazzoError as error:
        code = error_messages.expected(error, common.debug)
    raise typer.Exit(code)


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


def _print_config(name: str, request: launcher.RelayOptions) -> int:
    """Print the settings on standard output, and on standard error where to put them."""
    host = _host(name)
    program, *words = [*_program(host.has_shell), *_arguments(request)]
    sys.stdout.buffer.write(f"{host.form(program, words)}\n".encode())
    sys.stdout.flush()
    print(f"Add this to {host.file}, and keep its other content.", file=sys.stderr)
    if host.command:
        print(f"Or: {host.command.format(shlex.join([program, *words]))}", file=sys.stderr)
    return 0


def _print_http_config(name: str, address: str | None) -> int:
    """Print the settings for a client of the HTTP server, without the token, and how the client gets the token."""
    from palazzo.faces.mcp.client_configs import HOSTS
    from palazzo.faces.mcp.http_guard import PATH
    from palazzo.faces.mcp.http_socket import DEFAULT, host_and_port, url_of

    host = _host(name)
    if host.http is None:
        usable_hosts = [host_name for host_name, candidate in HOSTS.items() if candidate.http is not None]
        raise UsageError(
            f"Palazzo has no HTTP server settings for {host.title}; it has them for: {', '.join(usable_hosts)}."
        )
    url = url_of(*host_and_port(address or DEFAULT)) + PATH.decode()
    sys.stdout.buffer.write(f"{host.http(url)}\n".encode())
    sys.stdout.flush()
    print(f"Add this to {host.file}, and keep its other content.", file=sys.stderr)
    print(f"{host.login_hint} Create one with 'palazzo token add NAME --scope write'.", file=sys.stderr)
    return 0


def _host(name: str) -> Host:
    from palazzo.faces.mcp.client_configs import HOSTS

    if name not in HOSTS:
        raise UsageError(f"Unknown host '{name}'; known hosts: {', '.join(HOSTS)}.")
    return HOSTS[name]


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
