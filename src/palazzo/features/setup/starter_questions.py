"""Questions to try first: commands made of the person's own words in their history, safe to paste into a shell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.model import Micros
from palazzo.security.secret_scanner import MARK
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


@dataclass(frozen=True, slots=True)
class StarterQuestion:
    """A command to try, and where its words come from: what the person `asked` or `decided`, in which wing and when."""

    command: str
    kind: str
    wing: str
    said_at: Micros


@dataclass(frozen=True, slots=True)
class _Quotation:
    text: str
    kind: str
    session: str
    wing: str
    at: Micros


def suggest_questions(connection: Connection, limit: int) -> tuple[StarterQuestion, ...]:
    """Return the newest usable questions: of different sessions, and of different wings as far as possible."""
    candidates: dict[str, tuple[str, _Quotation]] = {}
    for quotation in _quotations(connection):
        query = to_query(quotation.text)
        if query and query not in {earlier_query for earlier_query, _ in candidates.values()}:
            candidates.setdefault(quotation.session, (query, quotation))
    newest_of_wings: dict[str, str] = {}
    for session, (_, quotation) in candidates.items():
        newest_of_wings.setdefault(quotation.wing, session)
    first_sessions = frozenset(newest_of_wings.values())
    sessions = [*newest_of_wings.values(), *(session for session in candidates if session not in first_sessions)]
    return tuple(
        StarterQuestion(f'palazzo search "{query}"', quotation.kind, quotation.wing, quotation.at)
        for query, quotation in (candidates[session] for session in sessions[:limit])
    )


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


def _quotations(connection: Connection) -> Iterator[_Quotation]:
    from palazzo.store import digest_rows

    for line in digest_rows.in_own_words(connection, ("decided", "asked"), _MOST_LINES):
        yield _Quotation(line.quote.text, line.kind, line.session, line.wing, line.said_at)
