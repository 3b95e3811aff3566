"""How many examples a property is tried with, where each of them makes a palace.

A quarter every day; all of them where `PALAZZO_EXAMPLES=all`, as `dev.py slow` has it.
"""

from __future__ import annotations

import os

from hypothesis import settings

_EVERY_DAY = 4


def examples(number: int) -> settings:
    """Settings for a property that is tried with `number` examples when there is time."""
    return settings(
        max_examples=number if os.environ.get("PALAZZO_EXAMPLES") == "all" else number // _EVERY_DAY, deadline=None
    )
