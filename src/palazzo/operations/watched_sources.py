"""The current locations of a palace's sources, and what to read when something there changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.frozen_class import frozen
from palazzo.git.project_file import read_project_config
from palazzo.git.project_identity import project_root
from palazzo.hosts.host_histories import histories
from palazzo.hosts.host_registry import host_of_kind
from palazzo.operations.pause_state import pauses
from palazzo.settings import Settings, load
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.discovery import Readers
from palazzo.sources.formats.document_kinds import refusal_by_name
from palazzo.sources.formats.document_rows import KIND
from palazzo.sources.ignore_rules import Globs
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.walk import walk
from palazzo.store import place_rows as places_store
from palazzo.store import source_rows
from palazzo.text.file_uris import path_of

if TYPE_CHECKING:
    from palazzo.hosts.host_histories import History
    from palazzo.operations.context import Context
    from palazzo.sources.formats.document_kinds import Policy

_LOG_SUFFIX = "-wal"
"""The suffix of the file beside a database in write-ahead-log mode, where new data is written."""


@frozen
class WatchTargets:
    """The watched places: hosts' histories, roots of documents, and single files that were named.

    `trees` are watched recursively, `directories` only directly: below a project's root is much that its ignore files
    exclude.
    """

    histories: tuple[History, ...] = ()
    roots: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    trees: frozenset[Path] = frozenset()
    directories: frozenset[Path] = frozenset()

    @property
    def uris(self) -> tuple[str, ...]:
        """Return all places as URIs."""
        return tuple(
            path.as_uri() for path in (*(history.path for history in self.histories), *self.roots, *self.files)
        )

    def history_of(self, path: Path) -> History | None:
        """Return the history that a file or directory belongs to."""
        for history in self.histories:
            if path.is_relative_to(history.path) or path == _log_of(history.path):
                return history
        return None

    def root_of(self, path: Path) -> Path | None:
        """Return the innermost root above a file or directory."""
        above = [root for root in self.roots if path.is_relative_to(root)]
        return max(above, key=lambda root: len(root.parts), default=None)


def places(context: Context, paths: Sequence[Path] = (), mined_hosts_only: bool = False) -> WatchTargets:
    """Return where sources are: the places in `paths`, every existing history, and projects that documents came from.

    With `mined_hosts_only`, return only the histories of hosts whose content the palace holds, and no documents: a
    project's root contains more than the user asked for.
    """
    histories = histories_here(context, mined_hosts_only)
    trees = frozenset(history.path for history in histories if history.path.is_dir())
    parent_directories = frozenset(history.path.parent for history in histories if not history.path.is_dir())
    resolved_paths = [path.resolve() for path in paths]
    documents = [] if mined_hosts_only else _roots_of_documents(context)
    roots = tuple(dict.fromkeys([*(path for path in resolved_paths if path.is_dir()), *documents]))
    files = tuple(path for path in resolved_paths if not path.is_dir())
    directories = parent_directories | {path.parent for path in files} | _directories(context, roots)
    return WatchTargets(histories, roots, files, trees, directories)


def histories_here(context: Context, mined_hosts_only: bool = False) -> tuple[History, ...]:
    """Return the hosts' existing histories; with `mined_hosts_only`, only those of hosts that were read before."""
    host_histories = histories(context.variables, (), context.project_root)
    if not mined_hosts_only:
        return host_histories
    with context.reading().database.snapshot() as connection:
        used_hosts = {host_of_kind(kind) for kind in source_rows.feeders_used(connection)}
    return tuple(history for history in host_histories if history.host in used_hosts)


def everything(context: Context, targets: WatchTargets) -> Iterator[MineRequest]:
    """Yield the requests that read all places."""
    for history in targets.histories:
        yield of_history(context, history.path)
    for path in (*targets.roots, *targets.files):
        yield _of_documents(context, path)


def what_changed(context: Context, targets: WatchTargets, changed: Iterable[Path]) -> Iterator[MineRequest]:
    """Yield the requests that read only the changed files, as far as they can be determined."""
    requested_sources: set[Path] = set()
    for path in changed:
        history = targets.history_of(path)
        if history is not None:
            source = history.path if _is_one_source(history.path) else path
            request = of_history(context, source)
        else:
            document = _document(context, targets, path)
            if document is None:
                continue
            source, request = document, _of_documents(context, document)
        if source not in requested_sources:
            requested_sources.add(source)
            yield request


def is_known(context: Context, path: Path) -> bool:
    """Return whether the palace has read the file before."""
    with context.reading().database.snapshot() as connection:
        return source_rows.read_file_state(connection, path.as_uri()) is not None


def _document(context: Context, targets: WatchTargets, path: Path) -> Path | None:
    """Return what to read for a path among documents: a known file of a repository by itself, else the root.

    The root's rules decide which files are read; a file outside any repository belongs to what was mined with it.
    """
    if path in targets.files:
        return path
    root = targets.root_of(path)
    if root is None:
        return None
    if is_known(context, path):
        return path if project_root(path.parent) == root else root
    return None if not path.is_dir() and refusal_by_name(path, _policy(context)) else root


def _is_one_source(path: Path) -> bool:
    """Return whether a history is read as a whole: a database, or a tree of files that make up its sessions."""
    try:
        return not path.is_dir() or bool(Readers().kind_of_directory(path, {entry.name for entry in path.iterdir()}))
    except OSError:
        return False


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + _LOG_SUFFIX)


def of_history(context: Context, path: Path) -> MineRequest:
    """Return the request that reads a history, or one file of it."""
    own = load(context.settings_file, None, context.variables)
    least, exclusions = own.number("min_messages"), excluded_directories(context, own)
    selection = SessionFilter(least_messages=least, skip_directories=exclusions, pauses=pauses(context))
    return MineRequest((path,), mode="convos", exclude=own.texts("mine.exclude"), gitignore=False, wanted=selection)


def _of_documents(context: Context, path: Path) -> MineRequest:
    own = load(context.settings_file, None, context.variables)  # mining reads each project's own file itself
    selection = SessionFilter(skip_directories=excluded_directories(context, own))
    return MineRequest((path,), exclude=own.texts("mine.exclude"), policy=_policy(context), wanted=selection)


def _policy(context: Context) -> Policy:
    own = load(context.settings_file, None, context.variables)
    return "all" if own.text("mine.policy") == "all" else "docs"


def _roots_of_documents(context: Context) -> list[Path]:
    """Return the existing directories of the projects that documents were read from."""
    if not context.has_palace:
        return []
    with context.reading().database.snapshot() as connection:
        project_roots = {Path(root) for root in places_store.all_roots(connection)}
        states = source_rows.read_file_states(connection)
    folders = {path_of(uri).parent for uri, state in states.items() if state.feeder == KIND}
    roots = {
        next((above for above in (folder, *folder.parents) if above in project_roots), folder) for folder in folders
    }
    return sorted(root for root in roots if root.is_dir())


def _directories(context: Context, roots: Sequence[Path]) -> frozenset[Path]:
    """Return every directory below the roots that mining would enter."""
    own = load(context.settings_file, None, context.variables)
    exclusions = frozenset(map(str, excluded_directories(context, own)))
    directories: set[Path] = set()
    for root in roots:
        exclude = (*own.texts("mine.exclude"), *read_project_config(project_root(root)).exclude)
        for _ in walk(
            root, Globs(exclude), True, exclusions, lambda directory, above, names: directories.add(directory)
        ):
            pass  # it is the directories that are wanted
    return frozenset(directories)


def excluded_directories(context: Context, settings: Settings) -> tuple[Path, ...]:
    """Return the directories that the settings exclude from all reading."""
    home = Path(context.variables.get("HOME") or Path.home())
    return tuple(
        (home / entry[2:] if entry.startswith(("~/", "~\\")) else context.cwd / entry).resolve()
        for entry in settings.texts("mine.exclude_projects")
    )
