"""A page as a file that opens without a server: none of its scripts and forms, links only to exported pages. Pure.

The words of the page are redacted once more, with today's rules: what was recorded before a rule existed is not carried
out of the palace.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from html.parser import HTMLParser

from markupsafe import Markup, escape

from palazzo.security.redactor import redact

_DROPPED = frozenset(["script", "form", "dialog", "button", "header", "nav", "input", "link"])
"""Elements that do nothing in a file."""
_VOID = frozenset(["meta", "img", "br", "hr", "input", "link"])
_DROPPED_CLASSES = frozenset(["skip", "command", "buttons"])
_IDS = frozenset(["id", "aria-labelledby"])
_KEPT_DATA = frozenset(["data-picture", "data-caption"])
"""What the script that saves figures reads."""
_WITH_WORDS = frozenset(["aria-label", "title", *_KEPT_DATA])
"""Attributes that can have recorded words."""


class _Rewriter(HTMLParser):
    def __init__(self, files: Mapping[str, str], head: str, prefix: str) -> None:
        super().__init__(convert_charrefs=True)
        self._files, self._head, self._prefix = files, head, prefix
        self._key = secrets.token_bytes(16)
        self._depth_of_dropped = 0
        self._open: list[str] = []
        self.parts: list[str] = ["<!doctype html>\n"]
        self.redacted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        is_dropped = tag in _DROPPED or bool(_DROPPED_CLASSES & set(values.get("class", "").split()))
        if self._depth_of_dropped or is_dropped:
            self._depth_of_dropped += tag not in _VOID
            return
        if tag == "a":
            target = self._files.get(values.get("href", "").partition("#")[0].partition("?")[0])
            values = {"href": target} if target else {}
        values.update({name: f"{self._prefix}{values[name]}" for name in _IDS & values.keys()})
        values.update({name: self._redact(values[name]) for name in _WITH_WORDS & values.keys()})
        written = "".join(
            f' {name}="{escape(value)}"'
            for name, value in values.items()
            if name in _KEPT_DATA or not name.startswith("data-")
        )
        self.parts.append(f"<{tag}{written}>")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if self._depth_of_dropped:
            self._depth_of_dropped -= 1
            return
        if tag == "head":
            self.parts.append(self._head)
        if self._open and self._open[-1] == tag:
            self._open.pop()
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._depth_of_dropped:
            return
        self.parts.append(str(escape(self._redact(data))))

    def _redact(self, text: str) -> str:
        redaction = redact(text, self._key)
        self.redacted += len(redaction.edits)
        return redaction.text


def make_static(page: str, files: Mapping[str, str], head: str, prefix: str = "") -> tuple[str, int]:
    """Return a page for a file, and how many secrets were redacted in it.

    `files` are the names of exported files by the path of their page; `head` is HTML for the end of the file's head.
    Ids get a `prefix`, so that several pages can stand in one file.
    """
    rewriter = _Rewriter(files, head, prefix)
    rewriter.feed(page)
    rewriter.close()
    return str(Markup("").join(map(Markup, rewriter.parts))), rewriter.redacted
