"""What a connection knows of its client, and how it has operations carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from palazzo.model import Trust
from palazzo.operations.context import Progress


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a client is: its working directory and variables, and the palace where one was named.

    `trust` is whom to believe for what it states. It is for the `Context` of every operation, as are the others. A
    `read_only` client has only the tools that read.
    """

    cwd: Path
    variables: Mapping[str, str]
    palace: Path | None = None
    trust: Trust = "agent"
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class OperationCall:
    """An operation to be carried out, and for whom.

    `key` names the call: one that was carried out already returns its first result. `on_progress` and `on_notice` may
    be called from any thread; `on_progress` raises Stopped once nobody waits for the result any more.
    """

    operation: str
    request: Any
    surroundings: Surroundings
    key: str | None
    on_progress: Callable[[Progress], None]
    on_notice: Callable[[str], None]


class Call(Protocol):
    """Carries an operation out, usually in another thread, and returns its result.

    Raises what the operation raises. When it is cancelled, it returns no sooner than the operation has ended.
    """

    async def __call__(self, operation_call: OperationCall, /) -> Any: ...


class OperationCancelled(BaseException):
    """Nobody waits for the operation any more: it ends here. What it committed stays.

    No Exception, as what a person's ^C raises is none: what goes on after a failure does not go on after this.
    """
