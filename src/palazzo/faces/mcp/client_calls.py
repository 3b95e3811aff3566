"""What a connection knows about its client, and how it runs operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from palazzo.frozen_class import frozen
from palazzo.model import Trust
from palazzo.operations.context import Progress


@frozen
class Surroundings:
    """A client's environment: its working directory and variables, and the palace if one was named.

    `trust` is the trust of its statements. Like the other fields, it is for the `Context` of every operation. A
    `read_only` client has only the tools that read. A call waits at most `lock_wait` seconds for locks of others, and
    spends at most `derive_seconds` of processor time on data that is not derived yet.
    """

    cwd: Path
    variables: Mapping[str, str]
    palace: Path | None = None
    trust: Trust = "agent"
    read_only: bool = False
    lock_wait: float | None = None
    derive_seconds: float | None = None


@frozen
class OperationCall:
    """An operation to carry out, and its client.

    `key` identifies the call: a call that was already carried out returns its first result. `on_progress` and
    `on_notice` may be called from any thread; `on_progress` raises Stopped once the client no longer waits for the
    result.
    """

    operation: str
    request: Any
    surroundings: Surroundings
    key: str | None
    on_progress: Callable[[Progress], None]
    on_notice: Callable[[str], None]


class Call(Protocol):
    """Carries out an operation, usually in another thread, and returns its result.

    Raises the operation's exceptions. When it is cancelled, it does not return before the operation has ended.
    """

    async def __call__(self, operation_call: OperationCall, /) -> Any: ...


class OperationCancelled(BaseException):
    """The client no longer waits for the operation, which ends here. Its commits remain.

    It is not an Exception, like the one that ^C raises: code that continues after a failure does not continue after
    this.
    """
