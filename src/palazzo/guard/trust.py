"""Which tools bring in words from outside.

`external` is what a stranger may have written: pages, MCP servers, what a network command printed, and the
files of dependencies. Everything else a tool prints is `tool`. The tables err towards `external`: the cost
is that such words are not injected by themselves, never that they are not found.

Tool names differ between hosts (`WebFetch`, `webfetch`, `web_fetch`), so letters and digits alone are
compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from palazzo.model import Trust


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WEB = _words(
    """
    webfetch websearch fetch fetchurl urlfetch googlewebsearch websearchpreview codesearch browser
    browse openurl readurl websearchcall websearchtoolresult webfetchtoolresult readmcpresourcetool
    readmcpresourcedirtool listmcpresourcestool readmcpresource
    """
)
_SHELLS = _words(
    """
    bash shell exec execcommand runshellcommand localshell localshellcall terminal runinterminal
    powershell runcommand sh zsh
    """
)
_READERS = _words(
    """
    read readfile view cat grep glob ls notebookread readmanyfiles listdir find grepfiles grepsearch
    searchfilecontent searchfiles findfiles listdirectory openfile viewfile readfiles ripgrep
    """
)

_OWN_SERVER = re.compile(r"mcp__(?:plugin_palazzo_)?palazzo__")
"""Palazzo's own tools hand back what is archived already, with its trust; the door knows it again as an
echo."""

_REMOTE = (
    r"(?:curl|wget|ssh|scp|sftp|rsync|ftp|telnet|nc|ncat|netcat|aria2c|axel|lynx|w3m|links|https?|xh|gh|glab"
    r"|iwr|irm|[Ii]nvoke-(?:[Ww]eb[Rr]equest|[Rr]est[Mm]ethod))"
)
_REGISTRY = r"(?:npm|pnpm|yarn|bun|cargo|pip|gem|brew|apt|apt-cache)\s+(?:view|info|show|search)"
_BEFORE = (
    r"(?:^|[;&|(`\n{!]|\b(?:if|while|until|then|do|else|sudo|time|nohup|exec|command|xargs|env|timeout\s+\S+)\s"
    r"|-l?c\s+[\"']?)"
    r"[ \t]{0,8}(?:-\S+\s+){0,4}(?:\w+=\S*\s+){0,8}(?:[\w.~-]*/[\w./~-]*/)?"
)
_NETWORK = re.compile(rf"{_BEFORE}(?:{_REMOTE}(?=[\s;&|)\"'`]|$)|{_REGISTRY}\b)")
_INTERPRETER = re.compile(r"\b(?:python[\d.]*|node|deno|bun|ruby|perl|php|pwsh)\b")
_HERE_DOCUMENT = re.compile(
    r"\b(?:cat|tee)\b[^\n<]{0,200}<<-?\s{0,4}([\"']?)(\w{1,40})\1[^\n]{0,200}\n.*?\n[ \t]{0,40}\2\b", re.DOTALL
)
_LONGEST_WITH_HERE_DOCUMENTS = 32_768
"""Beyond this many characters here-documents are read as commands too, to keep the time linear."""
_ADDRESS = re.compile(r"\bhttps?://([^\s/\"'`?#]*)", re.IGNORECASE)
_BARE_HOST = re.compile(r"\s[\w-]+(?:\.[\w-]+)+/")
_PORT = re.compile(r":\d+$")
_FETCH = re.compile(rf"{_BEFORE}(?:curl|wget|https?|xh)(?=[\s;&|)\"'`]|$)")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "[::1]"})  # noqa: S104 - read here, never bound

_DEPENDENCY = re.compile(
    r"(?:^|[\\/])(?:node_modules|bower_components|site-packages|dist-packages|vendor|\.pnpm-store|Pods"
    r"|\.cargo[\\/]registry|go[\\/]pkg[\\/]mod|\.m2[\\/]repository|\.gradle[\\/]caches|\.nuget[\\/]packages)(?:[\\/]|$)"
)
_DEPENDENCY_IN_COMMAND = re.compile(r"(?:node_modules|site-packages|dist-packages)[\\/](?!\.bin\b)[\w@.-]")


def trust_of_tool(name: str, arguments: object = None) -> Trust:
    """Return the trust of what the tool `name`, called with `arguments`, printed.

    A result whose tool is not known (`name` empty) counts as external.
    """
    plain = _plain(name)
    if not plain:
        return "external"
    if _OWN_SERVER.match(name):
        return "tool"
    if plain in _WEB or name.lower().startswith(("mcp__", "mcp_", "mcp.")):
        return "external"
    if plain in _SHELLS:
        return "external" if reaches_out(_command(arguments)) else "tool"
    if plain in _READERS and any(_DEPENDENCY.search(path) for path in _strings(arguments)):
        return "external"
    return "tool"


def is_shell(tool: str) -> bool:
    """Whether a tool of that name runs commands."""
    return _plain(tool) in _SHELLS


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def reaches_out(command: str) -> bool:
    """Whether a command prints, or may bring in, what strangers wrote: over the network, or out of a dependency."""
    if _DEPENDENCY_IN_COMMAND.search(command):
        return True
    if len(command) <= _LONGEST_WITH_HERE_DOCUMENTS:
        command = _HERE_DOCUMENT.sub("", command)
    interpreter = _INTERPRETER.search(command)
    scripted = interpreter is not None and _ADDRESS.search(command, interpreter.end()) is not None
    return (scripted or _NETWORK.search(command) is not None) and not _stays_home(command)


def _stays_home(command: str) -> bool:
    """Whether all that is fetched is named, and is this machine's own: a developer's server on loopback."""
    hosts = [_PORT.sub("", found.rpartition("@")[2].lower()) for found in _ADDRESS.findall(command)]
    fetches = sum(1 for _ in _FETCH.finditer(command))
    others = sum(1 for _ in _NETWORK.finditer(command)) - fetches
    at_home = bool(hosts) and all(host in _LOOPBACK for host in hosts)
    return at_home and fetches <= len(hosts) and not others and not _BARE_HOST.search(command)


def _command(arguments: object) -> str:
    if isinstance(arguments, Mapping):
        found = [arguments.get(key) for key in ("command", "cmd", "script", "input", "code")]
        arguments = next((value for value in found if value), "")
    if isinstance(arguments, list | tuple):
        return " ".join(str(word) for word in arguments)
    return arguments if isinstance(arguments, str) else ""


def _strings(arguments: object) -> list[str]:
    """The values that may be paths: a reader's short strings."""
    if isinstance(arguments, str):
        return [arguments]
    if isinstance(arguments, list | tuple):
        return [value for member in arguments for value in _strings(member)]
    if isinstance(arguments, Mapping):
        keys = ("file_path", "path", "filePath", "notebook_path", "absolute_path", "paths", "files", "glob")
        return [value for key in keys for value in _strings(arguments.get(key))]
    return []
