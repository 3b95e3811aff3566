"""doctor: check this installation, and say how to fix each problem."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import palazzo
from palazzo import __version__
from palazzo.archive.redaction_review import leaked_names, note_whole, relook
from palazzo.client import hook_log, rpc, startup
from palazzo.errors import EmbedderUnavailable, PalaceMissing, PalazzoError, ServiceUnavailable
from palazzo.features.backup import automatic_backup
from palazzo.features.hosts.install_state import inspect_hosts
from palazzo.features.mining.retention import histories_kept
from palazzo.features.service.service_state import address_of, former_states, state_of
from palazzo.features.sync import automatic_sync
from palazzo.features.upkeep import doctor_fixes, doctor_old_names, doctor_processing
from palazzo.features.upkeep.contract import DoctorRequest, DoctorResult, FixResult
from palazzo.features.upkeep.settings import problems
from palazzo.hosts.installed_hosts import hosts_found
from palazzo.index.minilm import damaged_files
from palazzo.operations import backup_files
from palazzo.operations.check_finding import Diagnosis
from palazzo.operations.pause_state import pause_of
from palazzo.store import filesystem
from palazzo.store.palace_overview import sqlite_version
from palazzo.team.client import membership as memberships
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.features.mining.retention import HistoryKept
    from palazzo.operations.context import Context

LEAST_DAYS = 7
"""The least days before a host deletes a session for it to be archived in time: a week's holiday."""
_MOST_SETTINGS = 4
"""The most settings of one origin that are listed; `palazzo settings` lists all."""
_OURS_TO_WRITE = ("incomplete", "silent")
"""Problems that can be fixed by writing our entries again, without removing anyone else's."""
OLD_BACKUP = 30
"""Days after which a backup is too old to count: Claude Code deletes transcripts after the same time."""
LEAST_FREE = 500_000_000
"""Bytes of free space below which writes to a palace may soon fail."""


def doctor(context: Context, request: DoctorRequest) -> DoctorResult:
    """Check everything that Palazzo needs here, and suggest a fix for each problem."""
    findings = _findings(context, request)
    fix_results: tuple[FixResult, ...] = ()
    if request.fix:
        fix_results = tuple(
            doctor_fixes.carry_out(context, [entry.mend for entry in findings if not entry.ok and entry.fixable])
        )
        findings = _findings(context, request) if fix_results else findings
    return DoctorResult(all(diagnosis.ok for diagnosis in findings), findings, fix_results)


def _findings(context: Context, request: DoctorRequest) -> tuple[Diagnosis, ...]:
    looks: list[Callable[[Context], Iterator[Diagnosis]]] = list(_LOOKS)
    looks += [partial(_check_wiring, try_out=request.canaries), _histories, *([_secrets] if request.secrets else [])]
    return tuple(diagnosis for look in looks for diagnosis in look(context))


def _python(context: Context) -> Iterator[Diagnosis]:
    yield Diagnosis("python", True, f"{platform.python_version()} at {sys.executable}")
    package_directory = Path(palazzo.__file__).resolve().parent
    yield Diagnosis("package", True, f"palazzo {__version__} at {package_directory}, SQLite {sqlite_version()}")


def _palace(context: Context) -> Iterator[Diagnosis]:
    path = context.palace_path
    try:
        context.check_palace_path()
    except PalazzoError as error:
        yield Diagnosis("palace", False, str(error))
        return
    if not path.exists():
        yield Diagnosis(
            "palace", True, f"none at {path} yet; the first 'palazzo mine' or 'palazzo remember' creates it"
        )
        return
    try:
        from palazzo.archive.redaction_review import wants_look
        from palazzo.derived.cutter import Cutter
        from palazzo.index.consumer import is_outdated
        from palazzo.store import foreign_rows, schema, taint_queries, tombstones, unfinished_imports

        with context.reading().database.snapshot() as connection:
            yield Diagnosis("palace", True, f"{path}, schema {schema.version(connection)}")
            if is_outdated(connection, Cutter()):
                detail = "another version of Palazzo cut the drawers; this one cuts them better"
                yield Diagnosis("drawers", False, detail, doctor_fixes.DRAWERS, fixable=True)
            if wants_look(connection):
                detail = "some content was archived without redaction or with older rules; see palazzo doctor --secrets"
                yield Diagnosis("secrets", True, detail)
            if pending_count := taint_queries.count_waiting(connection):
                detail = (
                    f"{pending_count:,} entries that agents wrote after reading untrusted content are pending review"
                )
                yield Diagnosis("quarantine", True, f"{detail}: palazzo quarantine list")
            if variants := foreign_rows.variants(connection):
                detail = (
                    f"{count_noun(len(variants), 'item')} came from another palace with different text; yours was kept"
                )
                yield Diagnosis("variants", True, f"{detail}: palazzo show {variants[0].item} shows the last one")
            if tombstones.find_pending_erasures(connection):
                detail = (
                    "an erase was interrupted: the words are gone, but the file's free pages may still contain them"
                )
                yield Diagnosis("erase", False, detail, "palazzo erase")
            for file in unfinished_imports.paths(connection):
                detail = f"the import of {file} is incomplete, unless it is still running"
                argument = "-" if file == unfinished_imports.STANDARD_INPUT else f"'{file}'"
                yield Diagnosis("import", False, detail, f"palazzo import {argument}")
    except PalaceMissing as error:
        yield Diagnosis("palace", False, str(error))
    except PalazzoError as error:
        yield Diagnosis("palace", False, str(error), "palazzo verify")
    yield _permissions(path)


def _secrets(context: Context) -> Iterator[Diagnosis]:
    """Yield a finding for each secret that today's rules find in the archive, with the command to erase it."""
    if not context.has_palace:
        return
    mend = "change the secret where it is used, then palazzo erase --secrets"
    database = context.reading().database
    is_clean = True
    for name_leak in leaked_names(database):
        is_clean = False
        detail = f"{name_leak.rule} in the name of the {name_leak.kind} '{name_leak.redacted_name}'"
        yield Diagnosis("secret", False, detail, mend)
    for leak in relook(database, lambda done, total: context.report("looking", done, total)):
        is_clean = False
        yield Diagnosis("secret", False, f"item {leak.item}: {leak.rule} in {leak.location}", mend)
    if is_clean:
        yield Diagnosis("secrets", True, "none found in the archive")
    if os.access(context.palace_path, os.W_OK):
        note_whole(context.writing().database)


def _permissions(path: Path) -> Diagnosis:
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return Diagnosis("permissions", False, f"you cannot write to {path}", f"chmod u+rw '{path}'")
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        detail = f"others may read {path} ({mode:04o})"
        return Diagnosis("permissions", False, detail, f"{doctor_fixes.PRIVATE}'{path}'", fixable=True)
    return Diagnosis("permissions", True, "yours alone" if os.name == "posix" else "writable")


def _filesystem(context: Context) -> Iterator[Diagnosis]:
    path = context.palace_path
    kind = filesystem.type_of(path)
    unsafe = kind in filesystem.UNSAFE_TYPES
    mend = "palazzo settings set palace PATH, with a path on a local disk" if unsafe else ""
    yield Diagnosis(
        "file system", not unsafe, f"{kind or 'local'}{', which cannot lock a database safely' if unsafe else ''}", mend
    )
    ancestor = next(parent for parent in (path, *path.parents) if parent.exists())
    free = shutil.disk_usage(ancestor).free
    yield Diagnosis(
        "disk space", free >= LEAST_FREE, f"{free / 1e9:,.1f} GB free", "" if free >= LEAST_FREE else "free some space"
    )


def _model(context: Context) -> Iterator[Diagnosis]:
    if context.embedder_spec.kind == "bundled":
        bad_files = damaged_files()
        yield Diagnosis(
            "model files",
            not bad_files,
            f"missing or damaged: {', '.join(bad_files)}" if bad_files else "unchanged since release",
            "pip install --force-reinstall palazzo" if bad_files else "",
        )
    try:
        embedder = context.open_embedder()
    except EmbedderUnavailable as error:
        yield Diagnosis("embedder", False, str(error), "palazzo settings get embedder.kind")
        return
    try:
        vector = embedder.embed_query("one line to see that it works")
        yield Diagnosis("embedder", True, f"{embedder.id}, {len(vector)} dimensions")
    except EmbedderUnavailable as error:
        yield Diagnosis("embedder", False, str(error), "palazzo settings get embedder.base_url")
    finally:
        embedder.close()


def _service(context: Context) -> Iterator[Diagnosis]:
    address = address_of(context)
    for former in former_states(context):
        process = f"process {former.pid}, version {former.version}, at {former.address}"
        detail = f"another service is running for this palace: {process}"
        yield Diagnosis("service", False, detail, "palazzo service stop")
    if not context.settings.flag("service"):
        detail = "off, by the setting `service`; each hook captures and injects in its own process"
        yield Diagnosis("service", True, detail)
        return
    try:
        rpc.check_directory(address)
    except FileNotFoundError:
        yield Diagnosis("service", True, "not running; it starts when needed")
        return
    except (ServiceUnavailable, OSError) as error:
        yield Diagnosis("service", False, str(error), "palazzo settings set service false")
        return
    state = state_of(context)
    if state.running and rpc.is_newer(state.version, "", __version__, ""):
        detail = f"process {state.pid} has version {state.version} of another installation, but this is {__version__}"
        yield Diagnosis(
            "service", False, detail, "pip install --upgrade palazzo, or remove one of the two installations"
        )
    elif state.running and state.version != __version__:
        detail = f"process {state.pid} has version {state.version}, but this is {__version__}, which replaces it"
        yield Diagnosis("service", False, detail, doctor_fixes.SERVICE, fixable=True)
    elif state.running:
        activity = "watching, " if state.watching else ""
        yield Diagnosis("service", True, f"process {state.pid}, {activity}{state.memory_mb:,} MB")
        if state.viewer_trouble:
            yield Diagnosis("viewer", False, state.viewer_trouble, "palazzo view")
    elif rpc.is_starting(address):
        detail = f"a process holds {address.lock}, but no service answers at {address.socket}"
        yield Diagnosis("service", False, detail, "palazzo service status; if this persists, end that process")
    elif startup.failed_at(address, context.variables) is not None:
        detail = "a hook started the service, but it did not come up; search uses keywords only"
        yield Diagnosis("service", False, detail, doctor_fixes.SERVICE, fixable=True)
    else:
        yield Diagnosis("service", True, "not running; it starts when needed")


def _backups(context: Context) -> Iterator[Diagnosis]:
    """Yield findings on the last recorded backup of this palace."""
    if not context.has_palace:
        return
    if (reason := automatic_backup.last_failure(context)) is not None:
        yield Diagnosis("backup", False, f"the last automatic one failed: {reason}", "palazzo backup")
    last = backup_files.newest(context.palace_path)
    if last is None:
        is_empty = automatic_backup.is_empty(context)
        yield Diagnosis("backup", is_empty, "none yet", "" if is_empty else "palazzo backup")
        return
    days = (context.now - last.at) // 86_400_000_000
    age = "within the last day" if days < 1 else f"{days:,} day{'' if days == 1 else 's'} ago"
    detail = f"the last one was made {age}: {last.file}{'' if last.is_there else ' (not seen now)'}"
    yield Diagnosis("backup", days < OLD_BACKUP, detail, "" if days < OLD_BACKUP else "palazzo backup")
    if context.settings.number("backup.keep") and not automatic_backup.is_within_bound(context):
        detail = "one backup is larger than backup.most_mb, so a single automatic one is kept"
        yield Diagnosis("backup", False, detail, "palazzo settings set backup.most_mb MB")


def _team(context: Context) -> Iterator[Diagnosis]:
    try:
        failure = memberships.load_background(context.palace_path).failure
    except PalazzoError as error:
        failure = str(error)
    if failure:
        yield Diagnosis("team", False, f"the service could not share: {failure}", "palazzo team share")


def _sync(context: Context) -> Iterator[Diagnosis]:
    try:
        failed = automatic_sync.failed(context)
    except PalazzoError:
        return  # the palace cannot be read, which is a finding of its own
    for failed_remote in failed:
        yield Diagnosis(
            "sync",
            False,
            f"with '{failed_remote.name}': {failed_remote.failure}",
            f"palazzo sync now {failed_remote.name}",
        )
    for refusal in automatic_sync.refusals(context):
        if not any(refusal.reason in remote.failure for remote in failed):
            yield Diagnosis("sync", False, f"with '{refusal.remote}': {refusal.reason}", "palazzo sync devices")


def _settings(context: Context) -> Iterator[Diagnosis]:
    problem_list = problems(context)
    detail = "; ".join(_set(context)) or f"all have their defaults; change them in {context.settings_file}"
    yield Diagnosis("settings", True, detail)
    for problem in problem_list:
        yield Diagnosis("settings", False, problem, "palazzo settings")


def _set(context: Context) -> Iterator[str]:
    """Yield the settings that differ from their defaults, by origin."""
    settings_by_origin: dict[str, list[str]] = {}
    for value in context.settings.values.values():
        if value.origin != "default":
            settings_by_origin.setdefault(value.origin.partition(", line ")[0], []).append(
                f"{value.key.name} = {value.display_text}"
            )
    for origin, settings in settings_by_origin.items():
        more = [f"{len(settings) - _MOST_SETTINGS} more"] if len(settings) > _MOST_SETTINGS else []
        yield f"{', '.join([*settings[:_MOST_SETTINGS], *more])} ({origin})"


def _switched_off(context: Context) -> Iterator[Diagnosis]:
    """Yield a finding if capture and injection are off: someone may have forgotten this."""
    if (pause := pause_of(context)) is not None:
        yield Diagnosis("hooks", True, f"{pause}: nothing is captured or injected; run 'palazzo resume' to continue")
    if context.settings.flag("off"):
        yield Diagnosis("hooks", True, "off, by PALAZZO_OFF: nothing is captured or injected")


def _unknown_hooks(context: Context) -> Iterator[Diagnosis]:
    """Yield recent hook calls with the name of an unknown host or event."""
    for line in hook_log.unknown_hooks(str(context.palace_path), context.variables):
        yield Diagnosis("hooks", False, f"not handled: {line}", "palazzo hook --help")


def _optional(context: Context) -> Iterator[Diagnosis]:
    """Check optional programs and libraries, and report what does not work without them."""
    remarks = (
        []
        if shutil.which("git", path=context.variables.get("PATH"))
        else ["git is not on PATH: projects are known by their directories"]
    )
    if importlib.util.find_spec("markitdown") is None:
        remarks.append("PDF and Office files are not read: pip install 'palazzo[documents]'")
    yield Diagnosis("optional", True, "; ".join(remarks) or "git and the readers of PDF and Office files are installed")


def _hosts(context: Context) -> Iterator[Diagnosis]:
    hosts = hosts_found(context.variables)
    yield Diagnosis("hosts", True, ", ".join(f"{host.name} ({host.directory})" for host in hosts) or "none found")


def _check_wiring(context: Context, try_out: bool) -> Iterator[Diagnosis]:
    """Check whether Palazzo's hooks and MCP server are in the hosts' settings, reach this palace and answer."""
    for host in inspect_hosts(context, try_out):
        parts = [f"hooks ({', '.join(host.scopes)})"] if host.scopes else []
        parts += ["MCP server"] if host.server else []
        parts += ["instructions"] if host.instructions else []
        detail = " and ".join(parts) + (f", by {', '.join(host.programs)}" if host.programs else "")
        if host.hook_answers and host.server_answers:
            detail += "; both answer"
        mend = "" if host.is_wired else f"palazzo setup --only {host.host}"
        detail = detail or "installed, but not wired: Palazzo captures and shows nothing there"
        yield Diagnosis(host.title, True, f"{host.version}: {detail}" if host.version else detail, mend)
        for trouble in host.troubles:
            is_reinstall = trouble.mend == f"{doctor_fixes.INSTALL}{host.host}"
            fixable = is_reinstall and host.scopes == ("user",) and trouble.kind in _OURS_TO_WRITE
            yield Diagnosis(host.title, False, trouble.detail, trouble.mend, fixable)


def _histories(context: Context) -> Iterator[Diagnosis]:
    """Report what of each host's history is not archived, and when the host deletes it."""
    try:
        histories = histories_kept(context)
    except PalazzoError:
        return  # the palace cannot be read, which is a finding of its own
    for history in histories:
        is_safe = history.days_left is None or history.days_left >= LEAST_DAYS
        mend = "" if is_safe else f"palazzo feed {history.host}"
        yield Diagnosis(f"history of {history.host}", is_safe, _describe_history(history), mend)


def _describe_history(history: HistoryKept) -> str:
    if history.sessions is None:
        return (
            "not archived yet" if history.missing else "archived, but may have grown" if history.grown else "archived"
        )
    sessions = f"{history.sessions:,} session{'' if history.sessions == 1 else 's'}"
    if not history.missing and not history.grown:
        return f"{sessions}, all archived"
    news = [f"{history.missing:,} not archived"] if history.missing else []
    news += [f"{history.grown:,} grown since"] if history.grown else []
    detail = f"{sessions}, {' and '.join(news)}"
    if history.days_left is None:
        return f"{detail}; none is deleted automatically"
    if history.days_left < 0:
        return f"{detail}; the oldest of these will be deleted when {history.host} next starts"
    return (
        f"{detail}; the oldest of these will be deleted in {history.days_left:,} "
        f"day{'' if history.days_left == 1 else 's'}"
    )


_LOOKS: tuple[Callable[[Context], Iterator[Diagnosis]], ...] = (
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
    _team,
    _settings,
    _switched_off,
    _optional,
    _hosts,
    doctor_old_names.find_old_names,
)
