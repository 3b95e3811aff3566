"""The databases of the projects in which Crush was started, from its list of them: `{projects: [{path, data_dir}]}`.

The list is written by Crush alone (`internal/projects/projects.go`). A `.crush` that only lies in a directory, such as
one that came with a repository, is not looked for: it could hold words that no one here said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.hosts.crush.transcript import NAME
from palazzo.sources.formats.jsonl_rows import string
from palazzo.sources.formats.row_records import objects_in, parse
from palazzo.sources.formats.whole_files import read_file

_LARGEST = 16 * 1024 * 1024


def listed_histories(index: Path) -> Iterator[Path]:
    """Yield the database of each listed project, whether or not it exists; nothing for a list that is not JSON."""
    try:
        value = parse(read_file(index, _LARGEST), index.name)
    except SourceUnreadable:
        return
    for project in objects_in(value.get("projects") if isinstance(value, dict) else None):
        directory = Path(string(project, "data_dir"))
        if directory.is_absolute() and "\0" not in str(directory):
            yield directory / NAME
