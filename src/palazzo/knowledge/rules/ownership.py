"""Rule for owners: who is responsible for a thing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.knowledge.clauses import bag
from palazzo.knowledge.modality import asserts
from palazzo.knowledge.rules.claim import Claim
from palazzo.knowledge.rules.noun_phrases import STOP, THING, is_thing, tidy
from palazzo.knowledge.statement_values import Value
from palazzo.knowledge.statements import Statement
from palazzo.text.lazy_patterns import make_regex

_PERSON = r"(?-i:@?[A-Z][\w-]+(?:\s[A-Z][\w-]+)?|@[\w/-]+|(?:the\s)?[\w-]+\steam|team\s[A-Z]\w+)"
_NO_PERSON = frozenset("the a an this that it which who what he she they we i you if when".split())
_OWNERS = tuple(
    make_regex(pattern.replace("PERSON", _PERSON).replace("THING", THING).replace("STOP", STOP), re.IGNORECASE)
    for pattern in (
        r"(?P<who>PERSON)\s(?:now\s|already\s)?(?:owns|maintains|leads|looks after|takes care of|is (?:now )?(?:responsible for|in charge of"
        r"|the owner of|the maintainer of|on call for)|takes over|took over|answers for)\s(?P<thing>THING)STOP",
        r"(?:^|[.;:,]\s)(?P<thing>THING)\s(?:is|are)\s(?:now\s)?(?:owned|maintained|led|looked after|run)\sby\s(?P<who>PERSON)STOP",
        r"(?:^|[.;:,]\s)(?P<thing>THING)\s(?:belongs?|went|goes)\sto\s(?P<who>PERSON)STOP",
        r"(?:^|[.;:,]\s)(?:the\s)?(?:owner|maintainer|lead|contact)\s(?:of|for)\s(?P<thing>THING)\sis\s(?:now\s)?(?P<who>PERSON)STOP",
    )
)
_CUES = ("own", "maintain", "lead", "led by", "looks after", "looked after", "responsible", "in charge", "takes", "took over",
         "belong", "answers for", "contact", "on call")  # fmt: skip
_CUE = make_regex(
    r"\b(?:owns|owned|owner|maintain\w*|leads|led|lead|looks after|looked after|responsible|in charge|takes over|took over"
    r"|belongs?|answers for|takes care|contact|on call)\b",
    re.IGNORECASE,
)
_PROCESS = make_regex(r"\b(?:lock|process|thread|pid|mutex|memory|pointer|buffer|copyright)\b", re.IGNORECASE)


def find(statement: Statement) -> Iterator[Claim]:
    """Yield who owns what, in the sense of being responsible for it."""
    if not statement.mentions(_CUES) or not _CUE.search(statement.text) or _PROCESS.search(statement.text):
        return
    for pattern in _OWNERS:
        for match in pattern.finditer(statement.text):
            owner, thing = match["who"].strip(), tidy(match["thing"])
            if owner.casefold() in _NO_PERSON or not is_thing(thing, 5):
                continue
            if asserts(statement, match.start("who"), match.end("who")):
                value = Value("name", tidy(owner), "owner")
                yield Claim(
                    "owner", thing, "owned_by", value.text, statement.start, statement.end, value=value,
                    words=bag(thing) | {"owner"}, sentence=statement.text,
                )  # fmt: skip
