"""What of Palazzo stands in each host's settings, whether it answers, and whether it stands there twice.

Everything is tried as the host would: the stored command line of a hook is started with a payload of no session that
there is, the MCP server with `initialize`. Nothing is written, in no palace and no settings.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from palazzo import client
from palazzo.attention.tool_names import NAMES
from palazzo.operations import (
    host_files,
    host_programs,
    host_settings,
    install_opencode,
    install_pi,
    opencode_settings,
    recognising,
)
from palazzo.operations.host_settings import Handler
from palazzo.operations.install_codex import trust_keys
from palazzo.operations.recognising import Ours
from palazzo.operations.wiring import CLAUDE_CODE, CODEX, OPENCODE, PI, PROGRAM, Wiring

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.operations.host_files import HostFiles

_GREETING: tuple[dict[str, Any], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "palazzo doctor", "version": "0"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
)
_REPAIR = "pip install --force-reinstall palazzo"
TOOLS_TOLD_OF = ("search", "read", "remember")
"""Tools that what we write into CLAUDE.md and AGENTS.md names: an agent is not to look for them in vain."""

Problem = Literal["unreadable", "incomplete", "silent", "twice", "untrusted", "off", "other-palace"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong, and the command or the step that mends it."""

    kind: Problem
    detail: str
    mend: str


@dataclass(frozen=True, slots=True)
class Installed:
    """How Palazzo stands in one host.

    `scopes` are where its hooks are (`user`, `project`, `plugin`), `programs` what they and the MCP server start.
    `hooks` counts events with a hook of ours, of as many as are `wired`. What was not tried is None.
    """

    host: str
    title: str
    version: str
    scopes: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    hooks: int = 0
    wired: int = 0
    server: bool = False
    hook_answers: bool | None = None
    server_answers: bool | None = None
    trusted: bool | None = None
    troubles: tuple[Trouble, ...] = field(default=())

    @property
    def is_wired(self) -> bool:
        """Whether anything of ours is there."""
        return bool(self.scopes) or self.server


@dataclass(frozen=True, slots=True)
class _Found:
    """What is read of one host's files."""

    scopes: tuple[str, ...]
    lines: Mapping[tuple[str, ...], str]
    """Command lines of our hooks for the start of a session, one for each scope, and what writes each anew."""
    events: frozenset[str]
    servers: Mapping[tuple[str, ...], str]
    programs: Mapping[str, str]
    troubles: tuple[Trouble, ...]


class _Tried(NamedTuple):
    """What came of starting it."""

    version: str = ""
    hook_answers: bool | None = None
    server_answers: bool | None = None
    troubles: Sequence[Trouble] = ()


_UNTRUSTED = Trouble("untrusted", "Codex runs none of these hooks before you trust them", "start codex, type /hooks")


def installed(context: Context, try_out: bool = True) -> tuple[Installed, ...]:
    """Return how Palazzo stands in each host that is here; without `try_out` nothing is started."""
    tried = []
    with ThreadPoolExecutor() as pool:  # each waits for programs of its own
        for wiring, files_of, program in (
            (CLAUDE_CODE, host_files.claude_code, "claude"),
            (CODEX, host_files.codex, "codex"),
            (OPENCODE, install_opencode.files_of, "opencode"),
            (PI, install_pi.files_of, "pi"),
        ):
            own = files_of(context.variables)
            path = shutil.which(program, path=context.variables.get("PATH", ""))
            if own.directory.is_dir() or path is not None:
                project = files_of(context.variables, context.project_root)
                tried.append(pool.submit(_of_host, context, wiring, own, project, path, try_out))
    return tuple(one.result() for one in tried)


def _of_host(
    context: Context, wiring: Wiring, own: HostFiles, project: HostFiles, path: str | None, try_out: bool
) -> Installed:
    found = _read(context, wiring, own, project)
    required = [hook.name for hook in wiring.hooks if not hook.optional]
    trusted = _trusted(own, found.scopes) if wiring is CODEX and {"user", "plugin"} & {*found.scopes} else None
    tried = _tried_out(context, wiring, found, path) if try_out else _not_tried(context, found)
    troubles = (
        *found.troubles,
        *_gaps(context, wiring, found, [name for name in required if name not in found.events]),
        *_of_its_kind(context, wiring, own, project, found),
        *(() if trusted is not False else (_UNTRUSTED,)),
        *tried.troubles,
    )
    return Installed(
        wiring.host,
        wiring.title,
        tried.version,
        found.scopes,
        tuple(found.programs),
        len(found.events & set(required)),
        len(required),
        bool(found.servers),
        tried.hook_answers,
        tried.server_answers,
        trusted,
        troubles,
    )


# --- what is wrong -----------------------------------------------------------------------------------------


def _gaps(context: Context, wiring: Wiring, found: _Found, missing: Sequence[str]) -> Iterator[Trouble]:
    """What should stand there and does not; a plugin is whole."""
    if not found.scopes or "plugin" in found.scopes:
        return
    again = _again_here(context, wiring, found)
    if missing:
        yield Trouble("incomplete", f"no hook for {', '.join(missing)}", again)
    if not found.servers:
        yield Trouble("incomplete", "hooks, but no MCP server", again)


def _of_its_kind(
    context: Context, wiring: Wiring, own: HostFiles, project: HostFiles, found: _Found
) -> Iterator[Trouble]:
    """What can be wrong in this host alone."""
    if wiring is OPENCODE:
        for scope, wrong in install_opencode.outdated(own, project):
            yield Trouble("incomplete", wrong, _again(context, wiring, scope) if scope else _REPAIR)
    elif wiring is PI:
        for is_whole, wrong in install_pi.outdated(own):
            yield Trouble("incomplete", wrong, _again_here(context, wiring, found) if is_whole else _REPAIR)
    elif len(found.scopes) > 1:
        one = "project" if "project" in found.scopes else "user"
        yield Trouble(
            "twice",
            f"hooks stand in {' and '.join(found.scopes)}: each runs twice",
            _at(context, one, f"palazzo uninstall {wiring.host} --{one}"),
        )
    if wiring is CLAUDE_CODE:
        settings = host_files.text_of(own.hooks)
        line = recognising.status_line(host_settings.setting(settings, "statusLine"))
        if line is not None and not _is_there(context, line.program[0]):
            why = f"the status line starts {line.where}, which is not there"
            yield Trouble("silent", why, _again(context, wiring, "user"))
        if host_settings.setting(settings, "disableAllHooks") is True:
            yield Trouble("off", f"`disableAllHooks` is on in {own.hooks}", "set it to false there")


def _again_here(context: Context, wiring: Wiring, found: _Found) -> str:
    return _again(context, wiring, "project" if {*found.scopes} == {"project"} else "user")


def _is_there(context: Context, program: str) -> bool:
    return shutil.which(program, path=context.variables.get("PATH", "")) is not None


# --- trying it ---------------------------------------------------------------------------------------------


def _not_tried(context: Context, found: _Found) -> _Tried:
    """Only whether the programs are there."""
    gone = [(one, mend) for one, mend in found.programs.items() if not _is_there(context, shlex.split(one)[0])]
    why = "what is wired starts {}, which is not there"
    return _Tried(troubles=[Trouble("silent", why.format(one), mend) for one, mend in gone])


def _tried_out(context: Context, wiring: Wiring, found: _Found, path: str | None) -> _Tried:
    """Start what is wired as the host would, all at once, and say what does not answer."""
    with ThreadPoolExecutor() as pool:
        version = pool.submit(host_programs.read_version, path, context.variables)
        hooks = [pool.submit(_try_hook, wiring, line, context.variables) for line in found.lines]
        servers = [pool.submit(_try_server, line, context.variables) for line in found.servers]
    answers, serves = ([one.result() for one in tried] for tried in (hooks, servers))
    mends = (*found.lines.values(), *found.servers.values())
    return _Tried(
        version.result(),
        not any(answers) if answers else None,
        not any(serves) if serves else None,
        [Trouble("silent", why, mend) for why, mend in zip((*answers, *serves), mends, strict=True) if why],
    )


# --- reading -----------------------------------------------------------------------------------------------


def _read(context: Context, wiring: Wiring, own: HostFiles, project: HostFiles) -> _Found:
    scopes, events = list[str](), set[str]()
    lines, servers = dict[tuple[str, ...], str](), dict[tuple[str, ...], str]()
    programs, palaces = dict[str, str](), dict[tuple[str, str], None]()
    troubles: list[Trouble] = []

    def note(started: Ours, mend: str) -> None:
        programs.setdefault(started.where, mend)
        palaces[_palace(started, context), mend] = None

    for scope, files in (("user", own), ("project", project)):
        if scope == "project" and files.hooks == own.hooks:
            continue
        again = _again(context, wiring, scope)
        ours = _tried(files.hooks, _hooks_of(wiring), troubles)
        read = [(one, started) for one, started in ours if one.is_read]
        if read:
            scopes.append(scope)
            events |= {one.event for one, _ in read}
        for one, started in read:
            note(started, again)
            if started.asks[2] in ("session-start", "SessionStart"):
                lines.setdefault(_line(one.value), again)
            if wiring is PI:  # its extension starts the server itself
                servers.setdefault((*started.program, "mcp", *started.options), again)
        for name, entry in _tried(files.servers, _servers_of(wiring), troubles):
            if (started := recognising.server(entry)) is not None:
                mend = f"change '{name}' in {files.servers}" if wiring is PI else again
                servers.setdefault(tuple(recognising.words(entry)), mend)
                note(started, mend)
    for other, mend in sorted(palaces):
        if other != str(context.palace_path):
            troubles.append(Trouble("other-palace", f"what is wired uses another palace: {other}", mend))
    if wiring is CLAUDE_CODE:
        brought = any(host_settings.has_plugin(host_files.text_of(path)) for path in (own.hooks, project.hooks))
    else:
        brought = wiring is CODEX and host_settings.has_toml_plugin(host_files.text_of(own.servers))
    if brought:
        scopes.append("plugin")
    return _Found(
        tuple(scopes),
        lines,
        frozenset(events),
        servers,
        programs,
        tuple(troubles),
    )


def _again(context: Context, wiring: Wiring, scope: str) -> str:
    """What writes anew what stands there: for a project's files, in the project."""
    whose = " --project" if scope == "project" else ""
    return _at(context, scope, f"palazzo install {wiring.host}{whose}")


def _at(context: Context, scope: str, command: str) -> str:
    """The command, in the project's directory where it is a project's."""
    return f"cd {shlex.quote(str(context.project_root))} && {command}" if scope == "project" else command


def _palace(started: Ours, context: Context) -> str:
    """The palace that a command line of ours leads to, here."""
    named = dict(zip(started.options[::2], started.options[1::2], strict=True)).get("--palace")
    return client.chosen_palace(named, context.variables, str(context.cwd))


def _hooks_of(wiring: Wiring) -> Callable[[str], Sequence[tuple[Handler, Ours]]]:
    if wiring is OPENCODE:
        return install_opencode.our_plugin
    if wiring is PI:
        return install_pi.our_extension
    return lambda text: host_settings.our_hooks(text, wiring.host)


def _servers_of(wiring: Wiring) -> Callable[[str], Sequence[tuple[str, Any]]]:
    if wiring is OPENCODE:
        return opencode_settings.servers
    if wiring is PI:
        return install_pi.servers
    if wiring is CODEX:
        return host_settings.toml_servers
    return lambda text: [(name, entry) for _, name, entry in host_settings.servers(text)]


def _tried(path: Path, read: Callable[[str], Sequence[Any]], troubles: list[Trouble]) -> Sequence[Any]:
    """What is read of a file; nothing where there is none, and a trouble where it cannot be understood."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise ValueError("it is not a file")
        return read(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        troubles.append(Trouble("unreadable", f"{path} cannot be read: {error}", f"mend {path}"))
        return []


def _trusted(own: HostFiles, scopes: Collection[str]) -> bool:
    """Whether Codex keeps for each of our hooks that the person trusts it, as it is now.

    Of a plugin's it keeps a hash of the whole plugin, which only Codex can compare: there, whether they ever were
    trusted.
    """
    try:
        kept = tomllib.loads(own.servers.read_bytes().decode("utf-8-sig")).get("hooks", {}).get("state", {})
    except (OSError, ValueError, AttributeError):
        return False
    of_plugin = [one for key, one in kept.items() if key.startswith(f"{PROGRAM}@") and ":hooks/" in key]
    if "plugin" in scopes and not any(isinstance(one, dict) and one.get("trusted_hash") for one in of_plugin):
        return False
    ours = trust_keys(own.hooks) if "user" in scopes else {}
    return all(isinstance(kept.get(key), dict) and kept[key].get("trusted_hash") == said for key, said in ours.items())


def _line(handler: Mapping[str, Any]) -> tuple[str, ...]:
    """What is started for a handler: the program and its arguments, or a shell and its line."""
    if isinstance(handler.get("args"), list) or sys.platform == "win32":
        return tuple(recognising.words(handler))
    return (os.environ.get("SHELL") or "/bin/sh", "-c", handler["command"])


# --- trying ------------------------------------------------------------------------------------------------


def _try_hook(wiring: Wiring, line: Sequence[str], variables: Mapping[str, str]) -> str:
    """Start a hook as the host would, for a session that is over at once; return what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as nowhere:
        payload = {"session_id": "palazzo-doctor", "cwd": nowhere, "source": "resume"}
        said = json.dumps({**payload, "hook_event_name": "SessionStart", "transcript_path": ""})
        answer = host_programs.run([*line], said, {**variables, "PALAZZO_OFF": "1"}, nowhere)
    if isinstance(answer, str):
        return f"the hook {answer}"
    try:
        is_object = isinstance(json.loads(answer), dict)
    except ValueError:
        is_object = False
    return "" if is_object else f"the hook answers what {wiring.title} cannot read"


def _try_server(line: Sequence[str], variables: Mapping[str, str]) -> str:
    """Start the MCP server, greet it and ask for its tools; return what is wrong, or nothing."""
    said = "".join(f"{json.dumps(message)}\n" for message in _GREETING)
    answer = host_programs.run([*line], said, variables, None)
    if isinstance(answer, str):
        return f"the MCP server {answer}"
    results = dict(_results(answer))
    if not results.get(0, {}).get("serverInfo"):
        return "the MCP server does not answer `initialize`"
    tools = results.get(1, {}).get("tools")
    names = {one.get("name") for one in tools if isinstance(one, dict)} if isinstance(tools, list) else set()
    missing = [one for one in _told_of(line) if one not in names]
    return f"the MCP server lacks tools that agents are told of: {', '.join(missing)}" if missing else ""


def _results(answer: bytes) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield what each line of JSON-RPC answers: the request's id, and the result."""
    for one in answer.splitlines():
        try:
            message = json.loads(one)
        except ValueError:
            continue
        if isinstance(message, dict) and isinstance(message.get("result"), dict):
            yield message.get("id"), message["result"]


def _told_of(line: Sequence[str]) -> list[str]:
    """The tools that agents are told of, by the names of the profile that is served."""
    profile = next((line[n + 1] for n, word in enumerate(line[:-1]) if word == "--profile"), "palazzo")
    return list(dict.fromkeys(NAMES.get(profile, {}).get(tool, tool) for tool in TOOLS_TOLD_OF))
