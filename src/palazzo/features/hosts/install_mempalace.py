"""install mempalace-compat DIR: the program names by which clients start MemPalace, for Palazzo.

Each file is a few lines that start `palazzo/faces/cli/mempalace_command.py`, which maps MemPalace's commands to
Palazzo's. So the files need not be installed again when the mapping changes. DIR belongs on PATH for the programs, and
on PYTHONPATH for `python -m mempalace.mcp_server`. Because DIR contains a program `mempalace`, the Python module beside
it is `mempalace.py`, which is a package by its `__path__`.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import palazzo
from palazzo.errors import UsageError
from palazzo.features.hosts.edited_files import Edit
from palazzo.features.hosts.install import InstallRequest, Plan
from palazzo.features.hosts.install_files import plan_file
from palazzo.paths import config_directory
from palazzo.settings import load
from palazzo.settings.setting_keys import BY_NAME
from palazzo.settings.setting_layers import USER_FILE
from palazzo.settings.setting_writer import with_value

if TYPE_CHECKING:
    from palazzo.operations.context import Context

MARK = "Written by 'palazzo install mempalace-compat'"
VERSION = "3.11.0"
"""The version of MemPalace whose interface is provided; it is reported to programs that ask for a version."""
OWN = "trust.own"
_NAME = "mempalace"
"""The name in `trust.own` that stands for all tools of a server named like MemPalace's."""
_MODULES = "mempalace-modules"
_SHELL = """\
#!/bin/sh
# {mark}: starts Palazzo by MemPalace's name.
exec {command} "$@"
"""
_BATCH = """\
@rem {mark}: starts Palazzo by MemPalace's name.
@{command} %*
"""
_PACKAGE = '''\
"""{mark}: starts Palazzo by MemPalace's name."""

import os
import subprocess
import sys

__version__ = {version!r}
__path__ = [os.path.join(os.path.dirname(os.path.abspath(__file__)), {modules!r})]
COMMAND = {command!r}


def run(arguments):
    """Become Palazzo."""
    if os.name != "nt":
        os.execv(COMMAND[0], [*COMMAND, *arguments])
    sys.exit(subprocess.call([*COMMAND, *arguments]))


def main():
    run(sys.argv[1:])


if __name__ == "__main__":
    main()
'''
_SERVER = '''\
"""{mark}: starts Palazzo's MCP server by MemPalace's name."""

import json
import subprocess
import sys

from mempalace import COMMAND, run


def main():
    run(["mcp", *sys.argv[1:]])


def __getattr__(name):
    """Load the tools from Palazzo on first access."""
    if name != "TOOLS":
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    listed = subprocess.run([*COMMAND, "tools"], stdout=subprocess.PIPE, check=True).stdout
    globals()[name] = json.loads(listed)
    return globals()[name]


if __name__ == "__main__":
    main()
'''


def plan(context: Context, request: InstallRequest) -> Plan:
    """Return the files to write into the directory; UsageError if a file of such a name there is not ours."""
    if request.directory is None:
        raise UsageError("Name a directory that is on PATH: palazzo install mempalace-compat DIR.")
    directory = context.led_to(request.directory).absolute()
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is not a directory.")
    script = Path(palazzo.__file__).absolute().parent / "faces" / "cli" / "mempalace_command.py"
    command = [sys.executable, "-I", "-S", "-E", str(script)]
    files = [
        plan_file(directory / _program(name), _render_launcher([*command, *words]), MARK, is_program=True)
        for name, words in (("mempalace", ()), ("mempalace-mcp", ("mcp",)))
    ]
    package = _PACKAGE.format(mark=MARK, modules=_MODULES, command=command, version=VERSION)
    files.append(plan_file(directory / "mempalace.py", package, MARK))
    files.append(plan_file(directory / _MODULES / "mcp_server.py", _SERVER.format(mark=MARK), MARK))
    # Their answers are Palazzo's own: a session that reads them has met no untrusted content by that.
    user_file = config_directory(context.variables) / USER_FILE
    setting = Edit(user_file, f"the setting {OWN}", lambda text: _add_own_memory(user_file, text or ""))
    note = f"Put {directory} first on PATH, and on PYTHONPATH if clients start 'python -m mempalace.mcp_server'."
    return Plan(tuple(files), note, (setting,))


def _add_own_memory(path: Path, text: str) -> str:
    """Return the user's settings with MemPalace added to the sources that count as the user's own."""
    entries = load(path, None, {}).texts(OWN)
    return text if _NAME in entries else with_value(path, text, BY_NAME[OWN], (*entries, _NAME))


def _program(name: str) -> str:
    return f"{name}.cmd" if sys.platform == "win32" else name


def _render_launcher(command: list[str]) -> str:
    if sys.platform == "win32":
        return _BATCH.format(mark=MARK, command=" ".join(f'"{word}"' for word in command)).replace("\n", "\r\n")
    return _SHELL.format(mark=MARK, command=shlex.join(command))
