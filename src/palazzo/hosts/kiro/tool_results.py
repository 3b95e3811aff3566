"""Results of Kiro's tools, in the forms in which its stores have them, and the trust of what a tool prints.

The names of the tools are from its source code (`tools` in `crates/chat-cli/src/cli/chat`) and from public readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.model import Trust
from palazzo.security.tool_kinds import plain_name
from palazzo.sources.formats.block_text import JOINT, call_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import trust_of_call
from palazzo.sources.formats.row_records import objects_in

_TOOLS = {
    **dict.fromkeys(("fsread", "readmultiplefiles", "readcode", "getdiagnostics", "code"), "Read"),
    **dict.fromkeys(("fswrite", "fsappend", "strreplaceall", "semanticrename", "smartrelocate"), "Edit"),
    **dict.fromkeys(("executepwsh", "executecmd", "controlbashprocess", "getprocessoutput"), "Bash"),
    **dict.fromkeys(("todolist", "taskstatus", "updatesessioninformation"), "TodoWrite"),
    **dict.fromkeys(("usesubagent", "invokesubagent"), "Task"),
}
"""Kiro's own tools, with their standard equivalents. Every other tool may bring untrusted content."""
_NO_ERROR = re.compile(r"(?:exit status: )?0")


def trust_of_kiro_call(name: str, arguments: object) -> Trust:
    """Return the trust of a tool's output."""
    return trust_of_call(_TOOLS.get(plain_name(name), name), arguments)


def result_text(content: object) -> tuple[str, bool]:
    """Return the text of a result, and whether it says that a command failed."""
    if isinstance(content, str):
        return content, False
    texts, failed = [], False
    for data in _contents(content):
        if isinstance(data, str):
            texts.append(data)
        elif isinstance(data, dict) and "exit_status" in data:
            texts += [string(data, "stdout"), string(data, "stderr")]
            failed = failed or not _NO_ERROR.fullmatch(str(data["exit_status"]))
        elif data:
            texts.append(call_text("result", data))
    return JOINT.join(text for text in texts if text), failed


def _contents(content: object) -> Iterator[object]:
    """Yield the pieces of a result: `{kind, data}` in files of sessions, `{Text}` or `{Json}` in the database."""
    for piece in [content] if isinstance(content, dict) else objects_in(content):
        record: JsonObject = piece
        yield next((record[key] for key in ("Text", "Json", "data") if key in record), record)
