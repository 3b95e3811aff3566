"""Usage detection: which injected ids, words and files an agent's own messages and calls show that it used. Pure.

The rules prefer too few uses to too many: a use is a sign that an entry helped, and entries that are never used are
injected less readily. Words count where so many stand in a row that chance is excluded, and where the person did not
say them too. A file counts where its name identifies it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from palazzo.text.lazy_patterns import make_regex
from palazzo.text.stopwords import STOP_WORDS

IN_A_ROW, MIN_TOPIC_WORDS = 8, 4
"""Number of consecutive words that an agent's message must share with an injected text, and how many of these must be
significant. Eight shared words are almost never a coincidence, unless they are a common technical phrase.
"""
_LONGEST_COMMAND = 2_000
"""Maximum characters of a command that are examined: a longer command contains a whole file."""
_ENTRY = make_regex(r"- \[([0-9a-f]{12,64})\] ")
_LINE = make_regex(r"- .* \[([0-9a-f]{4,64})\]\Z")
_ID_PATTERN = make_regex(r"(?<![0-9A-Za-z])[0-9a-f]{12,64}(?![0-9A-Za-z])")
"""An id, or a prefix long enough not to match by accident: the usual seven digits of a commit are not."""
_OUR_TOOL = make_regex(r"(?:^|_)(?:read|show|search|get|recall|fetch)(?:_|$)", re.IGNORECASE)
_OUR_COMMAND = make_regex(r"\bpalazzo\b[^\n;|&]*\b(?:show|read|search)\b")
_WORD = make_regex(r"\w+")
_PATH_FIELD = make_regex(
    r"^[ \t]*(?:file_?path|absolute_path|path|filename|notebook_path|target_file)\s*[:=]\s*"
    r"['\"]?([^'\"\n]*[^\s'\"])['\"]?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_PATCH_HEADER = make_regex(r"^\*\*\* (?:Add|Update|Delete) File: (.*\S)", re.MULTILINE)
_COMMAND = make_regex(r"^(?:command|cmd|script)\s*[:=]\s*", re.MULTILINE)
_ARGUMENT = make_regex(r"[^\s'\"`|;&<>()=,:$*?\[\]{}]+")
_FILE = make_regex(r"/|\w\.\w{1,8}\Z")
_SEARCHES = make_regex(r"^(?:grep|glob|ls|list\w*|find|search\w*|agent|task|todo\w*|web\w*|mcp__\w+)$", re.IGNORECASE)
_COMMON_FILES_TEXT = """
readme.md changelog.md contributing.md claude.md agents.md license makefile dockerfile package.json tsconfig.json
package-lock.json pyproject.toml setup.py setup.cfg requirements.txt conftest.py cargo.toml go.mod go.sum gemfile
__init__.py __main__.py main.py app.py config.py settings.py models.py views.py urls.py utils.py types.py test.py
index.js index.ts index.tsx index.html index.md index.css main.js main.ts main.tsx app.js app.ts app.tsx utils.js
utils.ts types.ts main.go main.rs lib.rs mod.rs main.c main.cpp config.json config.yaml config.yml .gitignore .env
docker-compose.yml compose.yaml
"""
_EVERYWHERE = frozenset(_COMMON_FILES_TEXT.split())
"""File names that occur in every project, often more than once: alone they do not identify a file."""


class DeliveredItem(NamedTuple):
    """Something that was injected for an agent: its id, the words that the agent saw, and its other files."""

    id: str
    words: str
    files: tuple[str, ...] = ()


class ToolCall(NamedTuple):
    """A tool call, as archived."""

    tool: str
    text: str


# --- what was given ----------------------------------------------------------------------------------------


def words_given(text: str, ids: Iterable[str]) -> dict[str, str]:
    """Return the words that an injected text has for each of these ids; ids without words are left out."""
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
    """Return whether a text may cite an id."""
    return _ID_PATTERN.search(text) is not None


def find_cited_ids(text: str, ids: Iterable[str]) -> set[str]:
    """Return the ids among `given` that a text cites, in full or by an unambiguous prefix."""
    id_set = set(ids)
    matches = ({uid for uid in id_set if uid.startswith(word)} for word in set(_ID_PATTERN.findall(text)))
    return {uid for uids in matches if len(uids) == 1 for uid in uids}


def runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return every run of words of a text that is long and specific enough to identify it."""
    words = _WORD.findall(text.casefold())
    windows = (tuple(words[n : n + IN_A_ROW]) for n in range(len(words) - IN_A_ROW + 1))
    return frozenset(run for run in windows if sum(word not in STOP_WORDS for word in run) >= MIN_TOPIC_WORDS)


def find_quoted_ids(
    text: str, runs_by_id: Mapping[str, Set[tuple[str, ...]]], user_runs: Set[tuple[str, ...]]
) -> set[str]:
    """Return the ids whose words (`runs`) a text repeats, if a person has not said them (`said`)."""
    own = runs(text) - user_runs
    return {uid for uid, theirs in runs_by_id.items() if not own.isdisjoint(theirs)} if own else set()


# --- fetched -----------------------------------------------------------------------------------------------


def reads_by_id(call: ToolCall) -> bool:
    """Return whether a call is one of ours that reads an entry by its id."""
    if command := _COMMAND.search(call.text):
        return _OUR_COMMAND.search(call.text, command.end(), command.end() + _LONGEST_COMMAND) is not None
    return _OUR_TOOL.search(call.tool) is not None


# --- touched -----------------------------------------------------------------------------------------------


def find_opened_files(call: ToolCall) -> frozenset[str]:
    """Return the files that a call reads or changes, by the names given; a search alone opens none."""
    names = {match[1].strip() for match in _PATCH_HEADER.finditer(call.text)}
    if command := _COMMAND.search(call.text):
        line = call.text[command.end() : command.end() + _LONGEST_COMMAND].split("\ndescription:")[0]
        names |= {word for word in _ARGUMENT.findall(line) if _FILE.search(word)}
    elif not names and not _SEARCHES.match(call.tool) and (field_match := _PATH_FIELD.search(call.text)):
        names.add(field_match[1])
    return frozenset(plain for name in names if (plain := _plain(name)))


def is_about_files(files: Iterable[str], item: DeliveredItem) -> bool:
    """Return whether an injected entry names, or is about, one of these files."""
    return any(
        _is_same(own, file) for file in files for own in (*map(_plain, item.files), *_find_mentions(item.words, file))
    )


def _find_mentions(words: str, file: str) -> Iterator[str]:
    """Yield the spellings in a text of a file with that last name."""
    name = file.rpartition("/")[2]
    if name not in words:
        return
    for match in re.finditer(rf"(?<![\w.@~+/-])((?:[\w.@~+-]*/)*){re.escape(name)}(?![\w/-]|\.\w)", words):
        yield _plain(match[0])


def _is_same(first: str, second: str) -> bool:
    """Return whether two names mean the same file: one is the end of the other, and long enough to identify it."""
    short, long = sorted((first, second), key=len)
    if short.strip("/") == "" or ("/" not in short.strip("/") and short.casefold() in _EVERYWHERE):
        return False
    return long == short or long.endswith(f"/{short.lstrip('/')}")


def _plain(path: str) -> str:
    """Return a path without its insignificant parts: `./`, `~/`, `../`, the lines of an anchor."""
    return re.sub(r"^(?:\.{1,2}/|~/)+", "", re.sub(r":\d+(?:-\d+)?$", "", path.replace("\\", "/").strip()))
