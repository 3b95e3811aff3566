"""JSON output: one document on standard output, in UTF-8 whatever the locale."""

from __future__ import annotations

import json
import sys
from typing import Any


def write_json(result: Any, indent: int | None = 2) -> None:
    """Write a result as one JSON document on standard output.

    On a terminal, characters that would control it or reverse the text are written as escapes; the document means the
    same.
    """
    from palazzo.operations.serialisation import to_json
    from palazzo.text.visible import escape_controls

    plain = to_json(result)
    try:
        document = json.dumps(plain, ensure_ascii=False, indent=indent)
        content = (escape_controls(document) if sys.stdout.isatty() else document).encode()
    except UnicodeEncodeError:  # archived text may hold lone surrogates, which JSON writes as escapes
        content = json.dumps(plain, indent=indent).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(content + b"\n")
