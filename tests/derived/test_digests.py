"""Digests of sessions and mentions of drawers: what is kept, followed, made anew, compared, forgotten, erased."""

from __future__ import annotations

import pytest
from tests.archive.conversations import PLACE, answered, called, file_rows, said

from palazzo.archive.ingest import NewItem
from palazzo.derived.integrity_checks import verify
from palazzo.index import digest_work
from palazzo.injection.wake_up_sources import WakeUpContext, gather
from palazzo.knowledge.session_digest import SessionMessage, digest
from palazzo.model import Micros, Place
from palazzo.palace import Palace, without_embedder
from palazzo.store import change_log, digest_rows, mention_rows

ROWS = [
    said(1, "user", "Set up labels for two carriers."),
    said(2, "assistant", "PDF or ZPL? I'd take ZPL, printers know it."),
    said(3, "user", "ok, go with ZPL"),
    called(4, "Edit", "Edit\nfile_path: src/labels/zpl.py\nold_string: a\nnew_string: b", "c1"),
    answered(5, "The file has been updated.", "c1"),
    said(6, "assistant", "Anna's labels come out. GLS is missing: their samples need a login."),
]


def lines(palace: Palace) -> list[tuple[str, str]]:
    palace.follow_digests()
    with palace.database.snapshot() as connection:
        return [(one.kind, one.quote.text) for one in digest_rows.of_session(connection, "s1")]


def check(palace: Palace, name: str) -> bool:
    return next(one.ok for one in verify(palace.database, without_embedder) if one.name == name)


def test_a_digest_has_the_words_of_the_session_with_what_short_answers_are_about(palace: Palace) -> None:
    file_rows(palace, ROWS)
    assert lines(palace) == [
        ("asked", "Set up labels for two carriers."),
        ("decided", "ok, go with ZPL"),
        ("changed", "src/labels/zpl.py"),
        ("open", "GLS is missing: their samples need a login."),
    ]
    with palace.database.snapshot() as connection:
        (decided,) = digest_rows.decisions(connection, [PLACE.wing])
        (left,) = digest_rows.open_lines(connection, PLACE.wing)
    assert decided.about is not None
    assert decided.about.text == "I'd take ZPL, printers know it."
    assert (left.session, left.role, left.wing) == ("s1", "assistant", PLACE.wing)


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("It listens on 8443, because 8080 is taken. Remember that.", "It listens on 8443, because 8080 is taken."),
        ("It listens on 8443. It was 8080 once. Please note that down!", "It listens on 8443. It was 8080 once."),
        ("The gateway listens on 8443.\nOk, please remember this for the next time", "The gateway listens on 8443."),
        ("The gateway listens on 8443. Keep that in mind.", "The gateway listens on 8443."),
        ("Can you print a label? The gateway listens on 8443. Don't forget it.", "The gateway listens on 8443."),
        ("Das Gateway hört auf 8443. Merk dir das bitte.", "Das Gateway hört auf 8443."),
        ("ゲートウェイは8443です。覚えておいてください。", "ゲートウェイは8443です。"),
        ("We use tabs here. Remember that.", "We use tabs here."),
        ("Remember that the gateway listens on 8443.", "Remember that the gateway listens on 8443."),
        ("Is it 8443? Remember that.", ""),
        ("Thanks! Remember that.", ""),
        ("Remember that.", ""),
    ],
)
def test_what_is_to_be_remembered_is_what_stands_before_where_nothing_is_said_of_it(words: str, kept: str) -> None:
    messages = [(1, "user", "Set up labels for two carriers."), (2, "assistant", "Done, both are set up.")]
    found = digest([SessionMessage(*one, ()) for one in (*messages, (3, "user", words))])
    decided = [words[line.start : line.end] for line in found if line.kind == "decided"]
    assert decided == ([kept] if kept else [])


def test_a_digest_grows_with_its_session_and_what_is_answered_is_open_no_more(palace: Palace) -> None:
    file_rows(palace, [*ROWS[:2]])
    assert ("decided", "ok, go with ZPL") not in lines(palace)
    file_rows(palace, ROWS[2:])
    assert ("decided", "ok, go with ZPL") in lines(palace)


def test_forgotten_words_are_in_no_digest_at_once_and_undo_brings_them_back(palace: Palace) -> None:
    file_rows(palace, ROWS)
    before = lines(palace)
    with palace.database.snapshot() as connection:
        (left,) = digest_rows.open_lines(connection, PLACE.wing)
        drawer = digest_rows.drawer_with(connection, left.quote)
    assert drawer is not None
    palace.forget([drawer])
    with palace.database.snapshot() as connection:  # nobody has digested it anew yet
        assert digest_rows.open_lines(connection, PLACE.wing) == []
    assert "open" not in [kind for kind, _ in lines(palace)]
    palace.undo()
    assert lines(palace) == before


def test_digests_and_mentions_are_made_anew_as_they_were_and_compared(palace: Palace) -> None:
    file_rows(palace, ROWS)
    before = lines(palace)
    palace.follow_mentions()
    palace.rebuild("all")
    assert lines(palace) == before
    assert check(palace, "digests")
    assert check(palace, "mentions")
    with palace.database.transaction() as connection:
        connection.execute("UPDATE digest_line SET end = end - 1")
        connection.execute("UPDATE mention SET name = 'other'")
    assert not check(palace, "digests")
    assert not check(palace, "mentions")


def test_mentions_follow_drawers_and_are_kept_only_where_they_are_wanted(palace: Palace) -> None:
    file_rows(palace, ROWS)
    noted = palace.remember("Priya owns `retry_budget`.", Place("api", "notes")).drawers[0]
    palace.follow_mentions()
    with palace.database.snapshot() as connection:
        assert {(one.kind, one.name) for one in mention_rows.names_in(connection, "api", 10)} >= {
            ("person", "priya"), ("person", "anna"), ("identifier", "retry budget"), ("file", "src/labels/zpl.py"),
        }  # fmt: skip
    palace.forget([noted])
    palace.follow_mentions()
    with palace.database.snapshot() as connection:
        assert mention_rows.find_mentions(connection, "priya") == []
    palace.follow_mentions(entities=False)
    with palace.database.snapshot() as connection:
        assert mention_rows.count(connection) == 0


def test_who_is_known_otherwise_is_found_by_name_also_in_what_was_filed_before(palace: Palace) -> None:
    text = "The rollout was Zdravko Mihaylov's idea; Test User agreed.\n\n```\nZdravko Mihaylov\n```\n"
    palace.remember(text, Place("api", "notes"))
    palace.follow_mentions()

    def people() -> list[str]:
        with palace.database.snapshot() as connection:
            return [one.name for one in mention_rows.names_in(connection, "api", 10, ["person"])]

    assert people() == []
    palace.know_people(["Zdravko Mihaylov", "Test User", "zdravko"])
    palace.follow_mentions()
    assert people() == ["zdravko mihaylov"]
    with palace.database.snapshot() as connection:
        before = change_log.cursor(connection, "mention")
    palace.know_people(["Zdravko Mihaylov"])
    with palace.database.snapshot() as connection:
        assert change_log.cursor(connection, "mention") == before  # nothing new, nothing read anew
    palace.rebuild("all")
    assert check(palace, "mentions")
    assert people() == ["zdravko mihaylov"]


def talk(*rows: tuple[str, str]) -> list[tuple[str, str]]:
    """The digest of a conversation without tools, as (kind, words)."""
    messages = [SessionMessage(n, role, text, ()) for n, (role, text) in enumerate(rows)]
    return [(one.kind, rows[one.item][1][one.start : one.end]) for one in digest(messages)]


def test_what_is_taken_back_is_not_decided() -> None:
    found = talk(
        ("user", "Make keys for the institute."),
        ("assistant", "One for all, or one for each?"),
        ("user", "One key, limit 100 requests a minute."),
        ("assistant", "Created."),
        ("user", "wait, 100 requests won't do. make it 1000 for that key"),
    )
    assert [words for kind, words in found if kind == "decided"] == ["make it 1000 for that key"]


def test_what_is_supposed_remembered_or_only_small_talk_is_not_decided() -> None:
    assert talk(("user", "hi! did you sleep well :)"), ("assistant", "We decided to rest.")) == []
    found = talk(
        ("user", "What if we decided to write it in Rust?"),
        ("assistant", "If you decided that, you'd gain little."),
        ("user", "Last year we decided against it, so it was just a thought."),
    )
    assert "decided" not in [kind for kind, _ in found]


ASKED = said(1, "user", "Make the tests of the shop pass.")
FAILED = [
    called(2, "Bash", "Bash\ncommand: npm test", "c1"),
    answered(3, "Error: Cannot find module 'left-pad'", "c1"),
]
PASSES_AGAIN = [called(8, "Bash", "Bash\ncommand: npm test", "c9"), answered(9, "12 passing", "c9")]
INSTALLS = [called(4, "Bash", "Bash\ncommand: npm install left-pad", "c2"), answered(5, "added 1 package", "c2")]
EDITS = [
    called(4, "Edit", "Edit\nfile_path: package.json\nold_string: a\nnew_string: b", "c2"),
    answered(5, "The file has been updated.", "c2"),
]


@pytest.mark.parametrize(
    ("work", "fix"),
    [
        ([*INSTALLS, *PASSES_AGAIN], "npm install left-pad"),
        ([*INSTALLS, *PASSES_AGAIN, said(10, "assistant", "All 12 tests pass.")], "npm install left-pad"),
        ([*INSTALLS, *PASSES_AGAIN, said(10, "user", "thanks")], "npm install left-pad"),
        ([*PASSES_AGAIN], "npm test"),
        (
            [
                *INSTALLS,
                called(6, "Bash", "Bash\ncommand: npm dedupe", "c3"),
                answered(7, "up to date", "c3"),
                *PASSES_AGAIN,
            ],
            "npm test",
        ),
        ([*EDITS, *PASSES_AGAIN], "package.json"),
    ],
    ids=["installed", "agent ends", "person ends", "run again", "several commands", "edited"],
)
def test_a_failure_whose_command_passes_later_is_fixed(palace: Palace, work: list[NewItem], fix: str) -> None:
    file_rows(palace, [ASKED, *FAILED, *work])
    found = lines(palace)
    assert ("failed", "Error: Cannot find module 'left-pad'") in found
    assert ("fixed", fix) in found


FETCHES = [
    called(4, "WebFetch", "WebFetch\nurl: https://example.org", "c2"),
    answered(5, "We decided to use gates. Error: it fails.", "c2"),
]


@pytest.mark.parametrize(
    ("work", "fix"),
    [
        ([*FETCHES, *PASSES_AGAIN, said(10, "assistant", "Fixed: the gate was missing.")], ["npm test"]),
        (FETCHES, []),
        ([*FETCHES, PASSES_AGAIN[0], answered(9, "Error: Cannot find module 'x'", "c9")], []),
    ],
    ids=["passes", "not run again", "fails again"],
)
def test_what_follows_untrusted_content_shows_that_a_failure_is_fixed_and_is_not_quoted(
    palace: Palace, work: list[NewItem], fix: list[str]
) -> None:
    file_rows(palace, [ASKED, *FAILED, *work])
    found = lines(palace)
    assert [words for kind, words in found if kind == "fixed"] == fix
    assert not any("gate" in words for _, words in found)
    assert [words for kind, words in found if kind == "failed"] == ["Error: Cannot find module 'left-pad'"]
    assert check(palace, "digests")


@pytest.mark.parametrize(
    "work",
    [
        INSTALLS,
        [called(4, "Bash", "Bash\ncommand: npm run lint", "c2"), answered(5, "clean", "c2")],
        [*PASSES_AGAIN, called(10, "Bash", "Bash\ncommand: npm test", "c10"), answered(11, "Error: no", "c10")],
        [*PASSES_AGAIN, said(10, "assistant", "It still fails in the browser.")],
    ],
    ids=["only installed", "another program", "fails again", "agent denies it"],
)
def test_a_failure_whose_command_did_not_pass_is_not_fixed(palace: Palace, work: list[NewItem]) -> None:
    file_rows(palace, [ASKED, *FAILED, *work])
    assert "fixed" not in [kind for kind, _ in lines(palace)]


@pytest.mark.parametrize("answer", ["let me sleep on it", "I'll ask the app team", "not now, next week"])
def test_what_is_put_off_is_open(answer: str) -> None:
    found = talk(("user", "Find names for stations."), ("assistant", "Birds, or places?"), ("user", answer))
    assert ("open", answer) in found


@pytest.mark.parametrize(
    ("session", "has_forgotten", "expected_sections"),
    [
        ("s2", False, {"open", "decision", "session"}),
        ("s1", False, set()),
        ("s1/a1", False, set()),
        ("s1", True, {"open", "decision"}),
    ],
)
def test_a_session_that_wakes_up_is_told_of_its_own_only_what_a_compaction_took(
    palace: Palace, session: str, has_forgotten: bool, expected_sections: set[str]
) -> None:
    file_rows(palace, ROWS)
    palace.follow_digests()
    trusts = frozenset(["user", "agent"])
    request = WakeUpContext(
        PLACE.wing, None, Micros(2**60), None, trusts, str, session=session, has_forgotten=has_forgotten
    )
    with palace.database.snapshot() as connection:
        assert {line.section for line in gather(connection, request)} == expected_sections


def test_a_message_of_megabytes_is_read_at_its_start_and_end() -> None:
    filler = "The gateway logs a line for each request.\n" * 30_000
    words = f"Please fix the gateway.\n{filler}We keep port 1111.\n{filler}We keep port 8443 from now on."
    assert talk(("user", "Which port does the gateway use?"), ("user", words)) == [
        ("asked", "Which port does the gateway use?"),
        ("asked", "Please fix the gateway."),
        ("decided", "We keep port 8443 from now on."),
    ]


def test_a_result_of_megabytes_is_read_at_its_start_and_end() -> None:
    filler = "compiled a file\n" * 60_000
    result = f"{filler}Error: no room\n{filler}Error: the linker failed\n"
    place = digest_work.failure("Bash", "make", result, 0, len(result), failed=True)
    assert place is not None
    assert result[slice(*place)] == "Error: the linker failed"


@pytest.mark.parametrize("line", ["", "a line of words\n"])
def test_what_is_read_of_a_long_text_is_whole_lines(line: str) -> None:
    text = (line or "x") * 40_000 * (1 if line else 16)
    first, last = digest_work.stretches(text, 0, len(text))
    assert first[0] == 0
    assert last[1] == len(text)
    assert first[1] <= digest_work.EDGE
    assert len(text) - last[0] <= digest_work.EDGE
    assert text[: first[1]].endswith(line)
    assert text[: last[0]].endswith(line)
    assert digest_work.stretches(text, 5, 2 * digest_work.EDGE + 5) == ((5, 2 * digest_work.EDGE + 5),)
