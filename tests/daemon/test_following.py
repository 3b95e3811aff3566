"""What the service takes in by itself: what was fed and mined before, and nothing else."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.daemon.conftest import User, wait_until

from palazzo import locks
from palazzo.daemon import source_follower
from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.source_follower import BackgroundWatcher
from palazzo.features.mining.contract import WatchEvent, WatchRequest
from palazzo.features.mining.watch import claim_file, lock_file, watch
from palazzo.operations.context import Context
from palazzo.operations.registry import operation


def session(home: Path, host: Path, name: str, words: str) -> None:
    """A session of Claude Code in which somebody says `words`, and is answered."""
    rows = [
        {"type": "user", "uuid": f"{name}-1", "message": {"role": "user", "content": words}},
        {
            "type": "assistant",
            "uuid": f"{name}-2",
            "parentUuid": f"{name}-1",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Understood."}]},
        },
        {
            "type": "user",
            "uuid": f"{name}-3",
            "parentUuid": f"{name}-2",
            "message": {"role": "user", "content": "Good."},
        },
    ]
    about = {"sessionId": name, "cwd": str(home), "timestamp": "2026-03-04T10:00:00.000Z", "version": "2.1.0"}
    host.mkdir(parents=True, exist_ok=True)
    (host / f"{name}.jsonl").write_text("".join(json.dumps({**row, **about}) + "\n" for row in rows))


def found(user: User, words: str) -> bool:
    with user.caller() as caller:
        answer = caller.call("search", {"query": words})
        assert "result" in answer, answer
        return any(words in hit["text"] for hit in answer["result"]["hits"])


def test_it_takes_in_sessions_of_a_host_that_was_fed_and_of_no_other(user: User) -> None:
    history = user.home / ".claude" / "projects" / "p"
    session(user.home, history, "11111111-1111-4111-8111-111111111111", "the albatross is fed")
    feed = operation("feed")
    with Context(user.palace, user.home, {**user.variables, "PALAZZO_SERVICE": "off"}) as context:
        assert feed.run(context, feed.request(hosts=("claude-code",))).items == 3
    strangers = user.home / ".pi" / "agent" / "sessions"
    strangers.mkdir(parents=True)
    shutil.copy(next(history.iterdir()), strangers / "stranger.jsonl")
    user.variables["PALAZZO_WATCH_BACKGROUND"] = "on"
    assert found(user, "the albatross is fed")
    wait_until(lambda: user.greet("state")["state"]["watching"])
    session(user.home, history, "22222222-2222-4222-8222-222222222222", "the pelican came later")
    wait_until(lambda: found(user, "the pelican came later"))
    with user.caller() as caller:
        assert caller.call("status", {})["result"]["items"] == 6


def test_it_reads_nobodys_history_unasked_and_leaves_watching_to_a_watcher(user: User) -> None:
    session(
        user.home, user.home / ".claude" / "projects" / "p", "11111111-1111-4111-8111-111111111111", "private words"
    )
    with user.caller() as caller:
        caller.call("remember", {"text": "so that there is a palace"})
    user.end()
    user.variables["PALAZZO_WATCH_BACKGROUND"] = "on"
    with locks.try_lock(lock_file(user.palace)) or locks.FileLock(user.palace, -1), user.caller() as caller:
        assert caller.call("status", {})["result"]["items"] == 1
        assert not user.greet("state")["state"]["watching"]
    user.end()
    with user.caller() as caller:
        wait_until(lambda: user.greet("state")["state"]["watching"])
        hits = caller.call("search", {"query": "private words"})["result"]["hits"]
        assert [hit["text"] for hit in hits if "private words" in hit["text"]] == []
        assert caller.call("status", {})["result"]["items"] == 1


def test_it_gives_way_to_a_person_who_watches(user: User) -> None:
    user.variables["PALAZZO_WATCH_BACKGROUND"] = "on"
    notes = user.home / "notes"
    notes.mkdir()
    with user.caller() as caller:
        caller.call("remember", {"text": "so that there is a palace"})
        wait_until(lambda: user.greet("state")["state"]["watching"])
        told: list[object] = []
        stop = threading.Event()
        with Context(user.palace, user.home, {**user.variables, "PALAZZO_SERVICE": "off"}, on_event=told.append) as own:
            watching = threading.Thread(target=watch, args=(own, WatchRequest((notes,)), stop))
            watching.start()
            try:
                wait_until(lambda: "caught-up" in [one.event for one in told if isinstance(one, WatchEvent)])
                assert not user.greet("state")["state"]["watching"]
            finally:
                stop.set()
                watching.join()


@pytest.fixture
def quick(user: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[BackgroundWatcher]:
    """What the service follows with, in this process, which looks again at once."""
    monkeypatch.setattr(source_follower, "_LOOK_AGAIN", 0.02)
    monkeypatch.setattr(source_follower, "_GIVE_WAY", 0.02)
    user.variables |= {"PALAZZO_SERVICE": "off"}
    del user.variables["PALAZZO_WATCH_BACKGROUND"]
    remember = operation("remember")
    with Context(user.palace, user.home, user.variables) as context:
        remember.run(context, remember.request(text="so that there is a palace"))
    pool = Pool()
    one = BackgroundWatcher(user.palace, user.variables, pool)
    one.begin()
    try:
        yield one
    finally:
        one.end()
        pool.close()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, also where somebody just looks whether it is held."""
    while (lock := locks.try_lock(path)) is None:
        time.sleep(0.001)
    with lock:
        yield


def test_it_goes_on_when_the_person_watches_no_longer(user: User, quick: BackgroundWatcher) -> None:
    wait_until(lambda: quick.is_watching)
    with held(claim_file(user.palace)):
        wait_until(lambda: not quick.is_watching)
    wait_until(lambda: quick.is_watching)


def test_it_ends_and_begins_as_the_setting_comes_to_say(user: User, quick: BackgroundWatcher) -> None:
    settings = operation("settings")
    wait_until(lambda: quick.is_watching)
    with Context(user.palace, user.home, user.variables) as context:
        settings.run(context, settings.request(action="set", key="watch.background", value="false"))
        wait_until(lambda: not quick.is_watching)
        settings.run(context, settings.request(action="set", key="watch.background", value="true"))
        wait_until(lambda: quick.is_watching)
