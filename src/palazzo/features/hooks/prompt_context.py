"""Context of a prompt besides its words: the error in view, and the files in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.features.hooks.hook_answers import HookCall
from palazzo.injection import budgets
from palazzo.injection.proactive import Around
from palazzo.injection.recent_turns import errors_in, files_in, subject

if TYPE_CHECKING:
    from collections.abc import Callable

    from palazzo.injection.entry_text import Entry
    from palazzo.injection.recent_turns import Recent
    from palazzo.model import Drawer


def around(call: HookCall, last: Recent, is_own: Callable[[Drawer], bool]) -> Around:
    """Return the context that the session adds to the prompt."""
    return Around(subject(call.hook_event.prompt, last), last.answer, is_own=is_own)


def in_view(call: HookCall, last: Recent, budget: int) -> list[Entry]:
    """Return past fixes for the current error, then notes about the files in use, each within its budget share."""
    entries = fixes_in_view(call, last, budget)
    files = list(dict.fromkeys([*files_in(call.hook_event.prompt), *last.files]))
    if files:
        from palazzo.features.hooks.hook_files import on_files

        entries += budgets.fit_budget(on_files(call, files), int(budget * budgets.NOTES))
    return entries


def fixes_in_view(call: HookCall, last: Recent, budget: int) -> list[Entry]:
    """Return past fixes for the current error, each uncut, within their budget share."""
    return list(budgets.fit_budget(_fixes(call, last), int(budget * budgets.FIXES), whole=True))


def _fixes(call: HookCall, last: Recent) -> Iterator[Entry]:
    """Yield past failures like the error in the prompt, else like the last failure that is not fixed yet."""
    from palazzo.derived import fix_consumer
    from palazzo.features.hooks.hook_tool import fixes

    signatures = errors_in(call.hook_event.prompt)
    if not signatures and last.failed is None:
        return
    with call.context.reading().database.snapshot() as connection:
        for signature in signatures:
            yield from fixes(call, connection, *fix_consumer.marks(connection, None, signature))
        if last.failed is not None and not signatures:
            failed = last.failed
            yield from fixes(call, connection, *fix_consumer.marks(connection, failed.target, failed.signature))
