"""Which files a command brings in from outside, and which files a call looks into. Pure.

What is read from such a file later is a stranger's, though the command that reads it reaches nowhere. Names are last
components of paths: a shell's directory is not known. A name too many costs that words of a file of that name are not
injected by themselves in that session; what is missed would be believed.
"""

from __future__ import annotations

import re

from palazzo.guard.trust import reaches_out

_LONGEST = 32_768
"""Characters of a command that are read."""
_MOST_NAMES = 64
_WORD = r"(?:'[^'\n]{1,300}'|\"[^\"\n]{1,300}\"|[^\s;&|<>()'\"`]{1,300})"
_REDIRECTED = re.compile(rf"(?<![<>=-])[12&]?>>?\|?[ \t]{{0,4}}(?!&)({_WORD})")
_TEED = re.compile(rf"\btee\s+(?:-\w+\s+){{0,3}}((?:{_WORD}[ \t]{{0,4}}){{1,6}})")
_OPTION = re.compile(
    r"(?:^|\s)(?:-[A-Za-z#]{0,12}[oOPCd]|--(?:output|output-document|output-dir|directory-prefix|directory|dir|out"
    rf"|out-dir|destination|save|clobber)|-(?i:outfile|out-file))[ =]{{1,4}}({_WORD})"
)
_ATTACHED = re.compile(r"\s-o([\w./~$][^\s;&|<>()'\"`]{0,300})")
_BY_ADDRESS = re.compile(r"\b(?:wget|aria2c|axel)\b|\s(?:-[A-Za-z#]{0,12}O|--remote-name(?:-all)?)(?=\s)")
_ADDRESS = re.compile(r"\b(?:https?|ftp)://[^\s/'\"`<>|;&]{1,300}([^\s'\"`<>|;&?#]{0,1000})", re.IGNORECASE)
_CLONED = re.compile(r"\b(?:git(?:\s+-\S+(?:\s+[\w.]+=\S+)?){0,4}\s+clone|gh\s+repo\s+clone)\b([^\n;&|]{1,1000})")
_WITH_VALUE = frozenset(
    ("-b", "--branch", "-o", "--origin", "-c", "--config", "--depth", "-j", "--jobs", "--filter", "--reference", "-u")
)
_COPIED = re.compile(r"\b(?:cp|mv|ln|install|scp|rsync|ren|rename|copy|move)\s+([^\n;&|<>]{1,1000})")
_UNPACKED = re.compile(r"\b(?:tar|bsdtar|unzip|gunzip|7z|zstd|xz)((?:[ \t]{1,4}[^\s;&|<>]{1,300}){1,8})")
_PACKED = re.compile(r"(?:\.tar)?\.(?:zip|t?gz|t?xz|tbz2?|tar|bz2|7z|zst)$", re.IGNORECASE)
_OPENED = re.compile(
    r"(?:\bopen\(\s{0,4}|urlretrieve\([^,\n]{1,400},\s{0,4}|writeFile(?:Sync)?\(\s{0,4}|\bPath\(\s{0,4}"
    r"|File\.write\(\s{0,4}|createWriteStream\(\s{0,4})[\"']([^\"'\n]{1,300})[\"']"
)
_SAVED = re.compile(
    r"\b(?:saved|written|downloaded|stored|wrote)\b[^\n/\\]{0,40}?\b(?:to|at|as|in|into)\b:?\s{0,4}[\"'`]?"
    r"((?:[A-Za-z]:)?[\\/~.\w][^\s\"'`<>|]{1,400})",
    re.IGNORECASE,
)
_APART = re.compile(r"[\s'\"`;&|<>()=,:*{}\[\]]+|[\\/]+")
_NO_NAMES = frozenset({"", ".", "..", "-", "~", "null", "stdout", "stderr", "tty"})


def fetched(command: str) -> frozenset[str]:
    """Return the names of the files and directories that a command brings in from outside."""
    command = command[:_LONGEST]
    names = {name for found in _CLONED.finditer(command) for name in _cloned(found[1])}
    if reaches_out(command):
        names |= written(command)
        if _BY_ADDRESS.search(command):
            names |= {_last(found[1]) or "index.html" for found in _ADDRESS.finditer(command)}
    return _kept(names)


def looks_at_what_it_fetched(command: str) -> bool:
    """Whether a command clones something and goes on to name it. What the network prints is a stranger's anyway."""
    command = command[:_LONGEST]
    return any(_cloned(found[1]) & named(command[found.end() :]) for found in _CLONED.finditer(command))


def written(command: str) -> frozenset[str]:
    """Return the names of what a command writes: where output goes, what is copied, unpacked, opened for writing."""
    command = command[:_LONGEST]
    names = {_last(found[1]) for rule in (_REDIRECTED, _OPTION, _ATTACHED, _OPENED) for found in rule.finditer(command)}
    names |= {_last(token) for found in _TEED.finditer(command) for token in found[1].split()}
    for found in _COPIED.finditer(command):
        tokens = [token for token in found[1].split() if not token.startswith("-")]
        names |= {_last(token.rpartition(":")[2]) for token in tokens[-1:]}
        names |= {_last(token.rpartition(":")[2]) for token in tokens if len(tokens) > 1 and _is_here(tokens[-1])}
    for found in _UNPACKED.finditer(command):
        names |= {_PACKED.sub("", _last(token)) for token in found[1].split() if _PACKED.search(token)}
    return _kept(names)


def saved(result: str) -> frozenset[str]:
    """Return the names of the files in which what a tool printed says that it was put."""
    return _kept({_last(found[1].rstrip(".,)")) for found in _SAVED.finditer(result[:_LONGEST])})


def named(words: str) -> frozenset[str]:
    """Return every component of the paths that stand in these words, and whatever else could be one."""
    return frozenset(_APART.split(words[:_LONGEST])) - _NO_NAMES


def _cloned(said: str) -> set[str]:
    tokens = said.split()
    plain = [
        token
        for n, token in enumerate(tokens)
        if not token.startswith("-") and (n == 0 or tokens[n - 1] not in _WITH_VALUE)
    ]
    if not plain or plain[0].strip("'\"").startswith(("/", ".", "~", "file:")):
        return set()
    return {_last(plain[1]) if len(plain) > 1 else _last(plain[0].rpartition(":")[2]).removesuffix(".git")}


def _is_here(token: str) -> bool:
    return token in (".", "./") or token.endswith("/")


def _last(path: str) -> str:
    if "://" in path:
        path = re.split("[?#]", path)[0]
    return re.split(r"[\\/]", path.strip("'\"`").rstrip("\\/"))[-1].replace("{", "").replace("}", "")


def _kept(names: set[str]) -> frozenset[str]:
    return frozenset(sorted(name for name in names if name not in _NO_NAMES)[:_MOST_NAMES])
