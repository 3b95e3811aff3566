"""Records without bytes of their own: canonical JSON for a row's `raw`, and the elements of a long JSON array.

An export is one JSON array of conversations, often hundreds of megabytes on one line. Its elements are located one
after another, so that everything before a damaged place is still read, and a conversation is held as objects only while
its rows are being read.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.sources.formats.jsonl_rows import JsonObject
from palazzo.text.lazy_patterns import make_regex

_DECODER = json.JSONDecoder(strict=False)
_GAP = make_regex(r"[ \t\r\n\x00]*")
_ENVELOPE = make_regex(r'\{\s*"conversations"\s*:\s*')


def canonical(record: object) -> bytes:
    """Return the record as canonical JSON: sorted keys, no spaces, one line, UTF-8.

    A record with a lone surrogate, which UTF-8 cannot hold, is written in ASCII with escapes.
    """
    try:
        return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def stamp_of(*pieces: str | bytes) -> str:
    """Return a short text that differs whenever one of the pieces differs."""
    state = hashlib.blake2b(digest_size=12)
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
        state.update(len(data).to_bytes(8) + data)
    return state.hexdigest()


def decode_json_text(data: bytes) -> str:
    """Decode a JSON file: UTF-8 with or without a byte order mark; invalid bytes become lone surrogates.

    A file that a Windows editor or shell rewrote may be UTF-16; its byte order mark says so.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def parse(data: bytes, name: str) -> object:
    """Return the value of a whole JSON file; raises SourceUnreadable, naming the file."""
    try:
        value: object = json.loads(decode_json_text(data), strict=False)
    except RecursionError:
        raise SourceUnreadable(f"{name} is nested too deeply to be read.") from None
    except ValueError as error:
        raise SourceUnreadable(f"{name} is not valid JSON ({error}); export it again.") from None
    return value


@frozen
class Element:
    """One element of a JSON array, as the range of text that contains it."""

    text: str
    start: int
    end: int

    @property
    def source(self) -> str:
        """The element as it was written."""
        return self.text[self.start : self.end]

    def value(self) -> object:
        """Read the element again."""
        return json.loads(self.source, strict=False)


def elements(text: str, name: str) -> Iterator[tuple[Element, object]]:
    """Yield the elements of the JSON array in `text` or its `conversations`; a single object is its own element.

    Raises SourceUnreadable at the point where the text stops being JSON, after the elements before it were yielded.
    """
    start = _skip(text, 0)
    wrapper = _ENVELOPE.match(text, start)
    at = wrapper.end() if wrapper else start
    if text[at : at + 1] == "{":
        yield _element(text, at, name)
    elif text[at : at + 1] == "[":
        yield from _members(text, _skip(text, at + 1), name)
    else:
        raise SourceUnreadable(f"{name} contains no list of conversations.")


def _members(text: str, at: int, name: str) -> Iterator[tuple[Element, object]]:
    while text[at : at + 1] != "]":
        element, value = _element(text, at, name)
        yield element, value
        at = _skip(text, element.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise SourceUnreadable(f"{name} is truncated within its list; everything before was read.")


def _element(text: str, at: int, name: str) -> tuple[Element, object]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        raise SourceUnreadable(f"{name} is nested too deeply to be read beyond character {at:,}.") from None
    except ValueError:
        raise SourceUnreadable(
            f"{name} is truncated or damaged after character {at:,} of {len(text):,}; everything before was read."
        ) from None
    return Element(text, at, end), value


def objects_in(value: object) -> list[JsonObject]:
    """Return the objects of a list; nothing for any other value."""
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []


def drop_keys(record: JsonObject, *keys: str) -> JsonObject:
    """Return the record without some of its fields."""
    return {key: value for key, value in record.items() if key not in keys}


def _skip(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at
