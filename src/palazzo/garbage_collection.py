"""Python's collector of cyclic garbage, in a service and in a command.

By default it runs after every 700 new containers, of which a search makes some thousands, and every so often walks all
objects of the process, which takes 20 to 40 ms while a request waits, and 3 % of the time of a long `mine`. Reference
counting frees nearly everything.
"""

from __future__ import annotations

import gc

_THRESHOLDS = (20_000, 20, 20)
"""New containers before the youngest are looked through, and how many such runs come before the next older."""


def collect_seldom() -> None:
    """Run the collector after more allocations than by default."""
    gc.set_threshold(*_THRESHOLDS)


def exempt_loaded_objects() -> None:
    """Collect once, and never look again through what is loaded by now: modules, the model, settings."""
    gc.collect()
    gc.freeze()
