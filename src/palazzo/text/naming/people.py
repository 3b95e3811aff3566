"""Rules for people: by lines that name them, by handles, titles and given names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.text import known_names as known
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.naming.name_page import Mention, Page, make_mention

_NAME = r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,3}"
_SIGNATURE_LINE = make_regex(
    rf"^[ \t]*(?:Author|Commit|Co-authored-by|Reviewed-by|Signed-off-by|Acked-by|Tested-by|Reported-by"
    rf"|Suggested-by):[ \t]+({_NAME})[ \t]*<",
    re.MULTILINE | re.IGNORECASE,
)
_SPEAKER = make_regex(r"^([^\W\d_][\w.-]{1,30})(?: \[?\d\d?:\d\d(?: ?[AP]M)?\]?)?: ", re.MULTILINE)


def find_signatures(page: Page) -> Iterator[Mention]:
    """Find authors, by the lines of a commit and the names before chat messages."""
    for match in _SIGNATURE_LINE.finditer(page.text):
        if not match[1].endswith("[bot]"):
            yield make_mention(match, "person", 1)
    if page.voice == "chat":
        speakers = list(_SPEAKER.finditer(page.text))
        if len(speakers) > 1:
            yield from (
                make_mention(speaker, "person", 1)
                for speaker in speakers
                if speaker[1].casefold() not in known.NO_SPEAKERS
            )


_HANDLE = make_regex(r"(?<![\w@/.`\"'(])@([a-z][\w-]{1,38}\w)(?![\w/(.]|\.\w)", re.IGNORECASE)
_CAPITAL_WORD = r"[^\W\d_a-zß-öø-ÿ][^\W\d_A-Z]+(?:[-'’][A-Z][a-z]+)?"
_PERSON = make_regex(
    rf"(?<![\w@/.\\-])({_CAPITAL_WORD})((?: (?:van der |van |von |de |da |di )?{_CAPITAL_WORD})?)(?![\w@/\\]|\.\w|-\w)"
)
_TITLE_AND_NAME = make_regex(rf"\b(?:Dr|Prof|Mr|Mrs|Ms|Frau|Herrn?|Herr)\.? ({_CAPITAL_WORD})")
_SAN = make_regex(r"([一-龯々ァ-ヴー]{1,5}|[A-Za-z]+)(?:さん|くん|ちゃん|氏|様)(?!子)")
_DOES = (
    r"(?:said|says|asked|asks|wrote|writes|reviewed|approved|opened|closed|merged|reported|found|noticed"
    r"|thinks|wants|wanted|suggested|suggests|fixed|broke"
    r"|renamed|added|removed|pushed|told|confirmed|mentioned|prefers|owns|is (?:replaying|out|off|on|waiting|away)"
    r"|has been|and I|will ask|will look"
    r"|pinged|deployed|complained|agreed|objected)"
)
_AFTER_PERSON = make_regex(rf"^(?:'s)? {_DOES}\b")
_BEFORE_PERSON = make_regex(
    r"(?:\b(?:tell|ask|ping|thank|thanks|with|by|from|cc|told|asked|for|and|the new (?:guy|girl|colleague),"
    r"|colleague|assign(?:ed)? to|hi|hey|hello|bed,) )$",
    re.IGNORECASE,
)


def people(page: Page) -> Iterator[Mention]:
    """Find handles, titles, given names, and persons marked by a verb of saying."""
    if page.voice != "tool":
        for match in _HANDLE.finditer(page.rest):
            if match[1].casefold() not in known.NO_HANDLES and not page.is_code(match.start()):
                yield make_mention(match, "person")
        yield from (make_mention(match, "person", 1) for match in _SAN.finditer(page.rest))
    yield from (make_mention(match, "person", 1) for match in _TITLE_AND_NAME.finditer(page.rest))
    if page.voice == "tool" or (page.fences and page.is_code(0)):
        return
    yield from _find_known_people(page)
    for match in _PERSON.finditer(page.rest):
        first, rest = match[1], match[2]
        start = match.start()
        if page.is_code(start) or _is_quoted(page.text, match):
            continue
        text_before, following_text = page.text[max(0, start - 30) : start], page.text[match.end(1) : match.end(1) + 40]
        whole = Mention(match[0], "person", start, match.end())
        if first in known.GIVEN_NAMES:
            yield whole if rest and not _is_word(rest.strip()) else make_mention(match, "person", 1)
        elif first in known.WORDS_THAT_ARE_NAMES:
            if (
                rest
                and not _is_word(rest.strip())
                and re.match(r" (?:is|was|has|wrote|said|and|or)\b|[,:)(]", page.text[match.end() : match.end() + 8])
            ):
                if first not in ("Rust",):
                    yield whole
            elif (
                _AFTER_PERSON.match(following_text) and not re.match(r" (?:has been|will look|and I)", following_text)
            ) or (
                re.search(
                    r"(?:the new (?:guy|girl|colleague), |\b(?:bed|thanks|hey|hi|ask|tell|ping),? )$", text_before
                )
                and re.match(r"[.,!?:)]|$", following_text)
            ):
                yield make_mention(match, "person", 1)
        elif (
            not _is_word(first)
            and not rest
            and re.match(rf" {_SPEAKS}\b", following_text)
            and not _begins(page.text, start)
        ):
            yield make_mention(match, "person", 1)


def _find_known_people(page: Page) -> Iterator[Mention]:
    """Find known full names of two words or more, in prose, unless they could be words: `Test User`."""
    for name in page.people:
        if " " not in name or name not in page.rest or all(_may_be_word(part) for part in name.split()):
            continue
        for match in re.finditer(rf"(?<![\w@/.-]){re.escape(name)}(?![\w@/])", page.rest):
            if not page.is_code(match.start()):
                yield make_mention(match, "person")


_SPEAKS = r"(?:said|says|asked|asks|wrote|approved|suggested|complained|told (?:me|us))"


def _is_word(text: str) -> bool:
    return text in known.WORDS or text in known.PRODUCTS or text in known.CUED_PRODUCTS


def _may_be_word(text: str) -> bool:
    return _is_word(text) or text.casefold() in _PLACEHOLDERS or not text[:1].isupper()


_PLACEHOLDERS = frozenset(["test", "user", "your", "name", "admin", "bot", "ci", "dev", "build", "release", "team"])


def _begins(text: str, place: int) -> bool:
    return not text[:place].strip() or text[:place].rstrip()[-1:] in ".!?\n:"


def _is_quoted(text: str, match: re.Match[str]) -> bool:
    return text[match.start() - 1 : match.start()] in ("'", '"') and text[match.end() : match.end() + 1] in ("'", '"')
