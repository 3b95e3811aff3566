"""Rule for statements that one thing replaces another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from palazzo.knowledge.clauses import clauses, cut
from palazzo.knowledge.modality import asserts, extract_clause
from palazzo.knowledge.rules.claim import Claim, claim
from palazzo.knowledge.rules.noun_phrases import STOP, THING, is_thing, tidy
from palazzo.knowledge.statements import COMMIT, Statement
from palazzo.text.lazy_patterns import make_regex

CUES = ("instead of", "rather than", "in place of", "replace", "place of", "supersede", "statt", "anstelle", "lieu d",
        "la place d", "swapped", "favour of", "favor of", "lugar de", "vez de", "invece d", "posto d", "remplac", "ersetz", "sostitui", "reemplaz")  # fmt: skip
_INSTEAD = make_regex(
    r"\s(?:instead of|rather than|in place of|statt|anstatt|anstelle von|au lieu d[e'u]|à la place d[eu]"
    r"|en (?:lugar|vez) de|em vez de|no lugar d[eo]|invece d[ie]l?|al posto d[ie]l?)\s+",
    re.IGNORECASE,
)
_REPLACEMENTS = (
    make_regex(f"\\b(?:replaced\\s(?P<old>{THING})\\s(?:with|by)|swapped(?: "
               f"out)?\\s(?P<out>{THING})(?:\\sout)?\\sfor)\\s(?P<new>{THING}){STOP}", re.IGNORECASE),
    make_regex(rf"^(?:\w+:\s)?replaces?\s(?P<old>{THING})\s(?:with|by)\s(?P<new>{THING}){STOP}", re.IGNORECASE),
    make_regex(f"(?P<old>{THING})\\s(?:was|were|is|are|has been|have "
               f"been|got)\\s(?:now\\s)?(?:replaced|superseded|succeeded)\\s(?:by|with)\\s(?P<new>{THING}){STOP}", re.IGNORECASE),
    make_regex(f"(?P<new>{THING})\\s(?:(?:has|have)\\s)?(?:replaced|superseded|replaces|supersedes|(?:took|takes|taken) "
               f"the place of)\\s(?P<old>{THING}){STOP}", re.IGNORECASE),
    make_regex(f"(?P<old>{THING})\\s(?:wurde|est|a été|fue|è stato|foi)\\s(?:durch|remplacée?s? par|reemplazad[oa] "
               f"por|sostituit[oa] da|substituíd[oa] por)\\s(?P<new>{THING})(?:\\sersetzt|{STOP})", re.IGNORECASE),
)  # fmt: skip
_FAVOUR_CUES = ("favour of", "favor of")
_IN_FAVOUR = make_regex(
    f"\\b(?:dropped|ditched|retired|abandoned|removed|deprecated|left|gave up|scrapped)\\s(?P<old>{THING})\\sin "
    f"favou?r of\\s(?P<new>{THING}){STOP}|(?P<out>{THING})\\s(?:(?:was|were|is|are|has been|have "
    f"been|got)\\s)?(?:dropped|ditched|retired|removed|scrapped)\\sin favou?r of\\s(?P<next>{THING}){STOP}",
    re.IGNORECASE,
)
_REPLACE_ORDER = _REPLACEMENTS[1]
"""An order, which was carried out if it is the subject of a commit or a ticked checkbox."""
_EDIT = make_regex(
    r"\b(?:tabs?|spaces?|statement|chain|loop|elifs?|match|string|character|comma|typo|word|sentence|column|line|branch"
    r"|delay|sleep|function|variable|import)\b",
    re.IGNORECASE,
)
_NUMBER = make_regex(r"[v<>=~^$€]?\d")


def find(statement: Statement) -> Iterator[Claim]:
    """Yield replacements that a statement reports."""
    if not statement.mentions(CUES):
        return
    replacement = _instead(statement) or _in_front(statement) or _find_replacement(statement)
    if replacement is not None:
        yield replacement


def _instead(statement: Statement) -> Claim | None:
    cue = _INSTEAD.search(statement.text)
    if cue is None or _ADVICE.search(statement.text):
        return None
    if not asserts(statement, cue.start(), cue.end()):
        return None
    old_match = re.match(rf"(?P<old>{THING}){STOP}", statement.text[cue.end() :])
    if old_match is None:
        return None
    for clause in list(clauses(statement))[::-1]:
        clause_text, cue_text, _ = clause.rest.partition(cue[0])
        if not cue_text:
            continue
        old, new = tidy(old_match["old"]), tidy(_object(clause_text))
        if (
            is_thing(old, 4)
            and is_thing(new)
            and not _EDIT.search(f"{old} {new}")
            and not (_DEED.match(old) or _DEED.match(new))
        ):
            return claim(
                statement,
                "instead",
                clause.subject,
                _predicate(old),
                new,
                old,
                extract_clause(statement, cue.start(), cue.end()),
            )
    return None


_ADVICE = make_regex(
    r"\byour?\b|^(?:\*\*[^*]+\*\*:? )?(?:(?:\w+: )?use|modify|run|set|try|add|call|prefer|pass|see)\b", re.IGNORECASE
)
"""Advice to a reader, not a statement about the writer's own work."""
_DEED = make_regex(r"(?:use|fix|modify|add|correct)\b|\w+ing\b|[a-z]+ed$", re.IGNORECASE)
"""An action, not a thing."""
_IN_FRONT = make_regex(
    rf"^(?:instead of|in place of|rather than|statt|anstelle von|au lieu de)\s(?P<old>{THING}),\s", re.IGNORECASE
)


def _in_front(statement: Statement) -> Claim | None:
    """Match "instead of A, B"."""
    match = _IN_FRONT.match(statement.text)
    if match is None or not asserts(statement, match.start(), len(statement.text)):
        return None
    for clause in clauses(replace(statement, text=statement.text[match.end() :])):
        old, new = tidy(match["old"]), tidy(_object(cut(clause.rest)))
        if is_thing(old, 4) and is_thing(new):
            return claim(statement, "instead", clause.subject, _predicate(old), new, old)
    return None


def _predicate(old: str) -> str:
    """Return the predicate of a replacement; none if a number was replaced, which is not a thing."""
    return "" if _NUMBER.match(old) else "replaced_by"


def _object(text: str) -> str:
    """Return the thing at the end of a clause: `ruff format` of "formatted with ruff format"."""
    head = re.split(r"\s(?:from|with our|with its|with a)\s", text)[0] if len(text.split()) > 3 else text
    head = re.sub(r"^(?:\w+(?:ed|en)|done|run|made|goes|come)\s(?:with|by|through|from|in|on)\s", "", head)
    return re.sub(r"^(?:through|from|with|by|via|on|in)\s", "", head)


def _find_replacement(statement: Statement) -> Claim | None:
    for pattern in (*_REPLACEMENTS, *((_IN_FAVOUR,) if statement.mentions(_FAVOUR_CUES) else ())):
        match = pattern.search(statement.text)
        group_name = "next" if match and pattern is _IN_FAVOUR and match["next"] else "new"
        if match is None or not asserts(statement, match.start(group_name), match.end(group_name)):
            continue
        if pattern is _REPLACE_ORDER and statement.heading != COMMIT and statement.setting != "done":
            continue
        old, new = tidy(match["old"] or match["out"]), tidy(match[group_name])
        if (
            is_thing(old, 4)
            and is_thing(new, 5)
            and not _EDIT.search(f"{old} {new}")
            and not (_DEED.match(old) or _DEED.match(new))
        ):
            return claim(
                statement,
                "instead",
                "",
                _predicate(old),
                new,
                old,
                extract_clause(statement, match.start(), match.end()),
            )
    return None
