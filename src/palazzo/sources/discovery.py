"""Discovery: which files under the given paths are read, in which format, which are skipped, and why.

Only regular files are opened, and only their first bytes are read. Nothing under a symbolic link is entered, since a
target inside the tree is found at its own path. The order is by name, so that two walks of one tree give the same
order. A file that a person names explicitly is read even where a walk would skip it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from palazzo.errors import NotFound, PathRefused
from palazzo.frozen_class import frozen
from palazzo.git.project_identity import project_root
from palazzo.sources import build_output
from palazzo.sources.file_heads import kind_of, read_head, trouble
from palazzo.sources.formats import Collection, Feeder
from palazzo.sources.formats import document_rows as document_feeder
from palazzo.sources.formats.converted_documents import is_page
from palazzo.sources.formats.document_kinds import (
    CODE_OF_PROJECT,
    SOURCE_CODE,
    Policy,
    is_code,
    is_document,
    refusal_by_head,
    refusal_by_name,
    refusal_by_size,
)
from palazzo.sources.formats.transcript_formats import (
    COLLECTIONS,
    NAMED_FILE_COLLECTIONS,
    STATED_COLLECTIONS,
    TRANSCRIPTS,
)
from palazzo.sources.ignore_rules import Globs
from palazzo.sources.ignored_paths import why_not_a_transcript
from palazzo.sources.walk import Entry, Skip, walk
from palazzo.store.foreign_database import MAGIC

Mode = Literal["auto", "docs", "all", "convos"]

_JSON_LINES = frozenset({".jsonl", ".ndjson"})
_MAY_BE_TRANSCRIPTS = _JSON_LINES | {".json"}
_NOTE_OF_A_SUB_AGENT = ".meta.json"
_HEADER_IN_FOLDER, _ROWS_IN_FOLDER = "session.json", "messages.jsonl"
_NOTES_OF_A_TASK = frozenset({"ui_messages.json", "task_metadata.json", "history_item.json", "context_history.json"})
_MESSAGES = ".messages.json"
_WRITTEN_BY_HAND = frozenset({".md", ".markdown", ".txt", ".text", ".log"})
_MAY_BE_COLLECTIONS = _WRITTEN_BY_HAND | {".json", ".jsonl", ".zip", ".db", ".sqlite", ".sqlite3", ".vscdb", ".zst"}
_LIE_IN_COLLECTIONS = frozenset({"users.json", "org_users.json", "sessions.json", "session", "message"}) | {
    "conversations.json",
    "conversations-000.json",
}
"""Every directory that is a collection contains one of these names; other directories are not checked."""
_UNCERTAIN_COLLECTIONS = (*NAMED_FILE_COLLECTIONS, *STATED_COLLECTIONS)
"""Readers of files that may also be data or a document."""
_KEPT_AMONG_DOCUMENTS = frozenset({document_feeder.KIND, "transcript", "diary", "aider"}) | {
    reader.kind for reader in _UNCERTAIN_COLLECTIONS
}
"""Kinds of text that people store next to other text; other kinds are where programs store them."""


@frozen
class Candidate:
    """A file to read, or a directory that is read like a file, the kind of feeder that reads it, and its project.

    `root` is the project's directory: the innermost repository, otherwise a directory with Palazzo's or MemPalace's
    project file, otherwise the given path.
    """

    path: Path
    kind: str
    root: Path
    size: int
    modified_ns: int

    @property
    def uri(self) -> str:
        """Return the file's location, as a `file:` URI that can hold any name."""
        return self.path.as_uri()

    @property
    def relative(self) -> str:
        """Return the path within the project, with `/` between directories."""
        return self.path.relative_to(self.root).as_posix()


FileVerdict = Candidate | Skip
PART_OF_DIRECTORY = "read as part of its directory"
"""The reason of a skip that is none: the directory is the candidate."""


@frozen
class Rules:
    """Rules that select files. `auto` selects transcripts in any location, and the files that `policy` selects.

    `include` and `exclude` are patterns as in ignore files, relative to the given path or to the project. With
    `include` only matching files are selected, whatever their kind of text; `exclude` takes precedence over everything.
    Files in an `skip_directories` directory are skipped unless they were named. `is_stated`: a person gave the mode.
    `is_policy_stated`: the project's own file gives the policy, which then excludes source code that was read before.
    """

    mode: Mode = "auto"
    policy: Policy = "docs"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    skip_directories: tuple[Path, ...] = ()
    is_stated: bool = False
    is_policy_stated: bool = False


@frozen
class Readers:
    """Selects the reader of each file.

    `cached_kind` returns the kind of a file that was read before and has not changed since, or "". `former_kind`
    returns the kind of a file when it was last read, changed or not, or "". `on_directory` is called with each
    directory that is entered.
    """

    feeders: Sequence[Feeder] = TRANSCRIPTS
    collections: Sequence[Collection] = COLLECTIONS
    cached_kind: Callable[[Path, os.stat_result], str] = lambda path, status: ""
    former_kind: Callable[[Path], str] = lambda path: ""
    on_directory: Callable[[Path], None] = lambda path: None

    def kind(self, path: Path, head: bytes, more_collections: Sequence[Collection] = ()) -> str:
        """Return the kind of conversations that a file holds, or "" for none; `more_collections` are tried last."""
        suffix = path.suffix.lower()
        readers: list[Feeder | Collection] = []
        if suffix in _MAY_BE_TRANSCRIPTS:
            readers += self.feeders
        if suffix in _MAY_BE_COLLECTIONS:
            readers += self.collections
        readers += more_collections
        return next((reader.kind for reader in readers if reader.recognises(path, head)), "")

    def kind_of_directory(self, path: Path, names: set[str]) -> str:
        """Return the kind of conversations that a directory with these entries holds as a whole, or ""."""
        if not names & _LIE_IN_COLLECTIONS:
            return ""
        return next((reader.kind for reader in self.collections if reader.recognises(path, b"")), "")


def discover(
    paths: Iterable[Path],
    rules: Rules | Callable[[Path], Rules] | None = None,
    readers: Readers | None = None,
) -> Iterator[FileVerdict]:
    """Yield a candidate for each file to read under `paths`, and a skip for what is passed over.

    `rules` may differ by path. Raises NotFound at once if a path does not exist.
    """
    tops = [existing(path) for path in paths]
    return _judge_paths(tops, rules if callable(rules) else lambda top: rules or Rules(), readers or Readers())


def existing(path: Path) -> Path:
    """Return `path` with links resolved; raises NotFound if nothing is there, PathRefused if that cannot be seen."""
    try:
        return path.expanduser().resolve(strict=True)
    except PermissionError as error:
        raise PathRefused(f"{path} cannot be read ({error.strerror}).") from None
    except (OSError, RuntimeError):  # RuntimeError: a link that leads to itself, before Python 3.13
        raise NotFound(f"{path} does not exist. Give the path of a file or a directory.") from None


def _judge_paths(tops: list[Path], rules_for: Callable[[Path], Rules], readers: Readers) -> Iterator[FileVerdict]:
    """Yield each path once. A path given explicitly is judged on its own, not by its directory's walk."""
    unique_paths: set[Path] = set()
    for top in tops:
        rules, root = rules_for(top), _root_of(top, tops)
        for verdict in _below(top, root, rules, readers) if top.is_dir() else [_judge_file(top, root, rules, readers)]:
            is_final = verdict.path == top or verdict.path not in tops or isinstance(verdict, Candidate)
            if is_final and verdict.path not in unique_paths:
                unique_paths.add(verdict.path)
                yield verdict


def _root_of(top: Path, tops: Sequence[Path]) -> Path:
    """Return the project root of `top`; without a marked project, the outermost given directory around it."""
    directory = top if top.is_dir() else top.parent
    root = project_root(directory)
    parents = [path for path in tops if path != top and root == directory and directory.is_relative_to(path)]
    return project_root(min(parents, key=lambda path: len(path.parts))) if parents else root


def _below(top: Path, root: Path, rules: Rules, readers: Readers) -> Iterator[FileVerdict]:
    include, exclude = Globs(rules.include), Globs(rules.exclude)
    outputs = frozenset[str]() if rules.mode == "convos" else build_output.directory_names(rules.include)
    wholes: dict[Path, Candidate] = {}

    def visit(directory: Path, root: Path, names: set[str]) -> None:
        readers.on_directory(directory)
        kind = readers.kind_of_directory(directory, names) if rules.mode in ("auto", "convos") else ""
        if kind:
            wholes[directory] = Candidate(directory, kind, root, 0, 0)

    verdict_stream = (
        entry if isinstance(entry, Skip) else _judge(entry, str(top), rules, include, readers, wholes)
        for entry in walk(
            top, exclude, rules.gitignore, frozenset(map(str, rules.skip_directories)), visit, root, outputs
        )
    )
    if rules.mode in ("docs", "all"):
        return verdict_stream
    files = list(verdict_stream)  # which also finds the wholes
    verdicts = [*wholes.values(), *files]
    return _skip_documents_among_transcripts(verdicts) if rules.mode == "auto" else iter(verdicts)


def _skip_documents_among_transcripts(verdicts: list[FileVerdict]) -> Iterator[FileVerdict]:
    """Skip documents in a directory with more transcripts than documents, which is read as transcripts."""
    kinds = [verdict.kind for verdict in verdicts if isinstance(verdict, Candidate)]
    documents = kinds.count(document_feeder.KIND)
    drop = len([kind for kind in kinds if kind not in _KEPT_AMONG_DOCUMENTS]) > documents
    for verdict in verdicts:
        if drop and isinstance(verdict, Candidate) and verdict.kind == document_feeder.KIND:
            yield Skip(verdict.path, "is among transcripts; `--mode docs` reads it")
        else:
            yield verdict


def _judge_file(path: Path, root: Path, rules: Rules, readers: Readers) -> FileVerdict:
    """Judge a file that a person named, by its content alone; a skip is always reported."""
    try:
        status = path.lstat()
    except OSError as error:
        return Skip(path, trouble(error), by_error=True)
    if not stat.S_ISREG(status.st_mode):
        return Skip(path, kind_of(status.st_mode))
    more_collections = NAMED_FILE_COLLECTIONS if rules.is_stated else ()
    verdict = _read_as(Entry(path, status, root), rules, None, readers, more_collections)
    return replace(verdict, expected=False) if isinstance(verdict, Skip) else verdict


def _judge(
    entry: Entry, top: str, rules: Rules, include: Globs, readers: Readers, wholes: Mapping[Path, Candidate]
) -> FileVerdict:
    if wholes and entry.path.suffix.lower() == ".json" and any(above in wholes for above in entry.path.parents):
        return Skip(entry.path, PART_OF_DIRECTORY, expected=True)
    policy: Policy | None = "all" if rules.mode == "all" else rules.policy
    if include:
        if not include.match(str(entry.path), (top, str(entry.root)), is_directory=False):
            return Skip(entry.path, "not among the included files", expected=True)
        policy = None
    return _read_as(entry, rules, policy, readers)


def _read_as(
    entry: Entry, rules: Rules, policy: Policy | None, readers: Readers, more_collections: Sequence[Collection] = ()
) -> FileVerdict:
    """Judge a file; `more_collections` are tried last, all of them if a person states that it is a conversation."""
    try:
        if rules.mode in ("auto", "convos"):
            if rules.mode == "convos" and rules.is_stated:
                more_collections = _UNCERTAIN_COLLECTIONS
            verdict = _conversations(entry, rules, readers, more_collections)
            if verdict is not None:
                return verdict
        if entry.path.suffix.lower() in _JSON_LINES:
            return Skip(entry.path, "JSON lines are data, not a document", expected=True)
        return _document(entry, rules, policy, readers)
    except OSError as error:
        return Skip(entry.path, trouble(error), by_error=True)


def _conversations(
    entry: Entry, rules: Rules, readers: Readers, more_collections: Sequence[Collection]
) -> FileVerdict | None:
    """Judge whether a file holds conversations; None if it may still be a document."""
    suffix = entry.path.suffix.lower()
    if entry.path.name.endswith(_NOTE_OF_A_SUB_AGENT) and entry.path.parent.name == "subagents":
        return Skip(entry.path, "Claude Code's own metadata of a sub-agent's transcript", expected=True)
    if suffix == ".json" and _is_beside_messages(entry.path):
        return Skip(entry.path, "what Cline or Roo Code noted about a transcript beside it", expected=True)
    if suffix in _MAY_BE_TRANSCRIPTS | _MAY_BE_COLLECTIONS:
        cached_kind = readers.cached_kind(entry.path, entry.status)
        if cached_kind and cached_kind != document_feeder.KIND:
            return _candidate(entry, cached_kind)
        if cached_kind and not more_collections and rules.mode != "convos":
            return None
        # a file that a person once stated to be a conversation stays one as it grows
        former_kind = readers.former_kind(entry.path)
        former_readers = [reader for reader in _UNCERTAIN_COLLECTIONS if reader.kind == former_kind]
        head = read_head(entry.path)
        kind = readers.kind(entry.path, head, (*more_collections, *former_readers))
        if kind:
            return _candidate(entry, kind)
        if suffix == ".json" and any(_rows_of(entry.path)):
            return Skip(entry.path, "the header of a session in the file beside it", expected=True)
        if suffix in _JSON_LINES or (suffix == ".json" and rules.mode == "convos"):
            return Skip(entry.path, why_not_a_transcript(head))
        if head.startswith(MAGIC):
            return Skip(entry.path, "a SQLite database in an unsupported format", expected=True)
    return Skip(entry.path, "not a transcript", expected=True) if rules.mode == "convos" else None


def _rows_of(header: Path) -> Iterator[bool]:
    """Yield whether each file exists that may hold the rows of a session with this header."""
    yield header.with_suffix(".jsonl").is_file()
    yield header.name == _HEADER_IN_FOLDER and header.with_name(_ROWS_IN_FOLDER).is_file()


def _is_beside_messages(path: Path) -> bool:
    """Return whether a file belongs to the messages of a task or of a session in the same directory."""
    if path.name in _NOTES_OF_A_TASK:
        return path.with_name("api_conversation_history.json").exists()
    return path.stem == path.parent.name and path.with_name(path.stem + _MESSAGES).exists()


def _document(entry: Entry, rules: Rules, policy: Policy | None, readers: Readers) -> FileVerdict:
    is_kept = _is_kept(entry.path, rules, policy, readers)
    by_name = refusal_by_name(entry.path, None if is_kept else policy) or (None if entry.status.st_size else "empty")
    if by_name == SOURCE_CODE and rules.is_policy_stated:
        by_name = CODE_OF_PROJECT
    if by_name:
        return Skip(entry.path, by_name, expected=True)
    if readers.cached_kind(entry.path, entry.status) == document_feeder.KIND:
        return _candidate(entry, document_feeder.KIND)
    by_size = refusal_by_size(entry.path, entry.status.st_size)
    if by_size:
        return Skip(entry.path, by_size)
    head = read_head(entry.path)
    is_kept = is_kept and not is_page(entry.path, head)  # without a converter, a page would be read as source code
    by_head = refusal_by_head(entry.path, head, None if is_kept else policy)
    return Skip(entry.path, by_head) if by_head else _candidate(entry, document_feeder.KIND)


def _is_kept(path: Path, rules: Rules, policy: Policy | None, readers: Readers) -> bool:
    """Return whether the palace has the file although `policy` does not select it: then it is kept up to date.

    Otherwise search would go on showing the text of source code that `--mode all` or its name brought in once.
    """
    if policy is None or (rules.is_policy_stated and policy == "docs" and is_code(path) and not is_document(path)):
        return False
    return readers.former_kind(path) == document_feeder.KIND


def _candidate(entry: Entry, kind: str) -> Candidate:
    return Candidate(entry.path, kind, entry.root, entry.status.st_size, entry.status.st_mtime_ns)
