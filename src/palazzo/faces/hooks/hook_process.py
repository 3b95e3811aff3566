"""A hook in its own process: used when the service is switched off, or when a compaction cannot wait for one to start.

It runs the same operation as a service would. The operation runs on a thread, so that the answer is in time even if the
thread is blocked. A transcript that could not be read stays in the spool for the next hook that captures.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palazzo import paths
from palazzo.client import hook_log, rpc
from palazzo.errors import PalaceUnusable, PalazzoError
from palazzo.faces.hooks import hook_exchange
from palazzo.faces.hooks.hook_faults import Faults, TooLate
from palazzo.features.diary.contract import SessionCheckpointRequest
from palazzo.features.hooks import spool
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.operations import idempotency, registry
from palazzo.operations.context import Context

_LOCK_SHARE, _LONGEST_LOCK = 0.7, 5.0
"""Share of a hook's time that it waits for another program's lock, and the maximum in seconds."""
_CAPTURES = ("stop", "subagent-stop", "pre-compact", "session-end")


def answer(
    host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str], seconds: float
) -> bytes:
    """Return the answer for a host, within `seconds`."""
    process = _HookProcess(rpc.chosen_palace(palace, variables), variables, seconds)
    answers: list[bytes] = []

    def work() -> None:
        answers.append(process.answer(host, event, payload, process.run))

    thread = threading.Thread(target=work, name="palazzo-hook", daemon=True)
    thread.start()
    thread.join(seconds)
    if answers:
        return answers[0]
    process.abandon()
    return process.answer(host, event, payload, process.give_up)


def fault_answer(
    host: str, event: str, payload: bytes, palace: str | None, variables: Mapping[str, str], problem: str
) -> bytes:
    """Return the answer for a host whose hook did not finish in time because of `problem`."""
    process = _HookProcess(rpc.chosen_palace(palace, variables), variables, 0)

    def fail(request: HookRequest, cwd: str) -> HookResult:
        raise TooLate(problem)

    return process.answer(host, event, payload, fail)


class _HookProcess:
    """Answers one event of a host."""

    def __init__(self, palace: str, variables: Mapping[str, str], seconds: float) -> None:
        self._palace, self._variables, self._seconds = Path(palace), variables, seconds
        self._faults = Faults(palace, variables)
        self._result: HookResult | None = None

    def answer(self, host: str, event: str, payload: bytes, ask: hook_exchange.Ask) -> bytes:
        return hook_exchange.answer(host, event, payload, ask, self._log, self._faults)

    def abandon(self) -> None:
        """Discard the thread's answer: it is too late."""
        self._faults.abandon()
        self._faults = Faults(str(self._palace), self._variables)

    def run(self, request: HookRequest, cwd: str) -> HookResult:
        """Run the hook, and read the transcripts that earlier hooks left in the spool."""
        with self._context(cwd) as context:
            try:
                result: HookResult = idempotency.call(context, registry.operation("hook"), request, None)
                if request.event == "session-end" and not context.is_off:
                    self._end(context, request, result)  # later no process looks at its file
            except (PalazzoError, OSError):
                spool.leave(self._palace, request, self._variables)
                raise
            self._result = result
            if request.event in _CAPTURES and not context.is_off:
                self._capture_more(context, request, result)
            return result

    def give_up(self, request: HookRequest, cwd: str) -> HookResult:
        """Answer in place of `run`, which takes too long: with its result if only the spool is still unread."""
        result = self._result
        if result is None or result.again:
            spool.leave(self._palace, request, self._variables)
        if result is None:
            raise TooLate(
                f"it did not finish within {self._seconds:.1f} seconds: another program may have locked the palace, "
                "or the transcript is long. Palazzo reads the rest later."
            )
        return result

    def _context(self, cwd: str) -> Context:
        """Return the context of a hook. If the host names no directory, the current one is used."""
        directory = Path(cwd or paths.working_directory())
        directory = directory if directory.is_absolute() and "\0" not in cwd else self._palace.parent
        lock_wait = min(self._seconds * _LOCK_SHARE, _LONGEST_LOCK)
        return Context(self._palace, directory, self._variables, trust="agent", lock_wait=lock_wait)

    def _capture_more(self, context: Context, request: HookRequest, result: HookResult) -> None:
        """Read the spool. Its errors are only logged: this hook has done its own work."""
        if result.unread:
            self._log(f"hook {request.host} {request.event}: {result.unread}")
        pointers = spool.take(self._palace, dict(self._variables))
        if all(self._read_pointer(context, pointer) for pointer in pointers):
            spool.forget(pointers)
        if result.again and request.event != "session-end":
            try:
                spool.leave(self._palace, request, self._variables)
            except OSError as error:
                self._log(f"hook {request.host} {request.event}: the spool cannot be written ({error.strerror})")

    def _read_pointer(self, context: Context, pointer: spool.Pointer) -> bool:
        """Read a pointer's transcript. Return False if the palace cannot be used, so that the pointer must wait."""
        try:
            self._read(context, Path(pointer.path))
            if pointer.has_ended:
                request = HookRequest(pointer.host, "session-end", pointer.session, transcript=pointer.path)
                self._end(context, request, self._call(context, "hook", request))
        except (PalazzoError, OSError) as error:
            self._log(f"trying again to read a transcript: {type(error).__name__}")
            return not isinstance(error, PalaceUnusable)
        return True

    def _end(self, context: Context, request: HookRequest, result: HookResult) -> None:
        for path in result.again:
            self._read(context, path)
        if result.checkpoint:
            about = SessionCheckpointRequest(request.session, result.checkpoint)
            self._call(context, "session_checkpoint", about)

    def _read(self, context: Context, path: Path) -> None:
        self._call(context, "hook", HookRequest("", "subagent-stop", "", transcript=str(path)))

    def _call(self, context: Context, operation: str, request: Any) -> Any:
        return idempotency.call(context, registry.operation(operation), request, None)

    def _log(self, line: str) -> None:
        hook_log.add_line(line, str(self._palace), self._variables)
