"""The commits and tags of a repository, with their messages, as git lists them.

A commit's branch is the first that reaches it: the main line first, so that what was merged counts as the main line's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.git import git_process
from palazzo.model import MAIN_LINES

CommitKind = Literal["commit", "merge", "tag"]
SECONDS = 60.0
"""The most seconds that reading waits for git: a person asked for it, and a large repository takes some."""
MOST = 50_000
"""The most commits of one walk, the newest: their messages are some 25 MB, and git's answer may have 32."""
_HEADS, _TAGS = "refs/heads/", "refs/tags/"
_FIELDS = ("%H", "%P", "%an", "%at", "%S", "%B")
_TAG_FIELDS = (
    "refname:strip=2",
    "objecttype",
    "objectname",
    "*objectname",
    "taggername",
    "creatordate:unix",
    "contents",
)
_PULL_REQUESTS = (
    re.compile(r"\AMerge pull request #(\d+)\b"),
    re.compile(r"\A[^\n]*\(#(\d+)\)[ \t]*(?:\n|\Z)"),
    re.compile(r"^See merge request [\w./-]*!(\d+)[ \t]*$", re.MULTILINE),
)
"""How GitHub writes a merge and a squash, and GitLab a merge."""


@frozen
class GitRecord:
    """A commit or a tag with its exact message. `at` are seconds; `branch` is '' for a tag; `name` is a tag's."""

    kind: CommitKind
    commit: str
    author: str
    at: int
    message: str
    branch: str = ""
    parents: tuple[str, ...] = ()
    name: str = ""
    object: str = ""

    @property
    def pull_request(self) -> str:
        """The number of the pull request that it merged, '' if its message names none."""
        matches = (pattern.search(self.message) for pattern in _PULL_REQUESTS)
        return next((match[1] for match in matches if match), "") if self.kind != "tag" else ""


def read_records(root: Path, seconds: float = SECONDS) -> list[GitRecord] | None:
    """Return the commits of all local branches and the tags; None if git does not answer, or there is no repository."""
    heads = _refs(root, seconds)
    if heads is None:
        return None
    main = next((name for name in heads if name in MAIN_LINES), None)
    records = list(_commits(root, [main], [], seconds)) if main is not None else []
    others = [name for name in heads if name != main]
    if others:
        records += _commits(root, others, [main] if main is not None else [], seconds)
    return [*records, *_tags(root, seconds)]


def commits_of_file(root: Path, path: str, most: int) -> list[str]:
    """Return the commits of the current branch that changed a file, newest first."""
    output = git_process.run(root, "log", "--format=%H", f"--max-count={most}", "--", path, timeout=1.0)
    return [] if output is None else output.decode().split()


def commit_of_line(root: Path, path: str, line: int, text: str) -> str:
    """Return the commit that wrote a line of a file; '' if the committed file has another text there, or none."""
    arguments = ("--porcelain", "-L", f"{line},{line}", "HEAD", "--", path)
    output = git_process.run(root, "blame", *arguments, timeout=1.0)
    first, *rest = (output or b"").decode("utf-8", "replace").splitlines() or [""]
    committed_text = next((row[1:] for row in rest if row.startswith("\t")), None)
    return first.split(" ")[0] if committed_text == text else ""


def _refs(root: Path, seconds: float) -> list[str] | None:
    """Return the local branches, main lines first."""
    output = git_process.run(root, "for-each-ref", "--format=%(refname:strip=2)", _HEADS, timeout=seconds)
    if output is None:
        return None
    names = output.decode("utf-8", "surrogateescape").splitlines()
    return sorted(names, key=lambda name: (name not in MAIN_LINES, name))


def _commits(root: Path, branches: Sequence[str], but: Sequence[str], seconds: float) -> Iterator[GitRecord]:
    lines = [*(f"{_HEADS}{name}" for name in branches), *(f"^{_HEADS}{name}" for name in but)]
    output = git_process.run(
        root,
        "log",
        "--source",
        "--stdin",
        f"--max-count={MOST}",
        f"--format={'%x00'.join(_FIELDS)}%x00",
        stdin="".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"),
        timeout=seconds,
    )
    for commit, parents, author, at, source, message in _split(output, len(_FIELDS)):
        hashes = tuple(parents.split())
        kind: CommitKind = "merge" if len(hashes) > 1 else "commit"
        yield GitRecord(kind, commit, author, int(at), message, source.removeprefix(_HEADS), hashes)


def _tags(root: Path, seconds: float) -> Iterator[GitRecord]:
    fields = "%00".join(f"%({field})" for field in _TAG_FIELDS)
    output = git_process.run(root, "for-each-ref", f"--format={fields}%00", _TAGS, timeout=seconds)
    for name, kind, own, target, author, at, message in _split(output, len(_TAG_FIELDS)):
        is_annotated = kind == "tag"
        if kind in ("tag", "commit") and at:
            commit = target if is_annotated else own
            yield GitRecord("tag", commit, author, int(at), message if is_annotated else "", "", (), name, own)


def _split(output: bytes | None, size: int) -> Iterator[tuple[str, ...]]:
    """Yield the records of an output whose fields end with NUL; git adds a newline after each record."""
    fields = (output or b"").decode("utf-8", "replace").split("\0")[:-1]
    for n in range(0, len(fields) - size + 1, size):
        yield (fields[n].removeprefix("\n"), *fields[n + 1 : n + size])
