"""When a save is due: every so many messages of a human. Pure.

The archive knows who sent a message, since it has read the transcript: the output of tools, the echo of commands and
summaries are nobody's. What is left to see here is in the words: some that are in a person's place are a host's, ours
or another agent's. A session's count only grows.
"""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.injection.save_prompt import is_save_prompt
from palazzo.model import Part
from palazzo.security import injected_text


def is_due(humans: int, saved_at: int, interval: int, is_continuation: bool = False) -> bool:
    """Whether a save is due after `humans` messages, the last having been at `saved_at`.

    `asked` says that the session goes on because a save was asked for: that turn asks for none. An interval of 0 never
    asks.
    """
    return interval > 0 and not is_continuation and humans - saved_at >= interval


def is_human(text: str, parts: Sequence[Part] = ()) -> bool:
    """Whether a person sent a message that stands in a person's place.

    None did where an agent wrote it (the task of a sub-agent), where it is nothing but what a host or Palazzo inserted,
    or where it is our own asking for a save, which some hosts pass on as a message.
    """
    if any(part.trust == "agent" for part in parts) or is_save_prompt(text) or not text.strip():
        return False
    return not (injected_text.is_palazzo_block(text) or injected_text.is_host_instruction(text))
