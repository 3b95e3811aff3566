"""JSON Lines as hosts really write them: one object per line, and now and then something else.

Deviations that occur in practice, and how they are handled:

- The last line may still be being written. It is returned only if it is already a whole object; if not, the
  next read begins there. A line end that arrives later is then a blank row of its own.
- A byte order mark, CRLF, blank lines, and runs of NUL that a power cut leaves: ignored around an object,
  kept in its bytes.
- A bare control character or NUL inside a string: accepted, since the text around it is good.
- Bytes that are not UTF-8: decoded with `surrogateescape`, one lone surrogate per bad byte, so nothing is
  dropped and the text still encodes with `surrogatepass`. A `\\ud800` escape that stands alone gives a lone
  surrogate too. The text cannot tell the two apart; the row's own bytes can.
- A line beyond `LONGEST_LINE` comes in pieces of that size, each unreadable, so that memory stays bounded.

Nothing here looks back at an earlier line, so reading may begin at any row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO

from palazzo.sources.formats import Noise, Unreadable

LONGEST_LINE = 64 * 1024 * 1024
"""Six times the longest line seen in a transcript (an image pasted at full size)."""

JsonObject = dict[str, Any]

_AROUND = b"\x00\t\n\r "
_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder(strict=False)
"""Made once: `json.loads` makes one for each call that is not by its defaults, a fifth of the time of a short row."""


def json_lines(
    stream: BinaryIO, start: int = 0, longest: int = LONGEST_LINE
) -> Iterator[tuple[int, bytes, JsonObject | Noise | Unreadable]]:
    """Yield each line's position, its exact bytes and its object (or why it is none)."""
    position = start
    while raw := stream.readline(longest):
        is_complete = raw.endswith(b"\n")
        value: JsonObject | Noise | Unreadable
        if not is_complete and len(raw) == longest:
            value = Unreadable(f"a piece of a line longer than {longest:,} bytes")
        else:
            value = parse_line(raw)
            if not is_complete and not isinstance(value, dict):
                return
        yield position, raw, value
        position += len(raw)


def parse_line(raw: bytes) -> JsonObject | Noise | Unreadable:
    """Return the object in a line, or why there is none."""
    words = raw.strip(_AROUND).removeprefix(_BOM).strip(_AROUND)
    if not words:
        return Noise("blank")
    if words[:1] != b"{":
        return Unreadable("not a JSON object")
    try:
        value = _DECODER.decode(words.decode("utf-8", "surrogateescape"))
    except RecursionError:
        return Unreadable("nested too deeply")
    except ValueError:
        return Unreadable("not valid JSON")
    return value if isinstance(value, dict) else Unreadable("not a JSON object")


def objects_in_head(head: bytes) -> tuple[list[JsonObject], int]:
    """Return the objects among a head's lines, and the number of non-empty lines.

    The last line is not counted if it is cut off. Every reader that is asked about a file gets the same objects.
    """
    objects, count = _parse_head(head)
    return list(objects), count


@lru_cache(maxsize=4)
def _parse_head(head: bytes) -> tuple[tuple[JsonObject, ...], int]:
    lines = [line for line in head.split(b"\n") if line.strip(_AROUND)]
    values = [parse_line(line) for line in lines]
    if values and not head.endswith(b"\n") and not isinstance(values[-1], dict):
        values.pop()
    return tuple(value for value in values if isinstance(value, dict)), len(values)


def string(value: JsonObject, key: str) -> str:
    """Return the string at `key`, or "" if there is none."""
    member = value.get(key)
    return member if isinstance(member, str) else ""
