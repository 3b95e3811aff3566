"""Blocks of a conversation as text that a person can read, with a part for each.

A message's text is its blocks, joined by a blank line; parts never overlap, are never empty, and together cover
everything but those joints. Strings are inserted whole and unchanged, never as JSON with its escapes, so that text can
be found and quoted in its original form.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence

from palazzo.model import Part, PartKind, Trust
from palazzo.sources.formats.jsonl_rows import string
from palazzo.sources.formats.row_records import objects_in

JOINT = "\n\n"

_OPAQUE = frozenset({"signature", "encrypted_content", "encrypted_index", "data", "base64"})
"""Fields of blocks that contain only machine-readable data; only their size is shown."""


class Composer:
    """Joins blocks into one text and records the position of each."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._parts: list[Part] = []

    def add(
        self,
        kind: PartKind,
        text: str,
        *,
        name: str = "",
        call: str = "",
        failed: bool = False,
        trust: Trust | None = None,
    ) -> None:
        """Append one block. An empty one is ignored."""
        if not text:
            return
        if self._pieces:
            self._pieces.append(JOINT)
            self._length += len(JOINT)
        start, self._length = self._length, self._length + len(text)
        self._pieces.append(text)
        self._parts.append(Part(kind, start, self._length, name, call, failed, trust))

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join(self._pieces)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts so far, in order."""
        return tuple(self._parts)


def function_calls(calls: object) -> Iterator[tuple[str, str, object]]:
    """Yield the ID, the function's name and the arguments of each call in a list of OpenAI's chat API."""
    for call in objects_in(calls):
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        arguments: object = function.get("arguments")
        if isinstance(arguments, str):
            with contextlib.suppress(ValueError):  # half-written arguments are shown as they are
                arguments = json.loads(arguments, strict=False)
        yield string(call, "id"), string(function, "name"), arguments


def call_text(name: str, arguments: object) -> str:
    """Return a tool call in readable form: the tool's name, then a `key: value` line for each argument.

    A string of several lines is put whole and unindented below its key.
    """
    return "\n".join((name, *_members(arguments, ""))) if arguments not in (None, {}, "") else name


def block_text(block: Mapping[str, object]) -> str:
    """Return a block of a kind without a rendering of its own, as its type and its fields."""
    fields = {key: _shorten_value(key, value) for key, value in block.items() if key != "type"}
    return call_text(str(block.get("type", "block")), fields)


def media_text(block: Mapping[str, object], fallback: str) -> str:
    """Describe an image or a file by type and size: `[image/png, 812 bytes]`."""
    source = block.get("source")
    source = source if isinstance(source, Mapping) else block
    media = next((v for k in ("media_type", "mimeType", "mime_type") if isinstance(v := source.get(k), str)), fallback)
    data = source.get("data")
    if isinstance(data, str):
        return f"[{media}, {_decoded_size(data)} bytes]"
    address = next((v for k in ("url", "file_id", "uri") if isinstance(v := source.get(k), str)), "")
    return f"[{media}, {address}]" if address else f"[{media}]"


def _members(value: object, pad: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _field(f"{pad}{key}:", member, pad)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for member in value:
            yield from _field(f"{pad}-", member, pad)
    else:
        yield _scalar(value)


def _field(label: str, value: object, pad: str) -> Iterator[str]:
    if isinstance(value, str):
        if "\n" in value:
            yield label
            yield value
        else:
            yield f"{label} {value}" if value else label
    elif isinstance(value, Mapping | list) and value:
        yield label
        yield from _members(value, pad + "  ")
    else:
        yield f"{label} {_scalar(value)}"


def _scalar(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shorten_value(key: str, value: object) -> object:
    if key in _OPAQUE and isinstance(value, str) and len(value) > 64 and not any(map(str.isspace, value)):
        return f"[{_decoded_size(value)} bytes]"
    return value


def _decoded_size(base64: str) -> int:
    return max(0, len(base64) * 3 // 4 - base64[-2:].count("="))
