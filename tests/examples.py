"""How many examples a property is tried with, where each of them makes a palace.

A quarter every day; the share that `PALAZZO_EXAMPLES` names elsewhere: all of them with `dev.py slow`, half in CI.
"""

from __future__ import annotations

import os

from hypothesis import settings

_SHARE = float(os.environ.get("PALAZZO_EXAMPLES", "0.25"))


def examples(number: int) -> settings:
    """Settings for a property that is tried with `number` examples when there is time."""
    return settings(max_examples=max(1, round(number * _SHARE)), deadline=None)
