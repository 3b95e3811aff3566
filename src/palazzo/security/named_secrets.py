"""Values that stand under a secret's name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, "the password is …".

Owns what counts as such a name, and what under one is a value and not a placeholder, a reference or a word of
the program. Knows no storage and no source format.
"""

from __future__ import annotations

import re

from palazzo.security.stand_ins import PLACEHOLDER, REFERENCE, is_public_example, is_stand_in
from palazzo.security.stated_passwords import find_field, find_stated_password

NAME_ANCHORS = ("pass", "pw", "psk", "secret", "token", "key")
"""What a secret's name holds, in lower case; `named_value` says whether it is one where it stands."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_KEY_OF = _words(
    """
    api secret access private encryption encrypt signing sign auth master account shared service license storage ssh
    app application client consumer deploy webhook admin hmac jwt cookie session rsa aes crypt cipher decryption root
    management integration ingest write read maps project subscription function host bot routing join pre sas
    """
)
"""What makes a key one that opens something; a key alone is any mapping's."""
_TOKEN_OF_ANOTHER_KIND = _words(
    """
    page next cursor continuation cont sync pad padding eos bos sep unk cls mask stop special end start public
    publishable site search input output max min num cancel cancellation design lexer prev previous skip color theme resume watch
    change delta progress
    """
)
_TAIL = (
    r"(?:[_.-]?(?:ids?|hash|keys?|val(?:ue)?|str(?:ing)?|raw|plain|text|b64|base64|hex|prod(?:uction)?|dev|tests?|testing"
    r"|staging|stage|live|sandbox|old|new|current|primary|secondary|main|default|admin|root|user|access|auth|client"
    r"|app|api|db|github|gitlab|aws|[0-9]{1,3}(?![0-9])|v[0-9])){0,8}"
)
_AFTER_NAME = re.compile(
    rf"(?P<tail>{_TAIL})(?![A-Za-z0-9_])"
    r"(?P<close>\\{0,16}[\"'`]?[\])]?(?:\*\*)?)"
    r"(?::[ ]?[A-Za-z][\w.\[\]| ]{0,40}(?=[ ]?=[ ]?[\"'bru]))?"
    r"(?P<sep>[ \t]{0,20}(?:=>|:=|<-|={1,3}|[!~]=|:|\|)[ \t]{0,20}|[ ]?(?P<call>[,(])[ ]{0,4}|(?P<xml>>)"
    r"|[ ](?P<said>is|to|was|be|as|with)[ ]:?[ ]?|(?P<space>[ ]{1,4}))"
    r"(?:[bBrRuUfF@]{1,2}(?=[\"']))?"
    r"(?:(?P<open>\\{0,16}[\"'`])(?P<quoted>(?:(?!(?P=open))[^\n]){1,600})(?P=open)"
    r"|(?P<plain>(?:[^\s\"'`<>;,&(){}|\\]{1,200}+|&(?!\w{1,60}=|amp;)){1,4}))",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"[.,;)\n]|s[\W_]|iz|ed\b|ing\b", re.IGNORECASE)
"""After a word that is none of a secret's name, or the end of a clause."""
_PASSWORD = re.compile(r"w[oö]r[dt]|wd|phrase|code|d(?![a-z])", re.IGNORECASE)
_PIECES = re.compile(
    r"(?:[ ]?(?:\+|\.\.?|\|\|)[ ]?\"[^\"\n]{1,100}\"){1,12}|(?:[ ]?(?:\+|\.\.?|\|\|)[ ]?'[^'\n]{1,100}'){1,12}"
)
_BETWEEN_PIECES = re.compile(r"([\"'])[ ]?(?:\+|\.\.?|\|\|)[ ]?\1")

_WORDS = re.compile(r"[A-Za-z]+(?:[._/:-][A-Za-z]+)*[._-]?\d{0,4}")
_CALL_OR_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w*[(\[]")
_STEP = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])|[A-Z]{2}(?=[a-z])")


def named_value(text: str, at: int, anchor: str) -> tuple[int, int, str] | None:
    """Return where the secret begins and ends whose name holds `anchor` at `at`, and its rule; None if none does."""
    name_end = at + len(anchor)
    if _PLURAL.match(text, name_end):
        return None
    rule = _rule(text, at, name_end, anchor)
    if not rule:
        return None
    if rule == "password":
        more = _PASSWORD.match(text, name_end)
        name_end = more.end() if more else name_end
    found = _AFTER_NAME.match(text, name_end)
    if found:
        start, end = _value(text, found)
        if _fits(text, at, found, _joined(text, start, end), rule):
            return start, end, rule
    if rule == "password":
        return find_stated_password(text, at, name_end)
    return find_field(text, name_end, rule)


def _value(text: str, found: re.Match[str]) -> tuple[int, int]:
    """Where a value begins and ends, with the pieces that a program joins to it."""
    if found["quoted"] is None:
        start, end = found.span("plain")
        return start, _without_stop(text, start, end)
    start, end = found.span("quoted")
    pieces = _PIECES.match(text, found.end())
    return start, pieces.end() - 1 if pieces else end


def _joined(text: str, start: int, end: int) -> str:
    return _BETWEEN_PIECES.sub("", text[start:end])


def is_secret_value(name: str, value: str) -> bool:
    """Whether `value` under the field `name` of a structure is a secret."""
    head = f'"{name}": "'
    lowered = head.lower()
    for anchor in NAME_ANCHORS:
        at = lowered.rfind(anchor)
        if at >= 0 and "\n" not in value and '"' not in value:
            found = named_value(f'{head}{value}"', at, anchor)
            if found and found[0] == len(head):
                return True
    return False


def _rule(text: str, at: int, end: int, anchor: str) -> str:
    """The rule that a name is found by; empty where the anchor is part of some other word."""
    if anchor == "pass":
        return "password" if _PASSWORD.match(text, end) or _stands_alone(text, at, end) else ""
    if anchor in ("pw", "psk"):
        return "password" if _stands_alone(text, at, end + text.startswith(("d", "D"), end)) else ""
    before = text[max(0, at - 16) : at].rstrip(" _.-").lower()
    if anchor == "key":
        return anchor if before.endswith(_KEY_OF) else ""
    return "" if anchor == "token" and before.endswith(_TOKEN_OF_ANOTHER_KIND) else anchor


def _stands_alone(text: str, at: int, end: int) -> bool:
    """Whether the letters from `at` to `end` are a word of their own, also as `dbPass`, `userpwd` or `DB_PASS`."""
    before, after = text[max(0, at - 4) : at], text[end : end + 1]
    glued = before[-1:].isalpha() and before[-1:].islower() == text[at].islower()
    return (
        not glued or before.lower().endswith(("db", "user", "root", "bind", "ldap", "dap", "in"))
    ) and not after.isalpha()


def _without_stop(text: str, start: int, end: int) -> int:
    """Leave a sentence's end, and a JSON or URL's closing marks, out of a value without quotes."""
    while end > start and text[end - 1] in ".:!?]*":
        end -= 1
    return end


def _fits(text: str, at: int, found: re.Match[str], value: str, rule: str) -> bool:
    if rule == "password":
        return _is_named_password(text, at, found, value)
    if len(value) < 6 or REFERENCE.match(value) or PLACEHOLDER.search(value, 0, 64) or is_public_example(value):
        return rule == "secret" and len(value) > 24 and _is_phrase(value) and _is_variable(text, at)
    if len(value.split(None, 1)) > 1:
        return False
    quoted = found["quoted"] is not None
    if _WORDS.fullmatch(value):
        if rule == "secret" and quoted and _is_phrase(value) and _is_variable(text, at):
            return True
        return len(value) >= 20 and value.isalpha() and _random(value)
    if not quoted and _CALL_OR_MEMBER.match(value):
        return False
    return _stands_where_values_do(text, at, found, value) and _is_token(value)


def _stands_where_values_do(text: str, at: int, found: re.Match[str], value: str) -> bool:
    """Whether a value follows a mark of assignment, a flag, or is by itself no word of a sentence."""
    if not (found["said"] or found["space"] or found["call"]):
        return True
    if _is_flag(text, at):
        return not found["call"] or found["quoted"] is not None
    if found["quoted"] is not None:
        return True
    return not found["call"] and len(value) >= 8 and _steps(value) + _specials(value) >= 2


def _is_flag(text: str, at: int) -> bool:
    return text.rfind("--", max(0, at - 40), at) >= 0 or text.rfind("ENV ", max(0, at - 60), at) >= 0


def _is_phrase(value: str) -> bool:
    """Four words or more, joined: no identifier is that long without a placeholder's word in it."""
    return value.count("-") + value.count("_") >= 3 and not is_stand_in(value) and value.islower()


def _is_variable(text: str, at: int) -> bool:
    """Whether the name at `at` is a variable of an environment: `JWT_SECRET=`."""
    return _VARIABLE.match(text, max(0, _name_start(text, at))) is not None


_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{3,60}=(?!=)")
_NAME_LETTERS = re.compile(r"[\w.$-]{0,60}\Z")


def _name_start(text: str, at: int) -> int:
    found = _NAME_LETTERS.search(text[max(0, at - 60) : at])
    return at - len(found[0]) if found else at


def _is_named_password(text: str, at: int, found: re.Match[str], value: str) -> bool:
    """Whether a value under a password's name is one: whatever is assigned for sure, else what looks like none of
    the words of a program."""
    if len(value) < 4 or REFERENCE.match(value) and not _HASH.match(value):
        return False
    quoted = found["quoted"] is not None
    if _is_assigned_for_sure(text, at, found, quoted):
        return not is_stand_in(value) and (quoted or not _CALL.match(value)) and not _CODE.fullmatch(value)
    if len(value) < 6 or PLACEHOLDER.search(value, 0, 64) or len(value.split(None, 1)) > 1:
        return False
    if _WORDS.fullmatch(value):
        if value[-1].isdigit() and len(value) < 20:
            return _stands_where_values_do(text, at, found, value) and _is_password(value, quoted)
        return quoted and _is_member_value(text, at, found, value)
    if not quoted and _CALL_OR_MEMBER.match(value):
        return False
    return _stands_where_values_do(text, at, found, value) and _is_password(value, quoted)


_HASH = re.compile(r"\$(?:2[abxy]?|apr1|1|5|6|7|y|argon2\w{0,2}|scrypt|pbkdf2\S{0,12})\$")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")
_CODE = re.compile(
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,4}\.?|[A-Z_]{4,}|[a-z]+(?:_[a-z]+)+|[a-z]+[A-Z][a-z]+(?:[A-Z][a-z]+)*|Optional|String|SecretStr"
)
_SURE_LINE = re.compile(
    r"[ \t]{0,24}(?:[;,]?[ \t]{0,4}(?:#|//|--)[^\n]{0,200}|;)?[ \t]{0,8}(?:\\?[\"'])?(?:\r?\n|\\n|\Z)"
)
_CONNECTION = re.compile(r";[ ]?\w[\w ]{1,30}=|[\"'`];?\s|[\"'`]$|\\?\"|$")


def _is_assigned_for_sure(text: str, at: int, found: re.Match[str], quoted: bool) -> bool:
    """Whether what follows the name is a value and no word of a program: where shells, environments, connection
    strings and files of settings assign."""
    start = _name_start(text, at)
    name = text[start : found.start("close")]
    before = text[max(0, start - 12) : start]
    sep = found["sep"].strip()
    if name.startswith("--") or (name.startswith("-D") and sep == "="):
        return sep in ("=", "") and not found["call"]
    if sep == "=" and found["sep"] == "=" and name.isupper() and len(name) > 4:
        return True
    if before.endswith("ENV ") and found["space"]:
        return True
    if before.endswith(("--set ", "-e ", "-D ")) and sep == "=":
        return True
    if (
        sep == "="
        and found["sep"] == "="
        and not quoted
        and (";" in text[max(0, start - 60) : start])
        and ";" in text[found.end("plain") : found.end("plain") + 40]
    ):
        return True
    if found["space"] and not quoted:
        return (
            re.search(r"\blogin \S{1,80} \Z|\blogin \S{1,80}\n\s{0,8}\Z", text[max(0, start - 100) : start]) is not None
        )
    return False


def _is_member_value(text: str, at: int, found: re.Match[str], value: str) -> bool:
    """Whether a quoted word is assigned as a password's value and not as a label or a type."""
    sep = found["sep"].strip()
    return (
        sep in ("=", ":", "=>")
        and len(value) >= 8
        and value.islower()
        and not is_stand_in(value)
        and _ASSIGNS.search(text, max(0, at - 60), at) is not None
    )


_ASSIGNS = re.compile(r"(?:\$|user|login|host|uid)[^\n]{0,60}\Z", re.IGNORECASE)


def _is_password(value: str, quoted: bool) -> bool:
    """At least two kinds of characters, in another order than a word's or an identifier's."""
    digits, upper, lower = _classes(value)
    if value.isdigit():
        return len(value) >= 6
    if not quoted and value.isidentifier() and "_" in value:
        return _steps(value) >= 2
    return (digits + (upper and not value[1:].islower()) + lower + (_specials(value) > 0)) >= 2


def _is_token(value: str) -> bool:
    digits, upper, lower = _classes(value)
    if len(value) < 12:
        return len(value) >= 8 and digits and ((upper and lower) or _specials(value) > 1)
    return (digits and _steps(value) >= 2) or _random(value)


def _classes(value: str) -> tuple[bool, bool, bool]:
    return any("0" <= c <= "9" for c in value), any("A" <= c <= "Z" for c in value), any("a" <= c <= "z" for c in value)


def _steps(value: str) -> int:
    """How often the characters change between small letters, capitals and digits."""
    return len(_STEP.findall(value))


def _specials(value: str) -> int:
    return sum(not c.isalnum() and c not in "._-/:" for c in value)


def _random(value: str) -> bool:
    return _steps(value) * 3 >= len(value)
