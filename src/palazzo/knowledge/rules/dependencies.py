"""Rule for what a thing uses and what it depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.knowledge.modality import asserts
from palazzo.knowledge.rules.claim import Claim, claim
from palazzo.knowledge.rules.noun_phrases import STOP, THING, is_thing, owner_of_deed, tidy
from palazzo.knowledge.statements import Statement
from palazzo.text.lazy_patterns import make_regex

_NAME = r"(?:`[^`]{1,60}`|(?:(?=[\w.+#/-]*[A-Z0-9])[\w.+#/-]++|a |the )(?:(?!\s(?:for|in|as|to|and)\b)(?:[^,;:().]|\.(?=\w))){0,40}?)"
_CUES = ("use", "using", "went with", "settled on", "chose", "picked", "built ", "run", "stored in", "depend", "require", "need",
         "stays on", "stay on", "log with", "written in", "verwend", "nutz", "utilis", "usa")  # fmt: skip
_CUE = make_regex(
    r"\b(?:uses?|using|went with|settled on|chose|chosen|picked|built (?:with|on)|runs? on|stored in|depends? on|requires?"
    r"|needs?|stays? on|log with|written in|verwenden|nutzen|utilisons|usamos|usiamo)\b",
    re.IGNORECASE,
)
_FOR = make_regex(rf"\b(?P<what>{_NAME})\sfor\s(?P<purpose>{THING}){STOP}")
_WE_USE = make_regex(
    r"\b(?:we|project|repo|team|decided to|agreed to|wir|nous)\s(?:now\s|all\s|already\s)?(?:use|uses|verwenden|nutzen|utilisons)\s"
    r"|\b(?:went with|settled on|chose|picked)\s|\b(?:usamos|usiamo)\s",
    re.IGNORECASE,
)
_USES = make_regex(
    f"(?:^|[.;:,]\\s)(?P<who>{THING})\\s(?:now\\s)?(?:uses?|(?:is|are) (?:built (?:with|on)|written in|stored "
    f"in)|runs? on|stays? on)\\s(?P<what>(?:our own\\s)?{_NAME}){STOP}",
    re.IGNORECASE,
)
_DEPENDS = make_regex(
    rf"(?:^|[.;:,]\s)(?P<who>{THING})\s(?:depends? on|requires?|needs?)\s(?P<what>(?:the\s|an?\s)?{_NAME}){STOP}",
    re.IGNORECASE,
)
_OWN_WORK = make_regex(r"^(?:i|you|he|she|it|they|this|that|there|which|who|what)$", re.IGNORECASE)
_NAME_CUE = make_regex(r"[A-Z0-9`]")


def find(statement: Statement) -> Iterator[Claim]:
    """Yield what is used for what, and what depends on what."""
    if not statement.mentions(_CUES) or not _CUE.search(statement.text):
        return
    start = _WE_USE.search(statement.text)
    if start is not None and asserts(statement, start.start(), len(statement.text)):
        for match in _FOR.finditer(statement.text, start.end()):
            thing, purpose = tidy(match["what"]), tidy(match["purpose"])
            if is_thing(thing, 4) and is_thing(purpose, 4):
                yield claim(statement, "use", purpose, "uses", thing)
    for kind, predicate, pattern in (("use", "uses", _USES), ("dependency", "depends_on", _DEPENDS)):
        for match in pattern.finditer(statement.text):
            subject, thing = owner_of_deed(match["who"]), tidy(match["what"])
            if not subject or not is_thing(thing, 4) or not _NAME_CUE.search(match["what"]) or thing.endswith(" it"):
                continue
            if not _OWN_WORK.match(match["who"]) and asserts(statement, match.start("who"), match.end("what")):
                yield claim(statement, kind, subject, predicate, thing)  # type: ignore[arg-type]
