"""Decay: entries that are injected again and again but never used are injected slightly less readily. Pure.

A mild rule that applies only to automatic injection: it does not change the answer to an explicit search. One use
resets it completely.
"""

from __future__ import annotations

PATIENCE = 5
"""Number of sessions in which an entry may be shown without being used before decay begins: many useful entries are
never cited.
"""
STEP = 0.97
"""Factor that each further session applies to its weight."""
LEAST = 0.8
"""Minimum factor, regardless of how often the entry was shown. For prompts, with a threshold of 0.7, an entry that
scores 0.88 or more is so close to the given text that it is always shown.
"""


def wear(idle_sessions: int) -> float:
    """Return the remaining weight of an entry that was injected into this many sessions since its last use."""
    return max(LEAST, STEP ** max(0, idle_sessions - PATIENCE))
