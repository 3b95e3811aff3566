"""Two documents of one project do not supersede each other by values that both hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine

PAIRS = {
    "a default of another command": ("Default: false\n\nType: Boolean", "Default: true\n\nType: Boolean"),
    "retries of something else": (
        "The number of retries is 3 for the client.",
        "The number of retries is 5 for the client.",
    ),
    "instead of": (
        "Packages are installed into the current working directory.",
        "Packages are installed into the prefix folder instead of the current working directory.",
    ),
}


def count_conflicts(tmp_path: Path, *texts: str, last: str = "page1.md") -> int:
    docs = tmp_path / "docs"
    (docs / last).parent.mkdir(parents=True)
    for name, text in zip(("page0.md", last), texts, strict=True):
        (docs / name).write_text(f"# Settings\n\n{text}\n", "utf-8")
    with Palace.open(tmp_path / "palace.db") as palace:
        mine(palace.database, palace.clock, MineRequest((docs,)))
        palace.follow_claims()
        with palace.database.snapshot() as connection:
            ((number,),) = connection.execute("SELECT count(*) FROM conflict")
    return int(number)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_another_value_on_another_page_supersedes_nothing(tmp_path: Path, pair: tuple[str, str]) -> None:
    assert count_conflicts(tmp_path, *pair) == 0


@pytest.mark.parametrize("log", ["CHANGELOG.md", "releases/2.1.md", "whats-new.md", "HISTORY.rst", "release_notes.md"])
def test_a_change_log_supersedes_no_page(tmp_path: Path, log: str) -> None:
    page, switch = "We use RabbitMQ for the job queue.", "We switched from RabbitMQ to NATS for the job queue."
    assert count_conflicts(tmp_path, page, switch, last=log) == 0


def test_a_page_that_says_that_something_was_switched_supersedes_another(tmp_path: Path) -> None:
    earlier = "We use RabbitMQ for the job queue."
    later = "We switched from RabbitMQ to NATS for the job queue."
    assert count_conflicts(tmp_path, earlier, later) == 1
