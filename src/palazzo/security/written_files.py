"""Which files a command or a tool says that it wrote, and which names a call mentions. Pure.

Names are last components of paths, as the directory of a shell is not always known. A name too many costs that words of
a file of that name are not injected in that session; a name that is missed would be believed.
"""

from __future__ import annotations

import re

LONGEST = 32_768
"""Characters of a command that are read."""
MOST_NAMES = 64
NO_NAMES = frozenset({"", ".", "..", "-", "~", "null", "stdout", "stderr", "tty", "*"})
_APART = re.compile(r"[\s'\"`;&|<>()=,:*{}\[\]]+|[\\/]+")
_OPENED = re.compile(
    r"(?:\bopen\(\s{0,4}|\burlretrieve\([^,\n]{1,200},\s{0,4}|\bwriteFile(?:Sync)?\(\s{0,4}|\bPath\(\s{0,4}"
    r"|\bFile\.write\(\s{0,4}|\bcreateWriteStream\(\s{0,4}"
    r"|-(?i:outfile|out-file)[ =]{1,4}[\"']?)[\"']?([^\"'\s)]{1,300})"
)
_SAVED = re.compile(
    r"\b(?:saved|written|downloaded|stored|wrote)\b[^\n/\\]{0,40}?\b(?:to|at|as|in|into)\b:?\s{0,4}[\"'`]?"
    r"((?:[A-Za-z]:)?[\\/~.\w][^\s\"'`<>|]{1,400})",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\.\.\.?|[~^@]")
_ADDRESS_WITHIN = re.compile(r"\w+://\S{1,2000}")


def names_in_program(command: str) -> frozenset[str]:
    """Return the names of files that code on a command line opens, or that PowerShell writes."""
    return _bounded(_last(found[1]) for found in _OPENED.finditer(command[:LONGEST]))


def names_in(command: str) -> frozenset[str]:
    """Return every name that may be a file's in a command that cannot be parsed."""
    words = _ADDRESS_WITHIN.sub(lambda found: found[0].rpartition("/")[2], command[:LONGEST])
    return _bounded(word for word in _APART.split(words) if "." in word or "_" in word or "-" in word)


def names_saved(result: str) -> frozenset[str]:
    """Return the names of the files in which what a tool printed says that it was put."""
    return _bounded(_last(found[1].rstrip(".,)")) for found in _SAVED.finditer(result[:LONGEST]))


def names_mentioned(words: str) -> frozenset[str]:
    """Return every component of the paths that stand in these words, and whatever else could be one."""
    names = _APART.split(words[:LONGEST])
    revisions = (part for name in names if ".." in name or "~" in name or "^" in name for part in _RANGE.split(name))
    return frozenset((*names, *revisions)) - NO_NAMES


def _bounded(names: object) -> frozenset[str]:
    return frozenset(sorted(set(names) - NO_NAMES)[:MOST_NAMES])  # type: ignore[call-overload]


def _last(path: str) -> str:
    if "://" in path:
        path = re.split("[?#]", path)[0]
    return re.split(r"[\\/]", path.strip("'\"`").rstrip("\\/"))[-1].replace("{", "").replace("}", "")
