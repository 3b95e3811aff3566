"""A hook that waits for a service that it had to start. Standard library only."""

from __future__ import annotations

import time

from palazzo.client import rpc, startup
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOOK_AGAIN = 0.02
"""Seconds between two attempts to reach a service that is starting."""


def ask_started_service(
    address: rpc.Address, variables: Mapping[str, str], ask: Callable[[], bytes], deadline: float
) -> bytes:
    """Start a service if none is starting, and return what `ask` gets from it before the monotonic time `deadline`.

    A service that dies meanwhile is replaced. Raises ServiceUnavailable, or the OSError of the last attempt.
    """
    while True:
        reason = startup.begin(address, variables)
        if reason:
            raise ServiceUnavailable(reason)
        _load_fallback()
        time.sleep(_LOOK_AGAIN)
        try:
            return ask()
        except (OSError, ServiceUnavailable):
            if time.monotonic() + _LOOK_AGAIN >= deadline:
                raise


def _load_fallback() -> None:
    """Import what a hook needs if the wait is in vain: now, while the service starts, there is time for that."""
    import json  # noqa: F401

    from palazzo.client import offline_hook  # noqa: F401
