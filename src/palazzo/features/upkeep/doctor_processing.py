"""The part of `doctor` about background processing: activities that failed, and texts that were set aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.derived.consumer_activities import activity_of
from palazzo.errors import PalazzoError
from palazzo.features.service.background_process import failures
from palazzo.features.service.service_state import log_file
from palazzo.features.upkeep.doctor_fixes import REPAIR
from palazzo.operations.check_finding import Diagnosis
from palazzo.store import dead_letters

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_MOST_DEAD_LETTERS = 10
"""The most texts that are listed by name; the others are only counted."""


def find_failed_activities(context: Context) -> Iterator[Diagnosis]:
    """Yield a finding for each background activity whose last run failed."""
    for activity, reason in failures(context.variables):
        description = activity_of(activity)
        yield Diagnosis("background", False, f"{description} failed in its last run: {reason}", REPAIR, fixable=True)


def find_dead_letters(context: Context) -> Iterator[Diagnosis]:
    """Yield a finding for each text that a consumer could not process."""
    if not context.has_palace:
        return
    try:
        with context.reading().database.snapshot() as connection:
            letters = dead_letters.all_letters(connection)
    except PalazzoError:
        return  # the palace cannot be read, which is a finding of its own
    log = log_file(context.palace_path, context.variables)
    mend = f"{REPAIR}; if it fails again, upgrade Palazzo or report the traceback in {log}"
    for letter in letters[:_MOST_DEAD_LETTERS]:
        detail = (
            f"{letter.label}: {activity_of(letter.consumer)} failed ({letter.error}); all other texts were processed"
        )
        yield Diagnosis("set aside", False, detail, mend, fixable=True)
    if len(letters) > _MOST_DEAD_LETTERS:
        detail = f"{len(letters) - _MOST_DEAD_LETTERS:,} more; palazzo verify counts them"
        yield Diagnosis("set aside", False, detail, REPAIR, fixable=True)
