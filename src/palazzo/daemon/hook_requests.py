"""Hook requests: one request on a connection, one answer, in time.

A host waits for the answer. Work that takes longer than the host allows is finished anyway, and the host gets an empty
answer. A transcript that was not written to its end is read again two seconds later, and when a service starts.
"""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import replace
from pathlib import Path
from typing import Any

from palazzo.client.jsonl import Stream
from palazzo.daemon.engine import Engine, Job
from palazzo.daemon.pending_prompts import Prompts
from palazzo.errors import PalaceUnusable, PalazzoError
from palazzo.faces.hooks import hook_exchange
from palazzo.faces.hooks.hook_faults import Faults, TooLate
from palazzo.faces.mcp.client_calls import OperationCancelled
from palazzo.features.diary.contract import SessionCheckpointRequest
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook_answers import HANDED_OVER
from palazzo.operations import registry
from palazzo.operations.context import Progress

_log = logging.getLogger("palazzo.service")
_DEFAULT_TIMEOUT = 0.8
"""Seconds within which a hook is answered if its client does not state its time limit."""
_TO_SPARE = 0.1
_CAPTURES_WITHIN = 25.0
_USED = (
    "palazzo.features.hooks.hook_start",
    "palazzo.features.hooks.hook_prompt",
    "palazzo.features.hooks.hook_capture",
    "palazzo.features.hooks.hook_tool",
    "palazzo.features.hooks.hook_files",
    "palazzo.features.hooks.prompt_context",
    "palazzo.features.wakeup.wake_up",
    "palazzo.features.wakeup.recent_activity",
    "palazzo.features.wakeup.proactive_context",
    "palazzo.operations.injection_scope",
    "palazzo.operations.watched_sources",
    "palazzo.injection.wake_up_sources",
    "palazzo.sources.formats.transcript_formats",
    "palazzo.sources.mining_run",
    "palazzo.derived.digest_consumer",
    "palazzo.derived.fix_consumer",
    "palazzo.sessions.call_targets",
    "palazzo.index.search_pipeline",
    "palazzo.store.transcripts",
    "palazzo.store.failure_fixes",
    "palazzo.store.anchors",
)
_REREAD_DELAY = 2.0
"""Seconds after which a transcript that lagged is read again: hosts write the last message within one second."""
_TRY_AGAIN = 60.0
"""Seconds until a transcript that could not be captured is read again."""
_LOCK_SHARE = 0.7
"""Share of a hook's time that it waits for another program's lock; the rest is for the answer."""
_LOOK_AGAIN = 15.0
"""Seconds between two checks whether a pause is over."""


class Hooks:
    """Answers the hooks of one service."""

    def __init__(self, engine: Engine, variables: Mapping[str, str]) -> None:
        self._engine, self._variables = engine, dict(variables)
        self._timers: dict[str, threading.Timer] = {}
        self._prompts = Prompts()
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._is_ending = False

    def serve(self, stream: Stream, hello: Mapping[str, Any]) -> None:
        """Read the payload, answer it, and end the connection."""
        payload = _payload(stream, hello)
        around = hello.get("surroundings")
        environment = around if isinstance(around, dict) else {}
        variables = {str(name): str(value) for name, value in (environment.get("variables") or {}).items()}
        client_cwd = str(environment.get("cwd") or "")
        limit_ms = hello.get("within_ms")
        timeout = limit_ms / 1_000 - _TO_SPARE if isinstance(limit_ms, int) else _DEFAULT_TIMEOUT

        def ask(request: HookRequest, cwd: str) -> HookResult:
            *earlier_turns, own = self._prompts.turns(request)
            for turn in earlier_turns:
                self._engine.submit(self._job(turn, turn.cwd or client_cwd, variables))
            return self._ask(own, cwd or client_cwd, variables, timeout)

        host, event = str(hello.get("host", "")), str(hello.get("event", ""))
        faults = Faults(str(self._engine.palace), variables or self._variables)
        answer = hook_exchange.answer(host, event, payload, ask, _log.info, faults)
        try:
            stream.socket.sendall(answer)
        except OSError:
            faults.abandon()  # the host has gone: it shows the line the next time
            raise
        self._load_behind()

    def _load_behind(self) -> None:
        """Load the model of a palace that was opened for a hook, which did not wait for it."""
        if not self._engine.pool.is_cold or not self._loading.acquire(blocking=False):
            return

        def load() -> None:
            try:
                self._engine.warm_up()
            finally:
                self._loading.release()

        threading.Thread(target=load, name="palazzo-model", daemon=True).start()

    def load(self) -> None:
        """Import the modules that the first hook of each kind would otherwise import while its host waits."""
        for module in _USED:
            importlib.import_module(module)

    def catch_up(self) -> None:
        """Read the transcripts to which hooks left pointers without a service; if it is paused, wait for the end."""
        from palazzo.features.hooks import spool
        from palazzo.operations.context import Context

        palace = self._engine.palace
        with Context(palace, palace.parent, self._variables) as context:
            if context.is_off:
                self._later("spool", self.catch_up, seconds=_LOOK_AGAIN)
                return
        pointers = spool.take(palace, self._variables)
        for pointer in pointers:
            if not self._read_again(Path(pointer.path), self._variables):
                self._later("spool", self.catch_up, seconds=_TRY_AGAIN)
                return
            if pointer.has_ended:
                self._end(HookRequest(pointer.host, "session-end", pointer.session, transcript=pointer.path))
        spool.forget(pointers)

    def _capture_later(self, request: HookRequest) -> None:
        """Leave a pointer to a transcript that could not be captured, and read it later."""
        from palazzo.features.hooks import spool

        spool.leave(self._engine.palace, request, self._variables)
        self._later("spool", self.catch_up, seconds=_TRY_AGAIN)

    def _end(self, request: HookRequest) -> None:
        """Do the work for an ended session, as if its hook reported it now."""
        job = self._job(request, str(self._engine.palace.parent), self._variables)
        self._engine.submit(job).add_done_callback(lambda done: self._handle_result(done, request, self._variables))

    def finish(self) -> None:
        """Run all delayed reads now, and accept no more."""
        with self._lock:
            self._is_ending = True
            timers = list(self._timers.values())
        for timer in timers:
            timer.cancel()
            timer.function(*timer.args, **timer.kwargs)

    def _ask(self, request: HookRequest, cwd: str, variables: Mapping[str, str], timeout: float) -> HookResult:
        host = AnswerRecipient()
        job = replace(self._job(request, cwd, variables, host), lock_wait=timeout * _LOCK_SHARE, waits_for_model=False)
        future: Future[HookResult] = self._engine.submit(job)
        future.add_done_callback(
            lambda done: self._handle_result(done, request, variables)
        )  # also where nobody waited for it
        try:
            return future.result(timeout)
        except TookTooLong:
            too_late = TooLate(f"it took longer than {timeout:.1f} seconds, and may still finish.")
            if host.goes():
                raise too_late from None
        try:
            return future.result(_TO_SPARE)  # it counts as given: what is left of it is a commit
        except TookTooLong:
            raise too_late from None

    def _handle_result(self, future: Future[HookResult], request: HookRequest, variables: Mapping[str, str]) -> None:
        if future.cancelled():
            return
        if future.exception() is not None:
            self._capture_later(request)
            return
        result = future.result()
        if result.unread:
            _log.info("hook %s %s: %s", request.host, request.event, result.unread)
        for path in result.again:
            self._later(str(path), self._read_again, path, dict(variables))
        if result.checkpoint:
            about = SessionCheckpointRequest(request.session, result.checkpoint)
            self._later(f"checkpoint of {request.session}", self._checkpoint, about, result.again, dict(variables))

    def _job(
        self, request: HookRequest, cwd: str, variables: Mapping[str, str], host: AnswerRecipient | None = None
    ) -> Job:
        def report(progress: Progress) -> None:
            if host is not None and not host.stays(progress.what == HANDED_OVER):
                raise OperationCancelled

        directory = Path(cwd) if Path(cwd).is_absolute() and "\0" not in cwd else self._engine.palace.parent
        return Job(registry.operation("hook"), request, None, directory, variables, "agent", report, _nobody)

    # --- again ---------------------------------------------------------------------------------------------

    def _later(self, name: str, action: Callable[..., object], *arguments: Any, seconds: float = _REREAD_DELAY) -> None:
        """Run an action after some seconds, once for all calls with the same name within that time."""

        def do() -> None:
            with self._lock:
                self._timers.pop(name, None)
            action(*arguments)

        with self._lock:
            if self._is_ending or name in self._timers:
                return
            timer = self._timers[name] = threading.Timer(seconds, do)
        timer.daemon = True
        timer.start()

    def _read_again(self, path: Path, variables: Mapping[str, str]) -> bool:
        """Read a transcript again. Return False if the palace could not be used."""
        request = HookRequest("", "subagent-stop", "", transcript=str(path))
        try:
            job = replace(self._job(request, str(path.parent), variables), owed=True)
            self._engine.submit(job).result(_CAPTURES_WITHIN)
        except (PalazzoError, RuntimeError, TookTooLong) as error:
            _log.info("trying again to read a transcript: %s", type(error).__name__)
            return not isinstance(error, (PalaceUnusable, TookTooLong))
        return True

    def _checkpoint(self, about: SessionCheckpointRequest, paths: Iterable[Path], variables: Mapping[str, str]) -> None:
        for path in paths:
            self._read_again(path, variables)
        directory = self._engine.palace.parent
        operation = registry.operation("session_checkpoint")
        job = Job(operation, about, None, directory, variables, "agent", lambda _: None, _nobody, owed=True)
        try:
            self._engine.submit(job).result(_CAPTURES_WITHIN)
        except (PalazzoError, RuntimeError, TookTooLong) as error:
            _log.info("a session's checkpoint: %s", type(error).__name__)


class AnswerRecipient:
    """A host that waits for an answer until it disconnects or gets the answer, whichever comes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has_gone = self._is_answered = False

    def goes(self) -> bool:
        """Stop waiting; return False if the answer was already handed over and only has to be fetched."""
        with self._lock:
            self._has_gone = not self._is_answered
            return self._has_gone

    def stays(self, is_answered: bool) -> bool:
        """Return whether it still waits; if so and if `is_answered`, it has the answer from now on."""
        with self._lock:
            self._is_answered = self._is_answered or (is_answered and not self._has_gone)
            return not self._has_gone


def _nobody(_: object) -> None:
    """Ignore the notices of a hook."""


def _payload(stream: Stream, hello: Mapping[str, Any]) -> bytes:
    """Return the host's payload, up to the size that is read."""
    length = hello.get("length")
    return _read(stream, min(length, hook_exchange.LARGEST + 1) if isinstance(length, int) else 0)


def _read(stream: Stream, length: int) -> bytes:
    """Return this many bytes, or fewer if the client is gone."""
    payload = bytearray(stream.drain_buffer())
    while len(payload) < length:
        piece = stream.socket.recv(min(1 << 20, length - len(payload)))
        if not piece:
            break
        payload += piece
    return bytes(payload[:length])
