"""The settings that make a host start `palazzo mcp` or call it over HTTP, in the host's own format.

The formats are those that the hosts' own commands write (`claude mcp add`, `codex mcp add`, …), or those of the hosts'
documentation where there is no such command. Nothing is written here: `palazzo mcp --print-config HOST` prints the
settings that the module `server` of a host's folder describes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

NAME = "palazzo"
"""The server's name in a host. Tools are shown to the model with it (`mcp__palazzo__search`)."""
VARIABLE = "PALAZZO_TOKEN"
"""The environment variable from which a host reads the token for a server over HTTP."""
BY_HAND = "Replace YOUR_TOKEN with the token's secret, and make the file unreadable to others."


@dataclass(frozen=True)
class ServerSettings:
    """How a host names an MCP server in its settings.

    `has_shell` says that it is started from a shell, and so finds programs by name; other hosts, started from a
    desktop, do not have the user's PATH.
    """

    file: str
    has_shell: bool
    form: Callable[[str, Sequence[str]], str]
    command: str = ""
    """The host's own command for this, if it has one; `{}` is replaced by the server's command line."""
    http: Callable[[str], str] | None = None
    """The configuration for a server at an address, if the host documents one. It never contains the token."""
    login_hint: str = f"Set {VARIABLE} to the token's secret in the environment of the host."
    """How the host gets the token."""
    name: str = ""
    """The name for `--print-config`, if it is not the host's."""


def json_form(*path: str, **more: object) -> Callable[[str, Sequence[str]], str]:
    """Return a JSON document with the server under `path`, and `more` beside its command."""

    def form(program: str, arguments: Sequence[str]) -> str:
        return document([*path, NAME], {**more, "command": program, "args": list(arguments)})

    return form


def http_form(*path: str, authorization: str, address: str = "url", **more: object) -> Callable[[str], str]:
    """Return a JSON document with the server's URL under `path`; `authorization` is the placeholder for the token."""

    def form(url: str) -> str:
        server = {**more, address: url, "headers": {"Authorization": f"Bearer {authorization}"}}
        return document([*path, NAME], server)

    return form


def document(path: Sequence[str], server: dict[str, Any], **beside: str) -> str:
    """Return a JSON document with the server under `path`, and other members at its top."""
    for name in reversed(path):
        server = {name: server}
    return json.dumps({**beside, **server}, indent=2, ensure_ascii=False)
