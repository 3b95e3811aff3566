"""Lone surrogates: what Python makes of bytes that are not UTF-8 (PEP 383), and of half a pair in JSON. Pure."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """Return `text` as UTF-8 can hold it: surrogate pairs joined, lone surrogates as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
