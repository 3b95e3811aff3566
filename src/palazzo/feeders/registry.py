"""The feeders that read transcripts, in the order in which they are asked. A new format is added here."""

from __future__ import annotations

from palazzo.feeders import Feeder
from palazzo.feeders.claude_code import ClaudeCode

TRANSCRIPTS: tuple[Feeder, ...] = (ClaudeCode(),)
