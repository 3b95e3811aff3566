"""When a save is due: every so many messages of a human. Pure.

What counts as a message of a human is for the archive to say, which has read the transcript: the output of tools, the
echo of commands, summaries and what a host inserted are none. A session's count only grows.
"""

from __future__ import annotations


def is_due(humans: int, saved_at: int, interval: int, asked: bool = False) -> bool:
    """Whether a save is due after `humans` messages, the last having been at `saved_at`.

    `asked` says that the session goes on because a save was asked for: that turn asks for none. An interval of 0 never
    asks.
    """
    return interval > 0 and not asked and humans - saved_at >= interval
