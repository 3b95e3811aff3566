"""The tool remember: store a memory of an agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import id_of
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import DECIMAL, SHARE, TYPE, enum_schema, unbound_argument
from palazzo.features.notes.contract import RememberResult
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import OBJECT, TEXT, shape
from palazzo.operations.validation import Schema

_METADATA: Mapping[str, Schema] = {
    "emotional_valence": DECIMAL,
    "emotional_arousal": DECIMAL,
    "emotion": TEXT,
    "source_type": enum_schema("user", "system", "api", "file", "web", "ai_generated", "inferred"),
    "credibility": DECIMAL,
    "episode_id": TEXT,
    "sequence_number": DECIMAL,
    "preceding_memory_id": TEXT,
    "parent_id": TEXT,
    "robot_id": TEXT,
    "mission_id": TEXT,
    "geo_location": {"type": "array", "items": DECIMAL},
    "local_position": {"type": "array", "items": DECIMAL},
    "heading": DECIMAL,
    "action_type": TEXT,
    "reward": DECIMAL,
    "sensor_data": OBJECT,
    "outcome_type": TEXT,
    "terrain_type": TEXT,
}
"""Arguments that Palazzo stores as metadata of the memory, and otherwise ignores."""


def _request_remember(call: CallArguments) -> Mapping[str, Any]:
    arguments = {name: call[name] for name in _METADATA if call[name] is not None}
    metadata = {**arguments, **(call["metadata"] or {})}
    return {
        "kind": call["type"].lower(),
        "metadata": json.dumps(metadata, ensure_ascii=False) if metadata else None,
        "by": call.host,
        "once": True,
    }


def _answer_remember(result: RememberResult, call: CallArguments) -> Answer:
    uid = id_of(result.id, result.drawers)
    fields: dict[str, Any] = {"id": uid, "memory_type": call["type"], "tags": list(call["tags"] or ())}
    text = f"Remembered as {uid}." if result.filed else f"The memory already contains this text: {uid}."
    if result.duplicate_of is not None:
        fields["duplicate_of"] = result.duplicate_of
        if result.filed:
            text += f" {result.duplicate_of} says nearly the same: forget one if both are not needed."
    return Answer(fields, text)


REMEMBER = Tool(
    name="remember",
    description="Save a memory for later sessions, word for word: a decision with its reason, a finding, an error.",
    arguments=(
        Argument("content", "The text, understandable without this session.", "text"),
        unbound_argument("type", TYPE, "The type of memory.", "Observation"),
        Argument("tags"),
        Argument("importance", schema=SHARE),
        unbound_argument("metadata", OBJECT, "Other data to store with it."),
        Argument("created_at", "When it was said. Default: now.", "at"),
        *(unbound_argument(name, schema, "Stored as metadata.") for name, schema in _METADATA.items()),
    ),
    hints=ADDS,
    fields=_request_remember,
    options={"--metadata": "metadata"},
    answer=_answer_remember,
    output=shape(id=TEXT),
    always=True,
)

TOOLS = (REMEMBER,)
