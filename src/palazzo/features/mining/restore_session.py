"""restore-session: write a session's transcript where its host can resume it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import PalazzoError, UsageError
from palazzo.model import Micros
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.paths import make_private_directory

if TYPE_CHECKING:
    from palazzo.archive.transcript_restore import SessionFile
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_DAY = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class RestoreSessionRequest:
    """The session to write, and the target directory."""

    id: Annotated[
        str,
        About("Session id or id prefix; KIND:ID#FILE for one of several.", positional=True),
    ]
    directory: Annotated[
        Path,
        About("The host's directory of sessions, or any other directory.", positional=True, option="DIR"),
    ]
    dry_run: Annotated[bool, About("Only show what would be written.")] = False


@dataclass(frozen=True, slots=True)
class FileRestored:
    """One file. `there` means that it already existed with the same bytes."""

    path: Path
    size: int
    modified_at: Micros
    standing: Literal["written", "there", "would"]


@dataclass(frozen=True, slots=True)
class RestoreSessionResult:
    """What was written; `note` is a remark on it."""

    session: str
    kind: str
    files: tuple[FileRestored, ...]
    note: str
    dry_run: Annotated[bool, PERSON_ONLY] = False


@dataclass(frozen=True, slots=True)
class _FilePlan:
    path: Path
    raw: bytes
    modified_at: Micros


def restore_session(context: Context, request: RestoreSessionRequest) -> RestoreSessionResult:
    """Write a session's transcript where its host can resume it, with the files of its sub-agents.

    In the host's own directory of sessions (Claude Code's `projects`, Codex's and pi's `sessions`, Gemini CLI's `tmp`,
    Copilot CLI's `session-state`) each file goes where the host looks for it; in any other directory it keeps its name.
    A session of opencode becomes a file for `opencode import`. An existing file that differs is not overwritten.
    """
    from palazzo.archive import transcript_restore

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
    from palazzo.archive import transcript_restore
    from palazzo.features.mining.host_layouts import Lain, place_in, plain_name

    raw = file.read(connection)
    began, end_time = transcript_restore.times_of(connection, file)
    source = file.source
    if file.records:
        path, raw = directory / f"{plain_name(source.session_id)}.jsonl", raw
        opencode_file = _for_opencode(raw) if source.kind == "opencode" else None
        if opencode_file is not None:
            path, raw = path.with_suffix(".json"), opencode_file
            notes.append(f"Import it with: opencode import '{path}'")
        else:
            notes.append("The session had no file of its own: its records are written, one line of JSON each.")
    elif file.is_part:
        path = directory / f"{plain_name(source.session_id)}{file.path.suffix}"
        notes.append("The session was part of a larger file; only that part is written.")
    else:
        lain = Lain(source.kind, source.session_id, file.path, transcript_restore.directory_of(connection, file), began)
        path = place_in(directory, lain)
    return _FilePlan(path, raw, _choose_date(context, directory, source.kind, end_time, notes))


def _for_opencode(raw: bytes) -> bytes | None:
    from palazzo.features.mining.opencode_import import import_file

    return import_file(raw)


def _choose_date(context: Context, directory: Path, kind: str, said_at: Micros, notes: list[str]) -> Micros:
    """Return the time of the last message, or now if the host would delete so old a file at once."""
    from palazzo.sources.host_histories import deletes_after

    if not said_at:
        return context.now
    days = deletes_after(kind, directory) if directory.name == "projects" else None
    if days is None or said_at > context.now - (days - 1) * _DAY:
        return said_at
    notes.append(
        f"The file is dated today: Claude Code deletes files older than {days} days when it starts "
        "(`cleanupPeriodDays` in its settings)."
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


OPERATION = Operation(
    "restore_session",
    RestoreSessionRequest,
    RestoreSessionResult,
    restore_session,
    scope="admin",
    examples=("palazzo restore-session 3f2a91 ~/.claude/projects --dry-run",),
)
