"""The warm process of one palace: `python -m palazzo.daemon.service PALACE`.

It listens on a socket that only its user can access, and serves calls and MCP. The process that holds the lock beside
the socket may listen; others end at once. It ends when it has not been needed for a while, on request, when it has
grown too large, and when a newer client connects. In that last case it stops listening and releases the lock at once,
so that its successor serves while it finishes the work that it has begun.

    main thread      accepts connections, monitors itself, ends
    one per client   reads its requests (`rpc_connection`), or waits for the event loop that does (`mcp_connections`)
    worker pools     run operations
    source follower  mines what changes
    sync schedule    syncs with other devices, where that was requested
    backup schedule  makes a backup a day
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from palazzo import __version__, garbage_collection, locks
from palazzo.client import rpc, startup
from palazzo.client.jsonl import Stream
from palazzo.client.rpc import Address
from palazzo.daemon.service_socket import Listener, is_own_user
from palazzo.errors import PalazzoError, ServiceUnavailable

if TYPE_CHECKING:
    import logging

    from palazzo.daemon.connection import Guest
    from palazzo.daemon.engine import Engine
    from palazzo.daemon.mcp_connections import McpConnections
    from palazzo.daemon.viewer_host import ViewerHost

_LOOK_AROUND = 5.0
"""Seconds between two checks of memory, idleness and the socket."""
_AT_LEAST = 3.0
"""Minimum seconds without a client before an idle service may end: the client that started it must still connect."""
_WARM_MCP_AFTER = 2.0
"""Seconds without a call after which the MCP SDK is imported: the import takes one second of one core."""
_FIRST_CALL_WITHIN, _LOOK_AGAIN = 1.5, 0.02
"""Seconds to wait for the first call to be answered before the model is loaded, and between two checks."""
_LEAST_MB = 256
"""Memory that a fresh service may need: with a lower limit each service would end as soon as it is warm."""
_TRIES, _PAUSE = 5, 0.05
"""Attempts and pause in seconds for a lock: a lock that another process only checked is free again within a moment."""


def main(arguments: list[str] | None = None) -> int:
    """Serve the palace named by the only argument until it is no longer needed; return the exit code."""
    argv = sys.argv[1:] if arguments is None else arguments
    stays = "--stay" in argv
    palaces = [argument for argument in argv if argument != "--stay"]
    if len(palaces) != 1:
        print("usage: python -m palazzo.daemon.service [--stay] PALACE", file=sys.stderr)
        return 2
    if os.name == "posix":
        os.closerange(3, 1024)  # what a host left open to its children: nobody waits for a pipe that is held here
    endpoint = rpc.address(palaces[0], os.environ)
    try:
        rpc.make_directory(endpoint)
    except ServiceUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    lock = _lock(endpoint)
    if lock is None:
        return 0
    try:
        return Service(endpoint, os.environ, lock, stays).run()
    finally:
        lock.release()


def _lock(endpoint: Address) -> locks.FileLock | None:
    for attempt in range(_TRIES):
        lock = locks.try_lock(endpoint.lock)
        if lock is not None:
            return lock
        if attempt + 1 < _TRIES:
            time.sleep(_PAUSE)
    return None


class Service:
    """One service, from listening to its end. With `stays` it does not end when idle."""

    def __init__(
        self, endpoint: Address, variables: Mapping[str, str], lock: locks.FileLock, stays: bool = False
    ) -> None:
        self._where, self._variables, self._stays = endpoint, dict(variables), stays
        self._palace = Path(endpoint.palace)
        self.build, self.began = rpc.build(), time.time_ns() // 1000
        self._guests: dict[int, Guest] = {}
        self._held: list[Stream] = []
        self._guard, self._mcp_lock = threading.Lock(), threading.Lock()
        self._viewer: ViewerHost | None = None
        self._viewer_lock = threading.Lock()
        self._mcp: McpConnections | None = None
        self.ending = threading.Event()
        self._last_guest = time.monotonic()
        self._wake_read, self._wake_write = socket.socketpair()
        self.listener = Listener(endpoint, lock)

    def run(self) -> int:
        """Serve, and return the exit code once all work is finished."""
        # Listening already: who comes now waits a moment for what takes one to import.
        with contextlib.suppress(OSError):
            os.chdir(self._palace.parent if self._palace.parent.is_dir() else Path("/"))
        self._heed_signals()
        self._start()
        try:
            self._accept()
        finally:
            self.listener.close()
            self._finish()
        return 0

    def state(self) -> dict[str, Any]:
        """Return the state to show to the user."""
        return {
            "palace": self._where.palace,
            "build": self.build,
            "since": self.began,
            "guests": len(self._guests) - 1,
            "running": self.engine.running,
            "calls": self.engine.done,
            "memory_mb": _resident_mb(),
            "watching": self._background.is_watching,
            "viewer_trouble": "" if self._viewer is None else self._viewer.trouble,
        }

    def _start(self) -> None:
        garbage_collection.collect_seldom()
        from palazzo.daemon import service_log
        from palazzo.daemon.background_work import BackgroundWork
        from palazzo.daemon.engine import Engine
        from palazzo.daemon.hook_requests import Hooks
        from palazzo.operations.context import Context

        self._log: logging.Logger = service_log.begin(self._palace, self._variables)
        self._log.info("service %s (%s) begins", __version__, self.build)
        self.engine: Engine = Engine(self._palace)
        self.hooks: Hooks = Hooks(self.engine, self._variables)
        self._background = BackgroundWork(self._palace, self._variables, self.engine)
        settings = Context(self._palace, self._palace.parent, self._variables).settings
        self._idle_seconds = max(_AT_LEAST, 60.0 * settings.number("service_idle_minutes"))
        self._most_mb = max(_LEAST_MB, settings.number("service_memory_mb"))
        startup.came_up(self._where, self._variables)
        threading.Thread(target=self._warm_up, name="palazzo-warming", daemon=True).start()
        threading.Thread(target=self._end_former, name="palazzo-former", daemon=True).start()

    @property
    def mcp(self) -> McpConnections:
        """The connections that carry MCP; their module is imported for the first of them."""
        with self._mcp_lock:
            if self._mcp is None:
                from palazzo.daemon.mcp_connections import McpConnections

                self._mcp = McpConnections(self.engine)
            return self._mcp

    @property
    def viewer(self) -> ViewerHost:
        """The viewer; its module is imported when a client first asks for it, or when pages were left open."""
        with self._viewer_lock:
            if self._viewer is None:
                from palazzo.daemon.viewer_host import ViewerHost

                self._viewer = ViewerHost(self._where, self.engine)
            return self._viewer

    def close_viewer(self) -> None:
        """Close the viewer for good, if it is open: the next service does not open it again."""
        if self._viewer is not None:
            self._viewer.close()

    def _reopen_viewer(self) -> None:
        """Serve pages that a former service left open."""
        if Path(self._where.socket).with_suffix(".viewer").exists():
            self.viewer.reopen()

    def _end_former(self) -> None:
        """Stop services of earlier versions, which listen for this palace at other addresses."""
        from palazzo.features.service.service_stop import stop_former

        try:
            for pid in stop_former(self._where.palace, self._variables):
                self._log.info("stopped the service of an earlier version, process %d", pid)
        except PalazzoError as error:
            self._log.info("a service of an earlier version may still run: %s", error)

    def _heed_signals(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told_to_end)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _told_to_end(self, number: int, frame: FrameType | None) -> None:
        self.end(long_ones_too=True)

    # --- while it serves -----------------------------------------------------------------------------------

    def _accept(self) -> None:
        last_check = time.monotonic()
        while not self.ending.is_set():
            try:
                ready, _, _ = select.select([self.listener.socket, self._wake_read], [], [], _LOOK_AROUND)
            except (OSError, ValueError):
                if not self.ending.is_set():  # else it was closed while this looked: a newer one came
                    raise
                break
            if self.listener.socket in ready:
                with contextlib.suppress(OSError):  # who came has gone again
                    self._welcome(self.listener.socket.accept()[0])
            if time.monotonic() - last_check >= _LOOK_AROUND:
                last_check = time.monotonic()
                self._look_around()

    def _welcome(self, connection: socket.socket) -> None:
        from palazzo.daemon.connection import Guest

        connection.setblocking(True)
        if not is_own_user(connection):
            connection.close()
            return
        peer = Guest(self, connection)
        with self._guard:
            self._guests[id(peer)] = peer
        threading.Thread(target=peer.serve, name="palazzo-guest", daemon=True).start()

    def hold(self, stream: Stream) -> None:
        """Keep a connection open until the process ends: the client waits for that."""
        self._held.append(stream)

    def remove_connection(self, peer: Guest) -> None:
        """Remove a client that is gone, or has nothing more to send."""
        with self._guard:
            if peer.stream not in self._held:
                peer.stream.close()
            del self._guests[id(peer)]
            self._last_guest = time.monotonic()
        if self.ending.is_set():
            self._wake()

    def _look_around(self) -> None:
        """End if it is no longer needed: no clients, a socket that belongs to another service, or too much memory."""
        if self._viewer is not None:
            self._viewer.close_if_idle()
        if not self.listener.is_there():
            self._log.info("its socket no longer exists")
            self.end()
        elif not self._is_busy() and _resident_mb() > self._most_mb:
            self._log.info("it uses more than %d MB of memory", self._most_mb)
            self.end()
        elif not self._stays and self._is_idle():
            self._log.info("idle")
            self.end()

    def _is_busy(self) -> bool:
        return self.engine.running > 0 or self._is_embedding()

    def _is_idle(self) -> bool:
        if self._guests or self._is_busy() or (self._viewer is not None and self._viewer.is_open):
            return False
        return time.monotonic() - max(self._last_guest, self.engine.last_call) >= self._idle_seconds

    def _is_embedding(self) -> bool:
        from palazzo.features.service.background_process import lock_file

        return locks.is_held(lock_file(self._palace))

    def _warm_up(self) -> None:
        """Load what later calls need, once the first one is answered; then the SDK, when there is nothing to do."""
        from palazzo.features.service.background_process import start_embedding

        if not self._wait_for_first_call():
            return
        try:
            self._reopen_viewer()
            with self.engine.leased_context(self._variables) as context:
                if context.has_palace:
                    context.reading()
                    self.engine.warm_up()
                    start_embedding(context, insist=False)
                else:  # the first hook of all makes one, and a prompt that comes next is not to wait for the model
                    context.open_embedder()
            self.hooks.load()
            self.hooks.catch_up()
            garbage_collection.exempt_loaded_objects()
            self._background.begin()
            while True:
                if self.ending.wait(_WARM_MCP_AFTER):
                    return
                if time.monotonic() - self.engine.last_call >= _WARM_MCP_AFTER:
                    break
            self.mcp.warm_up()
        except PalazzoError as error:
            self._log.info("warming up: %s", type(error).__name__)
        except ImportError as error:
            self._log.info("warming up: %s cannot be imported", error.name)

    def _wait_for_first_call(self) -> bool:
        """Wait until the client that started this service has its answer; return whether the service goes on.

        Loading uses the core that the answer needs.
        """
        deadline = time.monotonic() + _FIRST_CALL_WITHIN
        while time.monotonic() < deadline and (self.engine.running or not self.engine.done):
            if self.ending.wait(_LOOK_AGAIN):
                return False
        return True

    # --- its end -------------------------------------------------------------------------------------------

    def end(self, long_ones_too: bool = False) -> None:
        """Start to end: accept no new client, finish open calls. If requested, long calls stop at their next report."""
        if long_ones_too and hasattr(self, "engine"):
            self.engine.stopping.set()
        self.ending.set()
        self._wake()

    def give_way(self) -> None:
        """Stop listening and release the lock, before the newer service learns that it may take both."""
        with self._guard:
            if not self.ending.is_set():
                self._log.info("stopping for a newer service")
            self.ending.set()
            if self._viewer is not None:
                self._viewer.end()  # its port, too
            self.listener.close()
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_write.send(b"!")

    def _finish(self) -> None:
        self._background.end()
        self.hooks.finish()
        if self._viewer is not None:
            self._viewer.end()
        if self._mcp is not None:
            self._mcp.finish()
        while True:
            with self._guard:
                peers = list(self._guests.values())
            if not peers:
                break
            for peer in peers:
                peer.finish()
            select.select([self._wake_read], [], [], 1.0)
            self._wake_read.recv(64)
        self.engine.close()
        if self._mcp is not None:
            self._mcp.close()
        self._log.info("service ends")


def _resident_mb() -> int:
    """Return the resident memory of this process in MB; 0 if the platform does not report it easily."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // (1024 * 1024)


if __name__ == "__main__":
    # At once: what libraries do at leisure when Python ends (half a second with a model loaded) concerns nobody, and
    # who asked for the end waits until the process is gone.
    os._exit(main())
