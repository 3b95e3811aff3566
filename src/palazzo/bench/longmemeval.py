"""LongMemEval: questions, each with its own haystack of chats between a person and an assistant.

The file is one of the data set's own (`longmemeval_s_cleaned.json` and so on): a list of `{question_id,
question_type, question, haystack_session_ids, haystack_dates, haystack_sessions, answer_session_ids}`. Turns that hold
the answer are marked `has_answer`. Ids that end in `_abs` have no answer (abstention).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from palazzo.bench.cases import Case, Question, Talk, Turn
from palazzo.model import Micros

_ABSTENTION = "_abs"


def read(document: Sequence[Mapping[str, Any]]) -> tuple[Case, ...]:
    """Return each question with its haystack. Raises KeyError, TypeError or ValueError where the file is another."""
    return tuple(_case(one) for one in document)


def _case(one: Mapping[str, Any]) -> Case:
    dates = one.get("haystack_dates") or [""] * len(one["haystack_session_ids"])
    answered = set(map(str, one.get("answer_session_ids") or ()))
    talks: list[Talk] = []
    turns: set[str] = set()
    seen: dict[str, int] = {}
    for name, date, session in zip(one["haystack_session_ids"], dates, one["haystack_sessions"], strict=True):
        again = seen[name] = seen.get(name, 0) + 1
        own = str(name) if again == 1 else f"{name}~{again}"
        said = []
        for number, turn in enumerate(session):
            said.append(
                Turn(f"{own}#{number}", str(turn["content"]), "assistant" if turn["role"] == "assistant" else "user")
            )
            if turn.get("has_answer"):
                turns.add(said[-1].id)
        talks.append(Talk(own, _when(str(date)), tuple(said)))
    identity = str(one["question_id"])
    abstains = identity.endswith(_ABSTENTION)
    kind = "abstention" if abstains else str(one["question_type"])
    known = {talk.id for talk in talks}
    question = Question(
        str(one["question"]),
        kind,
        frozenset() if abstains else frozenset(turns),
        frozenset() if abstains else frozenset(answered & known),
    )
    return Case(identity, tuple(talks), (question,))


def _when(text: str) -> Micros | None:
    """Read `2023/05/27 (Sat) 14:19`."""
    day, _, rest = text.partition(" (")
    try:
        moment = datetime.strptime(f"{day} {rest.partition(') ')[2]}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Micros(int(moment.timestamp() * 1_000_000))
