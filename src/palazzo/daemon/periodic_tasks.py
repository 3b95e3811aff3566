"""What the service does again and again beside answering, in a thread of its own, until it is ended."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from palazzo.errors import PalazzoError
from palazzo.faces.mcp.client_calls import OperationCancelled

_log = logging.getLogger("palazzo.service")


class PeriodicWorker:
    """A thread that does `work`, and again so many seconds after it came back or failed. Nothing of it ends a service.

    `work` is called `name` in the log. Long work calls `heed` now and then, which raises Stopped once it is to end.
    """

    def __init__(self, name: str, work: Callable[[], None], every: float) -> None:
        self._name, self._work, self._every = name, work, every
        self.stop = threading.Event()
        """Set when it is to end."""
        self._thread = threading.Thread(target=self._run, name=f"palazzo-{name}", daemon=True)

    def begin(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Stop, and wait for what is at hand."""
        self.stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def heed(self, *_: object) -> None:
        """Raise Stopped when it is to end. It takes what progress is told with, and needs nothing of it."""
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
                _log.info("%s failed by a bug: %s", self._name, type(error).__name__)
            self.stop.wait(self._every)
