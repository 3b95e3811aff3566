"""Noun phrases as the rules extract them from a sentence."""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

THING = r"(?:`[^`]{1,60}`|\"[^\"]{1,60}\"|“[^”]{1,60}”|(?:(?![,;:()—–]|[.!?](?:\s|$)).){1,80}?)"
"""The name of a thing: quoted text, or words up to the next stop."""

STOP = (
    r"(?=\s*(?:$|[,;:()—–!?]|\.(?:\s|$)|\s-\s"
    r"|\s(?:because|since|as of|so|while|when|which|who|where|and|but|after|before|until|by|in|on|for|at|with|over|last"
    r"|this|from|to|as|now|therefore|that|due|per|via|using|under|among|everywhere|completely|entirely|altogether"
    r"|yesterday|today|here|there|already|btw|anymore|any more|any longer|once|unless|except|than|or|the licence)\b))"
)
"""Characters and words at which the name of a thing ends."""

_DETERMINER = make_regex(
    r"^(?:(?:the|a|an|our|my|your|its|all|any|this|that|these|old|also|now|just|to|in|der|die|das|den|dem|le|la|les"
    r"|el|los|las|il|lo|o)\s+)+(?=\S)",
    re.IGNORECASE,
)
_MARKS = "`'\"“”„«»*_,;: "
GENERIC = frozenset(
    """we i you they it he she this that there which who project repo repository team everybody everyone the project
    us company codebase wir nous nosotros noi nós one people all""".split()
)


def tidy(text: str) -> str:
    """Return a thing without quotation marks and articles."""
    plain = text.replace("*", "").strip(_MARKS)
    if plain.endswith("."):
        plain = plain[:-1]
    return _DETERMINER.sub("", plain).strip(_MARKS)


_OURS = frozenset(
    "we project repo repository team everybody everyone us company codebase wir nous nosotros all".split()
)


def owner_of_deed(text: str) -> str:
    """Return the actor: a thing's name, `project` for words like "we", nothing if it is not a name."""
    owner = tidy(re.split(r"[:;,]\s", text.strip())[-1])
    owner = re.sub(r"^(?:so|fyi|btw|and|but|note that|all|@\w+)\s+", "", owner, flags=re.IGNORECASE)
    last = next(reversed(owner.split()), "").casefold()  # all of it may be white space outside ASCII
    if not last or last in _OURS:
        return "project"
    return owner if is_thing(owner, 4) and not _NEGATION.search(owner) else ""


_NEGATION = make_regex(
    r"\b(?:no longer|not|never|i|he|she|it|to|and|or)$|n['’]t$|\b(?:you|your|can|could|how|either|which|that|who)\b|[`=\[(]|-$",
    re.IGNORECASE,
)


def is_thing(text: str, longest: int = 6) -> bool:
    """Return whether a tidied phrase can be a name: a few words, at least one of them with meaning."""
    words = text.split()
    return (
        0 < len(words) <= longest
        and any(letter.isalnum() for letter in text)
        and words[0].casefold() not in _NO_BEGINNING
        and text.casefold() not in GENERIC
    )


_NO_BEGINNING = frozenset(
    """a an the for of in on at with from to by it them him her this that these those one two three four five both each such what which how why there
    here more less not no as is are was were be and or but if some something anything everything nothing""".split()
)
