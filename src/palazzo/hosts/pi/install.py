"""install pi: one file in pi's directory of extensions, which starts the extension in this installation.

So pi always runs the installed version. If Palazzo is gone or has moved, the file says so once for each start of pi,
and pi continues.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import palazzo
from palazzo.errors import UsageError
from palazzo.hosts import host_files, host_settings, install_host
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import PROGRAM
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.host_settings import Handler
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Finding, Installer
from palazzo.hosts.own_program import own_program
from palazzo.hosts.pi.paths import directory_of, file_in, files_of
from palazzo.hosts.pi.wiring import WIRING

EXTENSION = "extension"
MARK = "// Written by 'palazzo install pi'; 'palazzo uninstall pi' takes it away."
_EXTENSION_PATTERN = re.compile(r'^const extension = (".*");$', re.MULTILINE)
_OPTIONS_PATTERN = re.compile(r'^const palazzo = \{ program: (".*"), options: (\[.*\]) \};$', re.MULTILINE)
_NEXT = "Next: restart pi, or type /reload. '/palazzo:status' shows whether Palazzo is loaded."
_STARTER = """\
{mark}
const extension = {extension};
const palazzo = {{ program: {program}, options: {options} }};

export default async function (pi) {{
	let found;
	try {{
		found = await import(extension);
	}} catch (error) {{
		pi.on("session_start", (_event, ctx) => {{
			const why = `Palazzo is not at ${{extension}} any more (${{error}}); 'palazzo install pi' mends that.`;
			ctx.hasUI ? ctx.ui.notify(why, "warning") : console.error(why);
		}});
		return;
	}}
	found.wire(pi, palazzo);
}}
"""


def plan(context: InstallPlace, request: InstallOptions) -> Plan:
    """Return the edits to make; UsageError if pi is not found here."""
    _check_scope(request.project)
    directory = directory_of(context.variables)
    if not directory.is_dir() and shutil.which("pi", path=context.variables.get("PATH", "")) is None:
        raise UsageError(
            f"pi was not found: there is no directory {directory}, and no program 'pi' on PATH; install it first."
        )
    program, options = own_program(context.variables), install_host.palace_option(context)
    starter_text = starter(extension(), program, options)
    edit = Edit(file_in(directory), EXTENSION, lambda text: _with_starter(text, starter_text))
    return Plan((), "\n".join([*install_host.remarks(context, False), _NEXT]), (edit,))


def removal(context: InstallPlace, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove the file again."""
    _check_scope(project)
    return [Edit(file_in(directory_of(context.variables)), EXTENSION, _without_starter)]


def extension() -> Path:
    """Return the extension that is part of this installation or of this checkout."""
    package = Path(palazzo.__file__).absolute().parent
    checkout = package.resolve().parents[1]
    candidates = [home / "integrations" / "pi" / "index.ts" for home in (package, checkout)]
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    if path is None:
        raise UsageError(f"This installation has no extension for pi at {candidates[0]}: reinstall Palazzo.")
    return path


def starter(extension: Path, program: str, options: Sequence[str]) -> str:
    """Return the text of the file."""
    literals = (json.dumps(value, ensure_ascii=False) for value in (str(extension), program, [*options]))
    return _STARTER.format(mark=MARK, **dict(zip(("extension", "program", "options"), literals, strict=True)))


# --- how it stands -----------------------------------------------------------------------------------------


def our_extension(text: str) -> list[tuple[Handler, Ours]]:
    """Return the file as a hook, with the program that it starts; empty if the file is not ours."""
    if not text.startswith(MARK):
        return []
    program, options = _parse_launch_command(text) or (PROGRAM, [])
    asks = ("hook", WIRING.host, "session-start")
    handler = {"command": program, "args": [*asks, *options]}
    return [(Handler(EXTENSION, (), (), handler, True), Ours((program,), asks, tuple(options)))]


def servers(text: str) -> list[tuple[str, Any]]:
    """Return the MCP servers that pi's own client starts, from version 0.99 on."""
    return [
        (name, entry)
        for _, name, entry in host_settings.servers(text)
        if isinstance(entry, dict) and entry.get("enabled") is not False and entry.get("disabled") is not True
    ]


def find_outdated_extension(variables: Mapping[str, str], own: HostFiles, project: HostFiles) -> Iterator[Finding]:
    """Yield what is wrong with the installed file."""
    text = host_files.text_of(own.hooks)
    if not text.startswith(MARK):
        return
    try:
        current_path = extension()
    except UsageError as error:
        yield Finding("incomplete", str(error))
        return
    match = _EXTENSION_PATTERN.search(text)
    extension_path = None if match is None else Path(json.loads(match[1]))
    launch_command = _parse_launch_command(text)
    if extension_path is not None and not extension_path.is_file():
        yield Finding("incomplete", f"{own.hooks} loads {extension_path}, which does not exist", "user")
    elif extension_path is not None and extension_path != current_path:
        detail = f"{own.hooks} loads the extension of another installation: {extension_path}"
        yield Finding("incomplete", detail, "user")
    elif launch_command is None or text != starter(current_path, *launch_command):
        yield Finding("incomplete", f"{own.hooks} is from another version", "user")


def _parse_launch_command(text: str) -> tuple[str, list[str]] | None:
    """Return the program that the file starts, and its options."""
    match = _OPTIONS_PATTERN.search(text)
    return None if match is None else (json.loads(match[1]), json.loads(match[2]))


# --- the file ----------------------------------------------------------------------------------------------


def _check_scope(project: bool) -> None:
    if project:
        raise UsageError(
            "pi is wired for you, not for a project: its file names a path on this machine. Run the command without "
            "--project; for everyone who works on a project, name the package 'palazzo-pi' in its .pi/settings.json."
        )


def _with_starter(text: str | None, starter_text: str) -> str:
    if text is not None and not text.startswith(MARK):
        raise ValueError("it was not written by 'palazzo install pi'")
    return starter_text


def _without_starter(text: str | None) -> str | None:
    return None if text is not None and text.startswith(MARK) else text


INSTALLER = Installer(
    WIRING,
    files_of,
    plan,
    removal,
    our_hooks=our_extension,
    servers=servers,
    findings=find_outdated_extension,
    runs_twice=False,
    starts_server=True,
)
