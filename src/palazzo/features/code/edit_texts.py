"""Edit texts: what the recorded edits of one file replaced, and with what, oldest first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from palazzo.index.cut_material import load_unmarked
from palazzo.model import Micros
from palazzo.sessions.file_calls import FileCall, Piece, Reading, Writing, file_calls
from palazzo.store import drawers

if TYPE_CHECKING:
    from palazzo.index.cut_rules import CutItem
    from palazzo.model import Part
    from palazzo.store.database import Connection
    from palazzo.store.file_touches import FileTouch

_MOST_TOUCHES = 400
"""Maximum number of citations whose edits are read, the newest: a file that is edited more often is rare."""


class EditText(NamedTuple):
    """The text of one edit. `writes_all` says that it wrote the whole file, whose earlier text is not in the call."""

    touch: FileTouch
    at: Micros
    pieces: tuple[Piece, ...]
    writes_all: bool


def read_edits(connection: Connection, touches: Iterable[FileTouch], names: Collection[str]) -> list[EditText]:
    """Return the edits of the file with these names by which sessions touched it, oldest first.

    An edit of which words were forgotten, or whose text no call contains, is absent. A failed call touched no file.
    """
    touch_of_drawer = {touch.drawer: touch for touch in touches if touch.anchor.how == "edited"}
    touches_of_item: dict[int, list[tuple[int, int, FileTouch]]] = {}
    for drawer, spans in drawers.spans_of(connection, [*touch_of_drawer][:_MOST_TOUCHES]).items():
        for item, start, end in spans:
            touches_of_item.setdefault(item, []).append((start, end, touch_of_drawer[drawer]))
    items, _ = load_unmarked(connection, [*touches_of_item])
    return [
        EditText(touch, Micros(item.context.created_at), _pieces(action), isinstance(action, Writing))
        for item in sorted(items, key=lambda item: (item.context.created_at, item.ordinal))
        for part in item.parts
        for touch in _touches_of_call(part, touches_of_item[item.row])[:1]
        for action in _edits_in(item, part)
        if _is_named(action.path, names)
    ]


def _touches_of_call(part: Part, places: Iterable[tuple[int, int, FileTouch]]) -> list[FileTouch]:
    """Return the touches in the drawers of a call; each call has drawers of its own."""
    is_call = part.kind == "tool_call"
    return [touch for start, end, touch in places if is_call and start < part.end and part.start < end]


def _edits_in(item: CutItem, part: Part) -> Iterator[FileCall]:
    """Yield the edits of a call; none if words of it were forgotten."""
    if any(low < part.end and part.start < high for low, high in item.holes):
        return
    for action in file_calls(part.name, item.text[part.start : part.end]):
        if not isinstance(action, Reading):
            yield action


def _pieces(action: FileCall) -> tuple[Piece, ...]:
    if isinstance(action, Writing):
        return (Piece("", action.text, whole=True),)
    return () if isinstance(action, Reading) else action.pieces


def _is_named(path: str, names: Collection[str]) -> bool:
    """Return whether a call's path can be that of the file: one is the end of the other."""
    plain_path = path.replace("\\", "/").removeprefix("./")
    return any(
        plain_path == name or plain_path.endswith(f"/{name}") or name.endswith(f"/{plain_path}") for name in names
    )
