"""Workspaces of VS Code and of editors made from it: which directory a folder of `workspaceStorage` belongs to.

Each folder of `User/workspaceStorage` has a `workspace.json` with the URI of a `folder`, or of a `workspace` file that
lists several (VS Code's source, `workspaceStorageMainService` and `storageMain.ts`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from palazzo.sources.file_heads import read_whole
from palazzo.sources.formats.jsonl_rows import JsonObject, string

_LONGEST = 1024 * 1024
_DRIVE = re.compile(r"/[A-Za-z]:/")
_WORKSPACE_FILE = ".code-workspace"


def workspace_directory(storage: Path) -> str:
    """Return the directory of the workspace whose storage is `storage`; "" if it has none or is on another machine."""
    try:
        record: object = json.loads(read_whole(storage / "workspace.json", _LONGEST))
    except (OSError, ValueError, RecursionError):
        return ""
    if not isinstance(record, dict):
        return ""
    folder = path_of_uri(string(record, "folder"))
    listed = path_of_uri(string(record, "workspace"))
    return folder or (str(PurePosixPath(listed).parent) if listed.endswith(_WORKSPACE_FILE) else "")


def path_of_uri(uri: str) -> str:
    """Return the local path that a `file:` URI names; "" for any other URI."""
    if not uri.startswith("file:///"):
        return ""
    path = unquote(uri.removeprefix("file://"))
    return path[1:] if _DRIVE.match(path) else path


def path_of_components(uri: object) -> str:
    """Return the path of a URI as VS Code writes one into JSON: `{$mid, path, scheme, fsPath?}`, or a string."""
    if isinstance(uri, str):
        return path_of_uri(uri) or uri
    if not isinstance(uri, dict):
        return ""
    record: JsonObject = uri
    path = string(record, "fsPath") or string(record, "path")
    return path[1:] if _DRIVE.match(path) else path
