"""Labelled passages: which people, files, identifiers, packages, products and references a text mentions.

Owns the labels' format; knows no rule that finds anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

PASSAGES = Path(__file__).with_name("passages.yaml")
Kind = Literal["identifier", "package", "file", "person", "product", "reference"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Role = Literal["user", "assistant", "tool", "document", "commit", "chat"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Mention:
    """A surface form, as it stands in the passage, and what it names; any of `kinds` is right, the first is best."""

    text: str
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and its mentions, each form once; forms in `either` count neither as found nor as wrong."""

    id: str
    role: Role
    text: str
    mentions: tuple[Mention, ...]
    either: tuple[str, ...]

    @property
    def split(self) -> str:
        """The half it belongs to: `dev` may be looked at by whoever writes rules, `held-out` only measured."""
        return split(self.id)


def split(name: str) -> str:
    """Return the half of a passage: held out where the first hexadecimal digit of its id's SHA-256 is odd."""
    return "held-out" if int(hashlib.sha256(name.encode()).hexdigest()[0], 16) % 2 else "dev"


def read_passages(path: Path = PASSAGES) -> list[Passage]:
    """Read the passages. Raises `ValueError` for a role, a kind or a field that is none."""
    return [_passage(row) for row in yaml.safe_load(path.read_text("utf-8"))]


def _passage(row: Mapping[str, Any]) -> Passage:
    fields = dict(row)
    mentions = tuple(_mention(row["id"], one) for one in fields.pop("mentions"))
    if fields["role"] not in ROLES or not fields.keys() <= {"id", "role", "text", "either"}:
        raise ValueError(f"Passage {row['id']}: no such role or field: {', '.join(map(str, row.values()))}")
    return Passage(row["id"], row["role"], row["text"], mentions, tuple(row.get("either", ())))


def _mention(passage: str, row: Mapping[str, Any]) -> Mention:
    kinds = (row["kind"], *row.get("or", ()))
    if not set(kinds) <= set(KINDS) or not row.keys() <= {"text", "kind", "or"}:
        raise ValueError(f"Passage {passage}: no such mention: {dict(row)}")
    return Mention(row["text"], kinds)
