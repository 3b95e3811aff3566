"""Claude Code's own memory between sessions: Markdown files that it or a person writes and that it loads again.

Learned from Claude Code 2.1's documentation (code.claude.com/docs/en/memory) and from the instructions that it gives
its model. `<project>` below `~/.claude/projects` is the project's directory with each separator as a `-`:

    ~/.claude/projects/<project>/memory/*.md      its own notes: MEMORY.md is a list of the others, or holds all itself
    ~/.claude/agent-memory/<agent>/*.md           those of sub-agents; also `.claude/agent-memory(-local)` of a project
    ~/.claude/CLAUDE.md, ~/.claude/rules/**/*.md  a person's instructions for all projects
    CLAUDE.md, CLAUDE.local.md, .claude/CLAUDE.md, .claude/rules/**/*.md      those of a project

    ---
    name: …               before the text of a note. `type` and `originSessionId` are in `metadata` since 2.1; the
    description: …        types are user, feedback, project and reference.
    type: …
    ---

A path is such a file, a directory of notes, a project, `~/.claude`, or its `projects`. Each file becomes a note with
the text after its front matter. The only time of a file is that of its last change, and its author follows only from
its location. Links are not followed.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import yaml

from palazzo.frozen_class import frozen
from palazzo.git.project_identity import project_root
from palazzo.importers import Note, SkippedRecord, StoreRecord
from palazzo.importers.json_documents import head, is_directory, key_of, object_at, present, text_at
from palazzo.model import Micros, Trust
from palazzo.sources.formats.jsonl_rows import JsonObject, objects_in_head, string

INDEX = "MEMORY.md"
LARGEST = 1 << 20
"""Maximum bytes of one file. The host loads 25 KB of its index."""
_INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md")
_AGENTS = ("agent-memory", "agent-memory-local")
_LONGEST_MATTER = 8_000
_DEEPEST = 6


class ClaudeMemory:
    """Reads Claude Code's own memory files."""

    name = "claude-memory"
    title = "Claude Code's memory"

    def recognises(self, path: Path) -> bool:
        """Return whether a path is one of the places above and has such a file."""
        if is_directory(path):
            return next(_find_files(path), None) is not None
        return path.name in (*_INSTRUCTIONS, INDEX) and path.is_file()

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield the files by place, and by name within a place."""
        for file in [_File(path)] if path.is_file() else _find_files(path):
            yield from _read(file, path)


@frozen
class _File:
    """A file, the key that identifies it instead of its path, and the properties that follow from its location."""

    path: Path
    place: tuple[str, ...] = ()
    wing: str = ""
    author: str = ""
    trust: Trust = "agent"
    label: str = ""


def _find_files(path: Path) -> Iterator[_File]:
    """Yield the files below a directory, whichever kind of directory it is."""
    if (path / "projects").is_dir() and (path.name == ".claude" or not (path / INDEX).exists()):
        yield from _of_home(path)
    elif path.name == "projects" and path.parent.name == ".claude":
        yield from _of_projects(path)
    elif path.parent.name == "projects" and (path / "memory").is_dir():
        yield from _of_project_folder(path)
    elif (path / INDEX).is_file() or path.name == "memory":
        wing = _project_of(path.parent)
        yield from _notes(path, _File(path, (path.parent.name,) if wing else (), wing))
    else:
        yield from _of_project(path)


def _of_home(claude: Path) -> Iterator[_File]:
    yield from _instructions(claude, _File(claude, ("home",), trust="user", label="instructions"))
    yield from _agents(claude, _File(claude, ("home",)))
    yield from _of_projects(claude / "projects")


def _of_projects(projects: Path) -> Iterator[_File]:
    for folder in sorted(_directories(projects)):
        yield from _of_project_folder(folder)


def _of_project_folder(folder: Path) -> Iterator[_File]:
    if (folder / "memory").is_dir():
        yield from _notes(folder / "memory", _File(folder, (folder.name,), _project_of(folder)))


def _of_project(root: Path) -> Iterator[_File]:
    """Yield a project's own files: tracked ones count as the repository's, git-ignored ones as the person's."""
    wing = root.absolute().name
    theirs = _File(root, ("project", wing), wing, trust="repo", label="instructions")
    for name in _INSTRUCTIONS:
        yield from _add_file(root / name, replace(theirs, trust="repo" if name == _INSTRUCTIONS[0] else "user"))
    yield from _instructions(root / ".claude", theirs)
    yield from _agents(root / ".claude", _File(root, ("project", wing), wing))


def _instructions(claude: Path, like: _File) -> Iterator[_File]:
    yield from _add_file(claude / _INSTRUCTIONS[0], like)
    yield from _notes(claude / "rules", like)


def _agents(claude: Path, like: _File) -> Iterator[_File]:
    for kind in _AGENTS:
        for folder in sorted(_directories(claude / kind)):
            place = (*like.place, kind, folder.name)
            yield from _notes(folder, replace(like, place=place, author=folder.name))


def _add_file(file: Path, like: _File) -> Iterator[_File]:
    if file.is_symlink() or file.is_file():
        yield replace(like, path=file, place=(*like.place, file.name))


def _notes(folder: Path, like: _File, depth: int = 0) -> Iterator[_File]:
    """The Markdown files in a directory and below it."""
    if folder.is_symlink() or not folder.is_dir() or depth > _DEEPEST:
        return
    for entry in sorted(_entries(folder)):
        place = (*like.place, entry.name)
        if entry.is_dir() and not entry.is_symlink():
            yield from _notes(entry, replace(like, place=place), depth + 1)
        elif entry.suffix.lower() == ".md":
            yield replace(like, path=entry, place=place)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _directories(folder: Path) -> list[Path]:
    return [entry for entry in _entries(folder) if entry.is_dir() and not entry.is_symlink()]


def _read(file: _File, requested_path: Path) -> Iterator[StoreRecord]:
    key = "/".join(file.place) or file.path.name
    is_asked = file.path == requested_path
    try:
        status = file.path.stat() if is_asked else file.path.lstat()
        if stat.S_ISLNK(status.st_mode):
            yield SkippedRecord("links", "their targets were not requested", key)
            return
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            yield SkippedRecord("files", f"larger than {LARGEST >> 20} MiB, or not regular files", key)
            return
        text = file.path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        yield SkippedRecord("files", "unreadable, or not UTF-8", key)
        return
    yield _note(file, text, Micros(status.st_mtime_ns // 1000))


def _note(file: _File, text: str, at: Micros) -> StoreRecord:
    front_matter, words = _matter(text)
    own = "/".join(file.place) or file.path.name
    if not words.strip():
        return SkippedRecord("files", "without words", own)
    if file.path.name == INDEX and _is_index(words, file.path.parent):
        return SkippedRecord("indexes", "they only list the other files, which are imported themselves", own)
    metadata = object_at(front_matter, "metadata")
    name = text_at(front_matter, "name") or file.path.stem
    return Note(
        key=key_of("file", *file.place, words),
        text=words,
        wing=file.wing,
        created_at=at,
        label=file.label or text_at(front_matter, "type") or text_at(metadata, "type"),
        author=file.author,
        trust=file.trust,
        origin=text_at(front_matter, "originSessionId") or text_at(metadata, "originSessionId"),
        title=name,
        about=present({"name": name, "description": text_at(front_matter, "description"), "file": file.path.name}),
    )


def _matter(text: str) -> tuple[JsonObject, str]:
    """Return the front matter and the text after it; all of it as text if the front matter cannot be read."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return {}, text
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
    matter = "".join(lines[1:end])
    if not end or len(matter) > _LONGEST_MATTER:
        return {}, text
    try:
        front_matter = yaml.safe_load(matter)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (front_matter, "".join(lines[end + 1 :]).lstrip("\r\n")) if isinstance(front_matter, dict) else ({}, text)


def _is_index(words: str, folder: Path) -> bool:
    """Return whether every line that is not a heading links to a file beside it."""
    lines = [line.strip() for line in words.splitlines() if line.strip() and not line.startswith("#")]
    targets = [line.partition("](")[2].partition(")")[0] for line in lines]
    return bool(targets) and all(target and _is_file(folder / Path(target).name) for target in targets)


def _project_of(folder: Path) -> str:
    """Return the name of the project of a folder of `projects`, from a transcript in it; "" if none states it.

    The folder's own name does not: a `-` in it may be a separator, a `-`, a `.` or a blank.
    """
    for transcript in sorted(folder.glob("*.jsonl"))[:5]:
        objects, _ = objects_in_head(head(transcript))
        cwd = next((value for record in objects if (value := string(record, "cwd"))), "")
        if cwd:
            return project_root(Path(cwd)).name or Path(cwd).name
    return ""


def _is_file(path: Path) -> bool:
    """Return whether a file has this name; no file has one that the system cannot have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
