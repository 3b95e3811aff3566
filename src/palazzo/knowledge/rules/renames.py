"""Rule for things that have a new name or are deprecated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.knowledge.modality import asserts
from palazzo.knowledge.rules.claim import Claim, claim
from palazzo.knowledge.rules.noun_phrases import STOP, THING, is_thing, tidy
from palazzo.knowledge.statements import COMMIT, Statement
from palazzo.text.lazy_patterns import make_regex

_RENAMES = (
    make_regex(rf"\b(?:renamed|renames)\s(?P<old>{THING})\s(?:to|into|as)\s(?P<new>{THING}){STOP}", re.IGNORECASE),
    make_regex(
        f"(?:^|[.;:,]\\s|btw\\s)(?P<old>{THING})\\s(?:is|was|were|has been|have "
        f"been)\\s(?:now\\s)?(?:renamed|rebranded)\\s(?:to\\s|as\\s|into\\s)?(?P<new>{THING}){STOP}",
        re.IGNORECASE,
    ),
    make_regex(
        f"(?:^|[.;:,]\\s|btw\\s)(?P<old>{THING})\\s(?:is|are)\\s(?:now\\scalled\\s(?P<new>{THING})|called\\s(?P<then>{THING})\\snow){STOP}",
        re.IGNORECASE,
    ),
    make_regex(rf"^(?P<old>team {THING})\sis\snow\s(?P<new>team {THING}){STOP}", re.IGNORECASE),
)
_COMMIT = make_regex(rf"^(?:\w+:\s)?rename\s(?P<old>{THING})\sto\s(?P<new>{THING}){STOP}", re.IGNORECASE)
_DEPRECATION = make_regex(
    rf"(?:^|[.;:,]\s)(?P<what>{THING})\s(?:is|are|was|were|has been|have been)\s(?:now\s)?deprecated"
    r"(?:\s(?:since|as of|from|in|with)\s(?:version\s|release\s)?`?(?P<since>v?\d[\w.-]*))?",
    re.IGNORECASE,
)

_USE = make_regex(rf"(?:[,;:]\s(?:please\s)?use|in favou?r of)\s(?P<new>{THING}){STOP}", re.IGNORECASE)


def find(statement: Statement) -> Iterator[Claim]:
    """Yield renames and deprecations."""
    lowercase_text = statement.text.casefold()
    if "deprecated" in lowercase_text:
        match = _DEPRECATION.search(statement.text)
        if match and is_thing(tidy(match["what"]), 5) and asserts(statement, match.start("what"), match.end()):
            since = (match["since"] or "true").rstrip(".")
            yield claim(statement, "deprecated", tidy(match["what"]), "deprecated", since)
            successor = _USE.search(statement.text, match.end())
            if successor:
                yield claim(statement, "instead", "", "replaced_by", tidy(successor["new"]), tidy(match["what"]))
    if not any(cue in lowercase_text for cue in ("renam", "rebrand", "called", "is now")):
        return
    for pattern in (*_RENAMES, *([_COMMIT] if statement.heading == COMMIT else [])):
        match = pattern.search(statement.text)
        if match is None or not asserts(statement, match.start("old"), match.end()):
            continue
        old, new = tidy(match["old"]), tidy(match["new"] or match.groupdict().get("then") or "")
        if is_thing(old, 4) and is_thing(new, 4):
            yield claim(statement, "rename", old, "renamed_to", new, old)
            return
