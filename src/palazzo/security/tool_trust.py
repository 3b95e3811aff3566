"""Trust of the tools of agents' hosts: which of them print local words, and the effects of a call. Pure.

A tool with an unknown name is foreign, as is every MCP server except Palazzo's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from palazzo.model import Trust
from palazzo.security.command_trust import CommandEffect, Holds, judge_command
from palazzo.security.git_commands import last_component
from palazzo.security.own_sources import OwnSources
from palazzo.security.project_paths import Project, is_dependency, reaches_everything
from palazzo.security.tool_kinds import (
    AGENTS,
    EDITORS,
    FINDERS,
    PLANNERS,
    READERS,
    SHELLS,
    is_own_server,
    plain_name,
)

_PATH_KEYS = (
    *(
        "file_path",
        "path",
        "filePath",
        "notebook_path",
        "absolute_path",
        "paths",
        "files",
        "glob",
        "dir_path",
        "directory",
    ),
    *(
        "target_file",
        "relative_workspace_path",
        "AbsolutePath",
        "filename",
        "filepath",
        "dirPath",
        "include",
        "target_directories",
    ),
)
_FINDER_KEYS = ("pattern", "glob_pattern", "globPattern", "query")
"""Tools that print the names of files that match a pattern. The pattern is a path, and the names are foreign if it
leads into a dependency.
"""
_COMMAND_KEYS = ("command", "cmd", "script", "input", "code", "CommandLine")
_DIRECTORY_KEYS = ("workdir", "cwd", "directory", "working_directory", "dir_path", "Cwd")


def trust_of_tool(name: str, arguments: object = None) -> Trust:
    """Return the trust of the output of tool `name` called with `arguments`, judged by the call alone.

    A result of an unknown tool (`name` empty) counts as external. The cutter judges again, with the session's directory
    and the effects of its earlier calls (`sessions/session_taint`).
    """
    return "tool" if judge_tool(name, arguments).is_local else "external"


def judge_tool(
    name: str,
    arguments: object = None,
    project: Project | None = None,
    holds: Holds | None = None,
    own: OwnSources | None = None,
) -> CommandEffect:
    """Judge a tool call: whether its output is known to be local, and which files it changes."""
    plain = plain_name(name)
    own = own or OwnSources()
    if not plain:
        return CommandEffect(False)
    if is_own_server(name) or own.has_tool(name):
        return CommandEffect()
    if name.lower().startswith(("mcp__", "mcp_", "mcp.")):
        return _foreign_call(arguments)
    if plain in SHELLS:
        return _judge_shell(arguments, project or Project(), holds, own)
    if plain in READERS:
        return _judge_reader(plain, arguments, project or Project(), holds, own)
    return CommandEffect() if plain in EDITORS or plain in PLANNERS or plain in AGENTS else _foreign_call(arguments)


def command_in(arguments: object) -> str:
    """Return the command that a shell tool call runs, as one line; '' if it has none."""
    if isinstance(arguments, Mapping):
        arguments = next((value for key in _COMMAND_KEYS if (value := arguments.get(key))), "")
    if isinstance(arguments, list | tuple):
        words = [str(word) for word in arguments]
        if len(words) == 3 and re.fullmatch(r"(?:\S*/)?\w*sh", words[0]) and re.fullmatch(r"-l?c|-cl", words[1]):
            return words[2]
        import shlex

        return shlex.join(words)
    return arguments if isinstance(arguments, str) else ""


def _foreign_call(arguments: object) -> CommandEffect:
    """Return the effect of a call of an unknown tool: it may have written to any path in its arguments."""
    values = arguments.values() if isinstance(arguments, Mapping) else ()
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])][:64]
    paths = [text for text in texts if isinstance(text, str) and "/" in text and "://" not in text and len(text) < 300]
    return CommandEffect(False, foreign_names={last_component(path) for path in paths if " " not in path} - {""})


def _judge_shell(arguments: object, project: Project, holds: Holds | None, own: OwnSources) -> CommandEffect:
    command = command_in(arguments)
    if not command.strip():
        return CommandEffect()
    if isinstance(arguments, Mapping):
        places = [value for key in _DIRECTORY_KEYS if isinstance(value := arguments.get(key), str) and value]
        if places:
            plain = project.resolve(places[0])
            if not project.is_inside(plain) and not own.has_path(plain, project):
                return CommandEffect(False)
            project = Project(project.root, plain)
    return judge_command(command, project, holds, own)


def _judge_reader(
    plain: str, arguments: object, project: Project, holds: Holds | None, own: OwnSources
) -> CommandEffect:
    paths = list(_paths(arguments))
    if plain in FINDERS and isinstance(arguments, Mapping):
        paths += (path for key in _FINDER_KEYS for path in _paths(arguments.get(key)))
    is_local = all(_is_own_path(path, project, holds, own) for path in paths)
    return CommandEffect(is_local, True, shows_diff="grep" in plain or "search" in plain or plain == "ripgrep")


def _is_own_path(path: str, project: Project, holds: Holds | None, own: OwnSources) -> bool:
    if reaches_everything(path):
        return not is_dependency(path)  # a pattern of file names; hosts' searchers skip ignored files
    plain_path = project.resolve(path)
    parts = plain_path.split("/")
    if holds and any(holds("made:" + "/".join(parts[:n])) for n in range(len(parts), 0, -1)):
        return True
    return project.is_own(plain_path) or own.has_path(plain_path, project)


def _paths(arguments: object) -> Iterator[str]:
    """Return the values that may be paths: the short strings in a reader's arguments."""
    if isinstance(arguments, str):
        yield arguments
    elif isinstance(arguments, list | tuple):
        for member in arguments:
            yield from _paths(member)
    elif isinstance(arguments, Mapping):
        for key in _PATH_KEYS:
            yield from _paths(arguments.get(key))
