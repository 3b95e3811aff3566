"""Secret anchors are words that announce a secret; a few searches find them in a text and examine what follows."""

from __future__ import annotations

import re
from collections.abc import Callable

from palazzo.frozen_class import frozen
from palazzo.security.command_passwords import OPTION_LETTERS
from palazzo.security.password_lists import find_kubernetes_secret, find_listed, find_session_cookies
from palazzo.security.password_statements import find_in_other_script
from palazzo.security.secret_names import NAME_ANCHORS, named_value
from palazzo.security.secret_phrases import BEFORE_COLON, OTHER_SCRIPTS, PHRASES, RuleSpan, find_private_key
from palazzo.text.lazy_patterns import make_regex


def find_at_words(text: str, lower_bytes: bytes) -> list[RuleSpan]:
    """Return the secrets after words that announce one; `lower_bytes` is the text in ASCII and lower case."""
    spans: list[RuleSpan] = []
    if len(lower_bytes) < _SHORT_TEXT:
        if hit := _SEARCH_FOR_ALL(lower_bytes):
            _look_at_hits(text, lower_bytes, hit, _ALL_ANCHORS, spans)
        return spans
    for letter, search, anchors in _SEARCHES:
        # a search finds nothing in most texts: this costs half of an iterator's making
        if letter in lower_bytes and (hit := search(lower_bytes)):
            _look_at_hits(text, lower_bytes, hit, anchors, spans)
    return spans


def _look_at_hits(
    text: str, lower_bytes: bytes, first: re.Match[bytes], anchors: dict[bytes, _Anchor], spans: list[RuleSpan]
) -> None:
    """Examine the text around each hit of a search, beginning with the first; add the secrets to `spans`."""
    search = first.re.search
    hit: re.Match[bytes] | None = first
    resume_at: dict[str, int] = {}
    while hit:
        anchor = anchors[hit[0]]
        at = hit.start() - anchor.offset
        hit = search(lower_bytes, hit.end())
        if at < resume_at.get(anchor.word, 0):
            continue
        span = anchor.look(text, at)
        if span:
            spans.append(span)
            resume_at[anchor.word] = span[1]
        if anchor.look_for_list:
            spans += anchor.look_for_list(text, at)


def find_at_other_scripts(text: str) -> list[RuleSpan]:
    """Return the secrets after words in other scripts than the Latin one."""
    if text.isascii():
        return []
    spans: list[RuleSpan] = []
    for letter, word in OTHER_SCRIPTS:
        at = text.find(word) if letter in text else -1
        while at >= 0:
            span = find_in_other_script(text, at + len(word))
            if span:
                spans.append(span)
            at = text.find(word, at + len(word))
    return spans


def _name_looker(anchor: str) -> Callable[[str, int], RuleSpan | None]:
    return lambda text, at: named_value(text, at, anchor)


def _look_at_key(text: str, at: int) -> RuleSpan | None:
    """Find a key by its name, or by a first or last line that marks it as private."""
    return find_private_key(text, at - 8) if text.startswith("PRIVATE ", at - 8) else named_value(text, at, "key")


def _no_value(text: str, at: int) -> RuleSpan | None:
    """Return nothing: the word only begins lists."""


_Look = Callable[[str, int], RuleSpan | None]
_LookForList = Callable[[str, int], list[RuleSpan]]
_LISTS: dict[str, _LookForList] = {
    "pass": find_listed,
    "secret": find_kubernetes_secret,
    "cookie": find_session_cookies,
}
"""Words after which several secrets may stand, and the function that finds them."""
_LOOKS: dict[str, _Look] = {
    **{anchor: _name_looker(anchor) for anchor in NAME_ANCHORS},
    **PHRASES,
    "key": _look_at_key,
    "cookie": _no_value,
}
"""Words that announce a secret, in lower case, and the function that searches after each."""
_BY_LETTER: dict[str, tuple[str, ...]] = {
    "k": ("key", "token", "kennwort", "cookie", "psk"),
    "p": ("pass", "pw", "pin", "parola", "mdp", "printf ", "superuser(", " pdo(", "ftp(", "/p:", "/rp ", "spawn "),
    "c": (
        "secret",
        "creds",
        "credential",
        "connect",
        "contrase",
        "community",
        "wachtwoord",
        "clave",
        "echo ",
        "rabbitmqctl add_user ",
        "acl setuser ",
        "jwt.encode(",
        "jwt.decode(",
    ),
    "h": ("auth", "senha"),
    "b": ("bearer",),
    "g": ("login", "inlog", "zugangsd", "wifi.begin(", "jwt.sign("),
    "f": ("identif", "jwt.verify("),
    ":": ("://", ":"),
    "-": (" -",),
    "~": ("q~",),
    "@": ("@",),
}
"""Words by a common letter: a pattern that begins with one letter is searched as fast as a single word, 0.4 to 0.8 ms
per MB, so seventeen words cost as much as eight did. Rare letters cost least.
"""
_FOLLOWED_BY = {
    "token": r"(?!s\")",  # counts of tokens, in every row of some hosts
    " -": f"(?={OPTION_LETTERS})",
    "pin": r"(?<![a-z0-9]pin)(?=[ :=-])",
    "psk": r"(?![a-z])",
    ":": BEFORE_COLON,
    "@": r"(?<![\s\"'/@]@)",
}
"""What follows or precedes a word wherever its function finds anything."""


@frozen
class _Anchor:
    """A word that announces a secret, the offset of its letter, and the function that searches around it."""

    word: str
    offset: int
    look: _Look
    look_for_list: _LookForList | None


def _pattern_for(letter: str) -> bytes:
    """Return a pattern for the words of a letter, from that letter on."""
    branches = []
    for word in _BY_LETTER[letter]:
        offset = word.index(letter)
        lookbehind = f"(?<={re.escape(word)})" if offset else ""
        branches.append(re.escape(word[offset + 1 :]) + lookbehind + _FOLLOWED_BY.get(word, ""))
    return f"{re.escape(letter)}(?:{'|'.join(branches)})".encode()


def _search_for(letter: str) -> tuple[bytes, Callable[..., re.Match[bytes] | None], dict[bytes, _Anchor]]:
    """Return the letter, a search for its words from that letter on, and the word for each match."""
    offsets = {word: word.index(letter) for word in _BY_LETTER[letter]}
    anchors = {
        word[offset:].encode(): _Anchor(word, offset, _LOOKS[word], _LISTS.get(word))
        for word, offset in offsets.items()
    }
    return letter.encode(), make_regex(_pattern_for(letter)).search, anchors


_SEARCHES = tuple(map(_search_for, _BY_LETTER))
_SHORT_TEXT = 1024
"""Below this length, one search for all words is faster: 17 ms per MB in messages of 300 bytes, where fifteen searches
take 43; in long texts it is 13 against 10 (this machine, CPython 3.11).
"""
_SEARCH_FOR_ALL = re.compile(b"|".join(_pattern_for(letter) for letter in _BY_LETTER)).search
_ALL_ANCHORS = {word: anchor for _, _, anchors in _SEARCHES for word, anchor in anchors.items()}
