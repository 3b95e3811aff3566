"""Codex's transcripts: rollouts, and rollouts that Codex has compressed."""

from __future__ import annotations

from palazzo.hosts.codex.codex_cold import CodexCold
from palazzo.hosts.codex.codex_rollouts import Codex
from palazzo.sources.formats import Collection, Feeder

FEEDERS: tuple[Feeder, ...] = (Codex(),)
COLLECTIONS: tuple[Collection, ...] = (CodexCold(),)
