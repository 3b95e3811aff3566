"""How a host without groups of hooks stores them: what its installer needs to know of the format."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from palazzo.frozen_class import frozen
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.hosts.host_settings import Handler


@frozen
class HookFormat:
    """Functions that take the text of a file (None: no file); `without_hooks` returns None if no file must be left.

    `is_shared` says that the file may also have hooks of other programs. With `has_scripts`, each event has a script of
    its own, whose name is the event's, in the directory that the host's files name as `hooks`.
    """

    with_hooks: Callable[[str | None, HostHooks, str, Sequence[str]], str]
    without_hooks: Callable[[str | None, str], str | None]
    our_hooks: Callable[[str, str], Sequence[tuple[Handler, Ours]]]
    is_shared: bool = True
    has_scripts: bool = False
