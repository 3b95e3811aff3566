"""The form in which Cline gives the result of a tool since version 4: `{query, result, success, error}`, or a list."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """The text of a tool's result, and whether it failed."""

    text: str
    has_failed: bool


def read_outcomes(content: object) -> Outcome | None:
    """Return a result in this form, which may be JSON; None for any other.

    A tool that runs several commands has failed if one of them has, although the program calls it successful.
    """
    if isinstance(content, str):
        content = _parse(content)
    outcomes = [content] if isinstance(content, dict) else content if isinstance(content, list) else []
    if not outcomes or not all(_is_outcome(outcome) for outcome in outcomes):
        return None
    return Outcome("\n".join(map(_text_of, outcomes)), any(not outcome["success"] for outcome in outcomes))


def _parse(text: str) -> object:
    try:
        return json.loads(text, strict=False) if text.startswith(("[{", '{"query"')) else None
    except (ValueError, RecursionError):
        return None


def _is_outcome(value: object) -> bool:
    return isinstance(value, dict) and {"query", "result", "success"} <= value.keys()


def _text_of(outcome: dict[str, Any]) -> str:
    result, error = outcome["result"], outcome.get("error")
    pieces = result if isinstance(result, list) else [result]
    texts = [piece.get("text") if isinstance(piece, dict) else piece for piece in pieces]
    text = "\n".join(text if isinstance(text, str) else json.dumps(text) for text in texts if text not in (None, ""))
    return text or (error if isinstance(error, str) else "")
