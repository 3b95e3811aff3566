"""Matches of a person's regular expression in a palace, searched in a separate process.

A pattern may take forever (`(a+)+b`), and Python's `re` cannot be interrupted. So the search runs as `python -m
palazzo.archive.pattern_matches PALACE` with the pattern on standard input, and that process ends itself when one text
takes longer than `LONGEST`. It examines texts, the strings in rows' own bytes, and names.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.errors import PalazzoError, UsageError
from palazzo.store import items, text_columns
from palazzo.store.packs import PackReader
from palazzo.text.escapes import strings
from palazzo.text.hashed_words import COVER, stands_alone

if TYPE_CHECKING:
    from palazzo.archive.erasure import Progress
    from palazzo.store.database import Connection

LONGEST = 10.0
"""Maximum seconds for matching a pattern against one text: ordinary patterns process 10 MB in that time."""
MOST = 100_000
"""Maximum number of different matches of one pattern: a pattern with more is not specific enough."""
_AT_ONCE = 64
_SLOW, _EMPTY, _MANY = 3, 4, 5
_ESCAPE_PATTERN = re.compile(r"\\(\W)")


def check_pattern(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern. Raises UsageError for an invalid pattern, or one that matches the empty string."""
    try:
        regex = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"'{pattern}' is not a valid regular expression ({error}). Nothing was erased.") from None
    if regex.search("") or any(not match[0] for match in regex.finditer("a word")):
        raise _empty(pattern)
    return regex


def matches(palace: Path, pattern: str, progress: Progress) -> dict[str, bool]:
    """Return all distinct words that the pattern matches, and whether each was always a whole word.

    If the pattern is its own match except for escapes, it is included: it reveals as much as the words do. Raises
    UsageError for an invalid pattern, for one that matches an empty string, or for one that takes too long.
    """
    check_pattern(pattern)
    request = json.dumps({"pattern": pattern, "longest": LONGEST}).encode()
    word_matches: dict[str, bool] | None = None
    command = [sys.executable, "-m", "palazzo.archive.pattern_matches", str(palace.absolute())]
    with subprocess.Popen(  # noqa: S603 - this Python, and this package
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
    ) as process:
        try:
            for message in _answers(process, request):
                if "found" in message:
                    word_matches = message["found"]
                else:
                    progress("matching", message["done"], message["total"])
        except BaseException:
            process.kill()
            raise
    code = process.returncode
    if word_matches is None:
        raise _failed(pattern, code)
    literal = _ESCAPE_PATTERN.sub(r"\1", pattern)
    return word_matches | {pattern: True} if literal in word_matches and literal != pattern else word_matches


def _answers(process: subprocess.Popen[bytes], request: bytes) -> Iterator[dict[str, Any]]:
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(request)
    for line in process.stdout:
        yield json.loads(line)


def _environment() -> dict[str, str]:
    """Return the caller's environment, with an import path where this package is found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONUTF8": "1"}


def _failed(pattern: str, code: int) -> PalazzoError:
    if code == _EMPTY:
        return _empty(pattern)
    if code == _MANY:
        return UsageError(
            f"'{pattern}' matches more than {MOST:,} different words; use a more specific pattern. Nothing was erased."
        )
    return UsageError(
        f"'{pattern}' took longer than {LONGEST:g} seconds on one text, as nested repeats can; write the pattern "
        "without them. Nothing was erased."
    )


def _empty(pattern: str) -> UsageError:
    return UsageError(
        f"'{pattern}' also matches empty text, so it does not say which words to erase. Nothing was erased."
    )


# --- in the process ----------------------------------------------------------------------------------------


def main() -> None:
    """Read the pattern, and print as JSON lines the progress of the search, then what was found."""
    from palazzo.store.database import Database

    request = json.loads(sys.stdin.buffer.read())
    pattern = re.compile(request["pattern"])
    word_matches: dict[str, bool] = {}
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        with contextlib.closing(Database(Path(sys.argv[1]), "read")) as database, database.snapshot() as connection:
            timer_start = -math.inf
            for text in _texts(connection):
                if (
                    time.monotonic() - timer_start > request["longest"] / 4
                ):  # arming starts a thread: not for every word
                    faulthandler.dump_traceback_later(request["longest"], exit=True, file=nowhere)
                    timer_start = time.monotonic()
                _take(pattern, text, word_matches)
            faulthandler.cancel_dump_traceback_later()
        _say({"found": word_matches})


def _take(pattern: re.Pattern[str], text: str, word_matches: dict[str, bool]) -> None:
    for match in pattern.finditer(text):
        words = match[0]
        if not words:
            sys.exit(_EMPTY)
        if words.strip(COVER):
            word_matches[words] = word_matches.get(words, True) and stands_alone(text, *match.span())
            if len(word_matches) > MOST:
                sys.exit(_MANY)


def _texts(connection: Connection) -> Iterator[str]:
    names: list[str] = []
    text_columns.reword(connection, text_columns.make_collector(names.extend))
    yield from set(names)
    (last,) = next(connection.execute("SELECT coalesce(max(id), 0) FROM item"))
    reader, last_row = PackReader(connection), 0
    while rows := list(
        connection.execute(
            "SELECT id, pack, raw_start, raw_size FROM item WHERE id > ? ORDER BY id LIMIT ?", (last_row, _AT_ONCE)
        )
    ):
        texts = items.read_texts(connection, [int(row) for row, *_ in rows])
        for row, pack, start, size in rows:
            yield texts[row]
            if pack is not None:
                yield from strings(_raw(reader, int(pack), int(start), int(size)))
        last_row = int(rows[-1][0])
        _say({"done": last_row, "total": last})


def _raw(reader: PackReader, pack: int, start: int, size: int) -> bytes:
    import zstandard

    try:
        return reader.read(pack, start, size)
    except (zstandard.ZstdError, LookupError, ValueError):
        return b""  # a damaged pack, which the survey tells of


def _say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
