"""Recognition of settings lines: whether a name and its value form one, and which fields stand beside them.

Owns the difference between a line of settings and a line of a program. Does not know what is secret.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

_SIBLING_FIELD = make_regex(
    r"(?<![A-Za-z])(?:user(?:[_ -]?(?:name|id))?|login|uid|usr|account|host(?:name)?|server|email|db(?:name)?|database|machine|ssid"
    r"|benutzer|utilisateur|usuario|identity|from|port|principal|bind_?dn|url|sender|endpoint|adminuser)[\"']?(?:[ \t]{0,4}(?:[:=]|=>)[ \t]{0,4}|[ \t]{1,4}|</?\w{0,20}>)"
    r"[\"'`]?[^\s\"'`{(<\[$:=]{2,}",
)
"""A field that stands beside a password, in lower case."""
LINE_BEFORE = make_regex(
    r"(?:\A|\n|\\n)[ \t>+|-]{0,24}(?:set |export |public |const |let |var |final |static |char ?\* ?|String |d-i )*[\"'$]?\Z"
)
LINE_AFTER = make_regex(r"[\"']?[ \t]{0,8};?(?:[ \t]{1,8}(?:#|//|--)[^\n]{0,200})?(?:\r?\n|\\n|\\r|\"|\Z)")


def is_setting(text: str, start: int, match: re.Match[str], end: int) -> bool:
    """Whether an unquoted name and value are a line of a settings file, and not of a program.

    Program code differs: it ends a line with a mark, indents by blocks, and uses values that are spelled like its
    names. Settings are next to other settings, or alone in a message.
    """
    if not LINE_BEFORE.search(text[max(0, start - 90) : start]) or not LINE_AFTER.match(text, end):
        return False
    if match["space"]:
        return is_beside_sibling(text, start, end)
    sep, glue = match["sep"].strip(), match["sep"]
    if sep not in ("=", ":", "=>"):
        return False
    if glue == "=" and not _CODE_AFTER.match(text, end):
        return True
    value = text[match.start("plain") : end]
    line = text.rfind("\n", 0, start) + 1 if "\n" in text[max(0, start - 40) : start] else 0
    if sep == "=" and _NAME_OF_CODE.fullmatch(value):
        return _SECTION.search(text, max(0, line - 400), line) is not None
    if sep == ":" and _TYPE.fullmatch(value):
        return False
    if is_beside_sibling(text, start, end):
        return True
    above, below = _SETTING_ABOVE.search(text, max(0, line - 200), line), _SETTING_BELOW.match(text, end, end + 200)
    is_alone = not text[max(0, line - 2) : line].strip() and not text[end : end + 40].strip(" \r\n.\"'")
    return above is not None or below is not None or is_alone


_SECTION = make_regex(r"(?:\A|\n)[ ]?\[[\w .:\"-]{1,40}\]\r?\n(?:[^\n\[\](){}]*\n)*\Z")
_NAME_OF_CODE = make_regex(r"(?!\w*[A-Z]\w*_)[a-z_]\w*(?:\.\w+)*|[A-Z]\w*\.[\w.]+")
_TYPE = make_regex(r"(?:[A-Z][a-z]+){2,}")
_CODE_AFTER = make_regex(r"[ \t]*(?:,|\r?\n[ \t]*[)\]}])")
_SETTING = r"[ \t]*(?:- )?[\w.-]{2,40}[ ]?[:=](?:[ ][^\n{}()\[\];,]{0,80}[^\n{}()\[\];, :])?"
_SETTING_ABOVE = make_regex(rf"(?:\A|\n)(?:{_SETTING}|[ ]?\[[\w .:-]{{1,40}}\])\r?\n\Z")
_SETTING_BELOW = make_regex(rf"\r?\n{_SETTING}(?:\r?\n|\Z)")
"""The next line: a setting, or the heading of a group of settings."""


def is_beside_sibling(text: str, start: int, end: int) -> bool:
    """Whether a field that often accompanies passwords is before `start` or after `end`."""
    return _has_sibling(text, start - 160, start) or _has_sibling(text, end, end + 100)


def _has_sibling(text: str, start: int, end: int) -> bool:
    """Whether a field that often accompanies passwords begins between `start` and `end`.

    The text is lower case: an expression that ignores case takes ten times as long.
    """
    start = max(0, start)
    return _SIBLING_FIELD.search(text[max(0, start - 1) : end].lower(), min(start, 1)) is not None


def is_in_table(text: str, at: int, end: int) -> bool:
    """Whether the `|` before a value separates table cells: there is another one in the row."""
    row = text[max(0, at - 80) : at].rsplit("\n", 1)[-1]
    return "{{" not in row and ("|" in row or text[end : end + 2].strip().startswith("|"))


def is_in_prose(text: str, at: int, match: re.Match[str], value: str) -> bool:
    """Whether the name is followed by a word that continues a sentence, as in most mentions of passwords."""
    if not (value.isalpha() and value.islower()) or text[match.end() : match.end() + 1] != " ":
        return False
    prefix = text[max(0, at - 90) : at]
    return not match["quoted"] and "-" not in prefix[-20:] and "login" not in prefix and "ENV " not in prefix
