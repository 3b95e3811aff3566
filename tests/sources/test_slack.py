"""Slack's export: real speakers, threads, edits, reactions, and exports whose ranges overlap."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Message, Noise, Row, Unreadable
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.slack import Slack
from palazzo.sources.formats.slack_messages import People, plain_text

from .collection_samples import few, head_of, is_canonical, json_values, read_all, read_or_refuse, said, words

FEEDER = Slack()
USERS: list[dict[str, object]] = [
    {"id": "U1", "name": "priya", "profile": {"real_name": "Priya Rao", "display_name": "pri"}},
    {"id": "U2", "name": "bo", "real_name": "Bo Åberg"},
]
CHANNELS = [{"id": "C1", "name": "general"}, {"id": "C2", "name": "日本語"}]


def message(ts: str, user: str, text: str, **fields: object) -> dict[str, object]:
    return {"type": "message", "ts": ts, "user": user, "text": text, **fields}


def write(directory: Path, days: Mapping[str, object], **lists: object) -> Path:
    files: dict[str, object] = {"users.json": USERS, "channels.json": CHANNELS}
    files |= {f"{name}.json": value for name, value in lists.items()}
    files |= {f"{day}.json": value for day, value in days.items()}
    for name, value in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(json.dumps(value))
    return directory


def rows_of(directory: Path, *messages: object) -> list[Row]:
    [(_, rows)] = read_all(FEEDER, write(directory, {"general/2026-03-04": messages}))
    return rows


def one(directory: Path, **fields: object) -> Message:
    [found] = said(rows_of(directory, {**message("1772600000.000100", "U1", "hi"), **fields}))
    return found


def test_each_channel_has_a_session_for_each_day(tmp_path: Path) -> None:
    told = [message("1772600000.000100", "U1", "hi")]
    days = {"general/2026-03-04": told, "general/2026-03-05": told, "日本語/2026-03-04": told}
    found = read_all(FEEDER, write(tmp_path, days))
    assert [(session.identity.key, session.title) for session, _ in found] == [
        (("slack", "C1", "2026-03-04"), "#general, 2026-03-04"),
        (("slack", "C1", "2026-03-05"), "#general, 2026-03-05"),
        (("slack", "C2", "2026-03-04"), "#日本語, 2026-03-04"),
    ]


def test_speakers_have_their_real_names(tmp_path: Path) -> None:
    found = said(rows_of(tmp_path, message("1.1", "U1", "a"), message("1.2", "U2", "b"), message("1.3", "U9", "c")))
    assert [(one.role, one.author, one.text) for one in found] == [
        ("user", "Priya Rao", "a"),
        ("user", "Bo Åberg", "b"),
        ("user", "U9", "c"),
    ]
    assert one(tmp_path, user="U9", user_profile={"real_name": "Eve"}).author == "Eve"


def test_times_are_exact_to_the_microsecond(tmp_path: Path) -> None:
    assert one(tmp_path, ts="1772600000.000123").created_at == 1_772_600_000_000_123


def test_replies_belong_to_their_thread(tmp_path: Path) -> None:
    root = message("1772600000.000100", "U1", "Which port?", thread_ts="1772600000.000100", reply_count=1)
    reply = message("1772600009.000200", "U2", "8443", thread_ts="1772600000.000100")
    asked, answered, other = said(rows_of(tmp_path, root, reply, message("1772600010.000300", "U1", "bye")))
    assert (asked.thread, asked.parent) == ("1772600000.000100", "")
    assert (answered.thread, answered.parent) == ("1772600000.000100", "1772600000.000100")
    assert (other.thread, other.parent) == ("", "")


def test_an_edit_is_another_message_beside_the_words_before_it(tmp_path: Path) -> None:
    before = one(tmp_path, text="9443")
    after = one(tmp_path, text="8443", edited={"user": "U1", "ts": "1772600099.000000"})
    assert before.uuid != after.uuid
    assert after.meta["edited"] == "1772600099.000000"
    assert after.created_at == before.created_at


def test_reactions_say_who_reacted(tmp_path: Path) -> None:
    found = one(tmp_path, reactions=[{"name": "+1", "users": ["U1", "U2"], "count": 2}])
    assert found.meta["reactions"] == {"+1": ["Priya Rao", "Bo Åberg"]}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Hi <@U1>!", "Hi @Priya Rao!"),
        ("<@U9|eve> <@U8>", "@eve @U8"),
        ("in <#C1|general> and <#C2>", "in #general and #C2"),
        ("<!here> <!subteam^S1|@ops>", "@here @ops"),
        ("<https://x.example/a?b=1&amp;c|the page>", "the page (https://x.example/a?b=1&c)"),
        ("<https://x.example>", "https://x.example"),
        ("a &lt;b&gt; &amp; &amp;lt; &copy;", "a <b> & &lt; &copy;"),
        ("> quoted\nline", "> quoted\nline"),
    ],
)
def test_text_is_what_people_read(written: str, shown: str) -> None:
    assert plain_text(written, People.of(USERS)) == shown


def test_files_and_previews_are_named_and_words_of_bots_are_external(tmp_path: Path) -> None:
    files = [{"name": "door.png", "mimetype": "image/png"}, {"name": "log.txt", "mimetype": "text/plain"}]
    preview = [{"title": "Issue 7", "text": "It <https://x|breaks>", "from_url": "https://x"}]
    found = one(tmp_path, files=files, attachments=preview)
    assert (
        found.text
        == "hi\n\nIssue 7\nIt breaks (https://x)\nhttps://x\n\n[door.png, image/png]\n\n[log.txt, text/plain]"
    )
    assert [(part.kind, part.trust) for part in found.parts] == [
        ("text", "repo"),
        ("attachment", "external"),
        ("image", None),
        ("attachment", None),
    ]
    bot = one(tmp_path, user="", subtype="bot_message", username="GitHub", bot_id="B1")
    assert (bot.author, bot.parts[0].trust) == ("GitHub", "external")


def test_words_that_stand_in_blocks_alone_are_read(tmp_path: Path) -> None:
    elements = [
        {"type": "text", "text": "a < b "},
        {"type": "user", "user_id": "U1"},
        {"type": "emoji", "name": "wave"},
    ]
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}]
    assert one(tmp_path, text="", blocks=blocks).text == "a < b @Priya Rao:wave:"


def test_coming_and_going_is_noise_and_a_topic_is_not(tmp_path: Path) -> None:
    joined = message("1.1", "U1", "<@U1> has joined", subtype="channel_join")
    topic = message("1.2", "U1", "set the topic: ports", subtype="channel_topic")
    contents = [row.content for row in rows_of(tmp_path, joined, topic, message("1.3", "U1", ""), {"text": "x"}, 7)]
    assert contents[0] == Noise("slack channel_join")
    assert isinstance(contents[1], Message)
    assert contents[1].standing == "meta"
    assert contents[2:] == [
        Noise("a message without text"),
        Unreadable("a message without ts"),
        Unreadable("not a message"),
    ]


def test_direct_messages_are_titled_by_who_takes_part(tmp_path: Path) -> None:
    told = [message("1.1", "U1", "hi")]
    days = {"D1/2026-03-04": told, "mpdm-a--b-1/2026-03-04": told}
    dms, groups = (
        [{"id": "D1", "members": ["U1", "U2"]}],
        [{"id": "G1", "name": "mpdm-a--b-1", "members": ["U2", "U9"]}],
    )
    found = [(one.identity.key[1], one.title) for one in FEEDER.sessions(write(tmp_path, days, dms=dms, mpims=groups))]
    assert found == [("D1", "Priya Rao, Bo Åberg, 2026-03-04"), ("G1", "Bo Åberg, U9, 2026-03-04")]


def test_exports_that_overlap_agree_on_the_days_they_share(tmp_path: Path) -> None:
    told = [message(f"17726{n:05}.000100", "U1", f"words {n}") for n in range(4)]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = read_all(FEEDER, write(tmp_path / "a", {"general/2026-03-03": told[:2], "general/2026-03-04": told[2:3]}))
    second = read_all(FEEDER, write(tmp_path / "b", {"general/2026-03-04": told[2:], "general/2026-03-05": told[:1]}))
    shared, grown = first[1], second[0]
    assert shared[0].identity == grown[0].identity
    assert grown[1][: len(shared[1])] == shared[1]


def test_a_zip_and_a_directory_give_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    directory = write(tmp_path / "e", {"general/2026-03-04": [message("1.1", "U1", "hi")], "general/canvas": {}})
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(directory.rglob("*.json")):
            archive.write(file, file.relative_to(directory).as_posix())
        archive.writestr("../../general/2026-03-05.json", "[]")
    for place in (directory, path):
        assert FEEDER.recognises(place, head_of(place))
        assert not ClaudeAI().recognises(place, head_of(place))
    [(zipped, packed)], [(plain, loose)] = read_all(FEEDER, path), read_all(FEEDER, directory)
    assert (zipped.identity, packed) == (plain.identity, loose)
    assert all(is_canonical(row.raw) for row in packed)
    again = {one.identity: one.stamp for one in FEEDER.sessions(path)}
    assert again == {zipped.identity: zipped.stamp}


def test_other_directories_are_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "users.json").write_text("[]")
    assert not FEEDER.recognises(tmp_path, b"")
    assert not FEEDER.recognises(tmp_path / "users.json", b"[]")
    assert not FEEDER.recognises(tmp_path / "gone.zip", b"PK\x03\x04")


def test_a_day_that_is_damaged_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"general/2026-03-04": [message("1.1", "U1", "hi")], "general/2026-03-05": {"ok": False}})
    (tmp_path / "general" / "2026-03-03.json").write_text('[{"ts": "1.')
    bad, good, odd = FEEDER.sessions(tmp_path)
    with pytest.raises(SourceUnreadable, match="valid JSON"):
        list(bad.rows())
    assert said(good.rows())[0].text == "hi"
    assert [row.content for row in odd.rows()] == [Unreadable("not a list of messages")]


@few
@given(told=st.lists(st.tuples(st.sampled_from(["U1", "U2"]), words), max_size=6))
def test_what_is_written_is_read_back(told: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    def as_slack_writes(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    messages = [message(f"1772600000.{n:06}", user, as_slack_writes(text)) for n, (user, text) in enumerate(told)]
    found = said(rows_of(tmp_path_factory.mktemp("s"), *messages))
    names = {"U1": "Priya Rao", "U2": "Bo Åberg"}
    assert [(one.author, one.text) for one in found] == [(names[user], text) for user, text in told if text]


@few
@given(value=json_values, other=json_values)
def test_no_content_makes_reading_fail(value: object, other: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    odd = dict.fromkeys(("text", "blocks", "files", "reactions", "edited", "user_profile"), value)
    listed: dict[str, object] = {
        key: [other, {"users": value}] for key in ("blocks", "files", "reactions", "attachments")
    }
    days = {"general/2026-03-04": [{"ts": "1.1"} | odd, {"ts": "2"} | listed, value], "x/2026-03-04": other}
    directory = tmp_path_factory.mktemp("s")
    users: object = [value, {"id": "U1", "profile": other}]
    read_or_refuse(FEEDER, write(directory, days, users=users, dms=[other, {"id": "D", "members": value}]))


def test_a_day_s_file_that_lies_alone_is_read_with_ids_for_names(tmp_path: Path) -> None:
    path = tmp_path / "general" / "2026-03-04.json"
    path.parent.mkdir()
    path.write_text(
        json.dumps(
            [
                {"type": "message", "user": "U1", "text": "Which port?", "ts": "1772618400.000100"},
                {"type": "message", "user": "U2", "text": "8443.", "ts": "1772618460.000100"},
            ]
        )
    )
    assert FEEDER.recognises(path, head_of(path))
    [(session, rows)] = read_all(FEEDER, path)
    assert (session.title, session.identity.key) == ("#general, 2026-03-04", ("slack", "general", "2026-03-04"))
    assert [(message.author, message.text) for message in said(rows)] == [("U1", "Which port?"), ("U2", "8443.")]
    other_path = tmp_path / "rows.json"
    other_path.write_text('[{"type": "message", "text": "x", "ts": 17}]')
    assert not FEEDER.recognises(other_path, head_of(other_path))
