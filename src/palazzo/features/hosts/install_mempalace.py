"""install mempalace-compat DIR: the program names by which clients start MemPalace, for Palazzo.

Each file is a few lines that start `palazzo/faces/cli/mempalace_command.py`, which maps MemPalace's commands to
Palazzo's. So the files need not be installed again when the mapping changes. DIR belongs on PATH for the programs, and
on PYTHONPATH for `python -m mempalace.mcp_server` and for extensions that import `mempalace.mcp_server`,
`mempalace.config` and `mempalace.convo_miner`. Because DIR contains a program `mempalace`, the Python module beside
it is `mempalace.py`, which is a package by its `__path__`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import palazzo
from palazzo.errors import UsageError
from palazzo.features.hosts.contract import InstallRequest
from palazzo.features.hosts.install_files import plan_file
from palazzo.features.hosts.mempalace_slash_commands import plan_slash_commands
from palazzo.features.upkeep.setting_writer import with_value
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.install_plan import Plan
from palazzo.paths import config_directory
from palazzo.settings import load
from palazzo.settings.setting_keys import BY_NAME
from palazzo.settings.setting_layers import USER_FILE

if TYPE_CHECKING:
    from palazzo.features.hosts.contract import InstallRequest
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

import functools
import json
import subprocess
import sys

from mempalace import COMMAND, run


def main():
    run(["mcp", *sys.argv[1:]])


def call(tool, **arguments):
    """Return a tool's answer, from a server that is started for it."""
    given = {{name: value for name, value in arguments.items() if value is not None}}
    client = {{"name": "mempalace", "version": "0"}}
    hello = {{"protocolVersion": "2025-06-18", "capabilities": {{}}, "clientInfo": client}}
    requests = [("initialize", hello), ("tools/call", {{"name": tool, "arguments": given}})]
    with subprocess.Popen([*COMMAND, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        for n, (method, params) in enumerate(requests):
            message = {{"jsonrpc": "2.0", "id": n, "method": method, "params": params}}
            server.stdin.write(json.dumps(message).encode() + b"\\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
    if "error" in answer:
        return {{"success": False, "error": answer["error"]["message"]}}
    return json.loads(answer["result"]["content"][0]["text"])


def __getattr__(name):
    """Return the function of a tool (`tool_search`), or load the list of tools from Palazzo."""
    if name.startswith("tool_"):
        return functools.partial(call, name.replace("tool_", "mempalace_", 1))
    if name != "TOOLS":
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    listed = subprocess.run([*COMMAND, "tools"], stdout=subprocess.PIPE, check=True).stdout
    globals()[name] = json.loads(listed)
    return globals()[name]


if __name__ == "__main__":
    main()
'''

_CONFIG = '''\
"""{mark}: names the palace that Palazzo uses."""

import os


class MempalaceConfig:
    """The settings that extensions of MemPalace read."""

    @property
    def palace_path(self):
        return os.environ.get("MEMPALACE_PALACE_PATH") or {palace!r}
'''
_MINER = '''\
"""{mark}: archives conversations with Palazzo by MemPalace's name."""

import subprocess

from mempalace import COMMAND


def mine_convos(convo_dir, palace_path, wing=None, agent="mempalace", **options):
    """Archive the conversations in a directory."""
    place = ["--wing", wing] if wing else []
    command = [*COMMAND, "--palace", str(palace_path), "mine", str(convo_dir), "--mode", "convos", *place]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
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
    modules = {"mcp_server": _SERVER, "config": _CONFIG, "convo_miner": _MINER}
    palace = str(context.palace_path.parent)
    files += [
        plan_file(directory / _MODULES / f"{name}.py", text.format(mark=MARK, palace=palace), MARK)
        for name, text in modules.items()
    ]
    files += plan_slash_commands(context.variables, MARK)
    # Their answers are Palazzo's own: a session that reads them has met no untrusted content by that.
    user_file = config_directory(context.variables) / USER_FILE
    setting = Edit(user_file, f"the setting {OWN}", lambda text: _add_own_memory(user_file, text or ""))
    return Plan(tuple(files), _path_note(directory, context.variables.get("PATH", "")), (setting,))


def _path_note(directory: Path, search_path: str) -> str:
    """Return what a person must do so that the programs are found, and what is found today."""
    entries = [os.path.realpath(entry) for entry in search_path.split(os.pathsep) if entry]
    first = shutil.which(_NAME, path=search_path)
    module = "on PYTHONPATH if clients start 'python -m mempalace.mcp_server'."
    if os.path.realpath(directory) not in entries:
        today = f"'{_NAME}' is not found" if first is None else f"'{_NAME}' starts {first}"
        return f"{directory} is not on PATH, so {today}. Put it first on PATH, and {module}"
    if first is not None and Path(first).parent.resolve() != directory.resolve():
        return f"{first} comes before {directory} on PATH. Put {directory} first on PATH, and {module}"
    return f"{directory} is on PATH. Put it {module}"


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
