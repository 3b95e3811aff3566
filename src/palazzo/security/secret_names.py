"""Values after a secret's name: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, "the password is …".

Owns which names count as a secret's name, and whether the text after one is a value and not a placeholder, a reference
or a word of the program. Knows no storage and no source format.
"""

from __future__ import annotations

import re

from palazzo.security.password_assignments import is_named_password, name_start, stands_where_values_do
from palazzo.security.password_statements import (
    find_directive,
    find_field,
    find_key,
    find_labelled_token,
    find_stated_password,
    looks_chosen,
)
from palazzo.security.placeholders import PLACEHOLDER, REFERENCE, is_public_example, is_stand_in
from palazzo.security.setting_lines import (
    LINE_AFTER,
    is_setting,
)
from palazzo.security.value_shapes import (
    CALL_OR_MEMBER,
    JOIN_TOKEN,
    WORDS,
    count_specials,
    count_steps,
    is_phrase,
    is_random_word,
    is_token,
)
from palazzo.text.lazy_patterns import make_regex

NAME_ANCHORS = ("pass", "pw", "secret", "token", "key")
"""Parts of a secret's name, in lower case; `named_value` decides from the context whether it is one."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_KEY_OF = _words(
    """
    api secret access private encryption encrypt signing sign auth master account shared service license storage ssh
    app application client consumer deploy webhook admin hmac jwt cookie session rsa aes crypt cipher decryption root
    management integration ingest write read maps project subscription function host bot routing join pre sas
    """
)
"""Words that make a key one that opens something; a key without one of them occurs in any mapping."""
_TOKEN_OF_ANOTHER_KIND = _words(
    """
    page next cursor continuation cont sync pad padding eos bos sep unk cls mask stop special end start public
    publishable site search input output max min num cancel cancellation design lexer prev previous skip color theme resume watch
    change delta progress
    """
)
_TAIL = (
    r"(?:[_.-]?(?:keys?|base|val(?:ue)?|str(?:ing)?|raw|plain|text|b64|base64|hex|prod(?:uction)?|dev|tests?|testing"
    r"|staging|stage|live|sandbox|old|new|current|primary|secondary|main|default|admin|root|user|access|auth|client"
    r"|app|api|db|github|gitlab|aws|[0-9]{1,3}(?![0-9])|v[0-9])){0,8}"
)
_AFTER_NAME = make_regex(
    f"(?P<tail>{_TAIL})(?![A-Za-z0-9_])(?P<close>\\\\{{0,16}}[\\\"'`]?[\\])]?(?:\\*\\*)?)(?::[ "
    "]?[A-Za-z][\\w.\\[\\]| ]{0,40}(?=[ ]?=[ ]?[\\\"'bru]))?(?P<sep>[ \\t]{0,20}(?:=>|:=|<-|={1,3}|[!~]=|:|\\|)[ "
    "\\t]{0,20}|[ ]?(?P<call>[,(])[ ]{0,4}|(?P<xml>>)|[ ](?P<said>is|to|was|be|as|with)[ ]:?[ ]?|(?P<space>[ "
    "]{1,4}))(?:(?:[bBrRuUfFN@]{1,2}|(?:String::from|SecretString::new|new "
    "String|String|Some)\\()(?=[\\\"']))?(?:(?P<open>\\\\{0,16}[\\\"'`])(?P<quoted>(?:(?!(?P=open))[^\\n]){1,600})(?P=open)|(?P<plain>\\{[^{}\\s\\\"'$]{1,80};[^{}\\s\\\"']{0,80}\\}(?=[;\\s\\\"']|\\Z)|(?:\\{[A-Za-z0-9]{3,8}\\})?(?:[^\\s\\\"'`<>;,&(){}|\\\\]{1,200}+|&(?!(?:amp;)?\\w{1,60}=)(?:(?:amp|lt|gt|quot|apos);)?){1,4}))",
    re.IGNORECASE,
)
_PLURAL = make_regex(r"[.,;)\n]|s[\W_]|iz|ed\b|ing\b", re.IGNORECASE)
"""Follows a word that is not the name of a secret, or ends a clause."""
_PASSWORD = make_regex(
    r"w[oö]r[dt]|wd|phrase|code|d(?![a-z])|e(?<=mot de passe)|e(?<=palavra.passe)|e(?<=_passe)|es?(?<=mots de passe)",
    re.IGNORECASE,
)
_SECRET_ID = make_regex(r"_?id(?![a-z])", re.IGNORECASE)
_PIECES = make_regex(
    r"(?:[ ]?(?:\+|\.\.?|\|\|)[ ]?\"[^\"\n]{1,100}\"){1,12}|(?:[ ]?(?:\+|\.\.?|\|\|)[ ]?'[^'\n]{1,100}'){1,12}"
)
_BETWEEN_PIECES = make_regex(r"([\"'])[ ]?(?:\+|\.\.?|\|\|)[ ]?\1")


def named_value(text: str, at: int, anchor: str) -> tuple[int, int, str] | None:
    """Return the start, end and rule of the secret whose name contains `anchor` at `at`; None if there is none."""
    name_end = at + len(anchor)
    if _PLURAL.match(text, name_end):
        return None
    rule = _rule(text, at, name_end, anchor)
    if not rule:
        if anchor == "pw":
            return find_directive(text, at)
        return find_key(text, at) if anchor == "key" else None
    more = (_PASSWORD if rule == "password" else _SECRET_ID).match(text, name_end) if rule != "token" else None
    name_end = more.end() if more else name_end
    span = _find_assigned_value(text, at, name_end, rule)
    if span or rule != "password":
        return (
            span
            or find_labelled_token(text, name_end, rule)
            or find_field(text, name_end, rule)
            or (find_directive(text, at) if rule == "secret" else None)
        )
    return find_stated_password(text, at, name_end)


def find_value_of(text: str, start: int, end: int) -> tuple[int, int, str] | None:
    """Return the password assigned to, or stated after, the word for a password from `start` to `end`."""
    return _find_assigned_value(text, start, end, "password") or find_stated_password(text, start, end)


def _find_assigned_value(text: str, at: int, name_end: int, rule: str) -> tuple[int, int, str] | None:
    match = _AFTER_NAME.match(text, name_end)
    if not match:
        return None
    start, end = _value(text, match)
    if match["quoted"] is None:
        end = _end_of_argument(text, at, match, start, end)
        if "phrase" in text[at:name_end].lower() and match["sep"].strip() in ("=", ":"):
            words = _PHRASE.match(text, start)
            if words and (_is_variable(text, at) or not _INSTRUCTION.search(words[0])):
                return start, words.end(), rule
    return (start, end, rule) if _fits(text, at, match, _join_pieces(text, start, end), rule) else None


_PHRASE = make_regex(r"[a-z]{2,12}(?: [a-z]{2,12}){2,8}(?=[ ]*(?:\r?\n|\Z))")
_INSTRUCTION = make_regex(
    r"\b(?:must|should|may|can|will|not|enter|please|use|used|your|this|same|required|is|are|if|for|when|to|of|with|from)\b"
)
"""Words that a form uses in instructions about a passphrase."""


def _end_of_argument(text: str, at: int, match: re.Match[str], start: int, end: int) -> int:
    """Return the end of a value that a shell passes as one word: of an option or an environment variable."""
    is_option = text[max(0, name_start(text, at))] == "-"
    if not (is_option or (match["sep"] == "=" and _is_variable(text, at))):
        return end
    rest = _ARGUMENT.match(text, start)
    return max(end, rest.end()) if rest else end


_ARGUMENT = make_regex(
    r"(?![$|-]|[\w.]+[(\[])(?:[^\s\"'`;&|,<>]|[;&|,](?=[^\s;&|,\"'`]*\w)(?!\w+=|amp;))+(?<![)\]},.:])"
)


def _value(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the start and end of a value, including the pieces that a program joins to it."""
    if match["quoted"] is None:
        start, end = match.span("plain")
        return start, _without_stop(text, start, end)
    start, end = match.span("quoted")
    pieces = _PIECES.match(text, match.end())
    return start, pieces.end() - 1 if pieces else end


def _join_pieces(text: str, start: int, end: int) -> str:
    return _BETWEEN_PIECES.sub("", text[start:end])


def is_secret_value(name: str, value: str) -> bool:
    """Whether `value` in a structure's field `name` is a secret."""
    head = f'"{name}": "'
    lowercase_head = head.lower()
    for anchor in NAME_ANCHORS:
        at = lowercase_head.rfind(anchor)
        if at >= 0 and "\n" not in value and '"' not in value:
            span = named_value(f'{head}{value}"', at, anchor)
            if span and span[0] == len(head):
                return True
    return False


def _rule(text: str, at: int, end: int, anchor: str) -> str:
    """Return the rule that detects a name; empty if the anchor is part of another word."""
    if anchor == "pass":
        return "password" if _PASSWORD.match(text, end) or _stands_alone(text, at, end) else ""
    if anchor == "pw" and not text.startswith(("d", "D"), end) and not _is_word_pw(text, at, end):
        return ""
    if anchor == "pw":
        return "password" if _stands_alone(text, at, end + text.startswith(("d", "D"), end)) else ""
    if anchor == "secret" and _SECRET_ID.match(text, end):
        return anchor
    prefix = text[max(0, at - 16) : at].rstrip(" _.-").lower()
    if anchor == "key":
        return anchor if prefix.endswith(_KEY_OF) else ""
    return "" if anchor == "token" and prefix.endswith(_TOKEN_OF_ANOTHER_KIND) else anchor


def _is_word_pw(text: str, at: int, end: int) -> bool:
    """Whether `pw` is a word or the end of a name: two letters are too short to be searched for elsewhere."""
    preceding_letter, following_letter = text[at - 1 : at] if at else "", text[end : end + 1]
    begins = (
        not preceding_letter.isalnum()
        or (preceding_letter.islower() and text[at] == "P")
        or text[max(0, at - 4) : at].lower() in _PW_OF
    )
    return (
        begins
        and not following_letter.isalnum()
        and (following_letter != " " or _PW_STATES.match(text, end) is not None)
    )


_PW_OF = frozenset(["root", "bind", "user"])
_PW_STATES = make_regex(
    r" (?:\S{0,80}[!#$&*+@^~]|(?:[=:]|is|was|to|for|ist|für|est|[a-z]{2,12}(?: is|:)) )", re.IGNORECASE
)


def _stands_alone(text: str, at: int, end: int) -> bool:
    """Whether the letters from `at` to `end` are a separate word, also as `dbPass`, `smbpass` or `DB_PASS`."""
    if text[end : end + 1].isalpha():
        return False
    prefix = text[max(0, at - 8) : at]
    is_glued = prefix[-1:].isalpha() and prefix[-1:].islower() == text[at].islower()
    return not is_glued or _ENGLISH_PASS.search(prefix) is None


_ENGLISH_PASS = make_regex(
    r"(?<![a-z])(?:by|com|tres|sur|over|under|en|im|multi|single|two|three|one|first|second|high|low|band|all|re|un|out|back"
    r"|forward|encom|render|shader|ex|mono|get)\Z",
    re.IGNORECASE,
)
"""Word parts before `pass` that make another word of it: a compass, a render pass."""


def _without_stop(text: str, start: int, end: int) -> int:
    """Exclude a sentence's end, and closing marks of JSON or a URL, from an unquoted value."""
    while end > start and text[end - 1] in ".:?]*":
        end -= 1
    return end


def _fits(text: str, at: int, match: re.Match[str], value: str, rule: str) -> bool:
    if rule == "password":
        return is_named_password(text, at, match, value)
    if match["sep"] == ":" and text[at - 1 : at] == ":":
        return False  # a part of a name: `arn:aws:secretsmanager:eu-west-1:…:secret:…`
    if len(value) < 6 or REFERENCE.match(value) or PLACEHOLDER.search(value, 0, 64) or is_public_example(value):
        return rule == "secret" and len(value) > 24 and is_phrase(value) and _is_variable(text, at)
    if len(value.split(None, 1)) > 1:
        return match["quoted"] is not None and (count_steps(value) + count_specials(value)) * 3 >= len(value) > 24
    is_quoted = match["quoted"] is not None
    if WORDS.fullmatch(value):
        if (rule == "secret" or (rule == "key" and len(value) >= 12)) and _is_variable(text, at):
            return not is_stand_in(value) and (len(value) >= 8 or is_phrase(value))
        if _is_header(text, at, match) or (is_quoted and _is_held_by_client(text, at, match)):
            return not is_stand_in(value)
        return len(value) >= 20 and value.isalpha() and is_random_word(value)
    if not is_quoted and CALL_OR_MEMBER.match(value) and not JOIN_TOKEN.fullmatch(value):
        return False
    if not is_token(value) or not stands_where_values_do(text, at, match, value):
        start = name_start(text, at)
        is_alone = rule == "secret" and (
            is_setting(text, start, match, match.end()) or _is_indented(text, start, match)
        )
        is_chosen = _is_header(text, at, match) or (is_alone and looks_chosen(value))
        return is_chosen and not is_stand_in(value)
    return rule != "key" or _PUBLICATION_HINT.search(text, max(0, at - 100), at + 200) is None


def _is_header(text: str, at: int, match: re.Match[str]) -> bool:
    """Whether name and value are an HTTP header: `-H "X-Api-Key: X"`."""
    if match["sep"] != ": ":
        return False
    start = name_start(text, at)
    is_named = _HEADER.match(text, start) is not None
    return is_named and text[max(0, start - 1) : start] in ("", "\n", "'", '"') and len(match["plain"] or "") >= 8


_HEADER = make_regex(r"X-(?:[A-Za-z]+-){1,4}(?:Key|Token|Secret)(?![\w-])", re.IGNORECASE)


def _is_held_by_client(text: str, at: int, match: re.Match[str]) -> bool:
    """Whether a secret is one that two programs share, so that its value is not just a name: `client_secret`."""
    name = text[max(0, at - 12) : match.start("close")].lower().replace("-", "_")
    return match["sep"].strip() in ("=", ":", "=>") and _SHARED_SECRET.search(name) is not None


_SHARED_SECRET = make_regex(
    r"(?:client|app|shared|consumer|signing|webhook|session|cookie|jwt|hmac)_?secret(?:_?key)?\Z"
)


def _is_indented(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a name and a value are an indented line of a router or RADIUS configuration: ` secret X`."""
    begins = text[max(0, start - 3) : start] in ("   ", "\n ", "\n  ", "\n\t", "\t")
    return begins and match["space"] is not None and LINE_AFTER.match(text, match.end()) is not None


_PUBLICATION_HINT = make_regex(
    r"docsearch|search[-_ ]?only|safe to (?:commit|publish)|publishable|authDomain", re.IGNORECASE
)
"""A note beside a key that says the key is public."""


def _is_variable(text: str, at: int) -> bool:
    """Whether the name at `at` is an environment variable: `JWT_SECRET=`."""
    return _VARIABLE.match(text, max(0, name_start(text, at))) is not None


_VARIABLE = make_regex(r"[A-Z][A-Z0-9_]{3,60}=(?!=)")
