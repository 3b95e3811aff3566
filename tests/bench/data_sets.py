"""Small files in the forms of the public data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def turn(number: str, speaker: str, text: str, **more: str) -> Record:
    return {"dia_id": number, "speaker": speaker, "text": text, **more}


def locomo() -> list[Record]:
    """Two conversations; in the first a session is empty, and evidence is misspelled, doubled and unknown."""
    first = {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1", "Ada", "The glacier trip was cold, we slept in a hut above the valley."),
            turn("D1:2", "Ben", "I baked sourdough bread on sunday.", blip_caption="a round loaf"),
        ],
        "session_2_date_time": "sometime",
        "session_2": [],
        "session_10_date_time": "9:00 am on 12 June, 2023",
        "session_10": [
            turn("D10:1", "Ada", "My violin teacher moved to Lisbon."),
            turn("D10:2", "Ben", "The orchestra plays Brahms in october."),
        ],
    }
    second = {
        "session_1_date_time": "2:30 pm on 1 July, 2023",
        "session_1": [turn("D1:1", "Cleo", "The kayak leaks at the stern, I must buy resin.")],
    }
    return [
        {
            "sample_id": "one",
            "conversation": first,
            "qa": [
                {"question": "Where did Ada sleep on the glacier trip?", "category": 4, "evidence": ["D1:1"]},
                {"question": "What did Ben bake?", "category": 1, "evidence": ["D:1:02; D10:2", "D1:2", "D7:7"]},
                {"question": "Who taught the zither in Lisbon?", "category": 5, "evidence": ["D10:1"]},
                {"question": "Is there anything else?", "category": 3, "evidence": []},
            ],
        },
        {
            "sample_id": "two",
            "conversation": second,
            "qa": [{"question": "What is wrong with the kayak?", "category": 4, "evidence": ["D1:1"]}],
        },
    ]


def longmemeval() -> list[Record]:
    """Two questions that share a session; the second cannot be answered. An id comes twice in the first haystack."""
    said = {"role": "user", "content": "I painted the bedroom walls in a pale shade of grey."}
    answered = {"role": "assistant", "content": "Pale grey suits a bedroom.", "has_answer": True}
    other = {"role": "user", "content": "Which fern survives in a dark bathroom?"}
    return [
        {
            "question_id": "q1",
            "question_type": "single-session-user",
            "question": "What color are the bedroom walls?",
            "haystack_session_ids": ["walls", "ferns", "ferns"],
            "haystack_dates": ["2023/05/27 (Sat) 14:19", "2023/05/28 (Sun) 07:11", "no date"],
            "haystack_sessions": [[said, answered], [other], []],
            "answer_session_ids": ["walls", "unknown"],
        },
        {
            "question_id": "q2_abs",
            "question_type": "single-session-user",
            "question": "What color is the kitchen ceiling?",
            "haystack_session_ids": ["walls"],
            "haystack_sessions": [[said, answered]],
            "answer_session_ids": ["walls"],
        },
    ]


def written(path: Path, document: object) -> Path:
    """Write a data set's file."""
    path.write_text(json.dumps(document), "utf-8")
    return path
