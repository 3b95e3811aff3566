"""LoCoMo: long conversations between two people, with questions whose evidence is given turn by turn.

The file is the data set's own `locomo10.json`: a list of `{sample_id, conversation, qa}`. A conversation has
`session_N` (turns with `speaker`, `dia_id`, `text`, and for a picture its `blip_caption`) and `session_N_date_time`. A
question has `category` (1 multi-hop, 2 temporal, 3 open domain, 4 single-hop, 5 adversarial) and `evidence`, a list of
turn ids; a few of these are misspelled, name several turns, or name a turn that does not exist. Adversarial questions
name the turn that would mislead; published figures count it as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from palazzo.bench.cases import Case, Question, Talk, Turn
from palazzo.bench.json_dataset import entries, need, question, unique
from palazzo.model import Micros

TITLE = "LoCoMo"
TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def read(document: Any) -> tuple[Case, ...]:
    """Return the conversations as cases; raise Malformed if the document has another form."""
    used_names: set[str] = set()
    return tuple(
        _case(sample, f"conversation {n}", used_names) for n, sample in enumerate(entries(document, dict, "it"), 1)
    )


def _case(sample: Mapping[str, Any], location: str, used_names: set[str]) -> Case:
    conversation = need(sample, "conversation", dict, location)
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    ids: set[str] = set()
    talks = tuple(_talk(conversation, number, location, ids) for number in numbers)
    talk_ids = {turn.id: talk.id for talk in talks for turn in talk.turns}
    qa_entries = entries(need(sample, "qa", list, location), dict, f"'qa' of {location}")
    questions = tuple(
        _question(entry, talk_ids, f"question {n} of {location}") for n, entry in enumerate(qa_entries, 1)
    )
    return Case(unique(str(sample.get("sample_id", location)), used_names), talks, questions)


def _talk(conversation: Mapping[str, Any], number: int, location: str, ids: set[str]) -> Talk:
    name = f"session_{number}"
    turn_entries = entries(need(conversation, name, list, location), dict, f"'{name}' of {location}")
    turns = tuple(_turn(turn, f"turn {n} of {name} of {location}", ids) for n, turn in enumerate(turn_entries, 1))
    return Talk(str(number), _parse_time(conversation.get(f"{name}_date_time")), turns)


def _turn(turn: Mapping[str, Any], location: str, ids: set[str]) -> Turn:
    text, caption = str(turn.get("text") or ""), str(turn.get("blip_caption") or "")
    return Turn(
        unique(need(turn, "dia_id", str, location), ids),
        f"{text} [shares a photo: {caption}]" if caption else text,
        author=str(turn.get("speaker") or ""),
    )


def _question(entry: Mapping[str, Any], talk_ids: Mapping[str, str], location: str) -> Question:
    text, category = question(entry, location), need(entry, "category", int, location)
    evidence = entry.get("evidence") or ()
    turn_ids = (f"D{int(a)}:{int(b)}" for reference in evidence for a, b in _EVIDENCE.findall(str(reference)))
    turns = frozenset(turn for turn in turn_ids if turn in talk_ids)
    sessions = frozenset(talk_ids[turn] for turn in turns)
    return Question(text, TYPES.get(category, str(category)), turns, sessions, unanswerable=category == _ADVERSARIAL)


def _parse_time(text: object) -> Micros | None:
    """Read `1:56 pm on 8 May, 2023`."""
    try:
        moment = datetime.strptime(str(text).strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Micros(int(moment.timestamp() * 1_000_000))
