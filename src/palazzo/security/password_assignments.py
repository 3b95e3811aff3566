"""Password assignments give a value to the name of a password; a label or program code does not."""

from __future__ import annotations

import re

from palazzo.security.password_statements import is_strong
from palazzo.security.placeholders import PLACEHOLDER, is_stand_in
from palazzo.security.setting_lines import (
    LINE_AFTER,
    LINE_BEFORE,
    is_beside_sibling,
    is_in_prose,
    is_in_table,
    is_setting,
)
from palazzo.security.value_shapes import (
    BRACE_VALUE,
    CALL,
    CALL_OR_MEMBER,
    CODE,
    HASH,
    WORDS,
    count_specials,
    count_steps,
    is_call,
    is_password,
    is_single,
)
from palazzo.text.lazy_patterns import make_regex


def stands_where_values_do(text: str, at: int, match: re.Match[str], value: str) -> bool:
    """Whether a value follows an assignment mark or a flag, or by its form is not a word of a sentence."""
    if match["sep"] == " :" and match["quoted"]:
        return False  # a variable of psql
    if not (match["said"] or match["space"] or match["call"]):
        return True
    if _is_flag(text, at):
        return not match["call"] or match["quoted"] is not None
    if match["quoted"] is not None:
        return True
    if match["call"] or len(value) < 8:
        return False
    return count_steps(value) + count_specials(value) >= 2 or (is_strong(value) and sum(map(str.isdigit, value)) > 1)


def _is_flag(text: str, at: int) -> bool:
    return text.rfind("--", max(0, at - 40), at) >= 0 or text.rfind("ENV ", max(0, at - 60), at) >= 0


_NAME_LETTERS = make_regex(r"[\w.$-]{0,60}\Z")


def name_start(text: str, at: int) -> int:
    """Return where the name begins that has a letter before `at`."""
    match = _NAME_LETTERS.search(text[max(0, at - 60) : at])
    return at - len(match[0]) if match else at


def is_named_password(text: str, at: int, match: re.Match[str], value: str) -> bool:
    """Whether a value named as a password is one: any certain assignment, else a value that is not program code."""
    if match["sep"].strip() == "|" and not is_in_table(text, at, match.end()):
        return False  # a pipe, or a filter of a template
    if match["space"] and (value.endswith("=") or value.startswith("--") or is_in_prose(text, at, match, value)):
        return False  # the next attribute of an element, or the next word
    is_hash = len(value) > 12 and HASH.match(value) is not None
    if len(value) < 4 or (is_stand_in(value.strip("{}") if BRACE_VALUE.match(value) else value) and not is_hash):
        return False
    if _is_assigned_for_sure(text, at, match, value):
        return True
    is_quoted = match["quoted"] is not None
    if len(value) < 6 or PLACEHOLDER.search(value, 0, 64) or len(value.split(None, 1)) > 1:
        return False
    if WORDS.fullmatch(value):
        if value[-1].isdigit() and len(value) < 20:
            return stands_where_values_do(text, at, match, value) and is_password(value, is_quoted)
        return False
    if not is_quoted and CALL_OR_MEMBER.match(value):
        return False
    return stands_where_values_do(text, at, match, value) and is_password(value, is_quoted)


_PAIR_BEFORE = make_regex(
    r"(?:[;?&,][ ]?|(?:user(?:name)?|uid|host|dbname|port|login|sslmode)=[^\s=]{1,80}[ ])\Z", re.IGNORECASE
)
_PAIR_AFTER = make_regex(
    r"(?:;|&|&amp;|[ ](?:user|host|dbname|port|sslmode|connect_timeout)=)\w?|[\"'`;]+|\s|\Z", re.IGNORECASE
)
_COMMAND_SETS = make_regex(r"\b(?:set|modify|config|configure|put)\b[ ][^\n.,;]{0,60}\Z")
_LOGIN_BEFORE = make_regex(r"\blogin \S{1,60}\s{1,12}\Z")
_SETTER = make_regex(r"(?:set|with|make|update|change|check|reset|encode|new|login)_?\Z", re.IGNORECASE)


def _is_assigned_for_sure(text: str, at: int, match: re.Match[str], value: str) -> bool:
    """Whether a certain assignment follows the name: of a shell, environment, connection string, file or setter."""
    start = name_start(text, at)
    name = text[start : match.start("close")]
    prefix = text[max(0, start - 90) : start]
    is_quoted = match["quoted"] is not None
    end = match.end("quoted" if is_quoted else "plain")
    sep, glue = match["sep"].strip(), match["sep"]
    if glue == " :" and is_quoted:
        return False  # a variable of psql
    if prefix.endswith("${") or (name.startswith("$") and not sep):
        return False
    if match["call"]:
        if name == "PASSWORD" and glue == "(":
            return is_quoted and text.startswith(")", match.end())
        return is_quoted and is_single(value) and (_is_setter(name[: at - start], glue) or _is_property(text, match))
    if name.startswith("-") and (prefix[-1:] in ("", " ", "\n", '"', "'", "\t") or prefix.endswith("\\n")):
        return sep in ("=", "") or (sep == ":" and not name.startswith("--"))
    if prefix[-1:] == "/" and glue == ":" and prefix[-2:-1] in (" ", '"'):
        return True
    if name.isupper() and len(name) > 4 and glue == "=" and not is_call(text, end, value):
        return True
    is_name = not is_quoted and not match["xml"] and (CALL.match(value) or CODE.fullmatch(value))
    if is_name and (CALL.match(value) or PLACEHOLDER.search(value) or not is_setting(text, start, match, end)):
        return False
    if name.isupper() and len(name) > 4 and sep == ":":
        return is_single(value)
    if prefix.endswith(("--set ", "--set-string ", "-e ", "-D ", "literal=", "-S ")) and glue == "=":
        return True
    if match["space"] and prefix.endswith("ENV "):
        return True
    if not is_single(value):
        return is_quoted and glue == "=" and value.count(" ") < 4 and _PAIR_BEFORE.search(prefix) is not None
    if is_quoted:
        return _is_literal(text, match, name, value)
    if glue == "=" and _PAIR_BEFORE.search(prefix) and _PAIR_AFTER.match(text, end):
        return True
    if glue == "=" and prefix[-1:] in ("'", '"', "[") and text[end : end + 1] in ("'", '"', "]"):
        return True
    if match["space"] and not name.isalpha() and _COMMAND_SETS.search(prefix) and LINE_AFTER.match(text, end):
        return True
    if match["xml"]:
        return text.startswith("</", end)
    return is_setting(text, start, match, end) or (
        match["space"] is not None and _LOGIN_BEFORE.search(prefix) is not None and is_beside_sibling(text, start, end)
    )


def _is_setter(before_name: str, glue: str) -> bool:
    return glue.startswith("(") and _SETTER.search(before_name) is not None


def _is_property(text: str, match: re.Match[str]) -> bool:
    """Whether name and value are the two literal arguments of a call: `setProperty("a.password", "X")`."""
    is_pair = match["call"] == "," and match["close"][-1:] in ("'", '"') and text.startswith(")", match.end())
    return is_pair and _CALLEE.search(text, max(0, match.start() - 60), match.start()) is not None


_CALLEE = make_regex(r"\w\(\s?[\"'][\w.-]*\Z")


def _is_literal(text: str, match: re.Match[str], name: str, value: str) -> bool:
    """Whether a quoted string is assigned by a program or document, and is not a label for people."""
    if match["space"] and not name.isupper():
        start = match.start("close") - len(name)
        return LINE_BEFORE.search(text[max(0, start - 90) : start]) is not None and len(name) > 8
    is_titled = value.isalpha() and value[:1].isupper() and name.lower() in _BARE_NAMES
    is_label = is_titled and match["sep"].strip() == ":" and not is_beside_sibling(text, *match.span())
    if is_label or match["said"]:
        return False
    is_variable = name[-1:] not in ".$"
    is_long = len(value) >= (6 if match["sep"].strip() in ("=", ":=") else 8)
    return is_variable and (is_long or not value.isalpha() or is_beside_sibling(text, *match.span()))


_BARE_NAMES = frozenset(["password", "pass", "passwd", "passphrase", "pwd", "pw", "passcode"])
