"""Questions to try first: commands made of the person's own words in their history, safe to paste into a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.setup.contract import StarterQuestion
from palazzo.security.secret_scanner import MARK
from palazzo.store import digest_rows
from palazzo.text.stopwords import STOP_WORDS
from palazzo.text.word_forms import terms

if TYPE_CHECKING:
    from palazzo.store.database import Connection

_MOST_LINES = 400
"""The most lines of digests that are examined, the newest."""
LONGEST = 58
"""The most characters of a question: its command then fits in 80 columns."""
_FEWEST_WORDS = 3
"""The fewest words with a meaning of their own: `Yes, do that.` finds nothing in particular."""
_BREAKS_QUOTES = str.maketrans(dict.fromkeys('"“”„‟«»`$\\!%^<>|&', " "))
"""Characters that end double quotes or have a meaning within them, in a POSIX shell, in PowerShell or in cmd."""
_LOOSE_ENDS = " .,:;-–—("


def suggest_questions(connection: Connection, limit: int) -> tuple[StarterQuestion, ...]:
    """Return the newest usable questions: of different sessions, and of different wings as far as possible."""
    questions: dict[str, StarterQuestion] = {}
    used_queries = {""}
    for line in digest_rows.in_own_words(connection, ("decided", "asked"), _MOST_LINES):
        query = to_query(line.quote.text)
        if query not in used_queries and line.session not in questions:
            command = f'palazzo search "{query}"'
            questions[line.session] = StarterQuestion(command, line.kind, line.wing, line.said_at)
            used_queries.add(query)
    first_of_wings = {question.wing: question for question in reversed(questions.values())}
    ordered_questions = sorted(questions.values(), key=lambda question: question is not first_of_wings[question.wing])
    return tuple(ordered_questions[:limit])


def to_query(text: str) -> str:
    """Return words as a query for double quotes in any shell; '' if they are too few or hold a redacted secret."""
    if MARK.search(text):
        return ""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    words = " ".join(printable.translate(_BREAKS_QUOTES).split()).lstrip("-–—•*#/@ ").rstrip(_LOOSE_ENDS)
    if len(words) > LONGEST:
        words = words[: LONGEST + 1].rpartition(" ")[0].rstrip(_LOOSE_ENDS)
    telling_words = {term for term in terms(words) if term not in STOP_WORDS and not term.isdigit()}
    return words if len(telling_words) >= _FEWEST_WORDS else ""
