"""Rule for switches from one thing to another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.knowledge.modality import asserts, extract_clause
from palazzo.knowledge.rules.claim import Claim, claim
from palazzo.knowledge.rules.noun_phrases import STOP, THING, is_thing, tidy
from palazzo.knowledge.statements import COMMIT, Statement
from palazzo.text.lazy_patterns import make_regex

_FROM = ("from ", "von ", " de ", " d'", " da ")
_FIGURE_CUE = make_regex(
    r"→|->|=>|\b(?:was|were|previously|formerly|before|up from|down from|not|no longer)\s[`v<>=~^$€:]*\d"
)
_SWITCH_VERBS = (
    "(?:switched|moved|migrated|changed|converted|went|transitioned|ported|relicensed|upgraded|shifted|gone|swapped|cut "
    "over|bumped|raised|increased|lowered|reduced|extended|shortened|cut|doubled|halved|updated|renumbered|relocated|renamed|transferred|passed|handed)"
)
_SWITCH = (
    make_regex(
        rf"(?P<subject>.*?)\b{_SWITCH_VERBS}\b(?:\s(?:over|away|back))?(?:\s(?P<thing>{THING}))??(?:\s(?:over|away))?"
        rf"\sfrom\s(?P<old>{THING})\s(?:(?:over|across)\s)?to\s(?P<new>{THING}){STOP}",
        re.IGNORECASE,
    ),
    make_regex(  # the subject of a commit
        rf"^(?:(?P<subject>[\w./-]+):\s)?(?:switch|move|migrate|convert|change)(?:\s(?P<thing>{THING}))??"
        rf"\sfrom\s(?P<old>{THING})\sto\s(?P<new>{THING}){STOP}",
        re.IGNORECASE,
    ),
    make_regex(
        "^(?:the "
        f")?(?:migration|move|switch|change|changeover|upgrade|transition|cut-?over)\\s(?:of\\s(?P<thing>{THING})\\s)?from\\s(?P<old>{THING})\\sto\\s(?P<new>{THING})\\s(?:is|has "
        "been|was)\\s(?:now\\s)?(?:complete\\w*|done|finished|over|merged|live|through)\\b",
        re.IGNORECASE,
    ),
    make_regex(
        rf"(?P<subject>.*?)\b(?:sind|haben|wurden?|ist|hat)\b.*?\bvon\s(?P<old>{THING})\s(?:auf|zu|nach)\s"
        rf"(?P<new>{THING})\s(?:um\w+|gewechselt|migriert|gezogen)",
        re.IGNORECASE,
    ),
    make_regex(
        rf"(?P<subject>.*?)\b(?:passés?|migrés?|pasamos|migramos|pasado|migrado|cambiamos|passati|mudamos|migrámos)\s"
        rf"(?:d[eao]s?|d['’]|da)\s?(?P<old>{THING})\s(?:à|a|para)\s(?P<new>{THING}){STOP}",
        re.IGNORECASE,
    ),
)
_BECAUSE = make_regex(
    f"\\b(?:we|i|have|has)\\s(?:have\\s|just\\s|finally\\s)*(?:switched|moved|migrated|changed|gone|went)\\s(?:over\\s)?to\\s(?P<new>{THING}){STOP}.*?(?:[,;(–—-]|\\b(?:because|since|as))\\s*(?P<old>[\\w.+#-]+)\\s(?:was|were|had|kept|became|got|couldn['’]t|didn['’]t|could "
    "not)\\b",
    re.IGNORECASE,
)
"""Separates the reason: We switched to B, because A was slow."""
_FIGURE = r"[`v<>=~^$€:]*\d[\w.,%-]*`?(?:\s(?:%|€|[A-Za-z]{1,12}\b))?"
_FIGURES = (
    make_regex(rf"(?P<subject>.*?)(?P<old>{_FIGURE})\s?(?:→|->|=>)\s?(?P<new>{_FIGURE})"),
    make_regex(
        f"(?P<subject>.*?)(?P<new>{_FIGURE})\\s?(?:\\(|,\\s)(?:it )?(?:was|were|previously|formerly|before|up "
        f"from|down from|not|no longer)\\s(?P<old>{_FIGURE})",
        re.IGNORECASE,
    ),
)
_CUE = make_regex(
    f"\\b{_SWITCH_VERBS}\\b.*\\bfrom\\s|(?:^|:\\s)(?:switch|move|migrate|convert|change)\\b.*\\sfrom\\s|^(?:the "
    ")?(?:migration|move|switch|change\\w*|upgrade|transition|cut-?over)\\b.*\\sfrom\\s|\\bvon\\b.*(?:um\\w+|gewechselt|migriert|gezogen)|\\b(?:passé|migré|pasa|migra|cambia|muda)",
    re.IGNORECASE,
)
"""A quick pre-check: the patterns are slow."""
_OF = make_regex(rf"\b(?:for|as)\s(?:the\s)?(?P<thing>{THING}){STOP}", re.IGNORECASE)


def find(statement: Statement) -> Iterator[Claim]:
    """Yield what a statement says was switched."""
    patterns = _SWITCH if statement.mentions(_FROM) and _CUE.search(statement.text) else ()
    for pattern in (*patterns, *(_FIGURES if _FIGURE_CUE.search(statement.text) else ())):
        match = pattern.search(statement.text)
        if pattern is _SWITCH[1] and statement.heading != COMMIT and statement.setting != "done":
            continue
        if match is None or not asserts(statement, match.start("old"), match.end("new")):
            continue
        old, new = tidy(match["old"]), tidy(match["new"])
        if is_thing(old, 4) and is_thing(new, 4) and not _moves_only(old, new):
            yield claim(statement, "switch", _about(match), "" if _NUMBER.match(new) else "replaced_by", new, old,
                        extract_clause(statement, match.start("old"), match.end("new")))  # fmt: skip
            return
    yield from _because(statement)


def _because(statement: Statement) -> Iterator[Claim]:
    match = _BECAUSE.search(statement.text) if statement.mentions((" to ",)) else None
    if match is not None and asserts(statement, *match.span("new")):
        old, new = tidy(match["old"]), tidy(match["new"])
        if is_thing(old, 2) and is_thing(new, 3) and not _NUMBER.match(new):
            yield claim(statement, "switch", "", "replaced_by", new, old, extract_clause(statement, *match.span("new")))


def _about(match: re.Match[str]) -> str:
    """Return what was switched: the object of the verb, else its subject, else what follows a `for`."""
    for thing in (match.groupdict().get("thing"), _last(match.groupdict().get("subject"))):
        if thing and is_thing(tidy(thing)) and tidy(thing).casefold() not in ("has", "have", "was", "were"):
            return tidy(thing)
    purpose_match = _OF.search(match.string, match.end("new"))
    return tidy(purpose_match["thing"]) if purpose_match else ""


def _last(text: str | None) -> str:
    words = re.split(r"[:;,()]\s*|\b(?:as a team|and|that)\b", (text or "").strip(" :;,-"))[-1]
    return re.sub(r"\b(?:we|i|have|has|was|were|are|is|been|got|finally|fully|just|now|all)\b", " ", words).strip()


def _moves_only(old: str, new: str) -> bool:
    """Return whether words moved within a page, or a figure was measured again."""
    return any(end.casefold() in _NOWHERE or _MEASUREMENT.match(end) for end in (old, new))


_NUMBER = make_regex(r"[v<>=~^$€]?\d")
_MEASUREMENT = make_regex(r"~|\d[\d.,]*\s?(?:%|x\b|ms\b)")


_NOWHERE = frozenset(
    "top bottom left right start end scratch there here one other side time outside inside above below monday friday".split()
)
