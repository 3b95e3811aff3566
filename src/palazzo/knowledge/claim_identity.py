"""Claim identity decides whether an earlier and a later claim are about the same thing."""

from __future__ import annotations

import re

from palazzo.knowledge import statement_values
from palazzo.knowledge.clauses import DISTINCTIVE_WORDS, GENERIC_WORDS, PLACES, bag, one_matter
from palazzo.knowledge.compared_text import ComparedText
from palazzo.knowledge.rules.claim import Claim
from palazzo.text.lazy_patterns import make_regex

TIMES = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday"
    " thursday friday saturday sunday spring summer autumn winter favour favor".split()
)


def are_one_matter(earlier: ComparedText, later: ComparedText, earlier_claim: Claim, later_claim: Claim) -> bool:
    """Return whether two claims, each from its text, are about the same thing."""
    if earlier_claim.key and later_claim.key:
        return (
            earlier_claim.key == later_claim.key
            and not _MEASUREMENT_KEY.search(earlier_claim.key)
            and _one_file(earlier, later, earlier_claim, later_claim)
        )
    if earlier_claim.key or later_claim.key:
        entry, prose = (earlier_claim, later_claim) if earlier_claim.key else (later_claim, earlier_claim)
        return _entry_meant(entry, prose)
    if (
        earlier_claim.value
        and later_claim.value
        and statement_values.plain(earlier_claim.value.unit) != statement_values.plain(later_claim.value.unit)
        and earlier_claim.kind == "version"
        and not _named_by(earlier_claim, later_claim)
    ):
        return False
    if _rates(earlier_claim) != _rates(later_claim):
        return False
    if _set_apart(earlier, later_claim):
        return False
    if earlier_claim.lead and later_claim.lead and not earlier_claim.lead & later_claim.lead:
        return False
    if earlier_claim.loose or later_claim.loose:
        return earlier_claim.words | earlier_claim.lead == later_claim.words | later_claim.lead
    if _same_subject(earlier_claim, later_claim):
        return not _narrows(earlier, later_claim)
    if later_claim.changed and len(later_claim.words) > 1 and later_claim.words < earlier_claim.words:
        return (
            len(earlier_claim.words - later_claim.words) == 1
            and not (earlier_claim.words - later_claim.words) & DISTINCTIVE_WORDS
        )
    return one_matter(
        earlier_claim.words | earlier_claim.lead, later_claim.words | later_claim.lead, earlier.words, later.words
    )


_RATE = make_regex(
    r"\b(?:per|an?|each|every) (?:day|week|month|hour|minute|second|year|user|tenant|request|host|node|file)s?\b",
    re.IGNORECASE,
)


def _rates(claim: Claim) -> frozenset[str]:
    """Return the units of the subject of a claim: a limit per day is not one per file."""
    return frozenset(rate.casefold() for rate in _RATE.findall(claim.subject))


def _named_by(earlier_claim: Claim, later_claim: Claim) -> bool:
    """Return whether the product of one claim's version is what the other claim is about."""
    first, second = (claim.value.unit if claim.value else "" for claim in (earlier_claim, later_claim))
    if first and second:
        return False
    return bag(first or second) == (later_claim if first else earlier_claim).words


def _entry_meant(entry: Claim, prose: Claim) -> bool:
    """Return whether a sentence is about an entry: it has all words of its key, and its other words fit it."""
    prose_words = prose.words | bag(prose.value.unit if prose.value else "")
    words = entry.words - _UNIT_WORDS
    if (
        entry.value
        and prose.value
        and prose.value.kind == "version"
        and entry.key == statement_values.plain(prose.value.unit)
    ):
        return not prose.words - bag(entry.key) - _WE
    if not words or not words <= prose_words:
        return False
    return _names_file(prose.sentence, entry.context_lines) or (len(words) > 1 and words == prose.words - _WE)


def _same_subject(earlier_claim: Claim, later_claim: Claim) -> bool:
    """Return whether two claims have the same subject, with extra words on at most one side."""
    if (
        earlier_claim.about != later_claim.about
        or not earlier_claim.about - GENERIC_WORDS
        or "name" in (earlier_claim.kind, later_claim.kind)
    ):
        return False
    differences = earlier_claim.words - later_claim.words, later_claim.words - earlier_claim.words
    return not all(differences) and not (differences[0] | differences[1]) & DISTINCTIVE_WORDS


def _narrows(earlier: ComparedText, later: Claim) -> bool:
    """Return whether a later claim is limited to a part: "disabled for the health check" is an exception."""
    tail = _extract_tail(later)
    return _CONDITION.match(tail) is not None or any(
        bag(match[1]) - GENERIC_WORDS - TIMES - earlier.words for match in _RESTRICTION.finditer(tail)
    )


def _extract_tail(claim: Claim) -> str:
    """Return what follows the value in the sentence, up to reasons and times."""
    return _BEHIND_ENDS.split(_around(claim)[1])[0]


_BEHIND_ENDS = make_regex(
    r"[,;:(—–]\s|\.(?:\s|$)|\s(?:since|because|as|so|until|after|before|and|but|any longer|any ?more)\b"
)


def _around(claim: Claim) -> tuple[str, str]:
    """Return the text before and after the value of a claim."""
    value = claim.value.text if claim.value else ""
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", claim.sentence)
    return (claim.sentence[: match.start()], claim.sentence[match.end() :]) if match else (claim.sentence, "")


_RESTRICTION = make_regex(
    r"\b(?:for|in|on|inside|within|during)\s(?!(?:all|every\w*|any|everybody|both|the whole|us|now|good|\w+ reasons?)\b)((?:\w[\w/.-]*\s?){1,4})"
)
_CONDITION = make_regex(r"\W*(?:\w+\s){0,2}(?:when|whenever|unless|except|only)\b", re.IGNORECASE)


def _set_apart(earlier: ComparedText, later: Claim) -> bool:
    """Return whether a later claim is about, or begins with, a place that the earlier text does not mention."""
    prefix, suffix = _around(later)
    own = " ".join((_STOP.split(prefix)[-1], _STOP.split(suffix)[0]))
    if (bag(own) & PLACES) - earlier.words:
        return True
    scope = _SCOPE_PREFIX.match(later.sentence)
    return scope is not None and bool(bag(scope[1]) - GENERIC_WORDS - TIMES - earlier.words)


_STOP = make_regex(r"[,;]\s")
_SCOPE_PREFIX = make_regex(
    r"(?:for|in|on|inside|within|during|under)\s(?!(?:all|every\w*|any|both|the whole|the sake|the end|us|now|short|fact|addition)\b)"
    r"((?:the |our |your |a )?[\w/.*`-]+)",
    re.IGNORECASE,
)
_UNIT_WORDS = frozenset("second ms min mb kb gb port version minute hour url path dir value".split())
_WE = frozenset("project repository repo monorepo app application service server config setting whole".split())
_MEASUREMENT_KEY = make_regex(
    r"(?:^|[\W_])(?:id|pid|count|total|time|date|duration|elapsed|tokens?|exit|code|hash|sha\d*|uuid|length|bytes|offset|line"
    r"|lines|lineno|column|index|timestamp|created|updated|modified|at|seq|cost|usage|score|percent|progress|passed|failed"
    r"|rows?|items|results?|start|end|step|epoch|loss|size)$",
    re.IGNORECASE,
)
"""Keys whose values are measured or counted again each time."""
_DISTINCTIVE_LINE = make_regex(r"^(?!\[).{6,}[^{:\[]$")


def _one_file(earlier: ComparedText, later: ComparedText, earlier_claim: Claim, later_claim: Claim) -> bool:
    """Return whether two entries are from the same place in one file.

    The command that printed them or another line is the same, or the keys above them are, or a text names the file.
    """
    if earlier_claim.parent_keys != later_claim.parent_keys and earlier_claim.parent_keys and later_claim.parent_keys:
        return False
    names = _identity(earlier_claim), _identity(later_claim)
    if all(names) and not names[0] & names[1]:
        return False
    if earlier_claim.sentence.startswith("{") and later_claim.sentence.startswith("{"):
        return bool(names[0] & names[1]) or earlier_claim.context_lines & later_claim.context_lines != frozenset()
    differences = (
        earlier_claim.context_lines - later_claim.context_lines,
        later_claim.context_lines - earlier_claim.context_lines,
    )
    if earlier_claim.context_lines & later_claim.context_lines and len(differences[0]) == len(differences[1]) == 1:
        return True
    if earlier_claim.parent_keys == later_claim.parent_keys and set(earlier_claim.parent_keys) - _COMMON_SECTIONS:
        return True
    shared = {
        line
        for line in earlier_claim.context_lines & later_claim.context_lines
        if _DISTINCTIVE_LINE.search(line) and not line.startswith("[")
    }
    if " " in earlier_claim.key:  # what a program tells people, not what a file holds
        return any(line.startswith("$ ") for line in shared)
    return (
        bool(shared)
        or _names_file(earlier_claim.sentence, later_claim.context_lines)
        or _names_file(later_claim.sentence, earlier_claim.context_lines)
    )


def _identity(claim: Claim) -> frozenset[str]:
    """Return the lines or pairs beside an entry that identify its owner."""
    around = [claim.sentence] if claim.sentence.startswith("{") else claim.context_lines
    return frozenset(
        match[0].casefold() for line in around for match in _IDENTITY.finditer(line) if match[1] != claim.key
    )


_IDENTITY = make_regex(
    r"""(?<![\w.-])["']?(name|service|app|host|hostname|project|tenant|env|environment|namespace|role)["']?\s*[:=]\s*["']?[\w./@-]+"""
)
_COMMON_SECTIONS = frozenset(
    "spec metadata services service server resources env data config settings containers limits requests http default properties".split()
)
"""Sections that occur in many files."""
_FILE = make_regex(r"(?<![\w./-])[\w./-]*\.[\w.-]*\w|(?<![\w-])[\w-]+/[\w./-]+")


def _names_file(sentence: str, context_lines: frozenset[str]) -> bool:
    """Return whether a sentence names a file that a command among these lines shows."""
    commands = " ".join(line for line in context_lines if line.startswith("$ ")).split()
    return any(name in commands for name in _FILE.findall(sentence) if len(name) > 4)
