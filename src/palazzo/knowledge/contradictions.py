"""Detection of contradictions: whether a later text revokes what an earlier text says.

Pure. A later change (switched, instead, ended) revokes the earlier state. A later value revokes a different earlier
value of the same subject. In case of doubt there is no conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.knowledge import statement_values
from palazzo.knowledge.claim_identity import TIMES, are_one_matter
from palazzo.knowledge.clauses import ENVIRONMENTS, GENERIC_WORDS, bag, clauses
from palazzo.knowledge.compared_text import ComparedText
from palazzo.knowledge.modality import asserts, is_partial, is_withdrawn
from palazzo.knowledge.rules.claim import Claim
from palazzo.knowledge.rules.noun_phrases import GENERIC
from palazzo.knowledge.statements import Statement
from palazzo.text.lazy_patterns import make_regex

ConflictKind = Literal["version", "port", "path", "boolean", "value", "switch", "instead", "ended"]
_VALUE_KINDS: dict[str, ConflictKind] = {
    "version": "version", "port": "port", "path": "path", "boolean": "boolean",
}  # fmt: skip
_CHANGES = ("switch", "instead", "ended")


@frozen
class Contradiction:
    """An earlier text's statement (`old`, between `earlier`) and the later contradiction (`new`, between `later`)."""

    kind: ConflictKind
    subject: str
    old: str
    new: str | None
    earlier: tuple[int, int]
    later: tuple[int, int]


def contradictions(earlier: ComparedText, later: ComparedText, switches_only: bool = False) -> Iterator[Contradiction]:
    """Yield what the later text retracts of the earlier one, each matter once.

    With `switches_only`, only a statement that somebody switched from one thing to another does: no other value, no
    `instead of`, which pages say of what always holds. And only what people say of their own project: a page says of
    what it describes, and of its examples, that they change.
    """
    if is_withdrawn(later.text):
        return
    reported_keys: set[tuple[int, int] | str] = set()
    for claim in sorted(later.claims, key=lambda one: (one.kind == "ended", one.kind not in _CHANGES)):
        if switches_only and (claim.kind != "switch" or not _OF_THEIR_OWN.search(claim.sentence)):
            continue
        contradiction = (
            _changed(earlier, later, claim) if claim.kind in _CHANGES else _find_new_value(earlier, later, claim)
        )
        if contradiction is not None and reported_keys.isdisjoint(
            (contradiction.later, statement_values.plain(contradiction.old))
        ):
            reported_keys |= {contradiction.later, statement_values.plain(contradiction.old)}
            yield contradiction


_OF_THEIR_OWN = make_regex(
    r"\b(?:we|our|(?-i:I)(?![./])|wir|unser\w*|nous|notre|nuestr[oa]s?|pasamos|migramos|cambiamos|hemos|noi|abbiamo|nostr[oa]|mudamos|nós|noss[oa]"
    r"|migration|transition|change-?over|cut-?over)\b",
    re.IGNORECASE,
)
"""Words with which people say what they themselves switched."""


# --- what changed ------------------------------------------------------------------------------------------


def _changed(earlier: ComparedText, later: ComparedText, claim: Claim) -> Contradiction | None:
    old_words = bag(claim.old)
    if not old_words or is_partial(claim.sentence) or not _fits(claim, earlier) or _stays(later, claim, old_words):
        return None
    if claim.kind != "ended" and bag(claim.object) and bag(claim.object) <= earlier.words:
        return None
    for statement, words in zip(earlier.statements, earlier.bags, strict=True):
        if _in_use(statement, words, earlier, claim, old_words) and not _of_another(claim, earlier, statement):
            new = None if claim.kind == "ended" else claim.object
            return Contradiction(
                _kind(claim), claim.subject or claim.old, claim.old, new,
                (statement.start, statement.end), (claim.start, claim.end),
            )  # fmt: skip
    return None


def _kind(claim: Claim) -> ConflictKind:
    """Return the kind of thing that changed."""
    for kind, pattern in _KINDS:
        if claim.kind != "ended" and pattern.search(claim.object):
            return "port" if kind == "version" and "port" in claim.sentence.casefold() else kind
    return claim.kind  # type: ignore[return-value]


_KINDS: tuple[tuple[ConflictKind, re.Pattern[str]], ...] = (
    ("path", make_regex(r"^[~.]?/\w|://|\w/\w+/")),
    ("version", make_regex(r"^[`v<>=~^]*\d+(?:\.\d+)+|\s\d+(?:\.\d+)*$")),
    ("value", make_regex(r"^[`$€£]?\d")),
)


def _stays(later: ComparedText, claim: Claim, old: frozenset[str]) -> bool:
    """Return whether the later text elsewhere says that the ended thing continues."""
    return any(
        (statement.start, statement.end) != (claim.start, claim.end) and old & words and _GOES_ON.search(statement.text)
        for statement, words in zip(later.statements, later.bags, strict=True)
    )


_GOES_ON = make_regex(
    r"\b(?:stays?|still|remains?|continues?|as before|as ever|unchanged|back to|went back|rolled back|reverted"
    r"|other\w* (?:\w+ )?(?:do|use))\b",
    re.IGNORECASE,
)


def _in_use(
    statement: Statement, statement_words: frozenset[str], earlier: ComparedText, claim: Claim, old: frozenset[str]
) -> bool:
    """Return whether a statement (with these words) asserts what has ended."""
    strong = bag(" ".join(_strong(claim.old)))
    if not (old <= statement_words or (strong and strong <= statement_words and len(strong) * 2 >= len(old))):
        return False
    if (bag(claim.old.split()[-1]) - GENERIC_WORDS) - earlier.words:
        return False  # of something else that is called by it: workspaces of Terraform
    return asserts(statement, *_place(statement.text, claim.old)) and not any(
        earlier_claim.kind in _CHANGES and earlier_claim.start == statement.start and bag(earlier_claim.old) & old
        for earlier_claim in earlier.claims
    )


def _place(text: str, thing: str) -> tuple[int, int]:
    """Return the position of a thing, or of its first word, in a sentence."""
    lowercase_text = text.casefold()
    for words in (thing, *thing.split()):
        at = lowercase_text.find(words.casefold())
        if at >= 0:
            return at, at + len(words)
    return 0, len(text)


def _strong(text: str) -> list[str]:
    """Return the words of a thing that identify it: with capitals or digits, or code."""
    return [word for word in text.split() if re.search(r"[A-Z\d_./]", word)]


def _fits(claim: Claim, earlier: ComparedText) -> bool:
    """Return whether a change may concern the earlier text's subject: not a part of it, nor something else."""
    environments = (bag(claim.sentence) & ENVIRONMENTS) - bag(claim.object) - bag(claim.old)
    if environments - earlier.words:
        return False
    qualifier = _FOR.search(claim.sentence)
    if qualifier is not None and not bag(qualifier[1]) & (earlier.words | bag(claim.object) | bag(claim.old)):
        return not bag(qualifier[1])
    if claim.kind == "ended" and _concerns_other_place(claim, earlier):
        return False
    subject = claim.subject.casefold()
    if not subject or subject in GENERIC:
        return not _FIGURE.match(claim.object)
    if _FIGURE.match(claim.object):
        return bool(bag(claim.subject) & earlier.words) or subject in earlier.text.casefold().split()
    if subject in earlier.text.casefold().split():
        return True
    if claim.kind == "ended":
        return bag(claim.subject) - GENERIC_WORDS <= earlier.words
    if bag(claim.subject) & earlier.words:
        return True
    return not _PARTICULAR.search(claim.subject)


def _of_another(claim: Claim, earlier: ComparedText, statement: Statement) -> bool:
    """Return whether a change and the statement that it would change have different subjects of their own."""
    own = bag(claim.subject) - GENERIC_WORDS - bag(claim.old) - bag(claim.object)
    if claim.kind != "switch" or not own or own & earlier.words:
        return False
    subjects = [bag(candidate.subject) - GENERIC_WORDS - bag(claim.old) for candidate in clauses(statement)]
    return any(subjects) and not any(candidate & bag(claim.sentence) for candidate in subjects)


def _concerns_other_place(claim: Claim, earlier: ComparedText) -> bool:
    """Return whether something was removed from a place that the earlier text does not mention."""
    place = re.search(
        rf"{re.escape(claim.old)}[`'\"]?\s(?:from|in|on)\s(?:the |our )?([\w./-]+(?: [\w./-]+)?)", claim.sentence
    )
    return place is not None and bool(bag(place[1]) - GENERIC_WORDS - TIMES) and not bag(place[1]) & earlier.words


_FIGURE = make_regex(r"[`v<>=~^$€]?\d")
_FOR = make_regex(
    r"\bfor (?!(?:now|us|good|all|everybody|everyone|everything|nobody|example|months|years|weeks|days|a while)\b)((?:the |our |all )?[\w./-]+(?: [\w./-]+)?)"
)
_PARTICULAR = make_regex(r"[a-z][A-Z]|\d|\w[_/.-]\w")
"""Parts that make a name specific to one thing: `date-picker.js`, `worker-3`."""


# --- other values ------------------------------------------------------------------------------------------


def _find_new_value(earlier: ComparedText, later: ComparedText, claim: Claim) -> Contradiction | None:
    if claim.value is None or _FURTHER.search(claim.sentence):
        return None
    contradiction: Contradiction | None = None
    for earlier_claim in earlier.claims:
        if earlier_claim.value is None or not are_one_matter(earlier, later, earlier_claim, claim):
            continue
        if not statement_values.differ(earlier_claim.value, claim.value):
            if plain(earlier_claim) == plain(claim):
                return None
            continue
        kind = _VALUE_KINDS.get(claim.value.kind, "value")
        contradiction = contradiction or Contradiction(
            kind, _subject(earlier_claim, claim), earlier_claim.object, claim.object, (earlier_claim.start, earlier_claim.end), (claim.start, claim.end)
        )  # fmt: skip
    return contradiction


def plain(claim: Claim) -> str:
    """Return the value of a claim in its form for comparison."""
    return statement_values.plain(claim.object)


def _subject(earlier_claim: Claim, later_claim: Claim) -> str:
    return max((earlier_claim.subject, later_claim.subject), key=len)


_FURTHER = make_regex(
    r"\b(?:also|additionally|in addition|as well|another|a (?:second|third|further)|besides|plus|zusätzlich|auch|aussi|también|anche"
    r"|também)\b",
    re.IGNORECASE,
)
"""Words that say that a statement adds to an earlier one."""
