"""What drawers may hold of a row: what somebody said, and attachments, each under the trust of its words."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.archive.conversations import answered, called, file_rows, fresh_palace, said
from tests.derived.state import complaints, drawers
from tests.sources.opencode_samples import Writer, unpack, unpack_storage

from palazzo.archive.ingest import NewItem
from palazzo.hosts.claude_code.transcript import ClaudeCode
from palazzo.hosts.gemini_cli.transcript import Gemini
from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.hosts.opencode.opencode_storage import OpencodeStorage
from palazzo.index import cut_rules
from palazzo.index.query import Query
from palazzo.injection.save_prompt import save_prompt
from palazzo.model import Micros, Part, Source, Trust
from palazzo.palace import Palace
from palazzo.sources.formats import Message
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS
from palazzo.sources.new_items import Clockwork, filing_of
from palazzo.store import items

FIXTURES = Path(__file__).parents[1] / "fixtures"
REMINDER = (
    "<system-reminder>\nContents of /home/dev/acme/CLAUDE.md (project instructions):\n\n# Notes\n</system-reminder>"
)
MEMORY = '<palazzo-memory v="1">\n- d1 2026-11-21 retries 5\n</palazzo-memory>'
AGENTS_MD = "# AGENTS.md instructions for /home/dev/acme\n\n<INSTRUCTIONS>\n# Project notes\n\n</INSTRUCTIONS>"
_INJECTED = re.compile(
    r"<system-reminder>|</system-reminder>|<environment_context>|<palazzo-memory|<user_instructions>|<INSTRUCTIONS>"
    r"|<session_context>|<hook_context>|<permissions instructions>|<command-name>|, checked into the codebase"
)


def texts(palace: Palace, kind: str) -> list[str]:
    return [drawer.text for drawer in drawers(palace) if drawer.kind == kind]


# What nobody said


@pytest.mark.parametrize("before", ["", '"', "\n "])
def test_our_asking_for_a_save_is_in_no_drawer_where_a_host_passes_it_on_as_a_message(
    palace: Palace, before: str
) -> None:
    asked = f"{before}{save_prompt('opencode', 15)}"
    file_rows(palace, [said(0, "user", "Use port 8443."), said(1, "user", asked), said(2, "assistant", "Saved.")])
    assert texts(palace, "exchange") == ["Use port 8443.", "Saved."]
    assert complaints(palace) == []


def test_who_quotes_our_asking_for_a_save_is_quoted(palace: Palace) -> None:
    words = f"Why do you say this?\n{save_prompt('opencode', 15)}"
    file_rows(palace, [said(0, "user", words)])
    assert texts(palace, "exchange") == [words]


@pytest.mark.parametrize(
    "block", [REMINDER, MEMORY, AGENTS_MD, "<environment_context>\n<cwd>~</cwd>\n</environment_context>"]
)
def test_what_was_put_into_a_persons_message_is_in_no_drawer(palace: Palace, block: str) -> None:
    file_rows(palace, [said(0, "user", f"Use port 8443.\n\n{block}\n\nAnd restart it."), said(1, "user", block)])
    assert texts(palace, "exchange") == ["Use port 8443.\n\nAnd restart it."]
    assert complaints(palace) == []


def test_an_injected_block_is_archived_all_the_same(palace: Palace) -> None:
    receipt = file_rows(palace, [said(0, "user", f"Go on.\n{REMINDER}")])[0]
    with palace.database.snapshot() as connection:
        assert items.read_texts(connection, receipt.rows)[receipt.rows[0]] == f"Go on.\n{REMINDER}"


def test_a_reminder_behind_a_tools_output_is_left_out_and_the_output_is_not(palace: Palace) -> None:
    file_rows(
        palace, [called(0, "Read", "Read\nfile_path: a.md", "c"), answered(1, f"1\tport: 8443\n\n{REMINDER}\n", "c")]
    )
    assert texts(palace, "tool") == ["Read\nfile_path: a.md\n\n1\tport: 8443"]


@pytest.mark.parametrize(
    "words",
    [
        "What is a <system-reminder> for? It came up twice, see <b>this</b>.",
        "The fence <palazzo-memory> is never closed here",
        "Please read CLAUDE.md and <command-name> in the docs",
    ],
)
def test_a_person_may_write_of_a_tag(palace: Palace, words: str) -> None:
    file_rows(palace, [said(0, "user", words)])
    assert texts(palace, "exchange") == [words]


def test_a_tool_that_prints_source_code_about_reminders_is_indexed_whole(palace: Palace) -> None:
    code = '    12\tif text.startswith("<system-reminder>"):\n    13\t    close = "</system-reminder>"\n'
    file_rows(palace, [called(0, "Read", "Read", "c"), answered(1, code, "c")])
    assert "</system-reminder>" in texts(palace, "tool")[0]


def test_an_agent_that_explains_a_reminder_is_quoted_whole(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", "why"), said(1, "assistant", f"Because of this:\n{REMINDER}")])
    assert texts(palace, "exchange") == [f"why\n\nBecause of this:\n{REMINDER}"]


def test_no_drawer_of_any_captured_session_holds_what_a_host_injected(tmp_path: Path) -> None:
    with fresh_palace() as palace:
        for source, rows in captured(tmp_path):
            file_rows(palace, rows, source=source)
        found = drawers(palace)
        assert {drawer.source.kind for drawer in found} == {
            "claude-code",
            "codex",
            "copilot",
            "droid",
            "gemini",
            "opencode",
            "pi",
            "qwen",
        }
        assert [drawer.id for drawer in found if _INJECTED.search(drawer.text)] == []
        with palace.database.snapshot() as connection:
            archived = items.read_texts(connection, [row for (row,) in connection.execute("SELECT id FROM item")])
        assert sum(bool(_INJECTED.search(text)) for text in archived.values()) > 10


def captured(tmp_path: Path) -> Iterator[tuple[Source, list[NewItem]]]:
    """Every session of the fixtures, as mining files it."""
    for path in sorted(FIXTURES.rglob("*.jsonl")):
        head = path.read_bytes()[:65536]
        for feeder in (feeder for feeder in TRANSCRIPTS if feeder.recognises(path, head)):
            identity = feeder.identify(path, head)
            with path.open("rb") as stream:
                rows = [
                    filing_of(feeder.kind, feeder.version, identity, row, Clockwork(Micros(0)))
                    for row in feeder.rows(stream)
                ]
            yield Source(identity.key, feeder.kind, path.as_uri()), rows
            break
    for collection, path in (
        (Opencode(), unpack("1.18.33.db", tmp_path)),
        (OpencodeStorage(), unpack_storage(tmp_path)),
    ):
        for session in collection.sessions(path):
            clock = Clockwork(Micros(0))
            rows = [
                filing_of(collection.kind, collection.version, session.identity, row, clock) for row in session.rows()
            ]
            yield Source(session.identity.key, collection.kind, path.as_uri()), rows


# Attachments


def attached(n: int, words: str, file: str, name: str = "plan.txt", trust: Trust | None = None) -> NewItem:
    text = f"{words}\n\n{file}"
    start = len(words) + 2
    parts = [Part("text", 0, len(words)), Part("attachment", start, len(text), name, trust=trust)]
    return said(n, "user", text, parts)


def test_an_attachment_is_a_drawer_of_its_own_under_its_files_name(palace: Palace) -> None:
    file_rows(
        palace, [attached(0, "Read the plan.", "plan.txt\nThe vault opens at dawn."), said(1, "assistant", "Done.")]
    )
    (drawer,) = [one for one in drawers(palace) if one.kind == "attachment"]
    assert (drawer.title, drawer.text, drawer.role) == ("plan.txt", "plan.txt\nThe vault opens at dawn.", "user")
    assert texts(palace, "exchange") == ["Read the plan.\n\nDone."]
    assert complaints(palace) == []


def test_a_long_attachment_is_found_by_its_last_words_and_embedded_by_its_first(palace: Palace) -> None:
    body = "\n\n".join(f"Paragraph {n} speaks of nothing." for n in range(400)) + "\n\nThe heron keeps the ledger."
    file_rows(palace, [attached(0, "Here.", body)])
    pieces = [one for one in drawers(palace) if one.kind == "attachment"]
    assert "".join("".join(one.text.split()) for one in pieces) == "".join(body.split())
    (hit,) = palace.search(Query("heron ledger", limit=1)).hits
    assert hit.drawer.id == pieces[-1].id
    with palace.database.snapshot() as connection:
        passages = connection.execute(
            "SELECT end - start FROM passage JOIN drawer ON drawer.id = passage.drawer WHERE kind = 'attachment'"
        )
        assert [size <= cut_rules.PASSAGE_CHARACTERS for (size,) in passages] == [True]


@pytest.mark.parametrize("named", ["[application/pdf, plan.pdf]", "The plan\n[application/pdf, 812 bytes]"])
def test_a_file_that_is_only_named_makes_no_drawer(palace: Palace, named: str) -> None:
    file_rows(palace, [attached(0, "See the picture.", named)])
    assert texts(palace, "attachment") == []


@pytest.mark.parametrize(("stated", "trust"), [(None, "tool"), ("repo", "repo"), ("external", "external")])
def test_an_attachment_is_not_its_senders_own_words(palace: Palace, stated: Trust | None, trust: Trust) -> None:
    file_rows(palace, [attached(0, "Read it.", "The vault opens at dawn.", trust=stated)])
    assert {one.kind: one.trust for one in drawers(palace)} == {"exchange": "user", "attachment": trust}


def test_a_forgotten_attachment_stays_forgotten_after_a_rebuild(palace: Palace) -> None:
    file_rows(palace, [attached(0, "Read it.", "The vault opens at dawn.")])
    (drawer,) = [one for one in drawers(palace) if one.kind == "attachment"]
    palace.forget([drawer.id])
    palace.rebuild("all")
    assert texts(palace, "attachment") == []
    assert palace.drawer(drawer.id).text == "The vault opens at dawn."


# Trust


def test_what_an_agent_asked_a_sub_agent_for_is_the_agents(tmp_path: Path) -> None:
    trusts = {
        source.key[-1]: {row.trust for row in rows if row.role == "user" and row.standing == "said"}
        for source, rows in captured(tmp_path)
    }
    assert [found for session, found in trusts.items() if "/agent-" in session] == [{"agent"}]
    assert list(trusts.values()).count({"user"}) > 10


def test_a_side_chain_within_a_session_is_the_agents_too() -> None:
    row = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": "Find it."}}
    trusts = []
    for side in (False, True):
        raw = json.dumps({**row, "isSidechain": side, "agentId": "a1"}).encode() + b"\n"
        [read] = ClaudeCode().rows(io.BytesIO(raw))
        assert isinstance(read.content, Message)
        trusts.append(read.content.parts[0].trust)
    assert trusts == [None, "agent"]


def test_a_gemini_session_of_a_sub_agent_is_led_by_an_agent() -> None:
    path = Path("chats/s0/session-2026-11-21T21-03-12a4bcd7.jsonl")
    for kind, led in (("main", False), ("subagent", True)):
        head = json.dumps({"sessionId": "s1", "projectHash": "h", "kind": kind}).encode() + b"\n"
        assert Gemini().identify(path, head).led_by_agent is led


def test_an_opencode_session_of_a_sub_agent_is_led_by_an_agent(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_parent")
    writer.session("ses_child", parent_id="ses_parent")
    led = {one.identity.session_id: one.identity.led_by_agent for one in Opencode().sessions(tmp_path / "opencode.db")}
    writer.close()
    assert led == {"ses_parent": False, "ses_child": True}


@pytest.mark.parametrize("trust", ["agent", "repo", "external"])
def test_words_that_another_wrote_in_the_persons_place_are_not_the_persons(palace: Palace, trust: Trust) -> None:
    text = "Look at the parser."
    file_rows(palace, [said(0, "user", text, [Part("text", 0, len(text), trust=trust)])])
    assert [drawer.trust for drawer in drawers(palace)] == [trust]


def test_one_part_from_outside_stands_apart_with_what_follows_it(palace: Palace) -> None:
    text = "Mine. Theirs."
    parts = [Part("text", 0, 5), Part("text", 6, 13, trust="external")]
    file_rows(palace, [said(0, "user", text, parts), said(1, "assistant", "Noted.")])
    assert [(drawer.text, drawer.trust) for drawer in drawers(palace)] == [
        ("Mine.", "user"),
        ("Theirs.\n\nNoted.", "external"),
    ]


def test_what_a_tool_printed_is_never_worth_more_than_its_row(palace: Palace) -> None:
    file_rows(palace, [said(0, "tool", "page", [Part("tool_result", 0, 4)], trust="external")])
    assert [drawer.trust for drawer in drawers(palace)] == ["external"]


def test_a_rebuild_puts_right_whom_an_older_cutter_believed(palace: Palace) -> None:
    text = "Look at the parser."
    file_rows(palace, [said(0, "user", text, [Part("text", 0, len(text), trust="agent")])])
    with palace.database.transaction() as connection:
        connection.execute("UPDATE drawer SET trust = 'user'")
    palace.rebuild("drawers")
    assert [drawer.trust for drawer in drawers(palace)] == ["agent"]
