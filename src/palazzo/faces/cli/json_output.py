"""JSON output: one document on standard output, in UTF-8 whatever the locale."""

from __future__ import annotations

import json
import sys
from typing import Any


def write_json(result: Any, indent: int | None = 2) -> None:
    """Write a result as one JSON document on standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(format_json(result, sys.stdout.isatty(), indent).encode())


def format_json(result: Any, for_terminal: bool, indent: int | None = 2) -> str:
    """Return a result as one JSON document that UTF-8 can encode.

    For a terminal, characters that would control it or reverse the text are written as escapes; the document means the
    same.
    """
    from palazzo.operations.serialisation import to_json
    from palazzo.text.visible import escape_controls

    plain = to_json(result)
    document = json.dumps(plain, ensure_ascii=False, indent=indent)
    try:
        document.encode()
    except UnicodeEncodeError:  # archived text may hold lone surrogates, which JSON writes as escapes
        document = json.dumps(plain, indent=indent)
    return f"{escape_controls(document) if for_terminal else document}\n"
