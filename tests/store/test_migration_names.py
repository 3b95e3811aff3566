"""The list of migrations that a palace is checked against, and the migrations that exist."""

from __future__ import annotations

import re

from palazzo.store import schema
from palazzo.store.migration_names import MIGRATION_NAMES


def test_the_schema_that_is_read_is_the_schema_that_is_made() -> None:
    """No migration is left out of the list."""
    functions = [name for name in vars(schema) if re.fullmatch(r"m\d{3}_\w+", name)]
    assert tuple(functions) == MIGRATION_NAMES
