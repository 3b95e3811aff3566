"""Content and sender of one message of a Slack export, and how its text is written.

Slack has its own markup: `&amp; &lt; &gt;` are escapes, `<@U024BE7LH>` names a person, `<#C024BE7LR|general>` a
channel, `<!here>` everybody, `<https://…|label>` a link. People read names, so the text gets names. Rows carry
`subtype`s: joining and leaving is the host's bookkeeping; a topic is text that somebody wrote. An edited message has
`edited.ts`, and only its last text is in the export. That time is part of its id, so if two exports saw both versions,
the archive keeps the text before the edit beside the text after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from palazzo.frozen_class import frozen
from palazzo.model import ContentKind, Micros
from palazzo.sources.formats import Content, Message, Noise, Unreadable
from palazzo.sources.formats.block_text import Composer
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import objects_in
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

KIND = "slack"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INTERNAL_SUBTYPES = _words(
    """
    channel_join channel_leave group_join group_leave channel_archive channel_unarchive group_archive
    group_unarchive bot_add bot_remove bot_enable bot_disable pinned_item unpinned_item channel_convert_to_private
    channel_convert_to_public channel_posting_permissions reminder_add tombstone joiner_notification sh_room_created
    """
)
_ANNOUNCEMENTS = _words("channel_topic channel_purpose channel_name group_topic group_purpose group_name")
_TS = make_regex(r"(\d{1,12})\.(\d{1,6})")
_MARKUP = make_regex(r"<(?P<sign>[@#!]?)(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")


@frozen
class People:
    """Real names by id."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, users: Sequence[JsonObject]) -> People:
        """Read `users.json`."""
        return cls({string(user, "id"): _real_name(user) for user in users if string(user, "id")})

    def name(self, user: str) -> str:
        """Return the person's name; the ID if it is unknown."""
        return self.names.get(user) or user


def content_of(message: JsonObject, people: People) -> Content:
    """Return the content of a message."""
    subtype = string(message, "subtype")
    if string(message, "type") not in ("message", ""):
        return Noise(f"slack {string(message, 'type')}")
    if subtype in _INTERNAL_SUBTYPES:
        return Noise(f"slack {subtype}")
    ts = string(message, "ts")
    if not ts:
        return Unreadable("a message without ts")
    try:
        composer = _compose(message, people, is_bot=_is_bot(message))
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise("a message without text")
    edit = message.get("edited")
    edited_at = string(edit, "ts") if isinstance(edit, dict) else ""
    thread = string(message, "thread_ts")
    status: ContentKind = "meta" if subtype in _ANNOUNCEMENTS else "said"
    return Message(
        composer.text,
        "user",
        standing=status,
        author=_author(message, people),
        parts=composer.parts,
        uuid=f"{ts}/{edited_at}" if edited_at else ts,
        parent=thread if thread != ts else "",
        thread=thread,
        created_at=_time(ts),
        meta=_meta(message, people, edited_at),
    )


def plain_text(text: str, people: People) -> str:
    """Return Slack's text in readable form."""

    def render_markup(match: re.Match[str]) -> str:
        sign, target, label = match["sign"], match["target"], match["label"] or ""
        if sign == "@":
            return f"@{people.names.get(target) or label or target}"
        if sign == "#":
            return f"#{label or target}"
        if sign == "!":
            return label or f"@{target.split('^')[0]}"
        return f"{label} ({target})" if label and label != target else target

    return _unescape_entities(_MARKUP.sub(render_markup, text))


def _unescape_entities(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _escape_entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _compose(message: JsonObject, people: People, *, is_bot: bool) -> Composer:
    """Compose a message. A person's words get trust `repo`: a colleague's. A bot may repeat anyone's words."""
    composer = Composer()
    words = string(message, "text") or "".join(_of_blocks(message.get("blocks"), people))
    composer.add("text", plain_text(words, people), trust="external" if is_bot else "repo")
    for attachment in objects_in(message.get("attachments")):
        fields = [string(attachment, key) for key in ("pretext", "title", "text", "from_url")]
        text = "\n".join(filter(None, fields)) or string(attachment, "fallback")
        composer.add("attachment", plain_text(text, people), trust="external")
    for file in objects_in(message.get("files")):
        file_name = string(file, "name") or string(file, "title") or string(file, "id") or "file"
        media = string(file, "mimetype")
        composer.add(
            "image" if media.startswith("image/") else "attachment", f"[{', '.join(filter(None, (file_name, media)))}]"
        )
    return composer


def _of_blocks(value: object, people: People) -> Iterator[str]:
    """Return the text of rich text, for messages that have no `text`."""
    for member in objects_in(value):
        kind = string(member, "type")
        if kind == "user":
            yield _escape_entities(f"@{people.name(string(member, 'user_id'))}")
        elif kind == "emoji":
            yield f":{string(member, 'name')}:"
        elif isinstance(member.get("text"), str):
            yield _escape_entities(string(member, "text"))
        elif isinstance(member.get("text"), dict):
            yield from _of_blocks([member["text"]], people)
        elif string(member, "url"):
            yield string(member, "url")
        yield from _of_blocks(member.get("elements"), people)


def _author(message: JsonObject, people: People) -> str:
    profile = message.get("user_profile")
    bot = message.get("bot_profile")
    display_name = people.names.get(string(message, "user")) or (_real_name({"profile": profile}) if profile else "")
    return (
        display_name
        or string(message, "username")
        or (string(bot, "name") if isinstance(bot, dict) else "")
        or string(message, "user")
        or string(message, "bot_id")
    )


def _is_bot(message: JsonObject) -> bool:
    return string(message, "subtype") == "bot_message" or bool(string(message, "bot_id"))


def _real_name(user: JsonObject) -> str:
    profile = user.get("profile")
    profile = profile if isinstance(profile, dict) else {}
    names = (string(profile, "real_name"), string(user, "real_name"), string(profile, "display_name"))
    return next((name for name in (*names, string(user, "name")) if name.strip()), "")


def _meta(message: JsonObject, people: People, edited_at: str) -> dict[str, object]:
    reactions = {
        string(reaction, "name"): [people.name(user) for user in users if isinstance(user, str)]
        for reaction in objects_in(message.get("reactions"))
        if isinstance(users := reaction.get("users"), list)
    }
    fields = {"reactions": reactions, "edited": edited_at, "user": string(message, "user"), "ts": string(message, "ts")}
    return {key: value for key, value in fields.items() if value}


def _time(ts: str) -> Micros | None:
    match = _TS.fullmatch(ts)
    if not match:
        return moment(ts)
    return Micros(int(match.group(1)) * 1_000_000 + int(match.group(2).ljust(6, "0")))
