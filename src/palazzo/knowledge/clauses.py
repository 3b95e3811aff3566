"""Clauses: the subject, verb and value of a clause, and the bag of words that the value describes.

Pure. Two clauses have the same subject if their bags contain the same words in any order: "the rate limit for anonymous
clients is 250" and "anonymous clients get a rate limit of 100" do. A word that only one bag contains must at least
occur in the other clause's text. Words that distinguish two subjects (staging and production, read and write) must
occur in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.knowledge.statement_values import Value
from palazzo.knowledge.statements import Statement
from palazzo.text.lazy_patterns import make_regex

_VERB = make_regex(
    r"(?<![\w-])(?:(?:has|have) been|(?:was|were|got)(?=\s(?:now\s)?(?:turned|switched|set|made|enabled|disabled|activated)\b)"
    r"|utilisons|utilise|nutzen|verwenden|usamos|usiamo|ist|sind|est|sont|läuft|laufen|écoute|escucha|liegt|is|are|stays?|remains?|has|have|gets?|uses?|runs?|lives?|listens?|binds?|speaks?|ships?|serves?|opens?"
    r"|builds?|needs?|uses|accepts|resides?|retries|retains?|lasts?|pays|holds?|contains?|includes?|begins?|provides?|handles?|owns|maintains?|weighs?|rotates|happens?|exposes|publishes|stores|sends|puts|renders|depends?|requires?|supports?|costs?|says?|reads?|wraps?|hashes|comes?|goes|go|keeps?|sits?|expires?"
    r"|trains?|connects?|points?|writes|defaults?|takes|allows?|land|lands|deliver|delivers|works?|talks?)(?![\w-])"
    r"|['’](?:s|re)\b(?=\s+(?:stuck|on|at|in|stored|kept|now|called|set)\b)"
)
_HARD = make_regex(
    r"[;—–]\s|:\s|\s-\s|,\s(?:and|but|so|then|which|where|because|since|hence|therefore)\s|\(|\)|\bthat\s"
)
_TAIL = make_regex(
    r",\s|[;(—–]|\s-\s|:\s(?!https?://|`)|\.$"
    r"|\s(?:since|until|because|as of|from (?:now|this|today|next)|so that|so|while|when|which|where|and|but|if"
    r"|these days|instead|rather|by now|except|unless|overridable|(?:after|before)(?=\s[^\d`/~])|to(?=\s(?!the\b)[a-z]+(?:\s|$)))\s"
)
_TAIL_CUE = make_regex(r"\s(?:from|with)\s")
"""Text after one of these words, behind a value, describes the value."""
_WORD = make_regex(r"[\w%@~$<>][\w./%@:+#*~$'’-]{0,300}[\w%/+#>]|\w")
"""Bounded: otherwise a long line of `~` would be read to its end from each of them."""
_SCOPE = make_regex(r"(?:on|in|for|at|across|within|under|during|per)\b", re.IGNORECASE)
_PRONOUN = make_regex(r"^(?:it|they|this|that|there|these|those)$", re.IGNORECASE)
_LABEL = make_regex(r"^([^:.!?|]{2,60}?)\s*:\s+(\S.*)$")

EMPTY = frozenset(
    """turned switched marked built written made pinned locked stuck moved upgraded bumped compiled shipped deployed hosted configured declared
    listed recorded documented defined managed handled provided done rendered generated produced created sent logged
    raised lowered increased reduced set been got due limited capped counted measured expected cut taken given bound
    a an the this that these those it its i we you he she they our your my us me them his her their there here and or
    of to in on at by for with from as into onto over under per than then also both only just still now currently today
    present again already anymore any more all every each everywhere always ever generally fully really please so very
    own new same is are be been being was were has have had do does did gets get use uses used using run runs running
    live lives listen listens bind binds speak speaks say says read reads come comes go goes keep keeps stay stays remain
    remains set sit sits need needs require requires cost costs ok okay btw fyi note heads-up reminder by-the-way one
    which who whose what when where while since until because via be's day days time times changed updated applied done
    located stored kept held found written placed put served published exposed reachable available called named based
    file's these value number version port exactly least most about around up down out no not n't yes across
    der die das den dem ein eine einer und oder ist sind auf im von zu für le la les un une des et est sont sur
    el los las una y es son en il lo gli e sono su o os as um uma é são em""".split()
)
GENERIC_WORDS = frozenset(
    """site website product package image build software code stack tool world company office thing server side machine
    project repo repository monorepo codebase team whole everybody everyone everything setup system service app
    application customer customers user users config configuration setting settings environment host
    address feature flag directory folder socket region place path url endpoint prefix""".split()
)
ENVIRONMENTS = frozenset(
    """production prod staging stage dev development preview canary local localhost beta alpha sandbox demo qa
    release nightly debug primary replica standby legacy windows linux macos android ios arm64 amd64 x86 free pro
    enterprise community""".split()
)
"""Places, editions and platforms: a statement about one does not apply to another."""
PLACES = frozenset(
    """production prod staging stage preview canary local localhost sandbox qa test ci example sample fixture demo dev
    development laptop machine suite draft""".split()
)
"""Places where something is run, tried or shown: a statement about one does not apply to another."""
DISTINCTIVE_WORDS = ENVIRONMENTS | frozenset(
    """test tests testing ci read write connect idle request response client server master internal external public
    private admin guest anonymous signed-in authenticated minimum maximum min max soft hard hourly daily weekly monthly
    yearly input output upload download incoming outgoing source target old cluster monitoring http https grpc rest ipv4
    ipv6 cpu memory disk limit limits requests""".split()
)
"""Words that distinguish two things: a statement about one does not apply to the other."""


@frozen
class Clause:
    """A subject, a verb (empty for `label: value`), the statement, and the words of both without the verb."""

    subject: str
    verb: str
    rest: str
    scope: str = ""
    lead: str = ""
    begin: int = 0
    end: int = 0

    def words(self, value: Value) -> frozenset[str]:
        """Return the bag of the clause's words without those of the value."""
        prefix, _, suffix = cut(self.rest).partition(value.text)
        tail_match = _TAIL_CUE.search(suffix)
        return bag(f"{self.scope} {self.subject} {prefix} {suffix[: tail_match.start()] if tail_match else suffix}")


def clauses(statement: Statement) -> Iterator[Clause]:
    """Yield the clauses of a statement with a form of "be" or "have", and `label: value`."""
    text = _ASIDES.sub(lambda found: " " * len(found[0]), statement.text)
    label = _LABEL.match(text)
    if label is not None and len(label[1].split()) <= 6 and not _VERB.search(label[1]) and not _TALK.match(label[1]):
        yield Clause(_clean(label[1]), "", label[2], begin=0, end=label.start(2) + len(cut(label[2])))
    last = ""
    begin = 0
    for verb in _VERB.finditer(text):
        if verb.start() < begin or _NOUN.match(text, verb.end()):
            continue
        head = text[begin : verb.start()]
        hard = max((match.end() for match in _HARD.finditer(head)), default=0)
        scope, subject = _subject(head[hard:])
        if _PRONOUN.match(subject) and last:
            subject = last
        if len(subject) > _LONGEST_SUBJECT or not (bag(subject) or subject.casefold() in _OURS):
            continue
        if not _PRONOUN.match(subject):
            last = f"{scope} {subject}".strip()
        lead = head[:hard].strip(" :;") if head[:hard].endswith(": ") else ""
        rest = text[verb.end() :]
        end = verb.end() + len(cut(rest))
        yield Clause(
            _clean(subject), verb[0], rest.strip(), scope, "" if _TALK.match(lead) else lead, begin + hard, end
        )
        begin = verb.end()


_ASIDES = make_regex(r"\*\*|\b(?:that |which )?(?:you|we|they) (?:need|have|want|are supposed) to \w+\b", re.IGNORECASE)
_TALK = make_regex(
    r"(?:i|we|you|because|since|note|notes|done|ok|okay|so|confirmed|verified|reminder|heads-up|fyi|new|after|before|\w+ed"
    r"|breaking|changed?|fix|feat|docs|chore|summary|background|update|to be clear|in short|one thing|thanks|please)\b",
    re.IGNORECASE,
)
"""The beginning of a remark before a colon that says nothing about the text after it."""


_LONGEST_SUBJECT = 90
_NOUN = make_regex(
    r"\s(?:is|are|was|were|has|have|stays?|remains?|gets?)\b|\sthe\b.{2,60}\s(?:is|are)\s(?!called|named)"
)
"""Words after a noun that looks like a verb: `reads are allowed`, `by default the index is`."""
_OURS = ("we", "our team", "wir", "nous")


def bag(text: str) -> frozenset[str]:
    """Return the content words of a text, each in one form."""
    tokens = (_POSSESSIVE.sub("", word.casefold()).strip("/*.:") for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in tokens if word and word not in EMPTY)


_POSSESSIVE = make_regex(r"['’]s?$")


def one_matter(
    first: frozenset[str], second: frozenset[str], first_text: frozenset[str], second_text: frozenset[str]
) -> bool:
    """Return whether two bags of words have one topic; the texts' bags hold all words around them."""
    common = first & second
    if not common or not common - GENERIC_WORDS:
        return first == second and bool(first)
    only_first, only_second = first - second, second - first
    if (only_first | only_second) & DISTINCTIVE_WORDS:
        return False
    if len(common) >= _MANY and len(only_first | only_second) == 1:
        return True
    return (
        len(common) >= max(len(only_first), len(only_second))
        and _stand(only_first, second_text)
        and _stand(only_second, first_text)
    )


_MANY = 3
"""Minimum number of common words for which one side may have an additional word."""


def _stand(words: frozenset[str], text: frozenset[str]) -> bool:
    """Return whether a text contains these words; generic ones do not count."""
    return words - GENERIC_WORDS <= text


def _stem(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) and word != "https":
        return word[:-1]
    return word


def _subject(text: str) -> tuple[str, str]:
    """Split the text before a verb into its scope ("In production,") and its subject."""
    parts = [part.strip() for part in text.split(", ") if part.strip()]
    if not parts:
        return "", ""
    scopes = [part for part in parts[:-1] if _SCOPE.match(part)]
    return ", ".join(scopes), parts[-1]


def cut(text: str) -> str:
    """Return the text up to where the sentence turns to reasons, times and other things."""
    end = _TAIL.search(text, 1)
    return text[: end.start()] if end else text


_DETERMINER = make_regex(
    r"^(?:(?:ok|okay|btw|fyi|note|and|but|so|also|now|today|reminder|heads-up|the|a|an|our|my|your|its|this|that)[,:]?\s+)+",
    re.IGNORECASE,
)


def _clean(text: str) -> str:
    return _DETERMINER.sub("", text.strip(" ,*_`'\"")).strip(" ,*_`'\"")
