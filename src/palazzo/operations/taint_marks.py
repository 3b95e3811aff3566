"""Marks on changes that an agent made after its session had read untrusted content.

New content from such an agent waits in quarantine. A change to existing content (forgetting, closing a to-do, renaming)
cannot wait: it is carried out, and the person sees the mark in `palazzo undo --list` and can undo the change.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from palazzo.operations.caller_taint import is_tainted
from palazzo.store import change_groups

if TYPE_CHECKING:
    from palazzo.operations.context import Context

Q = TypeVar("Q")
R = TypeVar("R")


def marks_taint(run: Callable[[Context, Q], R]) -> Callable[[Context, Q], R]:
    """Let an operation mark its change, with a notice, if the calling agent's session has read untrusted content."""

    @functools.wraps(run)
    def run_with_mark(context: Context, request: Q) -> R:
        if getattr(request, "dry_run", False) or not is_tainted(context):
            return run(context, request)

        with change_groups.remark(change_groups.TAINT_REMARK):
            result = run(context, request)
        context.notice(
            "This session has read untrusted content, so this change is marked: 'palazzo undo --list' shows it to "
            "the person, who can revert it with 'palazzo undo ID'."
        )
        return result

    return run_with_mark
