"""LongMemEval: questions, each with its own haystack of chats between a person and an assistant.

The file is one of the data set's own (`longmemeval_s_cleaned.json` and so on): a list of `{question_id,
question_type, question, haystack_session_ids, haystack_dates, haystack_sessions, answer_session_ids}`. Turns that hold
the answer are marked `has_answer`. Questions whose id ends in `_abs` have no answer (abstention); the data set's own
evaluation of retrieval leaves them out, though the file names the sessions that they were made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from palazzo.bench.cases import Case, Question, Talk, Turn
from palazzo.bench.documents import Malformed, entries, need, question, unique
from palazzo.model import Micros

TITLE = "LongMemEval"
ABSTENTION = "abstention"
_ABSTAINS = "_abs"


def read(document: Any) -> tuple[Case, ...]:
    """Return each question with its haystack; Malformed where the document is another."""
    taken: set[str] = set()
    return tuple(_case(one, f"question {n}", taken) for n, one in enumerate(entries(document, dict, "it"), 1))


def _case(one: Mapping[str, Any], where: str, taken: set[str]) -> Case:
    names = need(one, "haystack_session_ids", list, where)
    sessions = entries(need(one, "haystack_sessions", list, where), list, f"'haystack_sessions' of {where}")
    dates = one.get("haystack_dates") or [None] * len(names)
    if not len(names) == len(sessions) == len(dates):
        raise Malformed(f"{where} has {len(names)} session ids, {len(dates)} dates and {len(sessions)} sessions")
    ids: set[str] = set()
    talks, marked = [], set[str]()
    for name, date, session in zip(names, dates, sessions, strict=True):
        own = unique(str(name), ids)
        said = entries(session, dict, f"session {own} of {where}")
        turns = tuple(_turn(turn, f"{own}#{n}", f"session {own} of {where}") for n, turn in enumerate(said))
        marked.update(made.id for made, turn in zip(turns, said, strict=True) if turn.get("has_answer"))
        talks.append(Talk(own, _when(date), turns))
    identity = str(one.get("question_id", where))
    answered = frozenset(str(each) for each in one.get("answer_session_ids") or ()) & ids
    return Case(unique(identity, taken), tuple(talks), (_question(one, where, identity, frozenset(marked), answered),))


def _question(
    one: Mapping[str, Any], where: str, identity: str, turns: frozenset[str], sessions: frozenset[str]
) -> Question:
    abstains = identity.endswith(_ABSTAINS)
    kind = ABSTENTION if abstains else need(one, "question_type", str, where)
    return Question(question(one, where), kind, turns, sessions, abstains, counted=not abstains)


def _turn(turn: Mapping[str, Any], own: str, where: str) -> Turn:
    role = need(turn, "role", str, f"a turn of {where}")
    return Turn(own, need(turn, "content", str, f"a turn of {where}"), "assistant" if role == "assistant" else "user")


def _when(text: object) -> Micros | None:
    """Read `2023/05/27 (Sat) 14:19`."""
    day, _, rest = str(text).partition(" (")
    try:
        moment = datetime.strptime(f"{day} {rest.partition(') ')[2]}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Micros(int(moment.timestamp() * 1_000_000))
