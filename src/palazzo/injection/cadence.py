"""Cadence of saves: a save is due after a set number of human messages. Pure.

The archive knows who sent a message, since it has read the transcript: tool output, the echo of commands, and summaries
are not human messages. What remains to be recognised here is in the text: some messages in the user role come from a
host, from Palazzo, or from another agent. A session's count only grows.
"""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.injection.save_prompt import is_save_prompt
from palazzo.model import Part
from palazzo.security import injected_text


def is_due(humans: int, saved_at: int, interval: int, is_continuation: bool = False) -> bool:
    """Return whether a save is due after `humans` messages, the last one having been at `saved_at`.

    `is_continuation` says that the session goes on because a save was requested: that turn requests none. An interval
    of 0 never requests a save.
    """
    return interval > 0 and not is_continuation and humans - saved_at >= interval


def is_human(text: str, parts: Sequence[Part] = ()) -> bool:
    """Return whether a message in a person's place was sent by a person.

    It was not if an agent wrote it (the task of a sub-agent), if it is only text that a host or Palazzo inserted, or if
    it is our own request for a save, which some hosts pass on as a message.
    """
    if any(part.trust == "agent" for part in parts) or is_save_prompt(text) or not text.strip():
        return False
    return not (injected_text.is_palazzo_block(text) or injected_text.is_host_instruction(text))
