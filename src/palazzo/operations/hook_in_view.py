"""What a prompt calls for besides its words: by an error that is in view, and by the files that are in play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.attention import shares
from palazzo.attention.proactive import Around
from palazzo.attention.recent import errors_in, files_in, subject
from palazzo.operations.hook_answers import HookCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from palazzo.attention.recent import Recent
    from palazzo.attention.rendering import Entry
    from palazzo.model import Drawer


def around(call: HookCall, last: Recent, is_own: Callable[[Drawer], bool]) -> Around:
    """Return what the session adds to the prompt's words."""
    return Around(subject(call.hook_event.prompt, last), last.answer, is_own=is_own)


def in_view(call: HookCall, last: Recent, budget: int) -> list[Entry]:
    """Return past fixes for the error in view, then what is noted about the files in play: each within its share."""
    entries = fixes_in_view(call, last, budget)
    files = list(dict.fromkeys([*files_in(call.hook_event.prompt), *last.files]))
    if files:
        from palazzo.operations.hook_files import on_files

        entries += shares.fit_budget(on_files(call, files), int(budget * shares.NOTES))
    return entries


def fixes_in_view(call: HookCall, last: Recent, budget: int) -> list[Entry]:
    """Return past fixes for the error in view, each whole, within their share."""
    return list(shares.fit_budget(_fixes(call, last), int(budget * shares.FIXES), whole=True))


def _fixes(call: HookCall, last: Recent) -> Iterator[Entry]:
    """What failed so before: an error that the prompt brings, else the last failure that nothing has mended."""
    from palazzo.derive import mending
    from palazzo.operations.hook_tool import fixes

    signatures = errors_in(call.hook_event.prompt)
    if not signatures and last.failed is None:
        return
    with call.context.reading().database.snapshot() as connection:
        for signature in signatures:
            yield from fixes(call, connection, *mending.marks(connection, None, signature))
        if last.failed is not None and not signatures:
            failed = last.failed
            yield from fixes(call, connection, *mending.marks(connection, failed.target, failed.signature))
