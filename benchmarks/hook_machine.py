"""A home with a large palace, transcripts that grow, and a service: what the benchmarks of hooks run on.

Owns the copy of the palace, what hosts write to hooks, and the processes; knows nothing of what is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
from benchmarks.make_palace import MEASURED_WING
from benchmarks.synthetic import SyntheticVectors

from palazzo import locks
from palazzo.client import rpc
from palazzo.features.hooks.contract import HookRequest
from palazzo.features.hooks.hook import hook
from palazzo.features.places.contract import WingRenameRequest
from palazzo.features.places.wing_rename import wing_rename
from palazzo.features.service.background_process import lock_file
from palazzo.features.service.service_state import log_file
from palazzo.index.minilm import MiniLM
from palazzo.model import USERS_WING
from palazzo.operations.context import Context
from palazzo.store import page_checksums

SOURCE = Path(__file__).resolve().parents[1] / "src"
BARE = [sys.executable, "-I", "-S", "-E"]
COMMAND = [*BARE, str(SOURCE / "palazzo" / "__main__.py"), "hook"]
ASKING = "what did we decide about the retry budget of the queue?"
_KEPT = (
    "SELECT count(*), count(DISTINCT i.source || ' ' || i.ordinal) FROM item i WHERE kind = 'message' AND"
    " standing = 'said' AND source IN (SELECT source FROM file_state WHERE uri LIKE ?)"
)
_IN_TIME = 0.7
"""Seconds; a hook that took more may have given up."""
ORDINARY = "rename this variable in the parser"


class Machine:
    """A home with a copy of the palace, whose measured wing is the person's own: hooks tell of it everywhere.

    Its vectors are synthetic and declared to be the bundled model's, so that the service loads model and index. Nothing
    is embedded meanwhile: that is another process's work, at the lowest priority, and takes a core for a second.
    """

    def __init__(self, home: Path, palace: Path) -> None:
        self.home, self.project = home, home / MEASURED_WING
        self.project.mkdir()
        self.transcripts = home / ".claude" / "projects" / "x"
        self.transcripts.mkdir(parents=True)
        self.palace = home / "palace.db"
        shutil.copy(palace, self.palace)
        runtime = home / "run"
        runtime.mkdir(mode=0o700)
        self.variables = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "PALAZZO_PALACE": str(self.palace),
            "PALAZZO_MIN_MESSAGES": "1",
            "PATH": os.environ["PATH"],
        }
        self.where = rpc.address(str(self.palace), self.variables)
        self._spoken, self.to_keep, self._said = 0, 0, ""
        self._log_read = 0
        self._embedding = locks.try_lock(lock_file(self.palace))
        page_checksums.install()
        connection = apsw.Connection(str(self.palace))
        connection.execute("UPDATE embedder SET name = ? WHERE name = ?", (MiniLM.id, SyntheticVectors.id))
        connection.close()
        with self.alone() as context:
            wing_rename(context, WingRenameRequest(MEASURED_WING, USERS_WING))

    def alone(self) -> Context:
        """Open the palace in this process."""
        return Context(self.palace, self.project, {**self.variables, "PALAZZO_SERVICE": "off"})

    def close(self) -> None:
        """Let go of what keeps others from embedding."""
        if self._embedding is not None:
            self._embedding.release()

    # --- what hosts tell of --------------------------------------------------------------------------------

    def payload(self, session: str, transcript: Path, **fields: Any) -> dict[str, Any]:
        """Return what a host tells of, in the words of all hosts at once: each adapter takes what its host has."""
        given, output = {"command": "pytest -q tests/test_queue.py"}, {"stdout": "12 passed", "stderr": ""}
        return {
            **dict.fromkeys(("session_id", "sessionId", "session"), session),
            **{name: str(transcript) for name in ("transcript_path", "transcriptPath", "transcript")},
            "cwd": str(self.project),
            **dict.fromkeys(("last_assistant_message", "last_message", "prompt_response"), self._said),
            "source": "startup",
            "tool_name": "Bash",
            "tool_input": given,
            "tool_response": output,
            "toolName": "bash",
            "toolArgs": given,
            "toolResult": output,
            "tool": {"name": "bash", "input": given, "output": "12 passed"},
            **fields,
        }

    def say(self, transcript: Path, session: str) -> None:
        """Let a transcript grow by one exchange; payloads tell of what was said last."""
        transcript.parent.mkdir(parents=True, exist_ok=True)
        with transcript.open("a", encoding="utf-8") as file:
            for role in ("user", "assistant"):
                before, self._spoken = self._spoken, self._spoken + 1
                self.to_keep += transcript.is_relative_to(self.home)
                self._said = f"the {self._spoken}th thing that was said about the queue"
                row = {
                    "parentUuid": f"00000000-0000-4000-8000-{before:012}" if before else None,
                    "isSidechain": False,
                    "type": role,
                    "message": {"role": role, "content": [{"type": "text", "text": self._said}]},
                    "uuid": f"00000000-0000-4000-8000-{self._spoken:012}",
                    "timestamp": f"2026-11-22T10:{self._spoken // 60 % 60:02}:{self._spoken % 60:02}.000Z",
                    "cwd": str(self.project),
                    "sessionId": session,
                    "version": "2.1.330",
                    "gitBranch": "main",
                }
                file.write(json.dumps(row) + "\n")

    def kept(self) -> tuple[int, int]:
        """Return how many messages the palace has of this home's transcripts, and how many different ones."""
        with self.alone() as context, context.reading().database.snapshot() as connection:
            ((all_of_them, different),) = connection.execute(_KEPT, (f"file://{self.home}/%",))
        return int(all_of_them), int(different)

    def take_in(self, transcript: Path, session: str) -> None:
        """File a transcript in this process, as the first stop of its session would."""
        with self.alone() as context:
            hook(context, HookRequest("claude-code", "stop", session, transcript=str(transcript)))

    # --- processes -----------------------------------------------------------------------------------------

    def run(self, host: str, event: str, payload: Mapping[str, Any], **variables: str) -> bytes:
        """Run a hook from the start of its process to its end; return what it prints."""
        sent = json.dumps(payload).encode()
        environment = {**self.variables, **variables}
        return subprocess.run(
            [*COMMAND, host, event], input=sent, capture_output=True, check=True, env=environment
        ).stdout

    @contextmanager
    def service(self) -> Iterator[int]:
        """Run a service, warm enough to tell something in time; yield its process id."""
        rpc.ensure_service(self.where, self.variables, {"want": "state"}).close()
        try:
            self._warm_up()
            yield self.pid()
        finally:
            self.stop()

    def _warm_up(self) -> None:
        """Ask for the past until that is answered in time, twice in a row."""
        deadline, in_time, turn = time.monotonic() + 60, 0, 0
        while in_time < 2:
            if time.monotonic() > deadline:
                raise SystemExit("The service answered nothing in time within a minute.")
            turn += 1
            began = time.monotonic()
            self.run("claude-code", "prompt", self.payload(f"warm-{turn}", self.transcripts, prompt=ASKING))
            in_time = in_time + 1 if time.monotonic() - began < _IN_TIME else 0
            time.sleep(0.5)

    def pid(self) -> int:
        """Return the service's process id."""
        stream, told = rpc.greet(self.where, {"want": "state", "any": True})
        stream.close()
        return int(told["pid"])

    def stop(self) -> None:
        """End the service, and wait until it is gone."""
        stream, _ = rpc.greet(self.where, {"want": "stop", "any": True}, 60)
        stream.read()
        stream.close()

    def stop_once_it_listens(self) -> None:
        """End a service that was started just now."""
        rpc.ensure_service(self.where, self.variables, {"want": "state", "any": True}).close()
        self.stop()

    def logged(self) -> list[str]:
        """Return the lines that the service's log has got since this was last asked for."""
        file = log_file(self.palace, self.variables)
        size = file.stat().st_size
        with file.open("rb") as log:
            log.seek(self._log_read if size >= self._log_read else 0)
            read = log.read()
        self._log_read = size if size < self._log_read else self._log_read + len(read)
        return read.decode("utf-8", "replace").splitlines()
