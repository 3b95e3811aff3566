"""Characters that act on whoever shows a text, made visible: they drive a terminal, or turn what is read around."""

from __future__ import annotations

from collections.abc import Mapping

_BREAKS = (0x09, 0x0A)
_DIRECTION_CONTROLS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates of direction: behind one of these `exe.txt` may read `txt.exe`."""
_OTHER_LINE_ENDS = (0x2028, 0x2029)
_MARKS = (0x061C, 0x200E, 0x200F)
"""Marks of direction, which texts that run from right to left need to be read; a document says the same without."""


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
    """Return a text to be read: control characters are pictures of themselves, what turns it is spelled `\\u202e`.

    Tabs and the ends of lines stay.
    """
    return text.translate(_VISIBLE)


def escape_controls(document: str) -> str:
    """Return a JSON document that says the same and has none of these in it, nor what YAML takes for a line's end."""
    return document.translate(_ESCAPES)
