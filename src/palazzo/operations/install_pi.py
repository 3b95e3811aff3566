"""install pi: one file in pi's directory of extensions, which starts the extension that lies in this installation.

So what pi runs is always of the version that is installed. Where Palazzo is gone or has moved, the file says so, once
for each start of pi, and pi works on.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import palazzo
from palazzo.errors import UsageError
from palazzo.operations import install_host
from palazzo.operations.edited_files import Edit
from palazzo.operations.install import InstallRequest, Plan
from palazzo.operations.own_program import own_program

if TYPE_CHECKING:
    from palazzo.operations.context import Context

WHAT = "extension"
MARK = "// Written by 'palazzo install pi'; 'palazzo uninstall pi' takes it away."
_NEXT = "Next: start pi anew, or type /reload. '/palazzo:status' says whether it is there."
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


def plan(context: Context, request: InstallRequest) -> Plan:
    """Say what is to be written; UsageError where pi is not here."""
    _check_scope(request.project)
    directory = directory_of(context.variables)
    if not directory.is_dir() and shutil.which("pi", path=context.variables.get("PATH", "")) is None:
        raise UsageError(
            f"pi was not found: there is no directory {directory}, and no program 'pi' on PATH; install it."
        )
    program, options = own_program(context.variables), install_host.palace_option(context)
    wanted = starter(extension(), program, options)
    edit = Edit(file_in(directory), WHAT, lambda text: _with_starter(text, wanted))
    return Plan((), "\n".join([*install_host.remarks(context, False), _NEXT]), (edit,))


def removal(context: Context, project: bool, user: bool) -> list[Edit]:
    """Say what takes it away."""
    _check_scope(project)
    return [Edit(file_in(directory_of(context.variables)), WHAT, _without_starter)]


def directory_of(variables: Mapping[str, str]) -> Path:
    """Return pi's own directory."""
    moved = variables.get("PI_CODING_AGENT_DIR")
    home = Path(variables.get("HOME") or Path.home())
    return Path(moved).expanduser() if moved else home / ".pi" / "agent"


def file_in(directory: Path) -> Path:
    """Return the file that is written there."""
    return directory / "extensions" / "palazzo.ts"


def extension() -> Path:
    """Return the extension that is a part of this installation, or of this checkout."""
    package = Path(palazzo.__file__).absolute().parent
    checkout = package.resolve().parents[1]
    found = [home / "integrations" / "pi" / "index.ts" for home in (package, checkout)]
    path = next((one for one in found if one.is_file()), None)
    if path is None:
        raise UsageError(f"This installation has no extension for pi at {found[0]}: install Palazzo again.")
    return path


def starter(extension: Path, program: str, options: Sequence[str]) -> str:
    """Return the text of the file."""
    told = (json.dumps(one, ensure_ascii=False) for one in (str(extension), program, [*options]))
    return _STARTER.format(mark=MARK, **dict(zip(("extension", "program", "options"), told, strict=True)))


def _check_scope(project: bool) -> None:
    if project:
        raise UsageError(
            "pi is wired for you, not for a project: its file names a place on this machine. Run it without --project; "
            "for all who work on a project, name the package 'palazzo-pi' in its .pi/settings.json."
        )


def _with_starter(text: str | None, wanted: str) -> str:
    if text is not None and not text.startswith(MARK):
        raise ValueError("it was not written by 'palazzo install pi'")
    return wanted


def _without_starter(text: str | None) -> str | None:
    return None if text is not None and text.startswith(MARK) else text
