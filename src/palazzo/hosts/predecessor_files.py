"""Files of Claude Code besides its settings in which other memories leave something: skills, slash commands, a cache.

wt-memory wrote blocks into SKILL.md files and lines into slash commands, and the file `hot-topics.json`; its own
installer removes the same by the same marks (`wt-project init`). Files of its own commands (`commands/wt`) stay: they
belong to a program that does more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from palazzo.hosts import predecessors
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.host_files import text_of
from palazzo.hosts.predecessors import Predecessor

WHAT = "what another memory left"
_HOT_TOPICS = "hot-topics.json"
_MOST_FILES = 2_000
"""More files than that are not looked at: somebody keeps something else there."""


def leftovers(directory: Path) -> list[Predecessor]:
    """Return what other memories left in the skills, commands and files of a `.claude` directory."""
    left_texts = [
        Predecessor(memory, str(path), label)
        for path in _instruction_files(directory)
        for memory, label in _texts_in(text_of(path))
    ]
    hot_topics = directory / _HOT_TOPICS
    cache = [Predecessor("wt-memory", str(hot_topics), "its list of topics")] if hot_topics.is_file() else []
    return [*left_texts, *cache]


def _texts_in(text: str) -> list[tuple[str, str]]:
    return [*predecessors.blocks_in(text), *predecessors.orders_in(text)]


def build_leftover_edits(directory: Path) -> list[Edit]:
    """Return the edits that remove it. A copy of each file is kept beside it, also of one that is deleted."""
    paths = dict.fromkeys(Path(entry.path) for entry in leftovers(directory))
    return [
        Edit(path, WHAT, lambda text: None, keeps_copy=True)
        if path.name == _HOT_TOPICS
        else Edit(path, WHAT, predecessors.without_orders)
        for path in paths
    ]


def _instruction_files(directory: Path) -> Iterator[Path]:
    skills = sorted(directory.glob("skills/*/SKILL.md"))
    commands = [path for path in sorted(directory.glob("commands/**/*.md")) if path.parent.name != "wt"]
    files = [path for path in (*skills, *commands) if path.is_file()]
    yield from files if len(files) <= _MOST_FILES else ()
