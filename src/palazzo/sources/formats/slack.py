"""Slack's workspace export: JSON files, one per channel and day, in a zip file or a directory.

Learned from Slack's help pages ("How to read Slack data exports"), the message reference of its API documentation
(`https://api.slack.com/events/message`, "Formatting text for app surfaces") and public readers of exports.

`users.json` (`org_users.json` on Enterprise Grid) lists people; `channels.json`, `groups.json`, `dms.json` and
`mpims.json` list the conversations; messages are in `<channel>/<YYYY-MM-DD>.json`, direct messages in `<id>/…`. The
content of a message is described in `slack_messages`.

A session is one channel on one day. Exports of different ranges overlap, and a day's file is the same in all of them,
so its messages keep their places and only days that are new or changed are read. `ts` is a message's identity in its
channel; a reply names its thread's first message in `thread_ts`, and is in the file of the day on which it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Identity, Noise, Row, Session, Unreadable
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.export_archives import Export, ZipExport, find, is_zip, open_export, refuse_rest
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import objects_in, parse, stamp_of
from palazzo.sources.formats.slack_messages import KIND, People, content_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.whole_files import read_file
from palazzo.text.lazy_patterns import make_regex

_PEOPLE = ("users.json", "org_users.json")
_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_MESSAGES = make_regex(
    rb'\s*\[\s*\{(?=[^{}]*"type"\s*:\s*"message")(?=[^{}]*"text"\s*:)[^{}]*"ts"\s*:\s*"\d{9,10}\.\d+"'
)
"""The beginning of a file of one day. Outside an export there is no list of people, so they are named by their ids."""
_DAY = re.compile(r"(?:[^/]+/)?(?P<folder>[^/]+)/(?P<day>\d{4}-\d{2}-\d{2})\.json")


class Slack:
    """Reads Slack workspace exports."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether people and channels are listed at `path` in Slack's format."""
        try:
            if is_zip(head):
                tops = {PurePosixPath(name).name for name in ZipExport(path).names() if name.count("/") <= 1}
            elif head:
                return path.suffix.lower() == ".json" and _MESSAGES.match(head) is not None
            else:
                tops = {name for name in (*_PEOPLE, *_LISTS) if (path / name).is_file()}
        except (SourceUnreadable, OSError, ValueError):
            return False
        return any(name in tops for name in _PEOPLE) and any(name in tops for name in _LISTS)

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield each channel's days, in order; of a single file, its day."""
        if path.suffix.lower() == ".json":
            yield _single_day(path)
            return
        export = open_export(path)
        if not any(find(export, name) for name in (*_PEOPLE, *_LISTS)) and not export.refusals:
            raise SourceUnreadable(f"{path} lists neither people nor channels, so it is not a Slack export.")
        people = _people(export)
        channels = _channels(export)
        for name in export.names():
            match = _DAY.fullmatch(name)
            if match:
                channel = channels.get(match["folder"], {})
                yield _session(export, name, channel, match["folder"], match["day"], people)
        refuse_rest(export, path, _DAY.fullmatch)


def _session(export: Export, file: str, channel: JsonObject, folder: str, day: str, people: People) -> Session:
    identity = Identity((KIND, string(channel, "id") or folder, day), f"{string(channel, 'id') or folder}/{day}")
    title = f"{_title(channel, folder, people)}, {day}"
    rows = partial(_rows, export, file, people, title)
    return Session(identity, export.stamp(file), rows, title, updated_at=moment(f"{day}T23:59:59Z"))


def _single_day(path: Path) -> Session:
    folder = path.absolute().parent.name
    title = f"#{folder}, {path.stem}"
    data = read_file(path)
    rows = partial(_rows_of, parse(data, path.name), People.of([]), title)
    identity = Identity((KIND, folder, path.stem), f"{folder}/{path.stem}")
    return Session(identity, stamp_of(data), rows, title, updated_at=moment(f"{path.stem}T23:59:59Z"))


def _title(channel: JsonObject, folder: str, people: People) -> str:
    """Return `#general`, or the participants of a direct conversation."""
    members = channel.get("members")
    if not channel or (string(channel, "name") and not string(channel, "name").startswith("mpdm-")):
        return f"#{string(channel, 'name') or folder}"
    names = [people.name(member) for member in members if isinstance(member, str)] if isinstance(members, list) else []
    return ", ".join(names) or folder


def _rows(export: Export, file: str, people: People, title: str) -> Iterator[Row]:
    yield from _rows_of(parse(export.read(file), PurePosixPath(file).name), people, title)


def _rows_of(messages: object, people: People, title: str) -> Iterator[Row]:
    rows = Rows()
    if not isinstance(messages, list):
        yield rows.row(messages, Unreadable("not a list of messages"), title)
        return
    if not messages:
        yield rows.row([], Noise("a day without messages"), title)
    for message in messages:
        if isinstance(message, dict):
            yield rows.row(message, content_of(message, people), title)
        else:
            yield rows.row(message, Unreadable("not a message"), title)


def _people(export: Export) -> People:
    users: list[JsonObject] = []
    for name in _PEOPLE:
        file = find(export, name)
        users += objects_in(parse(export.read(file), file)) if file else []
    return People.of(users)


def _channels(export: Export) -> dict[str, JsonObject]:
    """Return the conversations by folder: a folder's name is the conversation's name, or its ID if it has none."""
    channels: dict[str, JsonObject] = {}
    for name in _LISTS:
        file = find(export, name)
        for channel in objects_in(parse(export.read(file), file)) if file else []:
            channels[string(channel, "name") or string(channel, "id")] = channel
            channels.setdefault(string(channel, "id"), channel)
    return channels
