"""Modality: whether a sentence states a present fact of its author: no question, wish, plan, guess, denial, memory.

Pure. Uses tables of words in English and some German, French, Spanish, Italian and Portuguese. A doubtful sentence does
not count as a statement, because a rule that finds nothing does no harm.
"""

from __future__ import annotations

import re
from dataclasses import replace

from palazzo.knowledge.statements import COMMIT, Statement
from palazzo.text.lazy_patterns import make_regex


def _table(*alternatives: str) -> re.Pattern[str]:
    return make_regex("|".join(alternatives), re.IGNORECASE)


_ASKS = _table(
    r"\?[)\"'”»*_]*$",
    r"\?\?",
    r"^(?:(?:ok|so|and|but|hey|btw|also|well|hmm|or)[, ]+)?(?:should|shall|would|could|can|do|does|did|didn't|don't we"
    r"|is (?:it|there|this|that|the)|are (?:we|you|there)|was|were|has|have (?:we|you)|will|what|which|who|why|how|where"
    r"|when did|whether)\b(?!.*\b(?:is|are) (?:now|off|on)\b)(?=[^.]*$)",
    r"^(?:nehmen|sollen|sollten|können|könnten|warum|welche|et si|est-ce|pourquoi|por qu[eé]|qué|perché|por que)\b",
    r"\b(?:wonder(?:ing)?|any idea|let me know|could you|can you|would you|can we|should we|shall we)\b",
)
_SUPPOSES = _table(
    r"\b(?:if|unless|assuming|suppos(?:e|ing)|imagine|provided that|in case (?:we|you|it)|depending on)\b",
    r"\b(?:would|could|might|should|(?-i:may)|ought to|shall|'d)\b",
    r"\b(?:maybe|perhaps|probably|possibly|presumably|likely|apparently|supposedly|i (?:think|guess|believe|assume)"
    r"|afaik|iirc|not sure|unsure|it seems|seems to|looks like)\b",
    r"\b(?:falls|wenn|würde[nst]?|könnte|sollte|vielleicht|möglicherweise|si on|peut-être|quizás|tal vez|forse|talvez)\b",
)
_PLANS = _table(
    r"\b(?:propos\w+|suggest\w*|recommend\w*|consider\w*|planned|planning|the plan|plans? to|want(?:s|ed)?|wish\w*|hop(?:e|es|ing)"
    r"|intend\w*|thinking (?:of|about)|think about|going to|gonna|will|let's|let us|to-?do|idea|ideas|evaluat\w+"
    r"|discuss\w*|debat\w+|look(?:s|ing)? into|explor\w+|experiment\w*|spike|prototype|draft|rfc|proof of concept|trial"
    r"|in (?:the )?future|one day|some day|someday|at some point|next (?:week|month|quarter|year|sprint|release|version)"
    r"|soon|eventually|not yet|(?:an )?option|instead\?)\b",
    r"\bi'll\b|\bwe'll\b|\bit'll\b|\bi need\b|\bi'm (?:about|trying)\b|\btry(?:ing)? (?:to|out)\b",
    r"\b(?:werden wir|wollen|möchte|geplant|vorschlag|demnächst|bald|on va|nous allons|vamos a|vorremmo|vamos)\b",
)
_DENIES = _table(
    r"\b(?:did|do|does|have|has|had|was|were|am) not\b(?! (?:required|allowed|enabled|supported))",
    r"\b(?:didn't|don't|doesn't|haven't|hasn't|hadn't|wasn't|weren't|won't|can't|cannot|never|neither|nor)\b",
    r"\b(?:reject\w*|turned down|abandon\w*|roll(?:ed)? back|revert\w*|undone|cancelled|canceled|declin\w+|postpon\w+"
    r"|without merging|do not merge|thrown away)\b",
    r"\b(?:nicht(?! mehr)|kein\w*|niemals|ne (?:\w+ )?pas|nunca|non è|não (?:é|foi))\b",
)
_REMEMBERS = _table(
    r"\b(?:years? ago|months? ago|back then|in the past|used to|once upon|formerly|originally|historically|in those days"
    r"|at the time|before (?:he|she|they|i|we|it|that|my|the)\b|former (?:company|employer|job|team)|last company"
    r"|i had|we had|they had|had been|\bhad \w+ed)\b",
)
_FOREIGN = _table(
    r"\b(?:many|most|some|other|several|lots of|a lot of|plenty of|typical|all) (?:projects?|people|teams?|companies"
    r"|developers?|shops|users|providers|libraries|tools)\b",
    r"\b(?:their|his|her|your) (?:team|company|blog|docs?|documentation|changelog|repo\w*|project|fork|setup|laptop)\b",
    r"\b(?:upstream|vendor(?:['’]?s)?\b|the data team|newsletter|blog|according to|wrote (?:that|in)|announced|tutorial"
    r"|changelog,|in general|generally|for example|for instance|e\.g\.|say,|such as|example:|background:)",
    r"\b(?:personally|my (?:laptop|own|machine|box|weekend|fork|side project|private)|weekend (?:project|box)|at home|on my|i run it)\b",
    r"^(?:dear|hi|hello)\b",
    r"\b(?:he|she|they|somebody|someone|people) (?:says?|said|claims?|claimed|wrote|thinks?|believes?|mentioned|told)\b",
    r"\b(?-i:[A-Z][a-z]+) (?:claims|claimed|thinks|believes|suggested|asked|wonders|heard|wrote)\b",
)
_JOKES = _table(
    r"^(?:sure|yeah|yes), (?!that|it)\b",
    r"\b(?:sentient|carrier pigeons?|raccoon|magic|unicorns?|haha|lol|just kidding|joking|sarcasm)\b",
)
_PARTIAL_CUES = _table(
    r"\b(?:some of|a few|half|partly|partially|one of|parts? of|several of|two of|three of|so far|for now|temporarily"
    r"|for the moment|in the meantime|experimentally|on (?:a|the|my) branch|feature branch|exception|except for|the rest"
    r"|for a test|as a test|in one place|only for|only in|only on)\b",
)
_ORDERS_WORDS = _table(
    r"\b(?:write|say|spell|call it|rephrase|wording|sentence|typo|comment)\b.*[\"“'`].*\binstead of\b"
)


def asserts(statement: Statement, begin: int = 0, end: int | None = None, cue: str = "") -> bool:
    """Return whether the text from `begin` to `end` of a statement says that something of one's own is or was done.

    A condition applies to everything after it in the sentence, a negation only to its own part, a question to the
    whole. `cue` are words that a rule has already interpreted, such as `no longer`.
    """
    if statement.setting == "open" or statement.aside:
        return False
    text = statement.text
    first, last = _part(text, begin, len(text) if end is None else end)
    context, own = text[:last], text[first:last]
    if cue:
        context, own = context.replace(cue, " "), own.replace(cue, " ")
    return not (
        _ASKS.search(text)
        or any(mood.search(context) for mood in (_SUPPOSES, _PLANS, _REMEMBERS, _FOREIGN, _JOKES, _ORDERS_WORDS))
        or _DENIES.search(own)
    )


_CONVENTIONAL = make_regex(r"(?:feat|build|ci|chore|refactor|perf|deps)(?:\([\w /.-]+\))?!?:\s+", re.IGNORECASE)
_ORDERS = dict(
    pair.split(":")
    for pair in (
        "bump:bumped raise:raised lower:lowered increase:increased reduce:reduced upgrade:upgraded update:updated"
        " downgrade:downgraded move:moved migrate:migrated switch:switched convert:converted change:changed port:ported"
        " relocate:relocated remove:removed drop:dropped retire:retired delete:deleted replace:replaced enable:enabled"
        " disable:disabled activate:activated deactivate:deactivated turn:turned set:set pin:pinned swap:swapped"
        " stop:stopped supersede:superseded scrap:scrapped decommission:decommissioned extend:extended shorten:shortened"
        " relicense:relicensed"
    ).split()
)  # fmt: skip


def spelled_out(statement: Statement) -> Statement:
    """Return a statement with contractions expanded, so that rules need only the long forms."""
    text = statement.text
    if "'" not in text and "’" not in text:
        return statement
    for short, whole in _SHORT:
        text = short.sub(whole, text)
    return replace(statement, text=text)


_SHORT = (
    (make_regex(r"\b(is|are)n['’]t\b", re.IGNORECASE), r"\1 not"),
    (make_regex(r"\b(we|i|they|you)['’]ve\b", re.IGNORECASE), r"\1 have"),
)


def as_done(statement: Statement) -> Statement:
    """Return a statement with a commit subject's imperative as what has been done.

    "ci: migrate from A to B" says, once it is in the history, that one has migrated. Nothing is converted for a fix:
    what it moves and removes is a place in the code.
    """
    text = statement.text
    prefix = _CONVENTIONAL.match(text)
    if prefix is None and statement.heading != COMMIT:
        return statement
    order, _, rest = text[prefix.end() if prefix else 0 :].partition(" ")
    participle = _ORDERS.get(order.casefold())
    if participle is None:
        return replace(statement, text=f"{order} {rest}") if prefix else statement
    return replace(statement, text=f"{participle} {rest}")


_BREAK = make_regex(
    r"\sand\s(?=(?:will|would|may)\b)|[;:]\s|\s[-—–]\s|[,—]\s(?=(?:so|and|but|which|where|who|because|please|hence|therefore|then|yet|you|don't)\b)"
)


def _part(text: str, begin: int, end: int) -> tuple[int, int]:
    """Widen a span to the part of the sentence that contains it."""
    first = max((match.end() for match in _BREAK.finditer(text, 0, begin)), default=0)
    boundary = _BREAK.search(text, end)
    return first, boundary.start() if boundary else len(text)


def is_partial(text: str) -> bool:
    """Return whether a sentence says that something holds partly or temporarily."""
    return _PARTIAL_CUES.search(text) is not None


def is_withdrawn(text: str) -> bool:
    """Return whether a text says at its beginning that it is not settled: a draft, a proposal."""
    return _DRAFT.search(text, 0, _BEGINNING) is not None


_BEGINNING = 240
_DRAFT = _table(
    r"\b(?:draft|proposal|proposed|rejected|do not merge|wip|rfc|unmerged|not merged|brainstorm\w*|status: (?:open|proposed)"
    r"|agenda|release notes of|(?<!the )migration guide)\b",
)


def extract_clause(statement: Statement, begin: int, end: int) -> str:
    """Return the part of a statement that contains the text from `begin` to `end`."""
    first, last = _part(statement.text, begin, end)
    return _PARENTHESIS.sub(" ", statement.text[first:last])


_PARENTHESIS = make_regex(r"\([^()]*\)")
