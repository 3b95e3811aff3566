"""Mining again with nothing new: one walk over the same directories, and the recorded answer.

A run of `palazzo mine PATH…` that found nothing new leaves a record: a digest of all that it depended on, and its
output. The next such run computes the digest again. If it is the same, the output is printed; otherwise the full
program runs. The digest covers

- each entry of each directory that the run entered: name, kind, size, times and inode,
- the project files, ignore files and settings of these directories, of those above them and of the working directory,
  and the state of git there,
- the variables that decide something, the form of the output, and Palazzo's own version,
- the palace: its file, or, if something was written to it, what it holds of files, documents and rules.

A record contains no recorded word, so an erase need not look for any; the output may name files that were skipped. It
is its owner's alone. Standard library only.
"""

from __future__ import annotations

import os
import stat
import time

from palazzo import __version__, paths
from palazzo.client import rpc, thin_command
from palazzo.client.service_address import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

COMMAND = "mine"
TIMING = "0.0 s"
"""The timing of a recorded output. A run that takes longer prints its own."""
_PROJECT_FILES = (
    *(".git", ".git/info/exclude", ".gitignore", ".palazzoignore", ".mailmap"),
    *("palazzo.toml", "mempalace.yaml", ".claude/palazzo.local.md"),
)
"""Files of a directory, or of one above it, that decide what is read there (`git/project_file`, `ignore_rules`)."""
_GIT_FILES = ("HEAD", "index", "logs/HEAD", "packed-refs", "config", "info/exclude", "reftable/tables.list")
_VARIABLES = ("PALAZZO_", "CLAUDE_PLUGIN_OPTION_", "XDG_", "GIT_")
"""Beginnings of the names of variables that decide something."""
_COARSEST_CLOCK = 2.0
"""Seconds by which the time of a change may be too early: FAT stores every other second."""
_TABLES = (
    "SELECT (SELECT count(*) FROM migration), (SELECT count(*) FROM act), (SELECT max(id) FROM act),"
    " (SELECT count(*) FROM revision), (SELECT max(id) FROM revision), (SELECT count(*) FROM tombstone),"
    " EXISTS(SELECT 1 FROM pending), count(*), sum(length(uri)), sum(length(feeder)), sum(version), sum(size),"
    " sum(mtime % 1000000007), sum(consumed), sum(source) FROM file_state"
)
"""What a palace holds that decides what is read: files, documents, rules."""
_PENDING = 6
"""The number of the column that says whether passages wait for vectors."""


class Line:
    """A command line that may have a record: the paths, as they were given, and the palace of `--palace`."""

    __slots__ = ("palace", "paths")

    def __init__(self, path_texts: list[str], palace: str | None) -> None:
        self.paths, self.palace = path_texts, palace


def parse(arguments: Sequence[str]) -> Line | None:
    """Return the line if it is `mine PATH… [--palace PATH]`; None for every other."""
    if list(arguments[:1]) != [COMMAND]:
        return None
    line, words = Line([], None), iter(arguments[1:])
    for word in words:
        if word == "--palace":
            line.palace = next(words, "")
        elif word.startswith("--palace="):
            line.palace = word.partition("=")[2]
        elif word.startswith("-") or not word:
            return None
        else:
            line.paths.append(word)
    return line if line.paths and line.palace != "" else None


def run(arguments: Sequence[str], variables: Mapping[str, str]) -> int | None:
    """Print the recorded output and return 0 if nothing has changed; None if the full program must do the work."""
    began = time.perf_counter()
    line = parse(arguments)
    if line is None:
        return None
    try:
        key, palace = _key(line, variables)
        with open(_file(key, variables), encoding="utf-8") as file:
            digest, palace_file, tables, entry_flags, text = file.read().split("\0")
        flags = iter(entry_flags)
        dependencies = _Dependencies(variables, lambda path: next(flags, "") == "1")
        if dependencies.digest(line, key) != digest:
            return None
        is_untouched = palace_file and palace_file == _palace_file(palace)
        if not is_untouched and tables != _palace_tables(palace):
            return None
    except (OSError, ValueError, _NotComparableError):
        return None
    except KeyboardInterrupt:
        os.write(2, b"\npalazzo: Stopped.\n")
        return thin_command.INTERRUPT
    seconds = f"{time.perf_counter() - began:,.1f} s"
    return thin_command.print_text(seconds.join(text.rsplit(TIMING, 1)))


def record(
    arguments: Sequence[str], variables: Mapping[str, str], directories: Sequence[str], text: str, began: float
) -> None:
    """Record a run that found nothing new, unless a later run could not compare all that matters.

    Call it when the palace is closed. `directories` are those that the run entered, `text` is its output, and `began`
    is the time at which it began: what was changed since then may have been changed after the run had looked at it.
    """
    line = parse(arguments)
    if line is None or "\0" in text or TIMING not in text:
        return
    entered_directories, flags = frozenset(directories), []

    def note(path: str) -> bool:
        flags.append("1" if path in entered_directories else "0")
        return path in entered_directories

    try:
        key, palace = _key(line, variables)
        dependencies = _Dependencies(variables, note)
        digest = dependencies.digest(line, key)
        tables = _palace_tables(palace)
        dependencies.note_palace(palace)
        if dependencies.latest / 1e9 > began - _COARSEST_CLOCK:
            return
        if rpc.is_wanted(variables) and tables.split(" ")[_PENDING] == "1":
            return  # passages wait for vectors, and each run starts the process that computes them
        file = _file(key, variables)
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        temporary_file = f"{file}.{os.getpid()}"
        with open(temporary_file, "w", encoding="utf-8") as stream:
            stream.write("\0".join((digest, _palace_file(palace), tables, "".join(flags), text)))
        os.replace(temporary_file, file)
    except (OSError, ValueError, _NotComparableError):
        return


class _NotComparableError(Exception):
    """Something matters that the digest does not cover."""


def _key(line: Line, variables: Mapping[str, str]) -> tuple[str, str]:
    """Return what identifies a run, as one text, and the path of its palace."""
    cwd = os.getcwd()
    palace = rpc.chosen_palace(line.palace, variables, cwd)
    return "\0".join((cwd, palace, *line.paths)), palace


def _file(key: str, variables: Mapping[str, str]) -> str:
    return os.path.join(paths.cache_place(variables), "unchanged", _digest_texts([key])[:32])


def _digest_texts(texts: Iterable[str]) -> str:
    return digest_of("\0".join(texts).encode("utf-8", "surrogateescape"))


# --- what a run depends on, without the palace -------------------------------------------------------------------


class _Dependencies:
    """All that a run depends on. `latest` is the time of the last change to it, in nanoseconds."""

    def __init__(self, variables: Mapping[str, str], is_entered: Callable[[str], bool]) -> None:
        self._variables, self._is_entered = variables, is_entered
        self.latest = 0

    def digest(self, line: Line, key: str) -> str:
        """Return the digest of all of it. Raises OSError for a path that is gone."""
        return _digest_texts(self._texts(line, key))

    def note_palace(self, palace: str) -> None:
        """Count the changes of a palace among the others."""
        self._state(palace)
        self._state(f"{palace}-wal")

    def _texts(self, line: Line, key: str) -> Iterator[str]:
        yield from (__version__, rpc.build(), key)
        decisive = ("HOME", "NO_COLOR", "COLUMNS", *thin_command.OUTPUT_VARIABLES)
        yield from sorted(
            f"{name}={value}"
            for name, value in self._variables.items()
            if name.startswith(_VARIABLES) or name in decisive
        )
        yield repr(sorted(thin_command.describe_output(self._variables).items()))
        home, cwd = paths.home_place(self._variables), os.getcwd()
        config = self._variables.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        settings = os.path.join(paths.config_place(self._variables), "config.toml")
        for file in (settings, os.path.join(home, ".gitconfig"), os.path.join(config, "git", "config")):
            yield self._state(file)
        yield from self._above(cwd, has_git=False)
        for path_text in line.paths:
            top = os.path.realpath(os.path.join(cwd, os.path.expanduser(path_text)), strict=True)
            yield self._state(top)
            yield from self._above(top)
            if os.path.isdir(top):
                yield from self._listing(top)

    def _above(self, path: str, has_git: bool = True) -> Iterator[str]:
        """Yield the state of what decides about `path` (absolute) in it and in the directories above it."""
        directory = path
        while True:
            for name in _PROJECT_FILES:
                yield self._state(os.path.join(directory, name))
            if has_git:
                yield from self._git(directory)
            parent = os.path.dirname(directory)
            if parent == directory:
                return
            directory = parent

    def _git(self, directory: str) -> Iterator[str]:
        """Yield the state of git in `directory`, if it is a checkout: its head, its index, its configuration."""
        git = _git_directory(os.path.join(directory, ".git"))
        head = _read_line(os.path.join(git, "HEAD"))
        if head:
            common = os.path.join(git, _read_line(os.path.join(git, "commondir")))
            names = (*_GIT_FILES, head.removeprefix("ref:").strip())
            yield from (head, common)
            yield from (self._state(os.path.join(place, name)) for place in (git, common) for name in names)

    def _listing(self, top: str) -> Iterator[str]:
        """Yield each entry of the directories that are entered, in the order of their names."""
        directories = [top] if self._is_entered(top) else []
        while directories:
            directory = directories.pop()
            yield directory
            with os.scandir(directory) as entries:
                sorted_entries = sorted(entries, key=_name)
            for entry in sorted_entries:
                status = entry.stat(follow_symlinks=False)
                kind = stat.S_IFMT(status.st_mode)
                if kind != stat.S_IFDIR:
                    yield f"{entry.name}\0{kind} {_stamp(status)}"
                elif self._is_entered(entry.path):
                    yield f"{entry.name}\0entered"
                    directories.append(entry.path)
                else:  # a repository in it would be read, so its own entries count
                    yield entry.name if entry.name == ".git" else f"{entry.name}\0{status.st_mtime_ns}"
                if entry.name == ".git":
                    yield self._state(os.path.join(entry.path, "info", "exclude"))
                    yield from self._git(directory)
                elif max(status.st_mtime_ns, status.st_ctime_ns) > self.latest:
                    self.latest = max(status.st_mtime_ns, status.st_ctime_ns)

    def _state(self, path: str) -> str:
        """Return kind, inode, size and time of what is at `path`; of a directory only that it is one."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return ""
        self.latest = max(self.latest, status.st_mtime_ns, status.st_ctime_ns)
        if stat.S_ISDIR(status.st_mode):
            return "directory"
        return f"{stat.S_IFMT(status.st_mode)} {_stamp(status)}"


def _stamp(status: os.stat_result) -> str:
    """Return what differs if a file was written, also by a program that then set its time back."""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _git_directory(path: str) -> str:
    """Return git's directory for what is at `.git`: a worktree and a submodule have a file there that names it."""
    if not os.path.isfile(path):
        return path
    return os.path.join(os.path.dirname(path), _read_line(path).removeprefix("gitdir:").strip())


def _read_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).strip()
    except (OSError, ValueError):
        return ""


def _name(entry: Any) -> str:
    return str(entry.name)


# --- the palace --------------------------------------------------------------------------------------------------


def _palace_file(palace: str) -> str:
    """Return the state of a palace's file; an empty text if its log holds something."""
    status = os.stat(palace)
    if _has_log(palace):
        return ""
    return f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _has_log(palace: str) -> bool:
    try:
        return os.path.getsize(f"{palace}-wal") > 0
    except OSError:
        return False


def _palace_tables(palace: str) -> str:
    """Return what the palace holds of files, documents and rules, as numbers. Raises OSError if it cannot be read."""
    try:
        import _sqlite3  # the module sqlite3 imports much more
    except ImportError:
        raise _NotComparableError from None
    mode = "mode=ro" if _has_log(palace) else "immutable=1"  # which leaves no log behind
    place = palace.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = _sqlite3.connect(f"file:{place}?{mode}", uri=True)
        try:
            return " ".join(map(str, connection.execute(_TABLES).fetchone()))
        finally:
            connection.close()
    except _sqlite3.Error:
        raise _NotComparableError from None
