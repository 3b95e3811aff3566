"""Values that stand under a secret's name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, "the password is …".

Owns what counts as such a name, and what under one is a value and not a placeholder, a reference or a word of
the program. Knows no storage and no source format.
"""

from __future__ import annotations

import re

NAME_ANCHORS = ("pass", "pwd", "secret", "token", "key")
"""What a secret's name holds, in lower case; `named_value` says whether it is one where it stands."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_KEY_OF = _words(
    """
    api secret access private encryption encrypt signing sign auth master account shared service license storage ssh
    app application client consumer deploy webhook admin hmac jwt cookie session rsa aes crypt cipher decryption root
    management integration ingest write read maps project subscription function host bot
    """
)
"""What makes a key one that opens something; a key alone is any mapping's."""
_TOKEN_OF_ANOTHER_KIND = _words(
    """
    page next cursor continuation cont sync pad padding eos bos sep unk cls mask stop special end start public
    publishable input output max min num cancel cancellation design lexer prev previous skip color theme resume watch
    change delta progress
    """
)
_TAIL = (
    r"(?:[_.-]?(?:keys?|val(?:ue)?|str(?:ing)?|raw|plain|text|b64|base64|hex|prod(?:uction)?|dev|tests?|testing"
    r"|staging|stage|live|sandbox|old|new|current|primary|secondary|main|default|admin|root|user|access|auth|client"
    r"|app|api|db|github|gitlab|aws|[0-9]{1,3}(?![0-9])|v[0-9])){0,8}"
)
_AFTER_NAME = re.compile(
    rf"(?P<tail>{_TAIL})(?![A-Za-z0-9_])"
    r"(?P<close>\\{0,16}[\"'`]?[\])]?(?:\*\*)?)"
    r"(?::[ ]?[A-Za-z][\w.\[\]| ]{0,40}(?=[ ]?=[ ]?[\"'bru]))?"
    r"(?P<sep>[ \t]{0,20}(?:=>|:=|<-|={1,3}|:|\|)[ \t]{0,20}|[ ]?(?P<call>[,(])[ ]{0,4}|(?P<xml>>)"
    r"|[ ](?P<said>is|to|was|be|as|with)[ ]:?[ ]?|(?P<space>[ ]{1,4}))"
    r"(?:[bBrRuUfF@]{1,2}(?=[\"']))?"
    r"(?:(?P<open>\\{0,16}[\"'`])(?P<quoted>(?:(?!(?P=open))[^\n]){1,600})(?P=open)"
    r"|(?P<plain>(?:[^\s\"'`<>;,&(){}|\\]{1,200}+|&(?!\w{1,60}=|amp;)){1,4}))",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"[.,;)\n]|s[\W_]|iz|ed\b|ing\b", re.IGNORECASE)
"""After a word that is none of a secret's name, or the end of a clause."""
_PASSWORD = re.compile(r"word|wd|phrase|code", re.IGNORECASE)

_REFERENCE = re.compile(
    r"[$<%({@\[]|\{\{|(?:process\.env|os\.|env[.\[:]|config\.|settings\.|self\.|this\.|vault:|op://|ssm:|arn:|secrets?\.|vars?\."
    r"|local\.|data\.|file:|https?:|[~.]{0,2}/|[a-z]:\\|projects/|std::|ref\+|kms:|encrypted:|ENC\[)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"your|my[_-]|example|change.?me|xxx|\*\*\*|\.\.\.|…|•••|placeholder|dummy|sample|fake|insert|replace|redact"
    r"|hidden|masked|todo|fixme|not.?set|not.?needed|undefined|unknown|optional|required|invalid|expired|null$|none$"
    r"|true$|false$|\[private|p(?:ass)?w(?:or)?d|passw|secret|token|api.?key|credential|0123456789|1234567890"
    r"|abcdefgh|deadbeef|(.)\1{5}",
    re.IGNORECASE,
)
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
    if anchor == "pass" and (more := _PASSWORD.match(text, name_end)):
        name_end = more.end()
    found = _AFTER_NAME.match(text, name_end)
    if not found:
        return None
    group = "quoted" if found["quoted"] is not None else "plain"
    start, end = found.span(group)
    if group == "plain":
        end = _without_stop(text, start, end)
    if not _fits(text, at, found, text[start:end], rule):
        return None
    return start, end, rule


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
    if anchor in ("pass", "pwd"):
        whole = anchor == "pass" and _PASSWORD.match(text, end)
        return "password" if whole or _stands_alone(text, at, end) else ""
    before = text[max(0, at - 16) : at].rstrip(" _.-").lower()
    if anchor == "key":
        return anchor if before.endswith(_KEY_OF) else ""
    return "" if anchor == "token" and before.endswith(_TOKEN_OF_ANOTHER_KIND) else anchor


def _stands_alone(text: str, at: int, end: int) -> bool:
    """Whether the letters from `at` to `end` are a word of their own, also as `dbPass`, `userpwd` or `DB_PASS`."""
    before, after = text[max(0, at - 4) : at], text[end : end + 1]
    glued = before[-1:].isalpha() and before[-1:].islower() == text[at].islower()
    return (not glued or before.lower().endswith(("db", "user", "root"))) and not after.isalpha()


def _without_stop(text: str, start: int, end: int) -> int:
    """Leave a sentence's end, and a JSON or URL's closing marks, out of a value without quotes."""
    while end > start and text[end - 1] in ".:!?]*":
        end -= 1
    return end


def _fits(text: str, at: int, found: re.Match[str], value: str, rule: str) -> bool:
    if len(value) < 6 or _REFERENCE.match(value) or _PLACEHOLDER.search(value, 0, 64) or len(value.split(None, 1)) > 1:
        return False
    quoted = found["quoted"] is not None
    if _WORDS.fullmatch(value) and not (rule == "password" and value[-1].isdigit() and len(value) < 20):
        return len(value) >= 20 and value.isalpha() and _random(value)
    if not quoted and _CALL_OR_MEMBER.match(value):
        return False
    if found["said"] or found["space"] or found["call"]:
        flag = text.rfind("--", max(0, at - 40), at) >= 0 or text.rfind("ENV ", max(0, at - 60), at) >= 0
        if found["call"] and not quoted:
            return False
        if not flag and not quoted and (len(value) < 8 or _steps(value) + _specials(value) < 2):
            return False
    if rule == "password":
        return _is_password(value, quoted)
    return _is_token(value)


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
