"""Kinds of the tools of agents, told by name: which run commands, read, edit, plan, or start other agents. Pure.

Names differ between hosts (`WebFetch`, `web_fetch`), so only letters and digits are compared.
"""

from __future__ import annotations

import re
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _words(
    """
    bash shell exec execcommand runshellcommand localshell localshellcall terminal runinterminal powershell
    runcommand sh zsh executecommand runterminalcmd runterminalcommand runinterminaltool bashtool shellcommand
    executebash execute cmd runcommands
    """
)
READERS = _words(
    """
    read readfile view cat grep glob ls notebookread readmanyfiles listdir list find grepfiles grepsearch
    searchfilecontent searchfiles findfiles listdirectory openfile viewfile readfiles ripgrep filesearch
    codebasesearch search viewimage readdir listfiles listcodedefinitionnames readfiletool globsearch semanticsearch
    searchcode fileglobsearch viewsubdirectory builtinreadfile builtingrepsearch builtinfileglobsearch builtinls
    builtinreadcurrentlyopenfile readcurrentlyopenfile builtinviewsubdirectory builtinviewrepomap viewrepomap
    listcodeusages geterrors getchangedfiles lsp readnotebook searchcodebase
    lspdiagnostics lspreferences finder
    """
)
EDITORS = _words(
    """
    edit write multiedit notebookedit update create strreplace strreplacebasededittool strreplaceeditor writefile
    editfile createfile replace applypatch insert insertedit deletefile patch writetofile replaceinfile
    searchreplace applydiff undoedit movefile createdirectory insertcontent smartedit editnotebook deletefiles
    renamefile createnewfile builtincreatenewfile builtineditexistingfile editexistingfile singlefindandreplace
    builtinsinglefindandreplace multireplacestringinfile replacestringinfile inserteditintofile reapply diff
    builtinviewdiff viewdiff editor
    """
)
PLANNERS = _words(
    """
    todowrite todoread todo updateplan writetodos exitplanmode enterplanmode askuserquestion askfollowupquestion
    attemptcompletion updatetodolist requestuserinput thinking think planmode exitplan enterworktree exitworktree
    savememory switchmode newtask taskcreate taskupdate taskget tasklist taskstop killshell killbash killtask
    croncreate cronlist crondelete sleep wait sendmessage toolsearch skill slashcommand todos taskstatus
    structuredoutput finish submit reportprogress schedulewakeup question setplan managetodolist suggestedactions
    plan plancreate planupdate requestpermissions goal monitor jobkill
    """
)
AGENTS = _words(
    """
    agent task subagent subtask spawnagent waitagent sendinput resumeagent closeagent taskoutput agentoutput
    agentoutputtool delegate delegatetask runsubagent dispatchagent codebaseinvestigator bashoutput writestdin
    readbackgroundoutput getterminaloutput joboutput
    """
)
"""Sub-agents, which `sessions/session_taint` judges by their own sessions, and later output of a running command."""
FINDERS = _words("glob globsearch find findfiles filesearch fileglobsearch builtinfileglobsearch")
_OWN_SERVER = re.compile(
    r"mcp__(?:plugin_palazzo_)?palazzo__|mcp_palazzo_|palazzo__?(?=\w)|palazzo-(?=\w)|mcp\.palazzo\.", re.IGNORECASE
)
"""Palazzo's own tools return archived text with its trust level; ingest recognises it as an echo."""


def is_shell(tool: str) -> bool:
    """Whether this tool runs commands."""
    return plain_name(tool) in SHELLS


def is_reader(tool: str) -> bool:
    """Whether this tool reads or searches files."""
    return plain_name(tool) in READERS


def is_own_server(tool: str) -> bool:
    """Whether this tool is Palazzo's own."""
    return _OWN_SERVER.match(tool) is not None


@lru_cache(maxsize=128)
def plain_name(name: str) -> str:
    """Return the letters and digits of a tool's name."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
