"""Files that a command or a tool says it wrote, and the names that a call mentions. Pure.

Names are the last components of paths, because the directory of a shell is not always known. A false name only prevents
that words of a file of that name are injected in that session; a missed name would make untrusted words trusted.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

LONGEST = 32_768
"""The most characters of a command that are read."""
MOST_NAMES = 64
NO_NAMES = frozenset({"", ".", "..", "-", "~", "null", "stdout", "stderr", "tty", "*"})
_SEPARATOR = make_regex(r"[\s'\"`;&|<>()=,:*{}\[\]]+|[\\/]+")
_OPEN_CALL = make_regex(
    r"(?:\bopen\(\s{0,4}|\burlretrieve\([^,\n]{1,200},\s{0,4}|\bwriteFile(?:Sync)?\(\s{0,4}|\bPath\(\s{0,4}"
    r"|\bFile\.write\(\s{0,4}|\bcreateWriteStream\(\s{0,4}"
    r"|-(?i:outfile|out-file)[ =]{1,4}[\"']?)[\"']?([^\"'\s)]{1,300})"
)
_SAVE_REPORT = make_regex(
    r"\b(?:saved|written|downloaded|stored|wrote)\b[^\n/\\]{0,40}?\b(?:to|at|as|in|into)\b:?\s{0,4}[\"'`]?"
    r"((?:[A-Za-z]:)?[\\/~.\w][^\s\"'`<>|]{1,400})",
    re.IGNORECASE,
)
_RANGE = make_regex(r"\.\.\.?|[~^@]")
_ADDRESS_WITHIN = make_regex(r"\w+://\S{1,2000}")


def names_in_program(command: str) -> frozenset[str]:
    """Return the names of files that code on a command line opens, or that PowerShell writes."""
    return _limit_names(_last(match[1]) for match in _OPEN_CALL.finditer(command[:LONGEST]))


def names_in(command: str) -> frozenset[str]:
    """Return every possible file name in a command that cannot be parsed."""
    words = _ADDRESS_WITHIN.sub(lambda found: found[0].rpartition("/")[2], command[:LONGEST])
    return _limit_names(word for word in _SEPARATOR.split(words) if "." in word or "_" in word or "-" in word)


def names_saved(result: str) -> frozenset[str]:
    """Return the names of the files to which a tool's output says it was saved."""
    return _limit_names(_last(match[1].rstrip(".,)")) for match in _SAVE_REPORT.finditer(result[:LONGEST]))


def names_mentioned(words: str) -> frozenset[str]:
    """Return every word that may be a component of a path."""
    names = _SEPARATOR.split(words[:LONGEST])
    revisions = (part for name in names if ".." in name or "~" in name or "^" in name for part in _RANGE.split(name))
    return frozenset((*names, *revisions)) - NO_NAMES


def _limit_names(names: object) -> frozenset[str]:
    return frozenset(sorted(set(names) - NO_NAMES)[:MOST_NAMES])  # type: ignore[call-overload]


def _last(path: str) -> str:
    if "://" in path:
        path = re.split("[?#]", path)[0]
    return re.split(r"[\\/]", path.strip("'\"`").rstrip("\\/"))[-1].replace("{", "").replace("}", "")
