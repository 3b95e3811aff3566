"""The changes of commits, so that two equal changes can be recognised: like git's patch-id, and without it.

A change is identified by its files and by the lines that it removes and adds, not by their position or context: after a
rebase or squash onto a main line that has advanced, the same lines are at another place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping

from palazzo.git.commit_history import HASH, History

_PLAIN = ("-r", "--root", "--no-renames", "--stdin")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_HEADER = re.compile(rb"[0-9a-f]{40,64}(?: [0-9a-f]{40,64})?")
"""A commit, or two trees."""
_OF_A_FILE = (b"diff --git ", b"old mode ", b"new mode ", b"new file mode ", b"deleted file mode ")


def paths_changed(history: History, commits: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return which files commits change, each relative to the one it is mapped to ("" for its parent).

    Commits without changes are left out.
    """
    if not commits:
        return {}
    output = history.ask("diff-tree", *_PLAIN, "--raw", "-z", lines=_lines(commits))
    paths_by_commit: dict[str, set[str]] = {}
    words = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    paths: set[str] = set()
    for word in words:
        if word.startswith(":"):
            paths.add(next(words, ""))
        elif HASH.fullmatch(word.strip()):
            paths = paths_by_commit.setdefault(word.strip(), set())
    return {commit: frozenset(paths) for commit, paths in paths_by_commit.items()}


def patch_ids(history: History, commits: Mapping[str, str]) -> dict[str, bytes]:
    """Return patch IDs of commits, each relative to the one it is mapped to ("" for its parent)."""
    return _patches(history, _lines(commits)) if commits else {}


def between(history: History, ends: Collection[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """Return the patch ID of the difference between two commits, for pairs of them."""
    if not ends:
        return {}
    commits = list(dict.fromkeys(commit for pair in ends for commit in pair))
    output_lines = (
        history.ask("log", "--no-walk=unsorted", "--stdin", "--format=%H %T", lines=commits).decode().splitlines()
    )
    trees = dict(line.split(" ") for line in output_lines)
    lines = {(first, last): f"{trees[first]} {trees[last]}" for first, last in ends}
    digests = _patches(history, sorted(set(lines.values())))
    return {pair: digests[line] for pair, line in lines.items() if line in digests}


def authorship(history: History, commits: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return commits' author, time and subject: amending, rebasing and picking a commit keep them."""
    lines = list(commits)
    if not lines:
        return {}
    output = history.ask("log", "--no-walk=unsorted", "--stdin", "--format=%H%x00%ae%x00%at%x00%s", lines=lines)
    rows = (line.split("\0") for line in output.decode("utf-8", "surrogateescape").split("\n"))
    return {row[0]: tuple(row[1:]) for row in rows if len(row) == 4}


def _lines(commits: Mapping[str, str]) -> list[str]:
    return [f"{commit} {base}".rstrip() for commit, base in commits.items()]


def _patches(history: History, lines: Iterable[str]) -> dict[str, bytes]:
    return _digests(history.ask("diff-tree", *_PLAIN, "-p", "-U0", "--full-index", lines=lines))


def _digests(diff_output: bytes) -> dict[str, bytes]:
    digests_by_header: dict[str, hashlib.blake2b] = {}
    digest = hashlib.blake2b(digest_size=16)
    out = put = 0
    blobs = b""
    for line in diff_output.split(b"\n"):
        if out and line.startswith(b"-"):
            out -= 1
            digest.update(line + b"\n")
        elif put and line.startswith(b"+"):
            put -= 1
            digest.update(line + b"\n")
        elif hunk := _HUNK.match(line):
            out, put = (int(1 if count is None else count) for count in hunk.groups())
        elif line.startswith(_OF_A_FILE):
            digest.update(line + b"\n")
        elif line.startswith(b"index "):
            blobs = line
        elif line.startswith(b"Binary files "):
            digest.update(blobs + b"\n")
        elif _HEADER.fullmatch(line):
            digest = digests_by_header.setdefault(line.decode("ascii"), hashlib.blake2b(digest_size=16))
    return {header: digest.digest() for header, digest in digests_by_header.items()}
