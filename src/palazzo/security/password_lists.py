"""Several secrets after one word: columns of tables, lists of logins, Kubernetes secrets, cookies, `.pgpass`.

Each function gets a text and the position of the word in it, and examines a bounded stretch around it.
"""

from __future__ import annotations

import re

from palazzo.security.password_statements import RuleSpan, looks_chosen, trim_span
from palazzo.security.placeholders import is_stand_in
from palazzo.text.lazy_patterns import make_regex

_PGPASS_LINE = make_regex(
    r"(?:^|\n)[^\s:#]{1,100}:(?:\d{1,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:(?P<value>[^\n]{3,100}?)(?=\n|\Z)"
)


def find_pgpass_line(text: str, at: int) -> RuleSpan | None:
    """Return the password in the `.pgpass` line whose port is at `at`."""
    line = text.rfind("\n", max(0, at - 120), at)
    match = _PGPASS_LINE.match(text, max(line, 0)) if line >= 0 or at < 120 else None
    return (*match.span("value"), "password") if match and not is_stand_in(match["value"]) else None


_CHANGED = make_regex(
    r"[\w ]{0,20} (?:from|von|de|da|van) [\"'`]?(?P<old>[^\s\"'`]{5,60})[\"'`]? (?:to|auf|zu|à|a|para|naar) [\"'`]?(?P<new>[^\s\"'`]{5,60})"
)
_COLUMN_GAP = make_regex(r"[ ]{2,}")


def find_listed(text: str, start: int) -> list[RuleSpan]:
    """Return passwords in a table with heading `passw` at `start`, and in lists for `chpasswd` and `.pgpass`."""
    prefix = text[max(0, start - 2) : start].lower()
    if prefix == "pg":
        return _matches(_PGPASS_LINE, text, start, start + 600)
    if text[start + 4 : start + 5] not in ("w", "W", "p", "P"):
        return []
    if prefix == "ch":
        return _matches(_PIPED_LOGIN, text, max(0, start - 120), start + 6) or _matches(
            _LISTED_LOGIN, text, start + 6, start + 400
        )
    head = text[max(0, start - 200) : start].lower()
    if "insert" in head and (insert_match := _INSERT.search(text, max(0, start - 200), start)):
        return _find_inserted_values(text, start, text.count(",", insert_match.end(), start))
    is_told = text[start + 8 : start + 9] == " "
    if (
        is_told
        and (changed := _CHANGED.match(text, start + 8, start + 200))
        and any(map(looks_chosen, changed.groups()))
    ):
        return [(*trim_span(text, *changed.span(group)), "password") for group in ("old", "new")]
    line = text.rfind("\n", max(0, start - 200), start) + 1
    stop = text.find("\n", start, start + 200)
    if stop < 0 or "passw" in text[line:start].lower():
        return []
    heading = text[line:stop]
    above = text[text.rfind("\n", max(0, line - 200), max(0, line - 1)) + 1 : max(0, line - 1)]
    for mark in ("|", ",", "\t", ";"):
        count = heading.count(mark)
        if count > 1 and above.count(mark) != count and not _SENTENCE.search(heading):
            return _column(text, stop, mark, count, heading.count(mark, 0, start - line))
    return _find_aligned_cells(text, heading, line, start, stop)


def _find_aligned_cells(text: str, heading: str, line: int, start: int, stop: int) -> list[RuleSpan]:
    """Return the cells aligned below a heading whose words are separated by gaps."""
    if "  " not in heading.strip() or any(len(cell.split()) > 2 for cell in _COLUMN_GAP.split(heading)):
        return []
    cells: list[RuleSpan] = []
    for _ in range(_ROWS):
        begin, stop = stop + 1, text.find("\n", stop + 1, stop + 400)
        stop = stop if stop >= 0 else min(len(text), begin + 400)
        cell = _CELL.match(text, begin + start - line, stop)
        if not cell or text[begin + start - line - 1 : begin + start - line].strip():
            break
        if not is_stand_in(cell[0]):
            cells.append((*cell.span(), "password"))
    return cells


_CELL = make_regex(r"(?=\S*\d|\S*[A-Z]\S*[a-z])[^\s]{4,80}")
_INSERT = make_regex(r"insert into [^\s(]{1,60} ?\((?=[^()]{0,200}\Z)", re.IGNORECASE)
_ROW = make_regex(r"[^()]{0,200}\) values |,? ?\(([^()\n]{1,400})\)", re.IGNORECASE)


def _find_inserted_values(text: str, at: int, number: int) -> list[RuleSpan]:
    """Return the values of one column of an SQL INSERT."""
    cells: list[RuleSpan] = []
    while (row := _ROW.match(text, at)) and len(cells) < _ROWS:
        values = row[1].split(",") if row[1] else []
        if len(values) > number and len(value := values[number].strip(" '\"")) >= 4 and not is_stand_in(value):
            first = row.start(1) + len(",".join(values[:number])) + (number > 0) + values[number].index(value)
            cells.append((first, first + len(value), "password"))
        at = row.end()
    return cells


_SENTENCE = make_regex(r"[=({]|[a-z] [a-z]+ [a-z]+ [a-z]", re.IGNORECASE)
_PIPED_LOGIN = make_regex(
    r"(?:echo|printf)[^\n|]{0,12}[ ][\"']?[\w.-]{1,40}:(?P<value>[^\s\"'|\\]{3,100})[^\n|]{0,6}\|[ ](?:sudo )?ch"
)
_LISTED_LOGIN = make_regex(
    r"(?:\n[ \t]{1,16}(?:-[ ])?|<<<[ ]?[\"']?)[a-z_][\w.-]{0,30}:(?![ ])(?P<value>[^\s\"']{4,100})"
)
_ROWS = 30


def _matches(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[RuleSpan]:
    return [
        (*match.span("value"), "password")
        for match in pattern.finditer(text, start, min(end, len(text)))
        if not is_stand_in(match["value"])
    ]


def _column(text: str, at: int, mark: str, count: int, number: int) -> list[RuleSpan]:
    """Return the cells below a heading, in the lines with the same number of cells."""
    cells: list[RuleSpan] = []
    for _ in range(_ROWS):
        stop = text.find("\n", at + 1, at + 400)
        stop = len(text) if stop < 0 and len(text) - at < 400 else stop
        line = text[at + 1 : stop] if stop > 0 else ""
        if not line or line.count(mark) != count:
            break
        preceding_cells = mark.join(line.split(mark)[:number])
        cell = line.split(mark)[number]
        value = cell.strip(" \t\r`*\"'")
        if len(value) >= 4 and " " not in value and not is_stand_in(value):
            first = at + 1 + len(preceding_cells) + (number > 0) + cell.index(value)
            cells.append((first, first + len(value), "password"))
        at = stop
    return cells


def find_kubernetes_secret(text: str, at: int) -> list[RuleSpan]:
    """Return the values of a Kubernetes secret whose kind is at `at`, before or after its data."""
    if text[max(0, at - 6) : at].lower() != "kind: ":
        return []
    begin = max(text.rfind("\n---", max(0, at - 2000), at), at - 2000, 0)
    end = text.find("\n---", at, at + 4000)
    block = _SECRET_DATA.search(text, begin, end if end >= 0 else min(len(text), at + 4000))
    if not block:
        return []
    return [
        (*match.span("value"), "secret")
        for match in _SECRET_ENTRY.finditer(text, block.start(1), block.end(1))
        if not is_stand_in(match["value"]) and not _NO_SECRET_ENTRY.fullmatch(match["name"])
    ]


_SECRET_DATA = make_regex(r"(?:^|\n)[ ]{0,8}(?:data|stringData):((?:\n[ ]{1,16}[^\n]{1,4000}){1,60})")
_SECRET_ENTRY = make_regex(r"\n[ ]{1,16}(?P<name>[\w.-]{1,80}):[ ]{1,4}[\"']?(?P<value>[^\s\"'|>]{4,4000})")
_NO_SECRET_ENTRY = make_regex(r"user(?:name)?|host|port|name|type|namespace|ca\.crt|tls\.crt", re.IGNORECASE)


def find_session_cookies(text: str, at: int) -> list[RuleSpan]:
    """Return the session ids in the cookies after the word at `at`."""
    if not _COOKIE_HEAD.match(text, at):
        return []
    return [(*match.span("value"), "session") for match in _COOKIE.finditer(text, at, at + 600)]


_COOKIE_HEAD = make_regex(r"cookies?[\"']?(?::|[ ]?=|\]|[ ]\()", re.IGNORECASE)
_COOKIE = make_regex(
    r"(?<![A-Za-z0-9])(?:[\w.-]{0,30}sess(?:ion)?(?:[_-]?(?:id|token|key|data))?|[\w.-]{0,20}sid|[\w.-]{0,30}(?:auth|token|jwt|sso|csrf\w{0,8}|remember\w{0,8}|xsrf\w{0,8}))"
    r"[\"']?(?:=|[ ]?:[ ]?)[\"']?(?P<value>(?=[^\s\"';,]{0,200}\d)[\w%.+/:~-]{16,1000})",
    re.IGNORECASE,
)
