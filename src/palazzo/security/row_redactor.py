"""Redaction of a source's raw rows: parsed JSON, and its original bytes.

A row without findings keeps its bytes. A row with findings is rewritten: its strings are redacted like any text, and a
value under a secret's name is removed completely. The rules see through JSON escapes, also in JSON within JSON. So a
text needs no scan of its own if its row had no findings.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from palazzo.security.private_spans import private_spans
from palazzo.security.redactor import NOTHING_KNOWN, PRIVATE, mark, redact
from palazzo.security.secret_names import is_secret_value
from palazzo.security.secret_scanner import MARK, find_secrets


class RedactedJson(NamedTuple):
    """A JSON value without its secrets, the secrets with their rules, and the number of removed ranges by rule."""

    value: object
    secrets: dict[str, str]
    rules: Counter[str]


class RedactedRow(NamedTuple):
    """A row's bytes without its secrets; the same bytes if `rules` is empty."""

    raw: bytes
    secrets: dict[str, str]
    rules: Counter[str]


def redact_row(
    raw: bytes, key: bytes, secret_rules: Mapping[str, str] = NOTHING_KNOWN, private: bool = True
) -> RedactedRow:
    """Return a source row without its secrets: as JSON if it parses as JSON, else as text. Its line end stays.

    Tags of private spans count in every string of it, unless not `private`; `secret_rules` are replaced in any case.
    """
    text = raw.decode("utf-8", "surrogateescape")
    if not secret_rules and not find_secrets(text) and not (private and private_spans(text)):
        return RedactedRow(raw, {}, Counter())
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        plain = redact(text, key, None if private else (), secret_rules)
        return RedactedRow(plain.text.encode("utf-8", "surrogateescape"), plain.secrets(text), plain.rules)
    redaction = redact_json(value, key, secret_rules, private)
    if not redaction.rules:
        return RedactedRow(raw, {}, Counter())
    begin, end = len(raw) - len(raw.lstrip()), len(raw.rstrip())
    return RedactedRow(raw[:begin] + _dump_json(redaction.value, text) + raw[end:], redaction.secrets, redaction.rules)


def redact_json(
    value: object, key: bytes, secret_rules: Mapping[str, str] = NOTHING_KNOWN, private: bool = True
) -> RedactedJson:
    """Return a copy of the parsed JSON `value` without its secrets, at any depth; `value` is not changed."""
    walk = _Walk(key, secret_rules, private)
    return RedactedJson(walk.whole(value), walk.secrets, walk.rules)


class _Walk:
    """One traversal of a value, without recursion: a hostile row may be nested deeper than Python's stack."""

    def __init__(self, key: bytes, secret_rules: Mapping[str, str], private: bool) -> None:
        self.secrets: dict[str, str] = {}
        self.rules: Counter[str] = Counter()
        self._key, self._known = key, secret_rules
        self._within: tuple[tuple[int, int], ...] | None = None if private else ()
        self._open: list[tuple[object, object]] = []

    def whole(self, value: object) -> object:
        top = self._copy_value("", value)
        while self._open:
            source, copy = self._open.pop()
            if isinstance(source, dict) and isinstance(copy, dict):
                for name, member in source.items():
                    copy[self._name(name, copy)] = self._copy_value(name, member)
            elif isinstance(source, list) and isinstance(copy, list):
                copy.extend(self._copy_value("", member) for member in source)
        return top

    def _copy_value(self, name: object, value: object) -> object:
        """A container is filled later; a scalar is redacted at once."""
        if isinstance(value, dict | list):
            copy: object = {} if isinstance(value, dict) else []
            self._open.append((value, copy))
            return copy
        if isinstance(name, str) and name and self._is_secret(name, value):
            self.rules["secret"] += 1
            self.secrets[str(value)] = "secret"
            return mark(str(value), "secret", self._key)
        return self._text(value) if isinstance(value, str) else value

    def _is_secret(self, name: str, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, str | int):
            return False
        text = str(value)
        return len(text) <= 600 and not MARK.search(text) and is_secret_value(name, text) and not find_secrets(text)

    def _text(self, value: str) -> str:
        redaction = redact(value, self._key, self._within, self._known)
        if redaction.edits:
            self.rules += redaction.rules
            self.secrets |= redaction.secrets(value)
        return redaction.text

    def _name(self, name: object, members: dict[object, object]) -> object:
        """Redact a member's name, which may itself be a secret. Names that became equal are kept apart."""
        if not isinstance(name, str):
            return name
        new = self._text(name)
        while new != name and new in members:
            new += PRIVATE
        return new


def _dump_json(value: object, like: str) -> bytes:
    """Write JSON in the style of `like`: ASCII escapes if it is ASCII, spaces if it has them."""
    has_spaces = '": ' in like[:4096]
    separators = (", ", ": ") if has_spaces else (",", ":")
    if not like.isascii():
        try:
            return json.dumps(value, ensure_ascii=False, separators=separators).encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            pass  # a lone surrogate: only its escape can be written
    return json.dumps(value, ensure_ascii=True, separators=separators).encode("ascii")
