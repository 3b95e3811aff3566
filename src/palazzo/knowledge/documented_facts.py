"""Which claims of documents are suggested as facts: documentation explains and instructs more than it states.

Pure. The classes that are refused were found in the documentation of eight Python packages (`kg suggest` after `mine`:
587 suggestions, 447 of them from release notes). Sessions and notes state facts about the reader's own project, and
these rules do not apply to them. Nor do they apply to the comparison of claims, which finds conflicts.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

_CHANGE_LOG = make_regex(
    r"(?:^|/)(?:[^/]*[-_.])?(?:change-?s|change-?logs?|history|news|releases?|release[-_]?notes?|what[-_']?s[-_]?new|upgrading)"
    r"(?:[-_.][^/]*)?(?:/|$)",
    re.IGNORECASE,
)
_CLAUSE_START = make_regex(
    # a subordinate clause, or words before the subject
    r"(?:when(?:ever)?|while|if|whether|unless|until|since|once|after|before|because|as|by|for|from|in|on|to|with|without"
    r"|then|thus|however|instead|otherwise|also|only|just|even|not|no|internally|usually|typically|note that"
    # an instruction, or an example
    r"|please|use|using|set|setting|add|adding|tell|run|running|make|drop|execute|quoting|ensure|assert|see|try"
    r"|another|following|examples?|tests?|check"
    # a heading of an admonition
    r"|note|tip|info|hint|warning|caution|important)\b",
    re.IGNORECASE,
)
_CLAUSE_END = make_regex(
    r"\b(?:must|should|shall|can|could|may|might|will|would|only|typically|usually|often|always|never|not|by|for|per|of|in"
    r"|on|at|to|from|with|than|other|and|or|that|which|is|are|be|above|below)$|/$",
    re.IGNORECASE,
)
_LITERAL = make_regex(
    r"(?:true|false|none|null|yes|no|[\d.,]+(?:\s+\w+)?|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)$",
    re.IGNORECASE,
)
_NAME_START = make_regex(r"[\w@*.-]")
_MARKUP = make_regex(r"`+_{0,2}|\*\*|(?<!\S)\[|\](?!\S)")
_CODE = make_regex(r"==|(?<!\w)=|=(?!\w)|\.\.$|[{}();<]|^-|^\W*$")
_NUMBER = r"\d[\d.,]*"
_VERSION = make_regex(r"(?:v|version )?\d+\.\d[\w.+-]*$", re.IGNORECASE)
_AMOUNT = make_regex(
    rf"{_NUMBER}(?:\s*(?:%|[nmµ]?s|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?|[kmgt]i?b|bytes?|bits?|[mg]?hz))?$",
    re.IGNORECASE,
)
_SETTING = make_regex(r"default|max(?:imum)?|min(?:imum)?|limit|timeout|interval|size|port|level", re.IGNORECASE)
_PATH = make_regex(r"(?:/|~|\.{1,2}/|[A-Z]:|\w+://).*\w|[\w.-]+(?:/[\w.-]+)+/?$|[\w-]+(?:\.[\w-]+)+$")
_TWO_NAMES = make_regex(r"[A-Z][\w.]*/[\w.]+$")
_EXAMPLE = make_regex(r"\b(?:examples?|e\.g\.|tutorial)(?!\w)", re.IGNORECASE)
_CHANGE_NOTE = make_regex(r"\b(?:added|changed|deprecated|removed) in (?:version )?v?\d", re.IGNORECASE)
_OR_LATER = make_regex(r"\b(?:and|or) (?:above|below|earlier|higher|later|lower|newer|older|up)\b", re.IGNORECASE)
_INSTRUCTION = make_regex(r"\bUse\b")
_FIRST_PERSON = make_regex(r"\b(?:we|our|us|i|my)\b", re.IGNORECASE)
_NEEDS_TO = make_regex(r"\b(?:needs?|requires?|required) to\b", re.IGNORECASE)


def is_change_log(path: str) -> bool:
    """Return whether a path is that of a change log or of release notes, or of a page in a directory of them."""
    return _CHANGE_LOG.search(path) is not None


def plain_name(name: str) -> str:
    """Return a name without the markup of Markdown and reStructuredText, of which a claim may have cut one half."""
    return " ".join(_MARKUP.sub("", name).split())


def is_documented_fact(kind: str, subject: str, predicate: str, thing: str, sentence: str) -> bool:
    """Return whether a claim of a document states a fact. `sentence` is what makes the claim; names are plain."""
    if not is_subject(subject) or _CODE.search(thing) or _EXAMPLE.search(sentence) or _CHANGE_NOTE.search(sentence):
        return False
    if kind == "instead" and _FIRST_PERSON.search(sentence) is None:
        return False  # "uses spawn instead of fork" compares two things
    match predicate:
        case "version":
            # "supports Python 3.9" is no version of the subject
            return _VERSION.match(thing) is not None and _OR_LATER.search(sentence) is None
        case "has_value":
            return _AMOUNT.match(thing) is not None or _SETTING.search(subject) is not None
        case "located_at":
            return _PATH.match(thing) is not None and _TWO_NAMES.match(thing) is None
        case "depends_on":
            return _NEEDS_TO.search(sentence) is None and _CLAUSE_START.match(thing) is None
        case "uses" if _INSTRUCTION.search(sentence):
            return False
        case "uses" | "replaced_by" | "renamed_to":
            return _LITERAL.match(thing) is None and _CLAUSE_START.match(thing) is None
        case "stopped_using":
            return _CLAUSE_START.match(thing) is None
        case _:
            return True


def is_subject(name: str) -> bool:
    """Return whether words before a verb name a thing: no part of a clause, no value, no line of code."""
    return not (
        _NAME_START.match(name) is None
        or _CLAUSE_START.match(name)
        or _CLAUSE_END.search(name)
        or _LITERAL.match(name)
        or _CODE.search(name)
    )
