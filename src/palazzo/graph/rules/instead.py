"""One thing in the place of another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from palazzo.graph.frames import clauses, cut
from palazzo.graph.moods import asserts, told
from palazzo.graph.rules.claim import Claim, claim
from palazzo.graph.rules.phrases import STOP, THING, is_thing, tidy
from palazzo.graph.statements import COMMIT, Statement

CUES = ("instead of", "rather than", "in place of", "replace", "place of", "supersede", "statt", "anstelle", "lieu d",
        "la place d", "swapped", "favour of", "favor of", "lugar de", "vez de", "invece d", "posto d", "remplac", "ersetz", "sostitui", "reemplaz")  # fmt: skip
_INSTEAD = re.compile(
    r"\s(?:instead of|rather than|in place of|statt|anstatt|anstelle von|au lieu d[e'u]|à la place d[eu]"
    r"|en (?:lugar|vez) de|em vez de|no lugar d[eo]|invece d[ie]l?|al posto d[ie]l?)\s+",
    re.IGNORECASE,
)
_REPLACED = (
    re.compile(rf"\b(?:replaced\s(?P<old>{THING})\s(?:with|by)|swapped(?: out)?\s(?P<out>{THING})(?:\sout)?\sfor)\s(?P<new>{THING}){STOP}", re.IGNORECASE),
    re.compile(rf"^(?:\w+:\s)?replaces?\s(?P<old>{THING})\s(?:with|by)\s(?P<new>{THING}){STOP}", re.IGNORECASE),
    re.compile(rf"(?P<old>{THING})\s(?:was|were|is|are|has been|have been|got)\s(?:now\s)?(?:replaced|superseded|succeeded)\s(?:by|with)\s(?P<new>{THING}){STOP}", re.IGNORECASE),
    re.compile(rf"(?P<new>{THING})\s(?:(?:has|have)\s)?(?:replaced|superseded|replaces|supersedes|(?:took|takes|taken) the place of)\s(?P<old>{THING}){STOP}", re.IGNORECASE),
    re.compile(rf"(?P<old>{THING})\s(?:wurde|est|a été|fue|è stato|foi)\s(?:durch|remplacée?s? par|reemplazad[oa] por|sostituit[oa] da|substituíd[oa] por)\s(?P<new>{THING})(?:\sersetzt|{STOP})", re.IGNORECASE),
)  # fmt: skip
_FAVOUR_CUES = ("favour of", "favor of")
_IN_FAVOUR = re.compile(
    rf"\b(?:dropped|ditched|retired|abandoned|removed|deprecated|left|gave up|scrapped)\s(?P<old>{THING})\sin favou?r of\s(?P<new>{THING}){STOP}"
    rf"|(?P<out>{THING})\s(?:(?:was|were|is|are|has been|have been|got)\s)?(?:dropped|ditched|retired|removed|scrapped)\sin favou?r of\s(?P<next>{THING}){STOP}",
    re.IGNORECASE,
)
_ORDERED = _REPLACED[1]
"""An order, which was carried out where it is the subject of a commit or a box that is ticked."""
_EDIT = re.compile(
    r"\b(?:tabs?|spaces?|statement|chain|loop|elifs?|match|string|character|comma|typo|word|sentence|column|line|branch"
    r"|delay|sleep|function|variable|import)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[v<>=~^$€]?\d")


def find(statement: Statement) -> Iterator[Claim]:
    """Yield what a statement says stands in the place of what."""
    if not statement.mentions(CUES):
        return
    found = _instead(statement) or _in_front(statement) or _replaced(statement)
    if found is not None:
        yield found


def _instead(statement: Statement) -> Claim | None:
    cue = _INSTEAD.search(statement.text)
    if cue is None or _ADVICE.search(statement.text):
        return None
    if not asserts(statement, cue.start(), cue.end()):
        return None
    after = re.match(rf"(?P<old>{THING}){STOP}", statement.text[cue.end() :])
    if after is None:
        return None
    for clause in list(clauses(statement))[::-1]:
        said, there, _ = clause.rest.partition(cue[0])
        if not there:
            continue
        old, new = tidy(after["old"]), tidy(_object(said))
        if (
            is_thing(old, 4)
            and is_thing(new)
            and not _EDIT.search(f"{old} {new}")
            and not (_DEED.match(old) or _DEED.match(new))
        ):
            return claim(
                statement, "instead", clause.subject, _predicate(old), new, old, told(statement, cue.start(), cue.end())
            )
    return None


_ADVICE = re.compile(
    r"\byour?\b|^(?:\*\*[^*]+\*\*:? )?(?:(?:\w+: )?use|modify|run|set|try|add|call|prefer|pass|see)\b", re.IGNORECASE
)
"""What is told to a reader, not of oneself."""
_DEED = re.compile(r"(?:use|fix|modify|add|correct)\b|\w+ing\b|[a-z]+ed$", re.IGNORECASE)
"""What is done, and no thing."""
_IN_FRONT = re.compile(
    rf"^(?:instead of|in place of|rather than|statt|anstelle von|au lieu de)\s(?P<old>{THING}),\s", re.IGNORECASE
)


def _in_front(statement: Statement) -> Claim | None:
    """Instead of A, B."""
    found = _IN_FRONT.match(statement.text)
    if found is None or not asserts(statement, found.start(), len(statement.text)):
        return None
    for clause in clauses(replace(statement, text=statement.text[found.end() :])):
        old, new = tidy(found["old"]), tidy(_object(cut(clause.rest)))
        if is_thing(old, 4) and is_thing(new):
            return claim(statement, "instead", clause.subject, _predicate(old), new, old)
    return None


def _predicate(old: str) -> str:
    """A number that another took the place of is no thing that was replaced."""
    return "" if _NUMBER.match(old) else "replaced_by"


def _object(said: str) -> str:
    """The thing at the end of what a clause says: `ruff format` of "formatted with ruff format"."""
    head = re.split(r"\s(?:from|with our|with its|with a)\s", said)[0] if len(said.split()) > 3 else said
    head = re.sub(r"^(?:\w+(?:ed|en)|done|run|made|goes|come)\s(?:with|by|through|from|in|on)\s", "", head)
    return re.sub(r"^(?:through|from|with|by|via|on|in)\s", "", head)


def _replaced(statement: Statement) -> Claim | None:
    for pattern in (*_REPLACED, *((_IN_FAVOUR,) if statement.mentions(_FAVOUR_CUES) else ())):
        found = pattern.search(statement.text)
        named = "next" if found and pattern is _IN_FAVOUR and found["next"] else "new"
        if found is None or not asserts(statement, found.start(named), found.end(named)):
            continue
        if pattern is _ORDERED and statement.heading != COMMIT and statement.setting != "done":
            continue
        old, new = tidy(found["old"] or found["out"]), tidy(found[named])
        if (
            is_thing(old, 4)
            and is_thing(new, 5)
            and not _EDIT.search(f"{old} {new}")
            and not (_DEED.match(old) or _DEED.match(new))
        ):
            return claim(
                statement, "instead", "", _predicate(old), new, old, told(statement, found.start(), found.end())
            )
    return None
