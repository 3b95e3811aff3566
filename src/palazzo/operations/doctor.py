"""doctor: what about this installation is in order, and what to do about the rest."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo import __version__, starting
from palazzo.errors import EmbedderUnavailable, PalaceMissing, PalazzoError
from palazzo.operations import doctor_fixes, doctor_processing
from palazzo.operations.doctor_fixes import Fixed
from palazzo.operations.finding import Finding
from palazzo.operations.operation import About, Operation
from palazzo.text.counts import count_noun

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.operations.retention import HistoryKept

LEAST_DAYS = 7
"""Days before a host deletes a session below which it should be archived: a week's holiday."""
_MOST_SETTINGS = 4
"""Settings of one origin that are named; `palazzo settings` has all."""
_OURS_TO_WRITE = ("incomplete", "silent")
"""Troubles that writing our entries anew mends, and takes nothing from anybody."""
OLD_BACKUP = 30
"""Days after which a backup no longer counts as one: Claude Code deletes transcripts after as many."""
LEAST_FREE = 500_000_000
"""Bytes of free space below which a palace may soon not be written."""


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    """What to look at besides what is always looked at."""

    secrets: Annotated[bool, About("Also look through all that is archived for secrets, by today's rules.")] = False
    canaries: Annotated[bool, About("Start what is wired into hosts, to see that it answers.")] = True
    fix: Annotated[bool, About("Mend what can be mended without asking, and look again.")] = False


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """All findings, and whether all are in order; of those that were mended first, what was done."""

    ok: bool
    findings: tuple[Finding, ...]
    fixed: tuple[Fixed, ...] = ()


def doctor(context: Context, request: DoctorRequest) -> DoctorResult:
    """Look at everything that Palazzo needs here, and say how to mend what is not in order.

    Changes nothing without --fix, which starts the service, makes anew what was derived, writes our own entries in your
    settings again, and makes the palace private, each only where that mends something; the rest is yours to decide.
    Exit code 1 where something is not in order.
    """
    findings = _findings(context, request)
    fixed: tuple[Fixed, ...] = ()
    if request.fix:
        fixed = tuple(doctor_fixes.carry_out(context, [one.mend for one in findings if not one.ok and one.fixable]))
        findings = _findings(context, request) if fixed else findings
    return DoctorResult(all(finding.ok for finding in findings), findings, fixed)


def _findings(context: Context, request: DoctorRequest) -> tuple[Finding, ...]:
    looks: list[Callable[[Context], Iterator[Finding]]] = list(_LOOKS)
    looks += [partial(_wired, try_out=request.canaries), _histories, *([_secrets] if request.secrets else [])]
    return tuple(finding for look in looks for finding in look(context))


def _python(context: Context) -> Iterator[Finding]:
    from palazzo.store.overview import sqlite_version

    yield Finding("python", True, f"{platform.python_version()} at {sys.executable}")
    where = Path(__file__).resolve().parents[1]
    yield Finding("package", True, f"palazzo {__version__} at {where}, SQLite {sqlite_version()}")


def _palace(context: Context) -> Iterator[Finding]:
    path = context.palace_path
    try:
        context.check_palace_path()
    except PalazzoError as error:
        yield Finding("palace", False, str(error))
        return
    if not path.exists():
        yield Finding("palace", True, f"none at {path} yet; the first 'palazzo mine' or 'palazzo remember' makes it")
        return
    try:
        from palazzo.archive.relooking import wants_look
        from palazzo.derive import is_outdated
        from palazzo.derive.cut import Cutter
        from palazzo.store import foreign_rows, schema, tainted, tombstones, unfinished

        with context.reading().database.snapshot() as connection:
            yield Finding("palace", True, f"{path}, schema {schema.version(connection)}")
            if is_outdated(connection, Cutter()):
                detail = "drawers were cut by another version of Palazzo; this one cuts them better"
                yield Finding("drawers", False, detail, doctor_fixes.DRAWERS, fixable=True)
            if wants_look(connection):
                detail = "something was archived without redaction or under older rules; see palazzo doctor --secrets"
                yield Finding("secrets", True, detail)
            if waiting := tainted.count_waiting(connection):
                detail = f"{waiting:,} of what agents wrote under words from outside nobody has judged"
                yield Finding("quarantine", True, f"{detail}: palazzo quarantine list")
            if variants := foreign_rows.variants(connection):
                detail = f"{count_noun(len(variants), 'item')} came from another palace with other text; yours was kept"
                yield Finding("variants", True, f"{detail}: palazzo show {variants[0].item} shows the last one")
            if tombstones.unfinished(connection):
                detail = "an erase was interrupted: the words are gone, but the file's free pages may still hold them"
                yield Finding("erase", False, detail, "palazzo erase")
            for file in unfinished.paths(connection):
                detail = f"the import of {file} was interrupted, unless it still runs"
                argument = "-" if file == unfinished.STANDARD_INPUT else f"'{file}'"
                yield Finding("import", False, detail, f"palazzo import {argument}")
    except PalaceMissing as error:
        yield Finding("palace", False, str(error))
    except PalazzoError as error:
        yield Finding("palace", False, str(error), "palazzo verify")
    yield _permissions(path)


def _secrets(context: Context) -> Iterator[Finding]:
    """What today's rules find in the archive, a finding for each, and how to erase it."""
    from palazzo.archive.relooking import leaked_names, note_whole, relook

    if not context.has_palace:
        return
    mend = "change the secret where it is used, then palazzo erase --secrets"
    database = context.reading().database
    is_clean = True
    for name_leak in leaked_names(database):
        is_clean = False
        detail = f"{name_leak.rule} in the name of the {name_leak.kind} '{name_leak.redacted_name}'"
        yield Finding("secret", False, detail, mend)
    for leak in relook(database, lambda done, total: context.report("looking", done, total)):
        is_clean = False
        yield Finding("secret", False, f"item {leak.item}: {leak.rule} in {leak.where}", mend)
    if is_clean:
        yield Finding("secrets", True, "none found in what is archived")
    if os.access(context.palace_path, os.W_OK):
        note_whole(context.writing().database)


def _permissions(path: Path) -> Finding:
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return Finding("permissions", False, f"{path} cannot be written by you", f"chmod u+rw '{path}'")
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        detail = f"others may read {path} ({mode:04o})"
        return Finding("permissions", False, detail, f"{doctor_fixes.PRIVATE}'{path}'", fixable=True)
    return Finding("permissions", True, "yours alone" if os.name == "posix" else "writable")


def _filesystem(context: Context) -> Iterator[Finding]:
    from palazzo.store import filesystem

    path = context.palace_path
    kind = filesystem.type_of(path)
    unsafe = kind in filesystem.UNSAFE_TYPES
    mend = "palazzo settings set palace PATH, with a path on a local disk" if unsafe else ""
    yield Finding(
        "file system", not unsafe, f"{kind or 'local'}{', which cannot lock a database safely' if unsafe else ''}", mend
    )
    there = next(parent for parent in (path, *path.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    yield Finding(
        "disk space", free >= LEAST_FREE, f"{free / 1e9:,.1f} GB free", "" if free >= LEAST_FREE else "free some space"
    )


def _model(context: Context) -> Iterator[Finding]:
    if context.embedder_spec.kind == "bundled":
        from palazzo.embed.minilm import damaged_files

        damaged = damaged_files()
        yield Finding(
            "model files",
            not damaged,
            f"missing or damaged: {', '.join(damaged)}" if damaged else "as they were released",
            "pip install --force-reinstall palazzo" if damaged else "",
        )
    try:
        embedder = context.open_embedder()
    except EmbedderUnavailable as error:
        yield Finding("embedder", False, str(error), "palazzo settings get embedder.kind")
        return
    try:
        vector = embedder.embed_query("one line to see that it works")
        yield Finding("embedder", True, f"{embedder.id}, {len(vector)} dimensions")
    except EmbedderUnavailable as error:
        yield Finding("embedder", False, str(error), "palazzo settings get embedder.base_url")
    finally:
        embedder.close()


def _service(context: Context) -> Iterator[Finding]:
    from palazzo import client
    from palazzo.errors import ServiceUnavailable
    from palazzo.operations.service_state import address_of, former_states, state_of

    address = address_of(context)
    for former in former_states(context):
        process = f"process {former.pid}, version {former.version}, at {former.address}"
        detail = f"another service runs for this palace: {process}"
        yield Finding("service", False, detail, "palazzo service stop")
    if not context.settings.flag("service"):
        detail = "off, by the setting `service`; each hook captures and injects in its own process"
        yield Finding("service", True, detail)
        return
    try:
        client.check_directory(address)
    except FileNotFoundError:
        yield Finding("service", True, "not running; it is started when something needs it")
        return
    except (ServiceUnavailable, OSError) as error:
        yield Finding("service", False, str(error), "palazzo settings set service false")
        return
    state = state_of(context)
    if state.running and client.is_newer(state.version, "", __version__, ""):
        detail = f"process {state.pid} is version {state.version} of another installation, and this is {__version__}"
        yield Finding("service", False, detail, "pip install --upgrade palazzo, or take one of the two away")
    elif state.running and state.version != __version__:
        detail = f"process {state.pid} is version {state.version}, and this is {__version__}, which takes its place"
        yield Finding("service", False, detail, doctor_fixes.SERVICE, fixable=True)
    elif state.running:
        activity = "watching, " if state.watching else ""
        yield Finding("service", True, f"process {state.pid}, {activity}{state.memory_mb:,} MB")
    elif client.is_starting(address):
        detail = f"a process holds {address.lock}, but none answers at {address.socket}"
        yield Finding("service", False, detail, "palazzo service status, and if that stays: end that process")
    elif starting.failed_at(address, context.variables) is not None:
        detail = "a hook started one, and none came up; memory is searched by words alone"
        yield Finding("service", False, detail, doctor_fixes.SERVICE, fixable=True)
    else:
        yield Finding("service", True, "not running; it is started when something needs it")


def _backups(context: Context) -> Iterator[Finding]:
    """When the last backup was made, as far as this palace remembers."""
    from palazzo.operations import automatic_backup, backups

    if not context.has_palace:
        return
    if (reason := automatic_backup.last_failure(context)) is not None:
        yield Finding("backup", False, f"the last automatic one failed: {reason}", "palazzo backup")
    last = backups.newest(context.palace_path)
    if last is None:
        is_empty = automatic_backup.is_empty(context)
        yield Finding("backup", is_empty, "none yet", "" if is_empty else "palazzo backup")
        return
    days = (context.now - last.at) // 86_400_000_000
    when = "within the last day" if days < 1 else f"{days:,} day{'' if days == 1 else 's'} ago"
    detail = f"the last was made {when}: {last.file}{'' if last.is_there else ' (not seen now)'}"
    yield Finding("backup", days < OLD_BACKUP, detail, "" if days < OLD_BACKUP else "palazzo backup")
    if context.settings.number("backup.keep") and not automatic_backup.is_within_bound(context):
        detail = "one backup is larger than backup.most_mb, so a single automatic one is kept"
        yield Finding("backup", False, detail, "palazzo settings set backup.most_mb MB")


def _sync(context: Context) -> Iterator[Finding]:
    from palazzo.operations import syncing_alone

    try:
        failed = syncing_alone.failed(context)
    except PalazzoError:
        return  # the palace cannot be read, which is a finding of its own
    for one in failed:
        yield Finding("sync", False, f"with '{one.name}': {one.failure}", f"palazzo sync now {one.name}")
    for refusal in syncing_alone.refusals(context):
        if any(refusal.reason in remote.failure for remote in failed):
            continue
        yield Finding("sync", False, f"with '{refusal.remote}': {refusal.reason}", "palazzo sync devices")


def _settings(context: Context) -> Iterator[Finding]:
    from palazzo.operations.settings import problems

    found = problems(context)
    detail = "; ".join(_set(context)) or f"all as they come; yours go to {context.settings_file}"
    yield Finding("settings", True, detail)
    for problem in found:
        yield Finding("settings", False, problem, "palazzo settings")


def _set(context: Context) -> Iterator[str]:
    """The settings that are not as they come, by where they were made."""
    made: dict[str, list[str]] = {}
    for one in context.settings.values.values():
        if one.origin != "default":
            made.setdefault(one.origin.partition(", line ")[0], []).append(f"{one.key.name} = {one.shown}")
    for origin, settings in made.items():
        more = [f"{len(settings) - _MOST_SETTINGS} more"] if len(settings) > _MOST_SETTINGS else []
        yield f"{', '.join([*settings[:_MOST_SETTINGS], *more])} ({origin})"


def _switched_off(context: Context) -> Iterator[Finding]:
    """That nothing is captured or injected, which somebody wanted and may have forgotten."""
    from palazzo.operations.pausing import pause_of

    if (pause := pause_of(context)) is not None:
        yield Finding("hooks", True, f"{pause}: nothing is captured or injected; 'palazzo resume' ends it")
    if context.settings.flag("off"):
        yield Finding("hooks", True, "off, by PALAZZO_OFF: nothing is captured or injected")


def _unknown_hooks(context: Context) -> Iterator[Finding]:
    """Yield recent hook calls with the name of an unknown host or event."""
    from palazzo import hook_log

    for line in hook_log.unknown_hooks(str(context.palace_path), context.variables):
        yield Finding("hooks", False, f"not handled: {line}", "palazzo hook --help")


def _optional(context: Context) -> Iterator[Finding]:
    """Programs and libraries that Palazzo does without, and what it does not do then."""
    there = (
        []
        if shutil.which("git", path=context.variables.get("PATH"))
        else ["git is not on PATH: projects are known by their directories"]
    )
    if importlib.util.find_spec("markitdown") is None:
        there.append("PDF and Office files are not read: pip install 'palazzo[documents]'")
    yield Finding("optional", True, "; ".join(there) or "git, and what reads PDF and Office files, are here")


def _hosts(context: Context) -> Iterator[Finding]:
    from palazzo.operations.hosts_found import hosts_found

    found = hosts_found(context.variables)
    yield Finding("hosts", True, ", ".join(f"{host.name} ({host.directory})" for host in found) or "none found")


def _wired(context: Context, try_out: bool) -> Iterator[Finding]:
    """Whether our hooks and MCP server are in the hosts' settings, reach this palace and answer."""
    from palazzo.operations.installed import installed

    for host in installed(context, try_out):
        there = [f"hooks ({', '.join(host.scopes)})"] if host.scopes else []
        there += ["MCP server"] if host.server else []
        detail = " and ".join(there) + (f", by {', '.join(host.programs)}" if host.programs else "")
        if host.hook_answers and host.server_answers:
            detail += "; both answer"
        detail = detail or f"not wired; 'palazzo install {host.host}' does it"
        yield Finding(host.title, True, f"{host.version}: {detail}" if host.version else detail)
        for trouble in host.troubles:
            anew = trouble.mend == f"{doctor_fixes.INSTALL}{host.host}"
            fixable = anew and host.scopes == ("user",) and trouble.kind in _OURS_TO_WRITE
            yield Finding(host.title, False, trouble.detail, trouble.mend, fixable)


def _histories(context: Context) -> Iterator[Finding]:
    """What of each host's history is not archived, and how long it will still be there."""
    from palazzo.operations.retention import histories_kept

    try:
        found = histories_kept(context)
    except PalazzoError:
        return  # the palace cannot be read, which is a finding of its own
    for kept in found:
        is_safe = kept.days_left is None or kept.days_left >= LEAST_DAYS
        mend = "" if is_safe else f"palazzo feed {kept.host}"
        yield Finding(f"history of {kept.host}", is_safe, _told(kept), mend)


def _told(kept: HistoryKept) -> str:
    if kept.sessions is None:
        return "not archived yet" if kept.missing else "archived, and may have grown" if kept.grown else "archived"
    sessions = f"{kept.sessions:,} session{'' if kept.sessions == 1 else 's'}"
    if not kept.missing and not kept.grown:
        return f"{sessions}, all archived"
    news = [f"{kept.missing:,} not archived"] if kept.missing else []
    news += [f"{kept.grown:,} grown since"] if kept.grown else []
    detail = f"{sessions}, {' and '.join(news)}"
    if kept.days_left is None:
        return f"{detail}; none is deleted by itself"
    if kept.days_left < 0:
        return f"{detail}; the oldest of these is deleted when {kept.host} starts next"
    return f"{detail}; the oldest of these is deleted in {kept.days_left:,} day{'' if kept.days_left == 1 else 's'}"


_LOOKS: tuple[Callable[[Context], Iterator[Finding]], ...] = (
    _python,
    _palace,
    _filesystem,
    _backups,
    _model,
    _service,
    _unknown_hooks,
    doctor_processing.find_failed_activities,
    doctor_processing.find_dead_letters,
    _sync,
    _settings,
    _switched_off,
    _optional,
    _hosts,
)

OPERATION = Operation("doctor", DoctorRequest, DoctorResult, doctor, failed=lambda result: not result.ok)
