"""Gemini projects: the directory of a Gemini CLI session, from the files that the host keeps beside its sessions.

Learned from Gemini CLI's public sources (`projectRegistry.ts`, `storage.ts`): the hash in a session's header is the
SHA-256 of the project's absolute path, which is in lower case on Windows. The path itself is in `.project_root` in the
project's folder, or a key of `projects` in `projects.json` above it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

_MARK, _REGISTRY = ".project_root", "projects.json"
_FOLDERS_ABOVE = 5
"""Maximum levels above a session at which `projects.json` may be: `<host>/tmp/<project>/chats/<parent
session>/<file>`.
"""
_LARGEST = 1024 * 1024


def directory_of(path: Path, project_hash: str) -> str:
    """Return the directory of the session at `path` whose header states that hash; "" if it is unknown.

    A path counts if it has the hash. If the header has no hash, the folder's own mark decides.
    """
    for candidate in _candidates(path):
        if not project_hash or _hash(candidate) == project_hash:
            return candidate
    return ""


def _candidates(path: Path) -> Iterator[str]:
    above = path.parents[:_FOLDERS_ABOVE]
    for folder in above:
        directory = _text(folder / _MARK).strip()
        if directory:
            yield directory
    for folder in above:
        yield from _read_registry(folder / _REGISTRY, {parent.name for parent in above})


def _read_registry(registry: Path, names: set[str]) -> Iterator[str]:
    """Return the paths of a registry; first those named like a folder above the session."""
    try:
        content = json.loads(_text(registry) or "{}")
    except (ValueError, RecursionError):
        return
    projects = content.get("projects") if isinstance(content, dict) else None
    if isinstance(projects, dict):
        yield from sorted(projects, key=lambda project: str(projects[project]) not in names)


def _text(file: Path) -> str:
    """Return a small file's text; "" if it does not exist, is not a file, or cannot be read."""
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return ""
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _hash(directory: str) -> str:
    return hashlib.sha256(directory.encode("utf-8", "surrogatepass")).hexdigest()
