"""How recorded words are shown to a model: entries with id, time, place, speaker and trust, within a size limit.

Some hosts show only the JSON and others only the text, so both say the same. The text is inside the fence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.agent_tools.tool import Answer
from palazzo.security.fences import fence_text
from palazzo.security.injected_text import NOTICE as NOTICE
from palazzo.text.times import to_iso

MOST = 20_000
"""Maximum characters of recorded words in one result. With the surrounding text it stays under 25,000, beyond which
hosts truncate results or write them to files.
"""


_HEAD_SIZE = 200
"""Characters of an entry besides its words."""


LONGEST_TEXT = 1_000
"""Characters of a text in a list that `shorten` leaves."""

TEXT: Mapping[str, Any] = {"type": "string"}


NUMBER: Mapping[str, Any] = {"type": "integer"}


FLAG: Mapping[str, Any] = {"type": "boolean"}


LIST: Mapping[str, Any] = {"type": "array"}


OBJECT: Mapping[str, Any] = {"type": "object"}


def shape(**fields: Any) -> dict[str, Any]:
    """Return the schema of an object that always has these fields, and may have others.

    Other fields are not listed: every session pays for the words of a schema, and models do not read a result's schema.
    """
    return {"type": "object", "properties": fields, "required": list(fields)}


ENTRIES = {"type": "array", "items": {"type": "object", "required": ["id", "when", "where", "who", "trust", "text"]}}


@frozen
class Entry:
    """Recorded words. `note` contains further information: that they are cut, superseded, or from another branch.

    `where` is empty if the whole answer is from one place, which its notice names.
    """

    id: str
    when: str
    where: str
    who: str
    trust: str
    text: str
    note: str = ""

    @property
    def json_fields(self) -> dict[str, str]:
        """Return the fields for JSON."""
        fields = {name: getattr(self, name) for name in ("id", "when", "where", "who", "trust", "text", "note")}
        return {name: value for name, value in fields.items() if value or name not in ("where", "note")}

    @property
    def lines(self) -> str:
        """Return the fields as readable text. It is indented, so that no line looks like the head of an entry."""
        head = " · ".join(filter(None, (f"[{self.id}]", self.when, self.where, self.who, self.trust)))
        head = " ".join(head.split())  # an author's name, too, is somebody's words
        words = indent(self.text.rstrip("\n"))
        note = " ".join(self.note.split())
        return "\n".join(filter(None, (head, note and f"  ({note})", words)))


def answer_entries(notice: str, entries: Sequence[Entry], name: str = "hits", **others: Any) -> Answer:
    """Return an answer of entries, cut to the size of one result. `others` are additional fields."""
    fitting_entries = list(fit_entries(entries))
    fields = {
        "notice": notice,
        name: [entry.json_fields for entry in fitting_entries],
        **{key: entry for key, entry in others.items() if entry},
    }
    return Answer(
        fields,
        fence_text("\n\n".join([notice, *(entry.lines for entry in fitting_entries)])) if fitting_entries else notice,
    )


def fit_entries(entries: Iterable[Entry], most: int = MOST) -> Iterable[Entry]:
    """Yield entries with at most `most` characters together, including heads; a cut entry says so."""
    entries = list(entries)
    remaining_chars = most - _HEAD_SIZE * max(len(entries) - 1, 0)
    for entry in entries:
        if len(entry.text) <= remaining_chars:
            remaining_chars -= len(entry.text)
            yield entry
        else:
            room = max(remaining_chars, 0)
            note = "; ".join(filter(None, (entry.note, cut_note(entry.id, room, len(entry.text)))))
            yield replace(entry, text=entry.text[:room], note=note)
            remaining_chars = 0


def rows(
    notice: str, name: str, records: Sequence[Mapping[str, Any]], line: Callable[[Any], str], **others: Any
) -> Answer:
    """Return an answer of rows, one line each by `line`; as many as a result may hold, with a note about the rest.

    `others` are additional fields.
    """
    fitting_records: list[Mapping[str, Any]] = []
    remaining_chars = MOST
    for record in records:
        remaining_chars -= len(json.dumps(record, ensure_ascii=False))
        if remaining_chars < 0 and fitting_records:
            break
        fitting_records.append(record)
    if len(fitting_records) < len(records):
        notice += f" Shown: {len(fitting_records):,} of {len(records):,}. Request fewer at a time."
    fields = {"notice": notice, name: fitting_records, **{key: record for key, record in others.items() if record}}
    return Answer(fields, fence_text("\n".join([notice, *map(line, fitting_records)])) if fitting_records else notice)


def cut_note(uid: str, visible_length: int, length: int) -> str:
    """Return a note that text is left out, and how to read it."""
    if not visible_length:
        return f'{length:,} characters, not shown here: read("{uid}")'
    return (
        f'cut after {visible_length:,} of {length:,} characters: continue with read("{uid}", offset={visible_length})'
    )


def present_fields(**fields: Any) -> dict[str, Any]:
    """Return the fields that say something: without None, empty text and empty lists, but with 0 and false."""
    return {name: value for name, value in fields.items() if value not in ("", None, [])}


def minute(moment: Micros) -> str:
    """Return a time to the minute: 2026-03-04T10:22Z."""
    return f"{to_iso(moment)[:16]}Z"


def shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return at most so many characters of a text; a cut one ends with an ellipsis."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def indent(text: str) -> str:
    """Return a text indented by two spaces, without spaces in blank lines."""
    return "\n".join(f"  {line}" if line.strip() else "" for line in text.splitlines())
