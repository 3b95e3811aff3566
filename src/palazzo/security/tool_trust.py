"""Trust of the tools of agents' hosts: which of them print local words, and the effects of a call. Pure.

A tool with an unknown name is foreign, as is every MCP server except Palazzo's own. Names differ between hosts
(`WebFetch`, `web_fetch`), so only letters and digits are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from palazzo.model import Trust
from palazzo.security.command_trust import CommandEffect, Holds, judge_command
from palazzo.security.git_commands import last_component
from palazzo.security.own_sources import OwnSources
from palazzo.security.project_paths import Project, is_dependency, reaches_everything


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHELLS = _words(
    """
    bash shell exec execcommand runshellcommand localshell localshellcall terminal runinterminal powershell
    runcommand sh zsh executecommand runterminalcmd runterminalcommand runinterminaltool bashtool shellcommand
    executebash cmd
    """
)
_READERS = _words(
    """
    read readfile view cat grep glob ls notebookread readmanyfiles listdir list find grepfiles grepsearch
    searchfilecontent searchfiles findfiles listdirectory openfile viewfile readfiles ripgrep filesearch
    codebasesearch search viewimage readdir listfiles listcodedefinitionnames readfiletool globsearch semanticsearch
    searchcode fileglobsearch viewsubdirectory builtinreadfile builtingrepsearch builtinfileglobsearch builtinls
    builtinreadcurrentlyopenfile readcurrentlyopenfile builtinviewsubdirectory builtinviewrepomap viewrepomap
    listcodeusages geterrors getchangedfiles lsp readnotebook
    """
)
_EDITORS = _words(
    """
    edit write multiedit notebookedit update create strreplace strreplacebasededittool strreplaceeditor writefile
    editfile createfile replace applypatch insert insertedit deletefile patch writetofile replaceinfile
    searchreplace applydiff undoedit movefile createdirectory insertcontent smartedit editnotebook deletefiles
    renamefile createnewfile builtincreatenewfile builtineditexistingfile editexistingfile singlefindandreplace
    builtinsinglefindandreplace multireplacestringinfile replacestringinfile inserteditintofile reapply diff
    builtinviewdiff viewdiff
    """
)
_PLANNERS = _words(
    """
    todowrite todoread todo updateplan writetodos exitplanmode enterplanmode askuserquestion askfollowupquestion
    attemptcompletion updatetodolist requestuserinput thinking think planmode exitplan enterworktree exitworktree
    savememory switchmode newtask taskcreate taskupdate taskget tasklist taskstop killshell killbash killtask
    croncreate cronlist crondelete sleep wait sendmessage toolsearch skill slashcommand todos taskstatus
    structuredoutput finish submit reportprogress schedulewakeup question setplan managetodolist suggestedactions
    plan plancreate planupdate requestpermissions goal monitor
    """
)
_AGENTS = _words(
    """
    agent task subagent subtask spawnagent waitagent sendinput resumeagent closeagent taskoutput agentoutput
    agentoutputtool delegate delegatetask runsubagent dispatchagent codebaseinvestigator bashoutput writestdin
    readbackgroundoutput getterminaloutput
    """
)
"""Sub-agents, which `sessions/session_taint` judges by their own sessions, and later output of a running command."""
_OWN_SERVER = re.compile(
    r"mcp__(?:plugin_palazzo_)?palazzo__|mcp_palazzo_|palazzo__?(?=\w)|palazzo-(?=\w)|mcp\.palazzo\.", re.IGNORECASE
)
"""Palazzo's own tools return archived text with its trust level; ingest recognises it as an echo."""
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
_FINDERS = _words("glob globsearch find findfiles filesearch fileglobsearch builtinfileglobsearch")
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
    if plain in _SHELLS:
        return _judge_shell(arguments, project or Project(), holds, own)
    if plain in _READERS:
        return _judge_reader(plain, arguments, project or Project(), holds, own)
    return CommandEffect() if plain in _EDITORS or plain in _PLANNERS or plain in _AGENTS else _foreign_call(arguments)


def is_shell(tool: str) -> bool:
    """Whether this tool runs commands."""
    return plain_name(tool) in _SHELLS


def is_reader(tool: str) -> bool:
    """Whether this tool reads or searches files."""
    return plain_name(tool) in _READERS


def is_own_server(tool: str) -> bool:
    """Whether this tool is Palazzo's own."""
    return _OWN_SERVER.match(tool) is not None


def plain_name(name: str) -> str:
    """Return the letters and digits of a tool's name."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


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
    if plain in _FINDERS and isinstance(arguments, Mapping):
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
