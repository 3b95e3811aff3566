"""Which files under the given paths are read, as what, and which are not, and why.

Nothing is opened but regular files, and of those only the head; nothing under a symbolic link is entered,
since what it points to inside the tree is met where it lies. The order is that of the names, so that two
walks of one tree agree. What a person names outright is taken where a walk would pass it over.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from palazzo.errors import NotFound
from palazzo.feeders import Feeder
from palazzo.feeders import documents as document_feeder
from palazzo.feeders.document_kinds import Policy, refusal_by_head, refusal_by_name, refusal_by_size
from palazzo.feeders.registry import TRANSCRIPTS
from palazzo.mining.heads import kind_of, read_head, trouble
from palazzo.mining.ignoring import Globs
from palazzo.mining.unwanted import why_not_a_transcript
from palazzo.mining.walk import Entry, Skip, walk
from palazzo.scope.identity import project_root

Mode = Literal["auto", "docs", "all", "convos"]

_JSON_LINES = frozenset({".jsonl", ".ndjson"})
_MAY_BE_TRANSCRIPTS = _JSON_LINES | {".json"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to read, the kind of feeder that reads it, and the project it belongs to.

    `root` is the project's directory: the innermost repository, else a directory with Palazzo's or
    MemPalace's project file, else the path that was given.
    """

    path: Path
    kind: str
    root: Path
    size: int
    modified_ns: int

    @property
    def uri(self) -> str:
        """Where the file lies, as a `file:` address that holds any name."""
        return self.path.as_uri()

    @property
    def relative(self) -> str:
        """The path within the project, with `/` between directories."""
        return self.path.relative_to(self.root).as_posix()


Found = Candidate | Skip


@dataclass(frozen=True, slots=True)
class Rules:
    """What to take. `auto` takes transcripts wherever they lie, and what `policy` says besides.

    `include` and `exclude` are patterns as in ignore files, relative to the given path or to the project.
    With `include` only what matches is taken, whatever kind of text it is; `exclude` wins over all.
    """

    mode: Mode = "auto"
    policy: Policy = "docs"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True


def discover(
    paths: Iterable[Path], rules: Rules | None = None, feeders: Sequence[Feeder] = TRANSCRIPTS
) -> Iterator[Found]:
    """Yield a candidate for each file to read under `paths`, and a skip for what is passed over.

    Raises NotFound at once if a path does not exist.
    """
    tops = [_existing(path) for path in paths]
    return _each(tops, rules or Rules(), feeders)


def _existing(path: Path) -> Path:
    try:
        return path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a link that leads to itself, before Python 3.13
        raise NotFound(f"{path} does not exist. Give the path of a file or a directory.") from None


def _each(tops: list[Path], rules: Rules, feeders: Sequence[Feeder]) -> Iterator[Found]:
    seen: set[Path] = set()
    for top in tops:
        for found in _below(top, rules, feeders) if top.is_dir() else [_named(top, rules, feeders)]:
            if found.path not in seen:
                seen.add(found.path)
                yield found


def _below(top: Path, rules: Rules, feeders: Sequence[Feeder]) -> Iterator[Found]:
    include, exclude = Globs(rules.include), Globs(rules.exclude)
    judged = (
        met if isinstance(met, Skip) else _judge(met, str(top), rules, include, feeders)
        for met in walk(top, exclude, rules.gitignore)
    )
    return _mostly(list(judged)) if rules.mode == "auto" else judged


def _mostly(found: list[Found]) -> Iterator[Found]:
    """A directory that holds more transcripts than documents is a place of transcripts, and read as such."""
    documents = [one for one in found if isinstance(one, Candidate) and one.kind == document_feeder.KIND]
    transcripts = [one for one in found if isinstance(one, Candidate) and one.kind != document_feeder.KIND]
    drop = {one.path for one in documents} if len(transcripts) > len(documents) else set()
    for one in found:
        yield Skip(one.path, "lies among transcripts; `--mode docs` reads it") if one.path in drop else one


def _named(path: Path, rules: Rules, feeders: Sequence[Feeder]) -> Found:
    """Judge a file that a person named: its kind does not matter, what it holds does."""
    try:
        status = path.lstat()
    except OSError as error:
        return Skip(path, trouble(error))
    if not stat.S_ISREG(status.st_mode):
        return Skip(path, kind_of(status.st_mode))
    return _read_as(Entry(path, status, project_root(path.parent)), rules, None, feeders)


def _judge(entry: Entry, top: str, rules: Rules, include: Globs, feeders: Sequence[Feeder]) -> Found:
    policy: Policy | None = "all" if rules.mode == "all" else rules.policy
    if include:
        if not include.match(str(entry.path), (top, str(entry.root)), is_directory=False):
            return Skip(entry.path, "not among what is included", expected=True)
        policy = None
    return _read_as(entry, rules, policy, feeders)


def _read_as(entry: Entry, rules: Rules, policy: Policy | None, feeders: Sequence[Feeder]) -> Found:
    suffix = entry.path.suffix.lower()
    try:
        if rules.mode in ("auto", "convos") and suffix in _MAY_BE_TRANSCRIPTS:
            head = read_head(entry.path)
            for feeder in feeders:
                if feeder.recognises(entry.path, head):
                    return _candidate(entry, feeder.kind)
            if rules.mode == "convos" or suffix in _JSON_LINES:
                return Skip(entry.path, why_not_a_transcript(head))
        if rules.mode == "convos":
            return Skip(entry.path, "not a transcript", expected=True)
        if suffix in _JSON_LINES:
            return Skip(entry.path, "JSON lines are data, not a document", expected=True)
        return _document(entry, policy)
    except OSError as error:
        return Skip(entry.path, trouble(error))


def _document(entry: Entry, policy: Policy | None) -> Found:
    by_name = refusal_by_name(entry.path, policy) or (None if entry.status.st_size else "empty")
    if by_name:
        return Skip(entry.path, by_name, expected=True)
    by_size = refusal_by_size(entry.status.st_size)
    if by_size:
        return Skip(entry.path, by_size)
    by_head = refusal_by_head(entry.path, read_head(entry.path))
    return Skip(entry.path, by_head) if by_head else _candidate(entry, document_feeder.KIND)


def _candidate(entry: Entry, kind: str) -> Candidate:
    return Candidate(entry.path, kind, entry.root, entry.status.st_size, entry.status.st_mtime_ns)
