"""The form of a value after a secret's name: a password, a token, a hash, or a word of a program.

Knows nothing of the value's position.
"""

from __future__ import annotations

import re

from palazzo.security.placeholders import is_stand_in
from palazzo.text.lazy_patterns import make_regex

WORDS = make_regex(r"[A-Za-z]+(?:[._/:-][A-Za-z]+)*[._-]?\d{0,4}")
CALL_OR_MEMBER = make_regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w*[(\[]")
_STEP = make_regex(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])|[A-Z]{2}(?=[a-z])")
JOIN_TOKEN = make_regex(r"[a-z0-9]{6}\.[a-z0-9]{16}")


def is_phrase(value: str) -> bool:
    """Whether a value is four or more joined words; an identifier of that length includes a placeholder word."""
    return value.count("-") + value.count("_") >= 3 and not is_stand_in(value) and value.islower()


HASH = make_regex(
    r"\$(?:2[abxy]?|apr1|1|5|6|7|y|argon2\w{0,2}|scrypt|pbkdf2\S{0,12})\$|\{(?:S?SHA\d{0,3}|S?MD5|CRYPT)\}", re.I
)
BRACE_VALUE = make_regex(r"\{[^{}\s]*[;=@][^{}\s]*\}\Z")
CALL = make_regex(r"[A-Za-z_][\w.]*[(\[]|.*[()\[\]]\Z")
CODE = make_regex(
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,4}|[A-Z_]{4,}|[a-z]+(?:_[a-z]+)+|[a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+"
)
"""The form of an unquoted value in a program: a member, a constant, a variable, a type."""


def is_single(value: str) -> bool:
    """Whether a value has no space."""
    return not any(map(str.isspace, value))


def is_password(value: str, is_quoted: bool) -> bool:
    """Whether a value has at least two character classes, in an order unlike a word's or an identifier's."""
    digits, upper, lower = _classes(value)
    if value.isdigit():
        return len(value) >= 6
    if not is_quoted and value.isidentifier() and "_" in value:
        return count_steps(value) >= 2
    return (digits + (upper and not value[1:].islower()) + lower + (count_specials(value) > 0)) >= 2


def is_token(value: str) -> bool:
    """Whether a value is a key, by its randomness."""
    digits, upper, lower = _classes(value)
    if len(value) < 12:
        return len(value) >= 8 and digits and ((upper and lower) or count_specials(value) > 1)
    return (digits and count_steps(value) >= 2) or is_random_word(value)


def _classes(value: str) -> tuple[bool, bool, bool]:
    return any("0" <= c <= "9" for c in value), any("A" <= c <= "Z" for c in value), any("a" <= c <= "z" for c in value)


def count_steps(value: str) -> int:
    """Count the changes between lower case, upper case and digits."""
    return len(_STEP.findall(value))


def count_specials(value: str) -> int:
    """Count the characters that do not occur in names and paths."""
    return sum(not c.isalnum() and c not in "._-/:" for c in value)


def is_random_word(value: str) -> bool:
    """Whether the character class of a word changes at least once per three characters."""
    return count_steps(value) * 3 >= len(value)


def is_call(text: str, end: int, value: str) -> bool:
    """Whether an unquoted value is a call or a member of a program's object: `os.environ[`."""
    return CALL.match(value) is not None or text.startswith(("(", "["), end)
