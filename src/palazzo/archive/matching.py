"""What a person's pattern matches in a palace, found in a process of its own.

A pattern may take for ever (`(a+)+b`), and Python's `re` cannot be interrupted. So the search runs as
`python -m palazzo.archive.matching PALACE` with the pattern on standard input, and that process ends itself when one
text takes it longer than `LONGEST`. It looks at texts, at the strings in rows' own bytes, and at names.
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
from palazzo.store import items, wording
from palazzo.store.packs import PackReader
from palazzo.text.escapes import strings
from palazzo.text.hashed import COVER, stands_alone

if TYPE_CHECKING:
    from palazzo.archive.erasing import Progress
    from palazzo.store.database import Connection

LONGEST = 10.0
"""Seconds that a pattern may take for one text: ordinary ones go through 10 MB in that time."""
MOST = 100_000
"""Different matches of one pattern: what has more is no pattern for some words."""
_AT_ONCE = 64
_SLOW, _EMPTY, _MANY = 3, 4, 5
_ESCAPED = re.compile(r"\\(\W)")


def check_pattern(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled. Raises UsageError for one that is none, or that matches where nothing stands."""
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"'{pattern}' is no regular expression ({error}). Nothing was erased.") from None
    if compiled.search("") or any(not match[0] for match in compiled.finditer("a word")):
        raise _empty(pattern)
    return compiled


def matches(palace: Path, pattern: str, progress: Progress) -> dict[str, bool]:
    """Return all different words that the pattern matches, each with whether it always stood as whole words.

    A pattern that spells what it matches, but for escapes, is among them: it is as telling as the words.
    Raises UsageError for a pattern that is none, that matches nothing at all somewhere, or that takes too long.
    """
    check_pattern(pattern)
    asked = json.dumps({"pattern": pattern, "longest": LONGEST}).encode()
    found: dict[str, bool] | None = None
    command = [sys.executable, "-m", "palazzo.archive.matching", str(palace.absolute())]
    with subprocess.Popen(  # noqa: S603 - this Python, and this package
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
    ) as process:
        try:
            for told in _answers(process, asked):
                if "found" in told:
                    found = told["found"]
                else:
                    progress("matching", told["done"], told["total"])
        except BaseException:
            process.kill()
            raise
    code = process.returncode
    if found is None:
        raise _failed(pattern, code)
    spelled = _ESCAPED.sub(r"\1", pattern)
    return found | {pattern: True} if spelled in found and spelled != pattern else found


def _answers(process: subprocess.Popen[bytes], asked: bytes) -> Iterator[dict[str, Any]]:
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(asked)
    for line in process.stdout:
        yield json.loads(line)


def _environment() -> dict[str, str]:
    """The caller's environment; the package is found from wherever it was found here."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONUTF8": "1"}


def _failed(pattern: str, code: int) -> PalazzoError:
    if code == _EMPTY:
        return _empty(pattern)
    if code == _MANY:
        return UsageError(f"'{pattern}' matches more than {MOST:,} different words; be more exact. Nothing was erased.")
    return UsageError(
        f"'{pattern}' took longer than {LONGEST:g} seconds for one text, as nested repeats may; write it without "
        "them. Nothing was erased."
    )


def _empty(pattern: str) -> UsageError:
    return UsageError(f"'{pattern}' also matches where nothing stands, so it says no words. Nothing was erased.")


# --- in the process ----------------------------------------------------------------------------------------


def main() -> None:
    """Read the pattern and print, as lines of JSON, how far the search is, and in the end what was found."""
    from palazzo.store.database import Database

    asked = json.loads(sys.stdin.buffer.read())
    pattern = re.compile(asked["pattern"])
    found: dict[str, bool] = {}
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        with contextlib.closing(Database(Path(sys.argv[1]), "read")) as database, database.snapshot() as connection:
            armed = -math.inf
            for text in _texts(connection):
                if time.monotonic() - armed > asked["longest"] / 4:  # arming starts a thread: not for every word
                    faulthandler.dump_traceback_later(asked["longest"], exit=True, file=nowhere)
                    armed = time.monotonic()
                _take(pattern, text, found)
            faulthandler.cancel_dump_traceback_later()
        _say({"found": found})


def _take(pattern: re.Pattern[str], text: str, found: dict[str, bool]) -> None:
    for match in pattern.finditer(text):
        words = match[0]
        if not words:
            sys.exit(_EMPTY)
        if words.strip(COVER):
            found[words] = found.get(words, True) and stands_alone(text, *match.span())
            if len(found) > MOST:
                sys.exit(_MANY)


def _texts(connection: Connection) -> Iterator[str]:
    names: list[str] = []
    wording.reword(connection, wording.collecting(names.extend))
    yield from set(names)
    (last,) = next(connection.execute("SELECT coalesce(max(id), 0) FROM item"))
    reader, after = PackReader(connection), 0
    while rows := list(
        connection.execute(
            "SELECT id, pack, raw_start, raw_size FROM item WHERE id > ? ORDER BY id LIMIT ?", (after, _AT_ONCE)
        )
    ):
        texts = items.read_texts(connection, [int(row) for row, *_ in rows])
        for row, pack, start, size in rows:
            yield texts[row]
            if pack is not None:
                yield from strings(_raw(reader, int(pack), int(start), int(size)))
        after = int(rows[-1][0])
        _say({"done": after, "total": last})


def _raw(reader: PackReader, pack: int, start: int, size: int) -> bytes:
    import zstandard

    try:
        return reader.read(pack, start, size)
    except (zstandard.ZstdError, LookupError, ValueError):
        return b""  # a damaged pack, which the survey tells of


def _say(told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
