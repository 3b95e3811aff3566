"""Let each Python of a recording begin at the time that RECORDING_SHIFT sets, so that dates are the same on each day.

Python imports this module at its start, since the recorder puts its directory on PYTHONPATH.
"""

from __future__ import annotations

import datetime
import os
import time
from typing import Any

_REAL = datetime.datetime


def shift_clock(seconds: int) -> None:
    """Let `time` and `datetime` show a time that is so many seconds later."""
    clock, nanosecond_clock = time.time, time.time_ns
    time.time = lambda: clock() + seconds
    time.time_ns = lambda: nanosecond_clock() + seconds * 1_000_000_000

    class DatetimeType(type):
        """So that instances of the real class count as instances of the replacement."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, _REAL)

    class ShiftedDatetime(_REAL, metaclass=DatetimeType):
        """`datetime` whose `now` follows the clock above."""

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return _REAL.fromtimestamp(time.time(), tz)

    datetime.datetime = ShiftedDatetime  # type: ignore[misc]


if "RECORDING_SHIFT" in os.environ:
    shift_clock(int(os.environ["RECORDING_SHIFT"]))
