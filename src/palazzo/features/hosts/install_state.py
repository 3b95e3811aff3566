"""State of Palazzo in each host's settings: its entries, whether they work, and duplicates.

Every entry is tested as the host would use it: the stored command line of a hook is started with a payload for a
session that does not exist, and the MCP server is called with `initialize`. Nothing is written to any palace or
settings.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from palazzo import paths
from palazzo.client import rpc
from palazzo.client.hook_client import PLAIN_TEXT
from palazzo.features.hosts import host_programs
from palazzo.frozen_class import frozen
from palazzo.hosts import entry_matcher, host_registry
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.injection.tool_names import NAMES

if TYPE_CHECKING:
    from palazzo.hosts.host_files import HostFiles
    from palazzo.hosts.installer import Installer
    from palazzo.operations.context import Context

_INIT_MESSAGES: tuple[dict[str, Any], ...] = (
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
"""Tools named in the text that we write into CLAUDE.md and AGENTS.md: they must be available to the agent."""

Problem = Literal["unreadable", "incomplete", "silent", "twice", "untrusted", "off", "other-palace"]


@frozen
class Trouble:
    """One problem, and the command or the step that fixes it."""

    kind: Problem
    detail: str
    mend: str


@frozen
class HostStatus:
    """The state of Palazzo's installation in one host.

    `scopes` are the places of its hooks (`user`, `project`, `plugin`), `programs` the commands that the hooks and the
    MCP server start. `hooks` counts the events with our hook, out of `wired`. `instructions` says that a host with
    nothing else reads our file of them. None means not tested.
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
    instructions: bool = False

    @property
    def is_wired(self) -> bool:
        """Return whether any entry of Palazzo is installed."""
        return bool(self.scopes) or self.server or self.instructions


@frozen
class _HostState:
    """The content of one host's files."""

    scopes: tuple[str, ...]
    lines: Mapping[tuple[str, ...], str]
    """Command lines of our hooks that are tried, with the command that writes each again."""
    events: frozenset[str]
    servers: Mapping[tuple[str, ...], str]
    programs: Mapping[str, str]
    troubles: tuple[Trouble, ...]


class _TrialResult(NamedTuple):
    """The result of a test start."""

    version: str = ""
    hook_answers: bool | None = None
    server_answers: bool | None = None
    troubles: Sequence[Trouble] = ()


class _ServerTrials:
    """Starts each MCP server once, however many hosts have the same command line: twenty at once would be slow."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._lock = Lock()
        self._futures: dict[tuple[str, ...], Future[str]] = {}

    def start(self, line: tuple[str, ...], pool: ThreadPoolExecutor) -> Future[str]:
        """Return the future of what is wrong with a server, or of an empty text."""
        with self._lock:
            if line not in self._futures:
                self._futures[line] = pool.submit(_try_server, line, self._variables)
            return self._futures[line]


def inspect_hosts(context: Context, try_out: bool = True) -> tuple[HostStatus, ...]:
    """Return Palazzo's state in each installed host; without `try_out` nothing is started."""
    futures = []
    trials = _ServerTrials(context.variables) if try_out else None
    with ThreadPoolExecutor() as pool:  # each waits for programs of its own
        for host, installer in host_registry.installers():
            own = installer.files_of(context.variables, None)
            path = shutil.which(host.program, path=context.variables.get("PATH", ""))
            if own.directory.is_dir() or path is not None:
                project = installer.files_of(context.variables, project_to_inspect(context))
                futures.append(pool.submit(_of_host, context, installer, own, project, path, trials))
    return tuple(future.result() for future in futures)


def project_to_inspect(context: Context) -> Path | None:
    """Return the root of the current project; None if it cannot be entered, so that its files are unknown."""
    root = context.project_root
    return root if paths.can_be_entered(root) else None


def _of_host(
    context: Context,
    installer: Installer,
    own: HostFiles,
    project: HostFiles,
    path: str | None,
    trials: _ServerTrials | None,
) -> HostStatus:
    host_spec = installer.wiring
    host_state = _read(context, installer, own, project)
    hook_names = [hook.name for hook in host_spec.hooks if not hook.optional]
    is_trusted = installer.is_trusted(own, host_state.scopes)
    trial = _tried_out(context, host_spec, host_state, path, trials) if trials else _not_tried(context, host_state)
    troubles = (
        *host_state.troubles,
        *_gaps(context, host_spec, host_state, [name for name in hook_names if name not in host_state.events]),
        *_of_its_kind(context, installer, own, project, host_state),
        *(() if is_trusted is not False else (_untrusted(installer),)),
        *trial.troubles,
    )
    return HostStatus(
        host_spec.host,
        host_spec.title,
        trial.version,
        host_state.scopes,
        tuple(host_state.programs),
        len(host_state.events & set(hook_names)),
        len(hook_names),
        bool(host_state.servers),
        trial.hook_answers,
        trial.server_answers,
        is_trusted,
        troubles,
        installer.has_instructions(own),
    )


# --- what is wrong -----------------------------------------------------------------------------------------


def _gaps(context: Context, host_spec: HostHooks, host_state: _HostState, missing: Sequence[str]) -> Iterator[Trouble]:
    """Yield what is missing from the installation; a plugin is always complete."""
    if not host_state.scopes or "plugin" in host_state.scopes:
        return
    reinstall_command = _make_mend_command(context, host_spec, host_state)
    if missing:
        yield Trouble("incomplete", f"no hook for {', '.join(missing)}", reinstall_command)
    if not host_state.servers:
        yield Trouble("incomplete", "hooks are installed, but no MCP server", reinstall_command)


def _of_its_kind(
    context: Context, installer: Installer, own: HostFiles, project: HostFiles, host_state: _HostState
) -> Iterator[Trouble]:
    """Yield troubles that not every host can have."""
    host_spec = installer.wiring
    if installer.runs_twice and len(host_state.scopes) > 1:
        duplicate_scope = "project" if "project" in host_state.scopes else "user"
        yield Trouble(
            "twice",
            f"hooks are installed in {' and '.join(host_state.scopes)}: each runs twice",
            _at(context, duplicate_scope, f"palazzo uninstall {host_spec.host} --{duplicate_scope}"),
        )
    for finding in installer.findings(context.variables, own, project):
        mend = finding.mend or _REPAIR
        if finding.scope:
            mend = make_reinstall_command(context, host_spec, finding.scope)
        yield Trouble(finding.kind, finding.detail, mend)


def _untrusted(installer: Installer) -> Trouble:
    detail = f"{installer.wiring.title} does not run these hooks until you trust them"
    return Trouble("untrusted", detail, installer.trust_step)


def _make_mend_command(context: Context, host_spec: HostHooks, host_state: _HostState) -> str:
    return make_reinstall_command(context, host_spec, "project" if {*host_state.scopes} == {"project"} else "user")


def _is_there(context: Context, program: str) -> bool:
    return shutil.which(program, path=context.variables.get("PATH", "")) is not None


# --- trying it ---------------------------------------------------------------------------------------------


def _not_tried(context: Context, host_state: _HostState) -> _TrialResult:
    """Only check whether the programs exist."""
    missing_programs = [
        (program, mend)
        for program, mend in host_state.programs.items()
        if not _is_there(context, shlex.split(program)[0])
    ]
    why = "the installed entry starts {}, which does not exist"
    return _TrialResult(troubles=[Trouble("silent", why.format(program), mend) for program, mend in missing_programs])


def _tried_out(
    context: Context, host_spec: HostHooks, host_state: _HostState, path: str | None, trials: _ServerTrials
) -> _TrialResult:
    """Start all wired programs at once, as the host would, and report those that do not answer."""
    with ThreadPoolExecutor() as pool:
        version = pool.submit(host_programs.read_version, path, context.variables)
        hooks = [pool.submit(_try_hook, host_spec, line, context.variables) for line in host_state.lines]
        servers = [trials.start(line, pool) for line in host_state.servers]
    answers, serves = ([future.result() for future in futures] for futures in (hooks, servers))
    mends = (*host_state.lines.values(), *host_state.servers.values())
    return _TrialResult(
        version.result(),
        not any(answers) if answers else None,
        not any(serves) if serves else None,
        [
            Trouble("silent", why, _fix_of(why, mend))
            for why, mend in zip((*answers, *serves), mends, strict=True)
            if why
        ],
    )


def _fix_of(why: str, mend: str) -> str:
    """Return what to do about a program that does not answer: writing the entries again makes none faster."""
    return "palazzo doctor, when the machine is less busy" if host_programs.SLOW in why else mend


# --- reading -----------------------------------------------------------------------------------------------


def _read(context: Context, installer: Installer, own: HostFiles, project: HostFiles) -> _HostState:
    host_spec = installer.wiring
    scopes, events = list[str](), set[str]()
    lines, servers = dict[tuple[str, ...], str](), dict[tuple[str, ...], str]()
    programs, palaces = dict[str, str](), dict[tuple[str, str], None]()
    troubles: list[Trouble] = []
    tried_events = {"session-start", "SessionStart"}
    if not any(hook.event == "session-start" for hook in host_spec.hooks):
        tried_events = {hook.event for hook in host_spec.hooks[:1]}

    def note(launch: Ours, mend: str) -> None:
        programs.setdefault(launch.program_text, mend)
        palaces[_palace(launch, context), mend] = None

    for scope, files in (("user", own), ("project", project)):
        if scope == "project" and files.hooks == own.hooks:
            continue
        reinstall_command = make_reinstall_command(context, host_spec, scope)
        hook_files = installer.hook_files(files)
        ours = [pair for path in hook_files for pair in _read_entries(path, installer.our_hooks, troubles)]
        read = [(handler, launch) for handler, launch in ours if handler.is_read]
        if read:
            scopes.append(scope)
            events |= {handler.event for handler, _ in read}
        for handler, launch in read:
            note(launch, reinstall_command)
            if launch.asks[2] in tried_events:
                lines.setdefault(_line(handler.value), reinstall_command)
            if installer.starts_server:
                servers.setdefault((*launch.program, "mcp", *launch.options), reinstall_command)
        for name, entry in _read_entries(files.servers, installer.servers, troubles):
            if (launch := entry_matcher.server(entry)) is not None:
                mend = f"change '{name}' in {files.servers}" if installer.starts_server else reinstall_command
                servers.setdefault(tuple(entry_matcher.words(entry)), mend)
                note(launch, mend)
    for palace_path, mend in sorted(palaces):
        if palace_path != str(context.palace_path):
            troubles.append(Trouble("other-palace", f"the installed entry uses another palace: {palace_path}", mend))
    if installer.has_plugin(own, project):
        scopes.append("plugin")
    return _HostState(
        tuple(scopes),
        lines,
        frozenset(events),
        servers,
        programs,
        tuple(troubles),
    )


def make_reinstall_command(context: Context, host_spec: HostHooks, scope: str) -> str:
    """Return the command that writes the entries again; for a project's files, it runs in the project."""
    option = " --project" if scope == "project" else ""
    return _at(context, scope, f"palazzo install {host_spec.host}{option}")


def _at(context: Context, scope: str, command: str) -> str:
    """Return the command, run in the project's directory if the scope is the project."""
    return f"cd {shlex.quote(str(context.project_root))} && {command}" if scope == "project" else command


def _palace(launch: Ours, context: Context) -> str:
    """Return the palace that a command line of ours uses here."""
    palace_option = dict(zip(launch.options[::2], launch.options[1::2], strict=True)).get("--palace")
    return rpc.chosen_palace(palace_option, context.variables, str(context.cwd))


def _read_entries(path: Path, read: Callable[[str], Sequence[Any]], troubles: list[Trouble]) -> Sequence[Any]:
    """Return what is read from a file; empty if it does not exist, and with a trouble if it cannot be parsed."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise ValueError("it is not a file")
        return read(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        troubles.append(Trouble("unreadable", f"{path} cannot be read: {error}", f"mend {path}"))
        return []


def _line(handler: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a handler's command line: the program and its arguments, or a shell and its line."""
    if isinstance(handler.get("args"), list) or sys.platform == "win32":
        return tuple(entry_matcher.words(handler))
    return (os.environ.get("SHELL") or "/bin/sh", "-c", handler["command"])


# --- trying ------------------------------------------------------------------------------------------------


def _try_hook(host_spec: HostHooks, line: Sequence[str], variables: Mapping[str, str]) -> str:
    """Start a hook as the host would, for a session that ends at once; return what is wrong, or an empty text."""
    with tempfile.TemporaryDirectory() as nowhere:
        payload = {"session_id": "palazzo-doctor", "cwd": nowhere, "source": "resume"}
        input_text = json.dumps({**payload, "hook_event_name": "SessionStart", "transcript_path": ""})
        answer = host_programs.run([*line], input_text, {**variables, "PALAZZO_OFF": "1"}, nowhere)
    if isinstance(answer, str):
        return f"the hook {answer}"
    try:
        is_readable = not answer if host_spec.host in PLAIN_TEXT else isinstance(json.loads(answer), dict)
    except ValueError:
        is_readable = False
    return "" if is_readable else f"the hook's answer cannot be read by {host_spec.title}"


def _try_server(line: Sequence[str], variables: Mapping[str, str]) -> str:
    """Start the MCP server, initialize it and list its tools; return what is wrong, or an empty text."""
    input_text = "".join(f"{json.dumps(message)}\n" for message in _INIT_MESSAGES)
    answer = host_programs.run([*line], input_text, _without_needless_service(line, variables), None)
    if isinstance(answer, str):
        return f"the MCP server {answer}"
    results = dict(_results(answer))
    if not results.get(0, {}).get("serverInfo"):
        return "the MCP server does not answer `initialize`"
    tools = results.get(1, {}).get("tools")
    names = {tool.get("name") for tool in tools if isinstance(tool, dict)} if isinstance(tools, list) else set()
    missing = [tool for tool in _told_of(line) if tool not in names]
    return f"the MCP server lacks tools that agents' instructions name: {', '.join(missing)}" if missing else ""


def _without_needless_service(line: Sequence[str], variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment for a trial. Without a palace, the server that is tried must not leave a service."""
    named = next((line[n + 1] for n, word in enumerate(line[:-1]) if word == "--palace"), None)
    has_palace = os.path.exists(rpc.chosen_palace(named, variables))  # noqa: PTH110 - a text
    return variables if has_palace else {**variables, "PALAZZO_SERVICE": "off"}


def _results(answer: bytes) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the request id and the result of each JSON-RPC answer."""
    for line in answer.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and isinstance(message.get("result"), dict):
            yield message.get("id"), message["result"]


def _told_of(line: Sequence[str]) -> list[str]:
    """Return the tools that agents' instructions name, by their names in the served profile."""
    profile = next((line[n + 1] for n, word in enumerate(line[:-1]) if word == "--profile"), "palazzo")
    return list(dict.fromkeys(NAMES.get(profile, {}).get(tool, tool) for tool in TOOLS_TOLD_OF))
