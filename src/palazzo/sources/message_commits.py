"""The commit that was checked out when a message was written: most transcripts state only the branch.

The reflog of the checkout's own HEAD gives it, if the session's directory still exists and the log goes back far
enough.
"""

from __future__ import annotations

from pathlib import Path

from palazzo.archive import ingest
from palazzo.archive.ingest import NewItem
from palazzo.git.git_files import repository_of
from palazzo.git.reflog import HeadLog, head_log
from palazzo.sources.formats import Message


class Commits:
    """Finds commits for the messages of one session; reads the log of each directory once."""

    def __init__(self) -> None:
        self._logs: dict[str, HeadLog] = {}

    def add_commit(self, new_item: NewItem, message: Message, directory: str) -> NewItem:
        """Return the new item with the commit at its time, if none is stated; `directory` is the session's."""
        if new_item.commit or message.created_at is None:
            return new_item
        commit = self._log(message.cwd or directory).commit_at(message.created_at, new_item.branch)
        return ingest.with_origin(new_item, new_item.branch, commit) if commit else new_item

    def _log(self, directory: str) -> HeadLog:
        if directory not in self._logs:
            self._logs[directory] = _log_at(Path(directory)) if directory else HeadLog()
        return self._logs[directory]


def _log_at(directory: Path) -> HeadLog:
    """Return the reflog for an existing directory. Above a deleted one there may be another checkout."""
    try:
        path = directory.resolve()
        repository = repository_of(path) if directory.is_absolute() and path.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # no path, or a circle of links
        return HeadLog()
    return HeadLog() if repository is None else head_log(repository)
