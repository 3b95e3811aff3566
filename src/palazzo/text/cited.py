"""The words of a cited stretch of a file, and the digest by which they are known again. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

DIGEST_BYTES = 16


def lines_of(text: str) -> list[str]:
    """Return the lines of a file's text, as editors count them: by LF, CRLF or CR; an end of the last makes none more.

    Line ends and the blanks before them are off, so that a checkout with other line ends has the same lines.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip(" \t") for line in lines]


def digest(key: bytes, lines: Sequence[str]) -> bytes:
    """Return the digest of whole lines, as `lines_of` gives them, under the palace's own key (`store/redaction`)."""
    words = "\n".join(lines).encode("utf-8", "surrogatepass")
    return hmac.digest(key, b"cited\0" + words, hashlib.sha256)[:DIGEST_BYTES]
