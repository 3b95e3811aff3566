"""The scratch copies of one worker's machine: which wings it has below its directory, known to the database.

So a certificate of an erasure can name every machine that still has the words. What is noted is never newer than what
the disk has: it is written before a copy is made, and moved on after the former one was deleted.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import shutil
from pathlib import Path

from palazzo.team.server.team_database import TeamDatabase


class ScratchCopies:
    """The wings below one directory; workers of one machine may share it."""

    def __init__(self, database: TeamDatabase, directory: Path) -> None:
        self._database, self._directory = database, directory
        self._id = _load_id(directory)

    def register(self, wing: int, uid: bytes) -> Path:
        """Note that a copy of a wing is about to be made, unless one is noted; return where."""
        with self._database.as_server() as session:
            session.execute(
                "INSERT INTO team.scratch(directory, wing, machine, generation) VALUES (%s, %s, %s, 0)"
                " ON CONFLICT DO NOTHING",
                (self._id, wing, platform.node()),
            )
        return self._path(uid)

    def update(self, wing: int, generation: int) -> None:
        """Note that the copy of a wing is of this generation, and none of another is left."""
        with self._database.as_server() as session:
            session.execute(
                "UPDATE team.scratch SET generation = %s WHERE directory = %s AND wing = %s",
                (generation, self._id, wing),
            )

    def purge(self) -> None:
        """Delete copies from which something was withdrawn, except those that a worker has at the moment."""
        with self._database.as_server() as session:
            rows = session.execute(
                "SELECT wing.id, wing.uid FROM team.scratch JOIN team.wing ON wing.id = scratch.wing"
                " WHERE scratch.directory = %s AND scratch.generation < wing.generation",
                (self._id,),
            ).fetchall()
        for wing, uid in rows:
            with self._database.hold_wing(wing) as held:
                if held is None:
                    continue
                shutil.rmtree(self._path(bytes(uid)), ignore_errors=True)
                if self._path(bytes(uid)).exists():
                    continue  # its directory cannot be changed now: the certificate goes on naming this machine
                with self._database.as_server() as session:
                    session.execute("DELETE FROM team.scratch WHERE directory = %s AND wing = %s", (self._id, wing))

    def _path(self, uid: bytes) -> Path:
        return self._directory / uid.hex()


def _load_id(directory: Path) -> bytes:
    """Return the id of a directory. One without an id was made before copies were noted: it is emptied."""
    path = directory / "directory.id"
    try:
        return bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for child in directory.iterdir():
            shutil.rmtree(child, ignore_errors=True)
        new = directory / f"directory.{os.getpid()}.new"
        new.write_text(secrets.token_hex(16), encoding="ascii")
        with contextlib.suppress(FileExistsError):  # of two workers that start together, one names the directory
            os.link(new, path)
        new.unlink()
        return bytes.fromhex(path.read_text(encoding="ascii"))
