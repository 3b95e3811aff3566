"""Characters with side effects on display, made visible: they control a terminal, or reverse the text direction."""

from __future__ import annotations

from collections.abc import Mapping

_BREAKS = (0x09, 0x0A)
_DIRECTION_CONTROLS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Directional embeddings, overrides and isolates: after one of these, `exe.txt` may be displayed as `txt.exe`."""
_OTHER_LINE_ENDS = (0x2028, 0x2029)
_MARKS = (0x061C, 0x200E, 0x200F)
"""Directional marks, which right-to-left texts need for reading; a document says the same without them."""


def _escapes(codes: tuple[int, ...]) -> dict[int, str]:
    return {code: f"\\u{code:04x}" for code in codes}


_VISIBLE: Mapping[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if code not in _BREAKS},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **_escapes(_DIRECTION_CONTROLS),
}
_ESCAPES: Mapping[int, str] = _escapes((0x7F, *range(0x80, 0xA0), *_MARKS, *_DIRECTION_CONTROLS, *_OTHER_LINE_ENDS))


def visible(text: str) -> str:
    """Return a text for reading: control characters as pictures, and direction changes spelled out as `\\u202e`.

    Tabs and line ends stay.
    """
    return text.translate(_VISIBLE)


def escape_controls(document: str) -> str:
    """Return an equal JSON document without these characters, and without YAML's line ends."""
    return document.translate(_ESCAPES)
