"""doctor says what of a host's history is not archived, and how long it will be there."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from palazzo.operations.check_finding import Diagnosis
from palazzo.operations.context import Context
from palazzo.operations.registry import operation

DAY = 24 * 3600


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "work").mkdir(parents=True)
    return tmp_path / "home"


def opened(home: Path, **variables: str) -> Context:
    variables = {"HOME": str(home), "PALAZZO_SERVICE": "off", **variables}
    return Context(palace=home / "palace.db", cwd=home / "work", variables=variables)


def history(home: Path, host: str, **variables: str) -> Diagnosis:
    verb = operation("doctor")
    with opened(home, **variables) as context:
        found = {finding.name: finding for finding in verb.run(context, verb.request()).findings}
    finding = found[f"history of {host}"]
    assert isinstance(finding, Diagnosis)
    return finding


def feed(home: Path) -> None:
    verb = operation("feed")
    with opened(home) as context:
        assert not verb.run(context, verb.request()).failed


def session(home: Path, number: int, days_old: float, messages: int = 4, cwd: str = "/home/dev/acme") -> Path:
    """A session of Claude Code that was gone on with last so many days ago."""
    own = f"5e55{number:04}-0000-4000-8000-000000000000"
    path = home / ".claude" / "projects" / "-home-dev-acme" / f"{own}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        for n in range(messages):
            message = {"role": "user", "content": f"word {n} of {number}"}
            stated = {"sessionId": own, "timestamp": "2026-11-01T20:39:00Z", "cwd": cwd, "isSidechain": False}
            row = {"type": "user", "uuid": f"u{number}-{n}", "parentUuid": None, "message": message, **stated}
            file.write(json.dumps(row) + "\n")
    age(path, days_old)
    return path


def age(path: Path, days_old: float) -> None:
    at = time.time() - days_old * DAY
    os.utime(path, (at, at))


def test_what_will_be_deleted_within_a_week_is_wrong_until_it_is_archived(home: Path) -> None:
    session(home, 1, 25.5)
    session(home, 2, 3)
    found = history(home, "claude-code")
    assert (found.ok, found.mend) == (False, "palazzo feed claude-code")
    assert found.detail == "2 sessions, 2 not archived; the oldest of these will be deleted in 5 days"
    feed(home)
    found = history(home, "claude-code")
    assert (found.ok, found.mend, found.detail) == (True, "", "2 sessions, all archived")


def test_a_session_that_went_on_since_counts_again(home: Path) -> None:
    session(home, 1, 20)
    second = session(home, 2, 28)
    feed(home)
    with second.open("a") as file:
        file.write(second.read_text().splitlines()[0].replace("u2-0", "u2-9") + "\n")
    age(second, 2)
    found = history(home, "claude-code")
    assert found.ok
    assert found.detail == "2 sessions, 1 grown since; the oldest of these will be deleted in 28 days"


def test_the_hosts_own_setting_says_how_long(home: Path) -> None:
    session(home, 1, 40)
    assert history(home, "claude-code").detail.endswith("will be deleted when claude-code next starts")
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 365}')
    found = history(home, "claude-code")
    assert found.ok
    assert found.detail.endswith("will be deleted in 325 days")


def test_what_is_left_out_on_purpose_is_not_missing(home: Path) -> None:
    session(home, 1, 29, messages=1)
    session(home, 2, 28, cwd=str(home / "secret"))
    session(home, 3, 2)
    (home / "palace.db").unlink(missing_ok=True)
    excluded = {"PALAZZO_MINE_EXCLUDE_PROJECTS": str(home / "secret")}
    verb = operation("feed")
    with opened(home, **excluded) as context:
        verb.run(context, verb.request())
    found = history(home, "claude-code", **excluded)
    assert found.ok, found.detail
    assert found.detail == "3 sessions, all archived"


def test_a_host_that_deletes_nothing_is_in_order_and_says_what_is_new(home: Path) -> None:
    day = home / ".codex" / "sessions" / "2026" / "11" / "21"
    day.mkdir(parents=True)
    path = day / "rollout-2026-11-21T21-00-54-5e551017-0000-4000-8000-000000000000.jsonl"
    path.write_text('{"timestamp": "x", "type": "session_meta", "payload": {"id": "x", "cwd": "/w"}}\n')
    age(path, 400)
    found = history(home, "codex")
    assert found.ok
    assert found.detail == "1 session, 1 not archived; none is deleted automatically"


def test_a_last_line_that_was_never_finished_is_not_news(home: Path) -> None:
    path = session(home, 1, 2)
    with path.open("a") as file:
        file.write('{"type": "user", "uuid": "u9", "mess')
    age(path, 28)
    feed(home)
    assert history(home, "claude-code").detail == "1 session, all archived"
