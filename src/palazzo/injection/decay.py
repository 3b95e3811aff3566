"""What comes unasked again and again, and is never used, comes a little less readily. Pure.

A mild rule, of what is told unasked alone: whoever asks is answered as if it were not there. One use makes it as new.
"""

from __future__ import annotations

PATIENCE = 5
"""Sessions in which something may be told and not be used before that says anything: much that helps is never named."""
STEP = 0.97
"""What each further session leaves of its worth."""
LEAST = 0.8
"""What stays of it, however often it was told. Of what is told for a prompt, with a floor of 0.7, what scores 0.88 and
more is so near to the words at hand that it always comes."""


def wear(idle_sessions: int) -> float:
    """Return what is left of the worth of something that was told in so many sessions since it was last used."""
    return max(LEAST, STEP ** max(0, idle_sessions - PATIENCE))
