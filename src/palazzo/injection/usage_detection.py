"""What an agent's own messages and calls show that it used of what it was given: ids, words, files. Pure.

Rather too little than too much: a use is a sign that something helped, and what is never used comes less readily. Words
count where so many stand in a row that nobody has them by chance, and the person did not say them either; a file where
its name says which one it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from palazzo.text.stopwords import STOP_WORDS

IN_A_ROW, MIN_TOPIC_WORDS = 8, 4
"""Words that an agent's message must have in a row of what it was given, and how many of them must tell something: of
eight words that two texts share, hardly any are chance, unless they are a phrase of the trade."""
_LONGEST_COMMAND = 2_000
"""Characters of a command that are looked at: what is longer has a whole file in it."""
_ENTRY = re.compile(r"- \[([0-9a-f]{12,64})\] ")
_LINE = re.compile(r"- .* \[([0-9a-f]{4,64})\]\Z")
_ID_PATTERN = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{12,64}(?![0-9A-Za-z])")
"""An id, or a beginning of one that is long enough to be no accident: a commit's usual seven digits are not."""
_OUR_TOOL = re.compile(r"(?:^|_)(?:read|show|search|get|recall|fetch)(?:_|$)", re.IGNORECASE)
_OUR_COMMAND = re.compile(r"\bpalazzo\b[^\n;|&]*\b(?:show|read|search)\b")
_WORD = re.compile(r"\w+")
_PATH_FIELD = re.compile(
    r"^\s*(?:file_?path|absolute_path|path|filename|notebook_path|target_file)\s*[:=]\s*['\"]?([^'\"\n]+?)['\"]?\s*$",
    re.MULTILINE | re.IGNORECASE,
)
_PATCH_HEADER = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_COMMAND = re.compile(r"^(?:command|cmd|script)\s*[:=]\s*", re.MULTILINE)
_ARGUMENT = re.compile(r"[^\s'\"`|;&<>()=,:$*?\[\]{}]+")
_FILE = re.compile(r"/|\w\.\w{1,8}\Z")
_SEARCHES = re.compile(r"^(?:grep|glob|ls|list\w*|find|search\w*|agent|task|todo\w*|web\w*|mcp__\w+)$", re.IGNORECASE)
_COMMON_FILES_TEXT = """
readme.md changelog.md contributing.md claude.md agents.md license makefile dockerfile package.json tsconfig.json
package-lock.json pyproject.toml setup.py setup.cfg requirements.txt conftest.py cargo.toml go.mod go.sum gemfile
__init__.py __main__.py main.py app.py config.py settings.py models.py views.py urls.py utils.py types.py test.py
index.js index.ts index.tsx index.html index.md index.css main.js main.ts main.tsx app.js app.ts app.tsx utils.js
utils.ts types.ts main.go main.rs lib.rs mod.rs main.c main.cpp config.json config.yaml config.yml .gitignore .env
docker-compose.yml compose.yaml
"""
_EVERYWHERE = frozenset(_COMMON_FILES_TEXT.split())
"""Names of files that are in every project, and often more than once: alone they say of no file which it is."""


class DeliveredItem(NamedTuple):
    """Something that an agent was given: its id, the words that it saw, and the files that it is about besides."""

    id: str
    words: str
    files: tuple[str, ...] = ()


class ToolCall(NamedTuple):
    """A call of a tool, as the archive has it."""

    tool: str
    text: str


# --- what was given ----------------------------------------------------------------------------------------


def words_given(text: str, ids: Iterable[str]) -> dict[str, str]:
    """Return, of the text of an injection, which words stand with each of these ids; none with an id is absent."""
    id_set = set(ids)
    lines_by_id: dict[str, list[str]] = {}
    own: str | None = None
    for line in text.split("\n"):
        if entry := _ENTRY.match(line):
            own = entry[1] if entry[1] in id_set else None
        elif ending := _LINE.match(line):
            matches = [uid for uid in id_set if uid.startswith(ending[1])]
            own = matches[0] if len(matches) == 1 else None
        elif not line.startswith("  "):
            own = None
        if own is not None:
            lines_by_id.setdefault(own, []).append(line)
    return {uid: "\n".join(lines) for uid, lines in lines_by_id.items()}


# --- cited -------------------------------------------------------------------------------------------------


def names_ids(text: str) -> bool:
    """Whether a text may cite an id."""
    return _ID_PATTERN.search(text) is not None


def find_cited_ids(text: str, ids: Iterable[str]) -> set[str]:
    """Return the ids among `given` that a text cites, in full or by a beginning that only one of them has."""
    id_set = set(ids)
    matches = ({uid for uid in id_set if uid.startswith(word)} for word in set(_ID_PATTERN.findall(text)))
    return {uid for uids in matches if len(uids) == 1 for uid in uids}


def runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return every run of words of a text that is long and telling enough to know it by."""
    words = _WORD.findall(text.casefold())
    windows = (tuple(words[n : n + IN_A_ROW]) for n in range(len(words) - IN_A_ROW + 1))
    return frozenset(run for run in windows if sum(word not in STOP_WORDS for word in run) >= MIN_TOPIC_WORDS)


def find_quoted_ids(
    text: str, runs_by_id: Mapping[str, Set[tuple[str, ...]]], user_runs: Set[tuple[str, ...]]
) -> set[str]:
    """Return the ids whose words (`runs`) a text says again, and of which a person did not (`said`)."""
    own = runs(text) - user_runs
    return {uid for uid, theirs in runs_by_id.items() if not own.isdisjoint(theirs)} if own else set()


# --- fetched -----------------------------------------------------------------------------------------------


def reads_by_id(call: ToolCall) -> bool:
    """Whether a call is one of ours that reads what has an id."""
    if command := _COMMAND.search(call.text):
        return _OUR_COMMAND.search(call.text, command.end(), command.end() + _LONGEST_COMMAND) is not None
    return _OUR_TOOL.search(call.tool) is not None


# --- touched -----------------------------------------------------------------------------------------------


def find_opened_files(call: ToolCall) -> frozenset[str]:
    """Return the files that a call reads or changes, as it names them; what only searches opens none."""
    names = {match[1].strip() for match in _PATCH_HEADER.finditer(call.text)}
    if command := _COMMAND.search(call.text):
        line = call.text[command.end() : command.end() + _LONGEST_COMMAND].split("\ndescription:")[0]
        names |= {word for word in _ARGUMENT.findall(line) if _FILE.search(word)}
    elif not names and not _SEARCHES.match(call.tool) and (field_match := _PATH_FIELD.search(call.text)):
        names.add(field_match[1])
    return frozenset(plain for name in names if (plain := _plain(name)))


def is_about_files(files: Iterable[str], item: DeliveredItem) -> bool:
    """Whether one of these files is one that something given names, or is about."""
    return any(
        _is_same(own, file) for file in files for own in (*map(_plain, item.files), *_find_mentions(item.words, file))
    )


def _find_mentions(words: str, file: str) -> Iterator[str]:
    """How a text names a file of that last name."""
    name = file.rpartition("/")[2]
    if name not in words:
        return
    for match in re.finditer(rf"(?<![\w.@~+/-])((?:[\w.@~+-]*/)*){re.escape(name)}(?![\w/-]|\.\w)", words):
        yield _plain(match[0])


def _is_same(first: str, second: str) -> bool:
    """Whether two names are of one file: one is the end of the other, and enough of it to tell."""
    short, long = sorted((first, second), key=len)
    if short.strip("/") == "" or ("/" not in short.strip("/") and short.casefold() in _EVERYWHERE):
        return False
    return long == short or long.endswith(f"/{short.lstrip('/')}")


def _plain(path: str) -> str:
    """A path without what says nothing: `./`, `~/`, `../`, the lines of an anchor."""
    return re.sub(r"^(?:\.{1,2}/|~/)+", "", re.sub(r":\d+(?:-\d+)?$", "", path.replace("\\", "/").strip()))
