"""LongMemEval: questions, each with its own haystack of chats between a person and an assistant.

The file is one of the data set's own (`longmemeval_s_cleaned.json` and so on): a list of `{question_id, question_type,
question, haystack_session_ids, haystack_dates, haystack_sessions, answer_session_ids}`. Turns that hold the answer are
marked `has_answer`. Questions whose id ends in `_abs` have no answer (abstention). The data set's own evaluation of
retrieval leaves them out, although the file names the sessions from which they were made.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from palazzo.bench.cases import Case, Question, Talk, Turn
from palazzo.bench.json_dataset import DocumentError, entries, need, question, unique
from palazzo.model import Micros

TITLE = "LongMemEval"
ABSTENTION = "abstention"
_ABSTAINS = "_abs"


def read(document: Any) -> tuple[Case, ...]:
    """Return each question with its haystack; raise Malformed if the document has another form."""
    used_names: set[str] = set()
    return tuple(_case(entry, f"question {n}", used_names) for n, entry in enumerate(entries(document, dict, "it"), 1))


def _case(entry: Mapping[str, Any], location: str, used_names: set[str]) -> Case:
    names = need(entry, "haystack_session_ids", list, location)
    sessions = entries(need(entry, "haystack_sessions", list, location), list, f"'haystack_sessions' of {location}")
    dates = entry.get("haystack_dates") or [None] * len(names)
    if not len(names) == len(sessions) == len(dates):
        raise DocumentError(f"{location} has {len(names)} session ids, {len(dates)} dates and {len(sessions)} sessions")
    ids: set[str] = set()
    talks, answer_turns = [], set[str]()
    for name, date, session in zip(names, dates, sessions, strict=True):
        own = unique(str(name), ids)
        turn_entries = entries(session, dict, f"session {own} of {location}")
        turns = tuple(_turn(turn, f"{own}#{n}", f"session {own} of {location}") for n, turn in enumerate(turn_entries))
        answer_turns.update(
            new_turn.id for new_turn, turn in zip(turns, turn_entries, strict=True) if turn.get("has_answer")
        )
        talks.append(Talk(own, _parse_time(date), turns))
    identity = str(entry.get("question_id", location))
    answer_sessions = frozenset(str(session_id) for session_id in entry.get("answer_session_ids") or ()) & ids
    return Case(
        unique(identity, used_names),
        tuple(talks),
        (_question(entry, location, identity, frozenset(answer_turns), answer_sessions),),
    )


def _question(
    entry: Mapping[str, Any], location: str, identity: str, turns: frozenset[str], sessions: frozenset[str]
) -> Question:
    abstains = identity.endswith(_ABSTAINS)
    kind = ABSTENTION if abstains else need(entry, "question_type", str, location)
    return Question(question(entry, location), kind, turns, sessions, abstains, is_scored=not abstains)


def _turn(turn: Mapping[str, Any], own: str, location: str) -> Turn:
    role = need(turn, "role", str, f"a turn of {location}")
    return Turn(
        own, need(turn, "content", str, f"a turn of {location}"), "assistant" if role == "assistant" else "user"
    )


def _parse_time(text: object) -> Micros | None:
    """Read `2023/05/27 (Sat) 14:19`."""
    day, _, rest = str(text).partition(" (")
    try:
        moment = datetime.strptime(f"{day} {rest.partition(') ')[2]}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Micros(int(moment.timestamp() * 1_000_000))
