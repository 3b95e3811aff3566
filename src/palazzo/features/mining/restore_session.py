"""restore-session: write a session's transcript where its host can resume it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import transcript_restore
from palazzo.errors import PalazzoError, UsageError
from palazzo.features.mining.contract import FileRestored, RestoreSessionRequest, RestoreSessionResult
from palazzo.frozen_class import frozen
from palazzo.hosts import host_histories, host_registry
from palazzo.hosts.resume_commands import find_command
from palazzo.hosts.session_layout import SessionOrigin, place_in, plain_name
from palazzo.model import Micros
from palazzo.paths import make_private_directory

if TYPE_CHECKING:
    from palazzo.archive.transcript_restore import SessionFile
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_DAY = 24 * 3600 * 1_000_000


@frozen
class _FilePlan:
    path: Path
    raw: bytes
    modified_at: Micros


def restore_session(context: Context, request: RestoreSessionRequest) -> RestoreSessionResult:
    """Write a session's transcript where its host can resume it, with the files of its sub-agents."""
    directory = context.led_to(request.directory)
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is not a directory. Name the directory to write into.")
    with context.reading().database.snapshot() as connection:
        name = transcript_restore.parse_session_name(connection, request.id)
        session = transcript_restore.find_session(connection, name)
        files = transcript_restore.files_of_session(connection, session, name)
        kinds = list(dict.fromkeys(file.source.kind for file in files))
        if len(kinds) > 1:
            raise UsageError(
                f"{len(kinds)} hosts have a session '{session}'. Name one: "
                f"{' or '.join(f'{kind}:{session}' for kind in kinds)}."
            )
        files += transcript_restore.subagents_of(connection, session, kinds[0])
        notes = list(_notes(files))
        plans = [_plan(connection, context, directory, file, notes) for file in files]
    _refuse_to_overwrite(plans)
    file_results = tuple(_write(plan, request.dry_run) for plan in plans)
    return RestoreSessionResult(session, kinds[0], file_results, " ".join(dict.fromkeys(notes)), request.dry_run)


def _notes(files: list[SessionFile]) -> Iterator[str]:
    for file in files:
        if not file.whole:
            yield (
                f"{file.name} was rewritten and has not been read completely since, so it is restored only as far as "
                "it was read; run 'palazzo mine' on it again if it still exists."
            )


def _plan(connection: Connection, context: Context, directory: Path, file: SessionFile, notes: list[str]) -> _FilePlan:
    raw = file.read(connection)
    began, end_time = transcript_restore.times_of(connection, file)
    source = file.source
    if file.records:
        path, raw = directory / f"{plain_name(source.session_id)}.jsonl", raw
        imported_file, command = _for_import(source.kind, raw)
        if imported_file is not None:
            path, raw = path.with_suffix(".json"), imported_file
            notes.append("Import it with: " + command.replace("FILE", f"'{path}'"))
        else:
            notes.append("The session had no file of its own: its records are written, one line of JSON each.")
    elif file.is_part:
        path = directory / f"{plain_name(source.session_id)}{file.path.suffix}"
        notes.append("The session was part of a larger file; only that part is written.")
    else:
        cwd = transcript_restore.directory_of(connection, file)
        path = place_in(directory, SessionOrigin(source.kind, source.session_id, file.path, cwd, began))
    return _FilePlan(path, raw, _choose_date(context, directory, source.kind, end_time, notes))


def _for_import(kind: str, raw: bytes) -> tuple[bytes | None, str]:
    """Return the file that a host imports, and its command for that; None if it imports none of these records."""
    host = host_registry.host_of_kind(kind)
    command, restore = find_command(host), host_registry.find_part(host, "restore")
    if command is None or not command.preparation or restore is None:
        return None, ""
    return restore.import_file(raw), " ".join(command.preparation)


def _choose_date(context: Context, directory: Path, kind: str, said_at: Micros, notes: list[str]) -> Micros:
    """Return the time of the last message, or now if the host would delete so old a file at once."""
    if not said_at:
        return context.now
    host = host_registry.find_host(host_registry.host_of_kind(kind))
    is_history = host is not None and host_histories.is_history_name(host, directory.name)
    days = host_histories.deletes_after(host, directory) if host is not None and is_history else None
    if host is None or days is None or said_at > context.now - (days - 1) * _DAY:
        return said_at
    notes.append(
        f"The file is dated today: {host.title} deletes files older than {days} days when it starts "
        f"(`{host.retention_setting}` in its settings)."
    )
    return context.now


def _refuse_to_overwrite(plans: list[_FilePlan]) -> None:
    for plan in plans:
        if plan.path.exists() and (not plan.path.is_file() or plan.path.read_bytes() != plan.raw):
            raise _is_there(plan.path)


def _write(plan: _FilePlan, dry_run: bool) -> FileRestored:
    """Write a file with its own modification time, atomically."""
    if plan.path.exists():
        return FileRestored(plan.path, len(plan.raw), Micros(plan.path.stat().st_mtime_ns // 1000), "there")
    if dry_run:
        return FileRestored(plan.path, len(plan.raw), plan.modified_at, "would")
    try:
        make_private_directory(plan.path.parent)
        handle, temporary_name = tempfile.mkstemp(dir=plan.path.parent, prefix=".palazzo-")  # 0600
        temporary = Path(temporary_name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(plan.raw)
                stream.flush()
                os.fsync(stream.fileno())
            os.utime(temporary, ns=(plan.modified_at * 1000, plan.modified_at * 1000))
            _put(temporary, plan.path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise PalazzoError(f"{plan.path} cannot be written ({error.strerror}); name another directory.") from error
    return FileRestored(plan.path, len(plan.raw), plan.modified_at, "written")


def _put(temporary: Path, path: Path) -> None:
    """Give the file its name; a file of that name that a host has written meanwhile stays."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise _is_there(path) from None
    except OSError:  # a file system without hard links
        if path.exists():
            raise _is_there(path) from None
        temporary.rename(path)


def _is_there(path: Path) -> PalazzoError:
    return PalazzoError(
        f"{path} already exists with other content, and is not overwritten. Move it away, or name another directory."
    )
