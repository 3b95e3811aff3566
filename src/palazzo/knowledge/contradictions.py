"""Detection of contradictions: whether a later text revokes what an earlier text says.

Pure. A later change (switched, instead, ended) revokes the earlier state. A later value revokes a different earlier
value of the same subject. In case of doubt there is no conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from palazzo.knowledge import statement_values
from palazzo.knowledge.clauses import DISTINCTIVE_WORDS, ENVIRONMENTS, GENERIC_WORDS, PLACES, bag, clauses, one_matter
from palazzo.knowledge.modality import asserts, is_partial, is_withdrawn
from palazzo.knowledge.rules.claim import Claim
from palazzo.knowledge.rules.noun_phrases import GENERIC
from palazzo.knowledge.statements import Statement, statements
from palazzo.knowledge.text_claims import claims_of

ConflictKind = Literal["version", "port", "path", "boolean", "value", "switch", "instead", "ended"]
_VALUE_KINDS: dict[str, ConflictKind] = {
    "version": "version", "port": "port", "path": "path", "boolean": "boolean",
}  # fmt: skip
_CHANGES = ("switch", "instead", "ended")


@dataclass(frozen=True)
class ComparedText:
    """A text prepared for comparison: the whole text, its statements, its claims, and its words."""

    text: str
    statements: tuple[Statement, ...]
    claims: tuple[Claim, ...]

    @cached_property
    def bags(self) -> tuple[frozenset[str], ...]:
        """Return the words of each statement."""
        return tuple(bag(statement.text) for statement in self.statements)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the bag of its words."""
        return bag(self.text)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An earlier text's statement (`old`, between `earlier`) and the later contradiction (`new`, between `later`)."""

    kind: ConflictKind
    subject: str
    old: str
    new: str | None
    earlier: tuple[int, int]
    later: tuple[int, int]


def tell(text: str, role: str) -> ComparedText:
    """Parse a text for comparison."""
    statement_list = tuple(statements(text, role))
    return ComparedText(
        text, statement_list, tuple(claim for statement in statement_list for claim in claims_of(statement))
    )


def contradictions(earlier: ComparedText, later: ComparedText) -> Iterator[Contradiction]:
    """Yield what the later text retracts of the earlier one, each matter once."""
    if is_withdrawn(later.text):
        return
    reported_keys: set[tuple[int, int] | str] = set()
    for claim in sorted(later.claims, key=lambda one: (one.kind == "ended", one.kind not in _CHANGES)):
        contradiction = (
            _changed(earlier, later, claim) if claim.kind in _CHANGES else _find_new_value(earlier, later, claim)
        )
        if contradiction is not None and reported_keys.isdisjoint(
            (contradiction.later, statement_values.plain(contradiction.old))
        ):
            reported_keys |= {contradiction.later, statement_values.plain(contradiction.old)}
            yield contradiction


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
    ("path", re.compile(r"^[~.]?/\w|://|\w/\w+/")),
    ("version", re.compile(r"^[`v<>=~^]*\d+(?:\.\d+)+|\s\d+(?:\.\d+)*$")),
    ("value", re.compile(r"^[`$€£]?\d")),
)


def _stays(later: ComparedText, claim: Claim, old: frozenset[str]) -> bool:
    """Return whether the later text elsewhere says that the ended thing continues."""
    return any(
        (statement.start, statement.end) != (claim.start, claim.end) and old & words and _GOES_ON.search(statement.text)
        for statement, words in zip(later.statements, later.bags, strict=True)
    )


_GOES_ON = re.compile(
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
    return place is not None and bool(bag(place[1]) - GENERIC_WORDS - _TIMES) and not bag(place[1]) & earlier.words


_TIMES = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday"
    " thursday friday saturday sunday spring summer autumn winter favour favor".split()
)
_FIGURE = re.compile(r"[`v<>=~^$€]?\d")
_FOR = re.compile(
    r"\bfor (?!(?:now|us|good|all|everybody|everyone|everything|nobody|example|months|years|weeks|days|a while)\b)((?:the |our |all )?[\w./-]+(?: [\w./-]+)?)"
)
_PARTICULAR = re.compile(r"[a-z][A-Z]|\d|\w[_/.-]\w")
"""Parts that make a name specific to one thing: `date-picker.js`, `worker-3`."""


# --- other values ------------------------------------------------------------------------------------------


def _find_new_value(earlier: ComparedText, later: ComparedText, claim: Claim) -> Contradiction | None:
    if claim.value is None or _FURTHER.search(claim.sentence):
        return None
    contradiction: Contradiction | None = None
    for earlier_claim in earlier.claims:
        if earlier_claim.value is None or not _one_matter(earlier, later, earlier_claim, claim):
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


def _one_matter(earlier: ComparedText, later: ComparedText, earlier_claim: Claim, later_claim: Claim) -> bool:
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


_FURTHER = re.compile(
    r"\b(?:also|additionally|in addition|as well|another|a (?:second|third|further)|besides|plus|zusätzlich|auch|aussi|también|anche"
    r"|também)\b",
    re.IGNORECASE,
)
"""Words that say that a statement adds to an earlier one."""
_RATE = re.compile(
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
        bag(match[1]) - GENERIC_WORDS - _TIMES - earlier.words for match in _RESTRICTION.finditer(tail)
    )


def _extract_tail(claim: Claim) -> str:
    """Return what follows the value in the sentence, up to reasons and times."""
    return _BEHIND_ENDS.split(_around(claim)[1])[0]


_BEHIND_ENDS = re.compile(
    r"[,;:(—–]\s|\.(?:\s|$)|\s(?:since|because|as|so|until|after|before|and|but|any longer|any ?more)\b"
)


def _around(claim: Claim) -> tuple[str, str]:
    """Return the text before and after the value of a claim."""
    value = claim.value.text if claim.value else ""
    match = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", claim.sentence)
    return (claim.sentence[: match.start()], claim.sentence[match.end() :]) if match else (claim.sentence, "")


_RESTRICTION = re.compile(
    r"\b(?:for|in|on|inside|within|during)\s(?!(?:all|every\w*|any|everybody|both|the whole|us|now|good|\w+ reasons?)\b)((?:\w[\w/.-]*\s?){1,4})"
)
_CONDITION = re.compile(r"\W*(?:\w+\s){0,2}(?:when|whenever|unless|except|only)\b", re.IGNORECASE)


def _set_apart(earlier: ComparedText, later: Claim) -> bool:
    """Return whether a later claim is about, or begins with, a place that the earlier text does not mention."""
    prefix, suffix = _around(later)
    own = " ".join((_STOP.split(prefix)[-1], _STOP.split(suffix)[0]))
    if (bag(own) & PLACES) - earlier.words:
        return True
    scope = _SCOPE_PREFIX.match(later.sentence)
    return scope is not None and bool(bag(scope[1]) - GENERIC_WORDS - _TIMES - earlier.words)


_STOP = re.compile(r"[,;]\s")
_SCOPE_PREFIX = re.compile(
    r"(?:for|in|on|inside|within|during|under)\s(?!(?:all|every\w*|any|both|the whole|the sake|the end|us|now|short|fact|addition)\b)"
    r"((?:the |our |your |a )?[\w/.*`-]+)",
    re.IGNORECASE,
)


_UNIT_WORDS = frozenset("second ms min mb kb gb port version minute hour url path dir value".split())
_WE = frozenset("project repository repo monorepo app application service server config setting whole".split())
_MEASUREMENT_KEY = re.compile(
    r"(?:^|[\W_])(?:id|pid|count|total|time|date|duration|elapsed|tokens?|exit|code|hash|sha\d*|uuid|length|bytes|offset|line"
    r"|lines|lineno|column|index|timestamp|created|updated|modified|at|seq|cost|usage|score|percent|progress|passed|failed"
    r"|rows?|items|results?|start|end|step|epoch|loss|size)$",
    re.IGNORECASE,
)
"""Keys whose values are measured or counted again each time."""
_DISTINCTIVE_LINE = re.compile(r"^(?!\[).{6,}[^{:\[]$")


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


_IDENTITY = re.compile(
    r"""(?<![\w.-])["']?(name|service|app|host|hostname|project|tenant|env|environment|namespace|role)["']?\s*[:=]\s*["']?[\w./@-]+"""
)
_COMMON_SECTIONS = frozenset(
    "spec metadata services service server resources env data config settings containers limits requests http default properties".split()
)
"""Sections that occur in many files."""


_FILE = re.compile(r"[\w./-]*\.[\w.-]*\w|[\w-]+/[\w./-]+")


def _names_file(sentence: str, context_lines: frozenset[str]) -> bool:
    """Return whether a sentence names a file that a command among these lines shows."""
    commands = " ".join(line for line in context_lines if line.startswith("$ ")).split()
    return any(name in commands for name in _FILE.findall(sentence) if len(name) > 4)
