"""LoCoMo: long conversations between two people, with questions whose evidence is named turn by turn.

The file is the data set's own `locomo10.json`: a list of `{sample_id, conversation, qa}`. A conversation has
`session_N` (turns of `speaker`, `dia_id`, `text`, and of a picture its `blip_caption`) and `session_N_date_time`; a
question has `category` (1 multi-hop, 2 temporal, 3 open domain, 4 single-hop, 5 adversarial) and `evidence`, a list
of turn ids, of which a few are misspelled, name several turns, or a turn that does not exist. Adversarial questions
name the turn that would mislead; published figures count it as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from palazzo.bench.cases import Case, Question, Talk, Turn
from palazzo.bench.documents import entries, need, question, unique
from palazzo.model import Micros

TITLE = "LoCoMo"
TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def read(document: Any) -> tuple[Case, ...]:
    """Return the conversations as cases; Malformed where the document is another."""
    taken: set[str] = set()
    return tuple(_case(sample, f"conversation {n}", taken) for n, sample in enumerate(entries(document, dict, "it"), 1))


def _case(sample: Mapping[str, Any], where: str, taken: set[str]) -> Case:
    conversation = need(sample, "conversation", dict, where)
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    ids: set[str] = set()
    talks = tuple(_talk(conversation, number, where, ids) for number in numbers)
    known = {turn.id: talk.id for talk in talks for turn in talk.turns}
    asked = entries(need(sample, "qa", list, where), dict, f"'qa' of {where}")
    questions = tuple(_question(one, known, f"question {n} of {where}") for n, one in enumerate(asked, 1))
    return Case(unique(str(sample.get("sample_id", where)), taken), talks, questions)


def _talk(conversation: Mapping[str, Any], number: int, where: str, ids: set[str]) -> Talk:
    name = f"session_{number}"
    said = entries(need(conversation, name, list, where), dict, f"'{name}' of {where}")
    turns = tuple(_turn(turn, f"turn {n} of {name} of {where}", ids) for n, turn in enumerate(said, 1))
    return Talk(str(number), _when(conversation.get(f"{name}_date_time")), turns)


def _turn(turn: Mapping[str, Any], where: str, ids: set[str]) -> Turn:
    text, caption = str(turn.get("text") or ""), str(turn.get("blip_caption") or "")
    return Turn(
        unique(need(turn, "dia_id", str, where), ids),
        f"{text} [shares a photo: {caption}]" if caption else text,
        author=str(turn.get("speaker") or ""),
    )


def _question(one: Mapping[str, Any], known: Mapping[str, str], where: str) -> Question:
    text, category = question(one, where), need(one, "category", int, where)
    told = one.get("evidence") or ()
    named = (f"D{int(a)}:{int(b)}" for each in told for a, b in _EVIDENCE.findall(str(each)))
    turns = frozenset(turn for turn in named if turn in known)
    sessions = frozenset(known[turn] for turn in turns)
    return Question(text, TYPES.get(category, str(category)), turns, sessions, unanswerable=category == _ADVERSARIAL)


def _when(text: object) -> Micros | None:
    """Read `1:56 pm on 8 May, 2023`."""
    try:
        moment = datetime.strptime(str(text).strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Micros(int(moment.timestamp() * 1_000_000))
