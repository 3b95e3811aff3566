"""Sessions that edit files, fail and pass, filed in a palace as their transcripts would bring them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.archive import conversations
from tests.archive.conversations import DAY, said
from tests.derived.test_failures import edited, ran

from palazzo.archive.ingest import NewItem
from palazzo.model import ItemId, Micros, Place, Source
from palazzo.operations.context import Context

TESTS = "pytest -q tests/test_cart.py"
ERROR = "FAILED tests/test_cart.py::test_rounding - decimal.InvalidOperation: 9.995 is not 10.00"
FIXED = [
    said(0, "user", "the cart totals are wrong by a cent, please fix it"),
    *ran(1, TESTS, f"Exit code 1\n{ERROR}\n1 failed in 0.31s", failed=True),
    *edited(2, "src/cart.py"),
    *ran(3, "pip install tzdata", "Successfully installed tzdata"),
    *ran(4, TESTS, "1 passed in 0.30s"),
    said(10, "assistant", "The rounding of totals in src/cart.py is fixed."),
    said(11, "user", "Good. We decided: cart.py rounds half up, as the tax office wants it."),
]
"""A session in which a test fails, a file is edited, a package is installed, and the test passes."""


def file_session(context: Context, rows: Sequence[NewItem], session: str, wing: str = "", day: int = 0) -> None:
    """File a session that was held on that day after the first, with items of its own."""
    source = Source(("session", session), "claude-code", f"file:///{session}.jsonl", session, f"Session {session}")
    own = [
        replace(
            row,
            id=ItemId(f"{int.from_bytes(session.encode()):x}".ljust(24, "0")[:24] + f"{n:08x}"),
            created_at=Micros(row.created_at + day * DAY),
        )
        for n, row in enumerate(rows)
    ]
    conversations.file_rows(context.writing(), own, source=source, place=Place(wing or context.project_wing, "work"))
