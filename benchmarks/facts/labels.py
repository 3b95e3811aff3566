"""The labels of facts: pairs of texts that contradict each other or do not, and passages with what is worth keeping.

Owns the format of both files and which half a case is in; knows no rule and no palace.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

CONTRADICTIONS = Path(__file__).with_name("contradictions.yaml")
MORE_CONTRADICTIONS = Path(__file__).with_name("more_pairs.yaml")  # all of them for development
SUGGESTIONS = Path(__file__).with_name("suggestions.yaml")
KINDS = ("version", "port", "path", "boolean", "switch", "ended", "instead", "value")
PREDICATES = (
    "uses",
    "version",
    "runs_on_port",
    "located_at",
    "has_value",
    "enabled",
    "owned_by",
    "depends_on",
    "renamed_to",
    "replaced_by",
    "deprecated",
    "stopped_using",
    "decided",
)
ROLES = frozenset({"user", "assistant", "tool", "author"})
_QUOTATION = str.maketrans(dict.fromkeys("`'\"“”„«»"))


@dataclass(frozen=True, slots=True)
class Said:
    """A text, who it is from, and when it was said: a date, or a date and a time of day."""

    role: str
    when: str
    text: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """What the earlier text says of a subject and the later one takes back; `new` is None where it only ended."""

    subject: str
    kind: str
    old: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, the conflict between them if there is one, and others (`also`) that a rule may report or not."""

    id: str
    note: str
    conflict: Conflict | None
    also: tuple[Conflict, ...]
    earlier: Said
    later: Said


@dataclass(frozen=True, slots=True)
class Fact:
    """Subject, predicate, object."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with the facts to be found in it, and those (`also`) that count neither as found nor as wrong."""

    id: str
    note: str
    role: str
    text: str
    facts: tuple[Fact, ...]
    also: tuple[Fact, ...]


def half(name: str) -> Literal["dev", "held-out"]:
    """Return the half that an id is in: held out where the first hex digit of its SHA-256 is odd."""
    return "held-out" if int(hashlib.sha256(name.encode()).hexdigest()[0], 16) % 2 else "dev"


def plain(text: str) -> str:
    """Return a text as it is compared: without case, runs of white space one blank."""
    return " ".join(text.casefold().split())


def stands(words: str, text: str) -> bool:
    """Whether words stand in a text, not as part of a longer word or number; both as `plain` makes them."""
    return re.search(rf"(?<!\w){re.escape(plain(words))}(?!\w)", plain(text)) is not None


def same(one: str, other: str) -> bool:
    """Whether two ways to name a value or a thing are one: quotation marks apart, either may have a unit beside it."""
    first, second = (f" {plain(text.translate(_QUOTATION))} " for text in (one, other))
    return min(first, second, key=len).strip() != "" and (first in second or second in first)


def read_pairs(path: Path = CONTRADICTIONS) -> list[Pair]:
    """Read the pairs. Raises `ValueError` for an unknown role or kind, and for words that stand in neither text."""
    return [_pair(row) for row in yaml.safe_load(path.read_text("utf-8"))]


def read_passages(path: Path = SUGGESTIONS) -> list[Passage]:
    """Read the passages. Raises `ValueError` for an unknown role or predicate, and for words that stand nowhere."""
    return [_passage(row) for row in yaml.safe_load(path.read_text("utf-8"))]


def _pair(row: Mapping[str, Any]) -> Pair:
    conflict = Conflict(**row["conflict"]) if row["conflict"] else None
    also = tuple(Conflict(**each) for each in row.get("also", ()))
    pair = Pair(row["id"], row["note"], conflict, also, Said(**row["earlier"]), Said(**row["later"]))
    for said in (pair.earlier, pair.later):
        _require(said.role in ROLES, pair.id, f"role '{said.role}'")
    _require(pair.earlier.when[:10] <= pair.later.when[:10], pair.id, "the later text is from before the earlier one")
    _require(conflict is not None or not also, pair.id, "a pair without a conflict has none to report")
    for each in (conflict, *also) if conflict else ():
        _check(each, pair)
    return pair


def _check(conflict: Conflict, pair: Pair) -> None:
    earlier, later = pair.earlier.text, pair.later.text
    _require(conflict.kind in KINDS, pair.id, f"kind '{conflict.kind}'")
    _require(stands(conflict.subject, f"{earlier} {later}"), pair.id, f"nobody says '{conflict.subject}'")
    _require(stands(conflict.old, earlier), pair.id, f"the earlier text does not say '{conflict.old}'")
    said = conflict.new is None or stands(conflict.new, later)
    _require(said, pair.id, f"the later text does not say '{conflict.new}'")
    _require((conflict.new is None) == (conflict.kind == "ended"), pair.id, "what ended has nothing new")


def _passage(row: Mapping[str, Any]) -> Passage:
    facts, also = (tuple(Fact(**fact) for fact in row.get(key, ())) for key in ("facts", "also"))
    _require(row["role"] in ROLES, row["id"], f"role '{row['role']}'")
    for fact in facts + also:
        _require(fact.predicate in PREDICATES, row["id"], f"predicate '{fact.predicate}'")
        _require(fact.subject == "project" or stands(fact.subject, row["text"]), row["id"], f"subject '{fact.subject}'")
        _require(_says(fact, row["text"]), row["id"], f"object '{fact.object}'")
    return Passage(row["id"], row["note"], row["role"], row["text"], facts, also)


def _says(fact: Fact, text: str) -> bool:
    if fact.predicate == "enabled":
        return fact.object in ("true", "false")
    return stands(fact.object, text) or (fact.predicate == "deprecated" and fact.object == "true")


def _require(held: bool, name: str, fault: str) -> None:
    if not held:
        raise ValueError(f"{name}: {fault}")
