"""Drawers as faces show them: the fields of a search hit, of which `show` gives the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from palazzo.model import Drawer, Micros
from palazzo.operations.operation import PERSON_ONLY

Visibility = Literal["merged", "unmerged"]
Freshness = Literal["fresh", "moved", "changed", "gone", "unknown"]
MAIN_LINES = ("", "main", "master", "trunk")
"""Branches whose words concern everybody. "" is what was written outside a repository."""


@dataclass(frozen=True, slots=True)
class HitSource:
    """Where a drawer's words came from."""

    uri: str
    kind: str
    session_id: str
    locator: str


@dataclass(frozen=True, slots=True)
class HitView:
    """One answer of a search."""

    id: str
    score: float
    text: str
    truncated: bool
    wing: str
    room: str
    kind: str
    title: str
    created_at: Micros
    recorded_at: Micros
    role: str
    author: str
    source: HitSource
    trust: str
    branch: str
    commit: str
    visibility: Visibility
    freshness: Freshness
    why: tuple[str, ...]
    length: Annotated[int, PERSON_ONLY] = 0
    """Characters of the whole text, of which `text` may be the beginning."""
    copies: Annotated[int, PERSON_ONLY] = 0


def visibility(branch: str, current: str) -> Visibility:
    """Say whether words of `branch` hold where `current` is checked out, as far as their names tell."""
    return "merged" if branch in MAIN_LINES or branch == current else "unmerged"


def source_of(drawer: Drawer) -> HitSource:
    """Return where a drawer's words came from."""
    return HitSource(drawer.source.uri, drawer.source.kind, drawer.source.session_id, drawer.locator)


def title_of(drawer: Drawer) -> str:
    """Return the drawer's own title, else that of its session or file."""
    return drawer.title or drawer.source.title
