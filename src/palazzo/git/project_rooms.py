"""Project rooms: the names of wings and rooms, and the room that fits a text.

A room that the project configured takes precedence, by a directory of its name or by its keywords. Otherwise a
document's room is its top-level directory, and conversations share one room.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath, PurePosixPath

from palazzo.git.project_file import ProjectConfig, Room, read_project_config

__all__ = [
    "CONVERSATIONS",
    "GENERAL",
    "ProjectConfig",
    "Room",
    "read_project_config",
    "room_for_conversation",
    "room_for_document",
    "slug",
]

GENERAL = "general"
CONVERSATIONS = "sessions"

_LONGEST_SLUG = 64
_SAMPLE_LENGTH = 20_000
"""The most characters of a text that are used to choose its room."""


def room_for_document(config: ProjectConfig, relpath: str, text_head: str) -> str:
    """Return the room of the document at `relpath` (with `/`), which begins with `text_head`."""
    path = PurePosixPath(relpath)
    by_path = _by_path(config.rooms, path)
    if by_path:
        return by_path
    by_words = _by_keywords(config.rooms, text_head)
    if by_words:
        return by_words
    return slug(path.parts[0], GENERAL) if len(path.parts) > 1 else GENERAL


def room_for_conversation(config: ProjectConfig, text: str) -> str:
    """Return the room of a conversation in which `text` was said."""
    return _by_keywords(config.rooms, text) or CONVERSATIONS


def slug(name: str, default: str = GENERAL) -> str:
    """Return `name` in the form of names of wings and rooms: lower case, letters of any script, digits, `_` and `-`.

    The result has no slash, no space and 1 to 64 characters; `default` if nothing of the name is left. A secret in the
    name becomes `redacted`: all names of wings and rooms are made here.
    """
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", _without_secrets(name)).lower())
    dashed_name = "".join(letter if _is_kept(letter) else "-" for letter in plain)
    short = re.sub(r"-{2,}", "-", dashed_name).strip("-")[:_LONGEST_SLUG].strip("-")
    return short or default


def _without_secrets(name: str) -> str:
    if len(name) < _SHORTEST_WITH_SECRET or name.isalpha():
        return name
    from palazzo.security.secret_scanner import find_secrets  # most names need none of its rules

    for secret in reversed(find_secrets(name)):
        name = f"{name[: secret.start]}-redacted-{name[secret.end :]}"
    return name


_SHORTEST_WITH_SECRET = 12
"""The least characters of a text that can hold a secret: a password of six, and a name for it."""


def _is_kept(letter: str) -> bool:
    return letter == "_" or unicodedata.category(letter)[0] in "LMN"


def _by_path(rooms: tuple[Room, ...], path: PurePath) -> str:
    """Return the room named like a directory of the path or like the file itself; the outermost first."""
    names = [slug(part, "") for part in (*path.parts[:-1], path.stem)]
    for name in names:
        for room in rooms:
            if name and name in {slug(room.name, ""), *(slug(word, "") for word in room.keywords)}:
                return slug(room.name)
    return ""


def _by_keywords(rooms: tuple[Room, ...], text: str) -> str:
    """Return the room whose keywords appear most often; ties: the first. Without keywords its name counts."""
    sample = text[:_SAMPLE_LENGTH].casefold()
    best, most = "", 0
    for room in rooms:
        count = sum(_occurrences(word.casefold(), sample) for word in room.keywords or (room.name,))
        if count > most:
            best, most = slug(room.name), count
    return best


def _occurrences(word: str, text: str) -> int:
    """Return how often `word` occurs as a whole word; in a script without spaces, how often it occurs at all."""
    left_boundary = r"(?<![a-z0-9_])" if word[:1].isascii() else ""
    right_boundary = r"(?![a-z0-9_])" if word[-1:].isascii() else ""
    return len(re.findall(left_boundary + re.escape(word) + right_boundary, text))
