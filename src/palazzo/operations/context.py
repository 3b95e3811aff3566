"""The context of an operation: the palace, the settings and the current project, each loaded on first use.

A palace is opened for reading until an operation writes, so that reading never creates one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from palazzo import paths
from palazzo.client import rpc
from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.model import USERS_WING, Micros, Trust
from palazzo.settings import Settings, load

if TYPE_CHECKING:
    from palazzo.git.project_identity import ProjectIdentity
    from palazzo.index.embedder import Embedder
    from palazzo.index.embedder_choice import EmbedderSpec
    from palazzo.palace import Palace
    from palazzo.sources.source_places import Placer
    from palazzo.store.database import Database
    from palazzo.store.palace_opening import Mode


_THREADS_FOR_ONE, _THREADS_FOR_MANY = 1, 2
"""Threads of the bundled model. One is faster for a query, which runs beside the keyword search; two are faster for
many texts.
"""

_LARGEST_WITHOUT_SCHEMA = 4096
"""The largest file, in bytes, that may have no schema: a page. The smallest palace has more than a hundred pages."""
_SECONDS_FOR_CREATOR = 2.0
"""Seconds that a caller waits once for another process that is creating the palace, which takes a moment."""


@frozen
class Progress:
    """The progress of a long operation. `what` names the unit that is counted; `detail` names the current item."""

    what: str
    done: int
    total: int
    detail: str = ""


class Context:
    """The environment of one caller. Close it, or use `with`.

    `trust` is the trust level of this caller's statements: a person's, unless an interface for agents sets another.
    `opened` provides a palace that stays open for many callers, instead of one that is closed with this context.
    `lock_wait` limits the total seconds that the `with` block waits for locks of other programs. Without
    `waits_for_model`, searches that support it answer by keyword alone while the model is being loaded.
    `derive_seconds` limits the processor time that the `with` block spends on data that is not derived yet.
    """

    def __init__(
        self,
        palace: Path | None = None,
        cwd: Path | None = None,
        variables: Mapping[str, str] = os.environ,
        on_progress: Callable[[Progress], None] | None = None,
        clock: Callable[[], Micros] | None = None,
        on_notice: Callable[[str], None] | None = None,
        on_event: Callable[[object], None] | None = None,
        trust: Trust = "user",
        palace_opener: Callable[[Context, Mode], Palace] | None = None,
        lock_wait: float | None = None,
        waits_for_model: bool = True,
        derive_seconds: float | None = None,
    ) -> None:
        self.cwd = (cwd or Path(paths.working_directory())).absolute()
        self.variables, self.on_progress, self.on_notice = variables, on_progress, on_notice
        self._named, self._clock, self._on_event = palace, clock, on_event
        self.trust: Trust = trust
        self.waits_for_model = waits_for_model
        self._opened = palace_opener
        self._lock_wait, self._derive_seconds = lock_wait, derive_seconds
        self._limits = contextlib.ExitStack()
        self.on_writing: Callable[[Database], None] | None = None
        """Called with the palace's database before every write (`idempotency`)."""
        self.interrupted_at: Micros | None = None
        """The time at which this same call first began, if it was interrupted after some of its steps; else None."""
        self._palace: Palace | None = None
        self._seconds_for_creator = _SECONDS_FOR_CREATOR

    def __enter__(self) -> Self:
        if self._lock_wait is not None:
            from palazzo.store.palace_opening import lock_deadline

            self._limits.enter_context(lock_deadline(self._lock_wait))
        if self._derive_seconds is not None:
            from palazzo.derived.backlog import limit_work

            self._limits.enter_context(limit_work(self._derive_seconds))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limits.close()
        self.close()

    def close(self) -> None:
        """Close the palace if it was opened here."""
        if self._palace is not None and self._opened is None:
            self._palace.close()
        self._palace = None

    @property
    def has_directory(self) -> bool:
        """Whether the working directory still exists. If not, the caller is outside every project."""
        return str(self.cwd) != paths.DELETED_DIRECTORY

    def led_to(self, path: Path) -> Path:
        """Return the absolute form of a path that someone gave. `~` with an unknown user is an ordinary name.

        Raises UsageError for a relative path if the working directory was deleted.
        """
        absolute_path = self.as_absolute(path)
        if absolute_path.is_relative_to(paths.DELETED_DIRECTORY):
            self.check_directory(path)
        return absolute_path

    def check_directory(self, path: Path | str = ".") -> None:
        """Raise UsageError if the working directory was deleted, to which `path` is relative."""
        if not self.has_directory:
            raise UsageError(paths.NO_DIRECTORY.format(path=path))

    def as_absolute(self, path: Path) -> Path:
        """Return the same for a comparison with stored paths, of which none is in a deleted working directory."""
        return self.cwd / os.path.expanduser(path)  # noqa: PTH111 - the other one raises RuntimeError then

    # --- the palace ----------------------------------------------------------------------------------------

    @cached_property
    def palace_path(self) -> Path:
        """The palace file: the one named explicitly, else the one in the settings, else the default."""
        named_path = None if self._named is None else str(self._named)
        return Path(rpc.chosen_palace(named_path, self.variables, str(self.cwd)))

    @property
    def is_palace_named(self) -> bool:
        """Whether the caller named the palace, which then does not depend on the settings."""
        return self._named is not None

    def reading(self) -> Palace:
        """Return the palace for reading; raise PalaceMissing if it does not exist."""
        return self._palace or self._open("read")

    def writing(self) -> Palace:
        """Return the palace for writing; create it if it does not exist."""
        palace = self._palace
        if palace is None or palace.database.mode != "write":
            self.close()
            palace = self._open("write")
        if self.on_writing is not None:
            self.on_writing(palace.database)
        return palace

    def check_palace_path(self) -> None:
        """Raise if the path is not a file, or if the palace that was there no longer exists."""
        from palazzo.security import known_palaces
        from palazzo.store import palace_opening

        palace_opening.refuse_special(self.palace_path)
        known_palaces.refuse_gone(self.palace_path, self.variables)

    @property
    def may_create(self) -> bool:
        """Whether a palace may be created at the path: none was there before."""
        from palazzo.security import known_palaces

        return not known_palaces.is_known(self.palace_path, self.variables)

    def renew(self) -> None:
        """Close a palace that a restore has replaced; the next access opens the new one."""
        if self._palace is not None and self._palace.database.is_replaced:
            self.close()

    @property
    def has_palace(self) -> bool:
        """Whether the palace exists. A file that was left by a creation that was cut off is none."""
        try:
            size = self.palace_path.stat().st_size
        except OSError:
            return False
        if self._palace is not None or size > _LARGEST_WITHOUT_SCHEMA:
            return True
        from palazzo.store import schema

        seconds, self._seconds_for_creator = self._seconds_for_creator, 0.0
        return schema.is_created(self.palace_path, seconds)

    @property
    def is_off(self) -> bool:
        """Whether capture and injection are off: by PALAZZO_OFF, or because someone paused them."""
        from palazzo.operations.pause_state import pause_of

        return self.settings.flag("off") or pause_of(self) is not None

    @property
    def now(self) -> Micros:
        """The time of the palace's clock; the machine's time while no palace is open."""
        if self._palace is None:
            return self.machine_now
        from palazzo.sync import hybrid_clock as hybrid

        return hybrid.read_time(self._palace.database, self.machine_now)

    @property
    def machine_now(self) -> Micros:
        """The time of the machine's clock."""
        from palazzo.palace import system_clock

        return (self._clock or system_clock)()

    def _open(self, mode: Mode) -> Palace:
        from palazzo.security import known_palaces

        self.check_palace_path()
        self._palace = self._open_own(mode) if self._opened is None else self._opened(self, mode)
        if self.has_palace:
            known_palaces.remember(self.palace_path, self.variables)
        for name in ("placing", "project", "home"):  # they asked the palace that was open before
            self.__dict__.pop(name, None)
        return self._palace

    def _open_own(self, mode: Mode) -> Palace:
        from palazzo.client import hook_log
        from palazzo.index import failure_isolation
        from palazzo.palace import Palace, system_clock

        failure_isolation.write_log_by(lambda line: hook_log.add_line(line, str(self.palace_path), self.variables))
        threads = _THREADS_FOR_MANY if mode == "write" else _THREADS_FOR_ONE
        return Palace.open(
            self.palace_path,
            mode,
            lambda: self.open_embedder(threads),
            self._clock or system_clock,
            self.settings.flag("redact"),
            creates=self.may_create,
        )

    # --- settings ------------------------------------------------------------------------------------------

    @cached_property
    def settings(self) -> Settings:
        """The settings that apply here."""
        return load(self.settings_file, self.project_root, self.variables)

    @property
    def settings_file(self) -> Path:
        """The user's own settings file."""
        return paths.config_directory(self.variables) / "config.toml"

    @property
    def embedder_spec(self) -> EmbedderSpec:
        """The embedder specified by the settings."""
        from palazzo.index.embedder_choice import EmbedderSpec, choose_kind

        settings = self.settings
        return EmbedderSpec(
            kind=choose_kind(settings.text("embedder.kind")),
            base_url=settings.text("embedder.base_url"),
            model=settings.text("embedder.model"),
            api_key=settings.text("embedder.api_key") or None,
            dimension=settings.number("embedder.dimension") or None,
        )

    def open_embedder(self, threads: int = _THREADS_FOR_MANY) -> Embedder:
        """Load the embedder specified by the settings."""
        from palazzo.index.embedder_choice import open_embedder

        return open_embedder(replace(self.embedder_spec, threads=threads))

    # --- the project ---------------------------------------------------------------------------------------

    @cached_property
    def project_root(self) -> Path:
        """The root of the current project; the working directory if there is none."""
        from palazzo.git.project_identity import project_root

        return project_root(self.cwd) if self.has_directory else self.cwd

    @cached_property
    def place_finder(self) -> Placer:
        """Resolves wings and rooms; knows this palace's projects if the palace exists."""
        from palazzo.sources.source_places import Placer

        return Placer(self.reading().database if self.has_palace else None)

    @cached_property
    def project(self) -> ProjectIdentity:
        """The current project."""
        return self.place_finder.project(self.cwd)

    @property
    def project_wing(self) -> str:
        """The wing of the current project: the one that it has, else the one that it would get."""
        if not self.has_directory:
            return USERS_WING
        return self.place_finder.wing(self.project)

    @cached_property
    def is_in_project(self) -> bool:
        """Whether the working directory belongs to a project.

        The home directory, its parents and the palace's own directory belong to no project, unless they are a
        repository or contain a project file.
        """
        from palazzo.git.project_identity import is_marked_as_project

        if not self.has_directory:
            return False
        root = self.project_root.resolve()
        home = Path(paths.home_place(self.variables)).resolve()
        return root not in (home, *home.parents, self.palace_path.parent.resolve()) or is_marked_as_project(root)

    @cached_property
    def home(self) -> str | None:
        """The wing of the current project, if the palace has it; otherwise None."""
        from palazzo.store import place_rows

        with self.reading().database.snapshot() as connection:
            identity = place_rows.project_at(connection, str(self.project_root)) or self.project.identity
            return place_rows.wing_of_project(connection, identity)

    # --- progress ------------------------------------------------------------------------------------------

    def report(self, activity: str, count: int, total: int, detail: str = "") -> None:
        """Report the progress of the operation."""
        if self.on_progress:
            self.on_progress(Progress(activity, count, total, detail))

    def notice(self, sentence: str) -> None:
        """Announce what is about to be done."""
        if self.on_notice:
            self.on_notice(sentence)

    @property
    def can_tell(self) -> bool:
        """Whether somebody is told of events."""
        return self._on_event is not None

    def tell(self, event: object) -> None:
        """Report what has just happened in a continuing operation; `event` is a dataclass of that operation."""
        if self._on_event:
            self._on_event(event)
