"""LoCoMo: ten long conversations between two people, with questions whose evidence is named turn by turn.

The file is the data set's own `locomo10.json`: a list of `{sample_id, conversation, qa}`. A conversation has
`session_N` (turns of `speaker`, `dia_id`, `text`, and of a picture its `blip_caption`) and `session_N_date_time`; a
question has `category` (1 multi-hop, 2 temporal, 3 open domain, 4 single-hop, 5 adversarial) and `evidence`, a list
of turn ids, of which a few are misspelled or name several turns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from palazzo.bench.cases import Case, Question, Talk, Turn
from palazzo.model import Micros

TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def read(document: Sequence[Mapping[str, Any]]) -> tuple[Case, ...]:
    """Return the conversations as cases. Raises KeyError, TypeError or ValueError where the file is another."""
    return tuple(_case(sample) for sample in document)


def _case(sample: Mapping[str, Any]) -> Case:
    conversation = sample["conversation"]
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    talks = tuple(
        Talk(
            str(number),
            _when(conversation.get(f"session_{number}_date_time", "")),
            tuple(_turn(turn) for turn in conversation[f"session_{number}"]),
        )
        for number in numbers
    )
    known = {turn.id: talk.id for talk in talks for turn in talk.turns}
    return Case(str(sample["sample_id"]), talks, tuple(_question(one, known) for one in sample["qa"]))


def _turn(turn: Mapping[str, Any]) -> Turn:
    text, caption = str(turn.get("text", "")), str(turn.get("blip_caption") or "")
    return Turn(
        str(turn["dia_id"]),
        f"{text} [shares a photo: {caption}]" if caption else text,
        author=str(turn.get("speaker", "")),
    )


def _question(one: Mapping[str, Any], known: Mapping[str, str]) -> Question:
    named = (f"D{int(a)}:{int(b)}" for told in one.get("evidence") or () for a, b in _EVIDENCE.findall(str(told)))
    turns = frozenset(turn for turn in named if turn in known)
    kind = TYPES.get(int(one["category"]), str(one["category"]))
    return Question(str(one["question"]), kind, turns, frozenset(known[turn] for turn in turns))


def _when(text: str) -> Micros | None:
    """Read `1:56 pm on 8 May, 2023`."""
    try:
        moment = datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Micros(int(moment.timestamp() * 1_000_000))
