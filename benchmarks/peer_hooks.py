"""The peer of the hooks' benchmark: `mempalace hook run` of MemPalace 3.11.0, which `peer_mempalace.py` installs.

Knows nothing of Palazzo. What to know of the peer: it has hooks for a session's start, a stop, a compaction and a
session's end, none for a prompt or a tool, and tells the agent nothing in any of them. A stop counts the messages of
the whole transcript (tool results among them); when 15 came since the last time it writes a diary entry at once and
detaches a `mine` of the transcript, which is waited for here before anything else is timed. Its palace has a few dozen
drawers, which is in its favour: feeding it a hundred thousand would take most of a day.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import write_sessions
from benchmarks.peer_mempalace import Peer, end_leftovers, install_peer, mine, processes_of, timed

_WITHIN = 120.0
"""Seconds that one call, or what it detached, may take."""
_INTERVAL = 15
"""Messages after which a stop saves."""
_SESSIONS = 3
Say = Callable[[Path, str], object]
"""Lets a transcript of Claude Code's grow by one exchange of a session."""


@dataclass(frozen=True, slots=True)
class PeerCall:
    """A call to be timed, and what comes before and after it untimed."""

    name: str
    ready: Callable[[], object]
    call: Callable[[], object]
    after: Callable[[], object]


class PeerHooks:
    """A peer with a small palace and transcripts that grow."""

    def __init__(self, peer: Peer, say: Say, large: Path) -> None:
        self._peer, self._say = peer, say
        self._projects = peer.home / ".claude" / "projects" / "-home-dev-acme"
        self._projects.mkdir(parents=True)
        self._large = Path(shutil.copy(large, self._projects / "large.jsonl"))
        self._saves, self._small = (self._projects / f"{name}.jsonl" for name in ("saves", "small"))
        for transcript in (self._large, self._small):
            self._keep_from_saving(transcript.stem)

    def calls(self) -> Iterator[PeerCall]:
        """Yield what to call."""
        yield self._call("session start", "session-start", self._small, 0)
        yield self._call("stop that saves nothing", "stop", self._small, 1)
        yield self._call("stop that saves nothing, 75 MB grown by an exchange", "stop", self._large, 1)
        yield self._call("stop that saves", "stop", self._saves, _INTERVAL)

    def _call(self, name: str, hook: str, transcript: Path, exchanges: int) -> PeerCall:
        payload = json.dumps({"session_id": transcript.stem, "transcript_path": str(transcript)})
        arguments = ("hook", "run", "--hook", hook, "--harness", "claude-code")

        def ready() -> None:
            for _ in range(exchanges):
                self._say(transcript, transcript.stem)

        def call() -> None:
            timed(self._peer, arguments, payload, time.monotonic() + _WITHIN)

        return PeerCall(name, ready, call, self._wait)

    def _wait(self) -> None:
        """Wait for what a call detached."""
        deadline = time.monotonic() + _WITHIN
        while processes_of(self._peer) and time.monotonic() < deadline:
            time.sleep(0.05)

    def _keep_from_saving(self, session: str) -> None:
        marks = self._peer.home / ".mempalace" / "hook_state"
        marks.mkdir(parents=True, exist_ok=True)
        (marks / f"{session}_last_save").write_text(str(10**9))


@contextmanager
def peer_hooks(home: Path, venv: Path, embeddings_url: str, say: Say, large: Path) -> Iterator[PeerHooks]:
    """Install the peer where it is absent, feed it a few sessions, and end what it detached when done."""
    peer = Peer(install_peer(venv), home, embeddings_url)
    home.mkdir(parents=True)
    try:
        write_sessions(home / "corpus", _SESSIONS, seed=1)
        mine(peer, home / "corpus", "convos", time.monotonic() + 10 * _WITHIN)
        yield PeerHooks(peer, say, large)
    finally:
        end_leftovers(peer)
