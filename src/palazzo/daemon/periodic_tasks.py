"""Periodic tasks: work that the service repeats in a separate thread, until it is stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from palazzo.errors import PalazzoError
from palazzo.faces.mcp.client_calls import OperationCancelled

_log = logging.getLogger("palazzo.service")


class PeriodicWorker:
    """A thread that runs `work`, and runs it again a number of seconds after it returned or failed.

    Its failures never end a service. The log calls `work` by `name`. Long work calls `heed` regularly, which raises
    Stopped when the thread must end.
    """

    def __init__(self, name: str, work: Callable[[], None], every: float) -> None:
        self._name, self._work, self._every = name, work, every
        self.stop = threading.Event()
        """Set when the thread must end."""
        self._thread = threading.Thread(target=self._run, name=f"palazzo-{name}", daemon=True)

    def begin(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Stop, and wait for current work."""
        self.stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def heed(self, *_: object) -> None:
        """Raise Stopped if it should end. It accepts the arguments of progress reports, and ignores them."""
        if self.stop.is_set():
            raise OperationCancelled

    def _run(self) -> None:
        while not self.stop.is_set():
            try:
                self._work()
            except OperationCancelled:
                return
            except PalazzoError as error:
                _log.info("%s failed: %s", self._name, type(error).__name__)
            except Exception as error:  # noqa: BLE001 - a bug beside the service must not end it
                _log.info("%s failed because of a bug: %s", self._name, type(error).__name__)
            self.stop.wait(self._every)
