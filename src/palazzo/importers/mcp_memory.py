"""The reference MCP memory server's file: a graph of entities, relations and observations, one JSON object per line.

Learned from `@modelcontextprotocol/server-memory` 2026.8.31 (`dist/index.js`, `saveGraph`), which rewrites the whole
file each time; the shape has been the same since 0.6 (`memory.json`, later `memory.jsonl`, or `MEMORY_FILE_PATH`):

    {"type": "entity", "name": …, "entityType": …, "observations": [string, …]}
    {"type": "relation", "from": …, "to": …, "relationType": …}

There are no ids and no times. An observation becomes a note, after the name of its subject, in a room of the entity's
type; a relation becomes a fact. The type of an entity without observations becomes a fact too (it `is a` its type).
mcp-knowledge-graph, a fork, begins its files with `{"type": "_aim", …}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from palazzo.importers import Fact, Note, SkippedRecord, StoreRecord
from palazzo.importers.json_documents import MOST_PARTS, head, key_of, parts_of
from palazzo.sources.formats.jsonl_rows import JsonObject, objects_in_head, parse_line
from palazzo.sync.carried_files import Line, lines

IS_A = "is a"
MOST_OBSERVATIONS = 1_000_000
"""Maximum number for one entity. The server reads its whole file for each call, so no real entity comes close."""
_MARK = "_aim"


class McpMemory:
    """Reads the reference server's file."""

    name = "mcp-memory"
    title = "MCP memory server"

    def recognises(self, path: Path) -> bool:
        """Return whether the first non-empty line is an entity, a relation, or the fork's mark."""
        beginning = head(path)
        objects, count = objects_in_head(beginning)
        if objects:
            return _is_ours(objects[0])
        first = beginning.lstrip()[:60].replace(b" ", b"")
        return count <= 1 and first.startswith(b'{"type":"entity","name":')  # an entity that is longer than the head

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield notes, then facts, each in the order of the file."""
        facts: dict[str, Fact] = {}
        note_keys: set[str] = set()
        for line in lines(path):
            yield from _of_line(line, note_keys, facts)
        yield from facts.values()


def _is_ours(record: JsonObject) -> bool:
    match record.get("type"):
        case "entity":
            return isinstance(record.get("name"), str) and "entityType" in record
        case "relation":
            return {"from", "to", "relationType"} <= record.keys()
        case kind:
            return kind == _MARK


def _of_line(line: Line, note_keys: set[str], facts: dict[str, Fact]) -> Iterator[StoreRecord]:
    key = f"line {line.number}"
    if parts_of(line.text) > MOST_PARTS:
        yield SkippedRecord("lines", f"with more than {MOST_PARTS:,} values", key)
        return
    record = parse_line(line.text)
    if not isinstance(record, dict):
        yield SkippedRecord("lines", record.reason, key)
        return
    match record.get("type"):
        case "entity":
            yield from _of_entity(record, key, note_keys, facts)
        case "relation":
            fact = _relation(record.get("from"), record.get("relationType"), record.get("to"))
            if fact is None:
                yield SkippedRecord("relations", "from, to or relationType is missing or is not text", key)
            else:
                facts.setdefault(fact.key, fact)
        case kind if kind != _MARK:
            yield SkippedRecord("lines", "neither an entity nor a relation", key)


def _of_entity(record: JsonObject, key: str, note_keys: set[str], facts: dict[str, Fact]) -> Iterator[StoreRecord]:
    name, kind, observations = record.get("name"), record.get("entityType"), record.get("observations")
    if not isinstance(name, str) or not name.strip():
        yield SkippedRecord("entities", "without a name", key)
        return
    kind = kind.strip() if isinstance(kind, str) else ""
    if not isinstance(observations, list):
        yield SkippedRecord("observations", "no list", key)
        observations = []
    if len(observations) > MOST_OBSERVATIONS:
        yield SkippedRecord("observations", f"more than {MOST_OBSERVATIONS:,} for one entity", key, len(observations))
        observations = []
    has_text = False
    for observation in observations:
        text = _words(observation)
        if text is None:
            yield SkippedRecord("observations", "empty, or not text", key)
            continue
        has_text = True
        own = key_of("observation", name, text)
        if own in note_keys:
            continue  # the server itself keeps one of a kind
        note_keys.add(own)
        yield Note(own, about_entity(name, text), room=kind, title=name, about={"entity": name})
    if kind and not has_text and (fact := _relation(name, IS_A, kind)):
        facts.setdefault(fact.key, fact)


def about_entity(name: str, text: str) -> str:
    """Return a text with its subject's name before it, since the text alone does not say what it is about."""
    return text if text.lstrip().casefold().startswith(name.strip().casefold()) else f"{name}: {text}"


def _words(observation: object) -> str | None:
    """Return an observation's text; objects, which some clients file, stay as JSON."""
    if isinstance(observation, dict):
        return json.dumps(observation, ensure_ascii=False)
    return observation if isinstance(observation, str) and observation.strip() else None


def _relation(subject: object, predicate: object, target: object) -> Fact | None:
    if not (isinstance(subject, str) and isinstance(predicate, str) and isinstance(target, str)):
        return None
    if not (subject.strip() and predicate.strip() and target.strip()):
        return None
    return Fact(key_of("relation", subject, predicate, target), subject, predicate, target)
