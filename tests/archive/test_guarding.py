"""Secrets and private spans are nowhere in a palace: not in its bytes, its packs, its index, its titles."""

from __future__ import annotations

import base64
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from tests.archive.conversations import PLACE, file_rows, file_version, said

from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard, redact_item
from palazzo.archive.redaction_review import note_whole, relook, wants_look
from palazzo.bench.labelled_secrets import sample
from palazzo.derived.integrity_checks import verify
from palazzo.index.query import Query
from palazzo.model import Part, Source
from palazzo.palace import Palace
from palazzo.sources.mining_report import MineReport, MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store import items, redaction_state
from palazzo.store.database import Database

FIXTURES = Path(__file__).parents[1] / "fixtures"
INVENTED = json.loads((FIXTURES / "claude-code" / "EXPECTED-18-turns.json").read_text("utf-8"))
KEY = "sk-test-EXAMPLE0123456789" + "abcdef0123456789"
TOKEN = sample("ghp_{alnum:36}", random.Random(3))
EIGHTEEN_TURNS = {
    "claude-code": FIXTURES / "claude-code" / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl",
    "codex": next((FIXTURES / "codex" / "0.169.0-18-turns").glob("*.jsonl")),
    "pi": next((FIXTURES / "pi" / "0.87.1").glob("*2026-11-21T21-05*.jsonl")),
    "opencode": FIXTURES / "opencode" / "1.18.33-18-turns.db.zst",
}


def spellings(secret: str) -> Iterator[bytes]:
    """The secret as it may stand in a file: plain, escaped, as base64 at each of its three phases, back to front."""
    yield secret.encode()
    yield secret.encode("utf-16-le")
    yield secret.encode().hex().encode()
    yield "".join(f"\\u{ord(letter):04x}" for letter in secret).encode()
    for phase in range(3):
        whole = base64.b64encode(b"\0" * phase + secret.encode())
        yield whole[4 if phase else 0 : len(whole) - 4]
    yield secret[8:].encode()  # also without its head


def everything_under(directory: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a directory, whole, and every compressed text and pack of every palace there."""
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()
        if path.name == "palace.db":
            yield from compressed(path)


def compressed(path: Path) -> Iterator[tuple[str, bytes]]:
    database = Database(path, "read")
    with database.snapshot() as connection:
        for row, size, body in connection.execute("SELECT id, size, body FROM pack"):
            yield f"pack {row}", zstandard.ZstdDecompressor().decompress(body, max_output_size=size)
        for row, text, codec in connection.execute("SELECT id, text, text_codec FROM item"):
            yield f"text {row}", items.decode_text(text, codec).encode("utf-8", "surrogatepass")
        words = [str(term) for (term,) in connection.execute("SELECT term FROM keyword_vocabulary")]
        yield "keywords", " ".join(words).encode()
    database.close()


def places_of(secret: str, directory: Path) -> list[str]:
    """Where the secret is found, in any spelling and any case."""
    forms = [form.lower() for form in spellings(secret)]
    return [name for name, body in everything_under(directory) for form in forms if form in body.lower()]


def mined(palace: Palace, path: Path) -> MineReport:
    return mine(palace.database, palace.clock, MineRequest((path,)))


def laid_out(name: str, directory: Path) -> Path:
    """A fixture as its host keeps it."""
    source = EIGHTEEN_TURNS[name]
    if source.suffix != ".zst":
        return Path(shutil.copy(source, directory))
    path = directory / "opencode.db"
    path.write_bytes(zstandard.ZstdDecompressor().decompress(source.read_bytes(), max_output_size=1 << 28))
    return path


def raw_of(palace: Palace, row: int) -> bytes:
    with palace.database.snapshot() as connection:
        return items.read_raw(connection, row) or b""


def item(palace: Palace, row: int) -> tuple[str, dict[str, object], tuple[Part, ...]]:
    with palace.database.snapshot() as connection:
        found = items.read_item(connection, row)
    return found.text, dict(found.meta), found.parts


def test_the_invented_key_is_what_is_looked_for() -> None:
    assert KEY in json.dumps(INVENTED)


@pytest.mark.parametrize("name", EIGHTEEN_TURNS)
def test_the_key_of_a_session_is_nowhere_in_the_palace(name: str, palace: Palace, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    path = laid_out(name, source)
    assert mined(palace, path).items > 30
    answer = palace.search(Query("staging key smoke test"))
    assert any("[redacted:openai-key:" in hit.text for hit in answer.hits)
    assert places_of(KEY, palace.database.path.parent) == []  # the log is still beside the file
    assert all(check.ok for check in verify(palace.database, palace.embedder, lambda *_: None))
    palace.close()
    assert places_of(KEY, tmp_path / "palace") == []


def test_the_search_for_it_would_see_it(palace: Palace, tmp_path: Path) -> None:
    palace.database.redacts = False
    mined(palace, Path(shutil.copy(EIGHTEEN_TURNS["claude-code"], tmp_path)))
    places = places_of(KEY, palace.database.path.parent)
    assert any(name.startswith("pack") for name in places)
    assert any(name.startswith("text") for name in places)


def row(n: int, text: str, **fields: object) -> NewItem:
    return said(n, fields.pop("role", "user"), text, **fields)  # type: ignore[arg-type]


def test_a_row_and_its_text_lose_the_same_and_say_so(palace: Palace) -> None:
    (receipt,) = file_rows(palace, [row(1, f"use {TOKEN} then {TOKEN}"), row(2, "nothing here")])
    text, meta, _ = item(palace, receipt.rows[0])
    raw = raw_of(palace, receipt.rows[0])
    assert json.loads(raw)["text"] == text
    assert raw.endswith(b"}\n")
    assert meta["redacted"] == {"github-token": 2}
    assert raw_of(palace, receipt.rows[1]) == row(2, "nothing here").raw
    assert "redacted" not in item(palace, receipt.rows[1])[1]


def test_feeding_again_adds_nothing_with_redaction_on_off_and_on(palace: Palace) -> None:
    rows = [row(1, f"use {TOKEN}"), row(2, "<private>a</private> b"), row(3, "plain")]
    for redacts in (True, True, False, True):
        palace.database.redacts = redacts
        (receipt,) = file_rows(palace, rows)
        assert receipt.variants == 0
    with palace.database.snapshot() as connection:
        assert next(connection.execute("SELECT count(*) FROM item")) == (3,)


def test_a_palace_that_was_fed_without_redaction_knows_its_rows(palace: Palace) -> None:
    palace.database.redacts = False
    rows = [row(1, f"use {TOKEN}"), row(2, "<private>a</private> b")]
    file_rows(palace, rows)
    palace.database.redacts = True
    (receipt,) = file_rows(palace, rows)
    assert (receipt.added, receipt.variants) == (0, 0)


def test_private_words_of_people_and_agents_go_and_a_tools_stay(palace: Palace) -> None:
    hidden = "before <private>the merger</private> after"
    (receipt,) = file_rows(
        palace,
        [
            row(1, hidden),
            row(2, hidden, role="assistant"),
            row(3, hidden, role="tool", parts=[Part("tool_result", 0, len(hidden))]),
        ],
    )
    texts = [item(palace, one)[0] for one in receipt.rows]
    assert texts == ["before [private] after", "before [private] after", hidden]
    assert [b"merger" in raw_of(palace, one) for one in receipt.rows] == [False, False, True]


def test_documents_titles_and_notes_are_redacted(palace: Palace, tmp_path: Path) -> None:
    file_version(
        palace, f"# Guide\n\n{TOKEN}\n", Source(("p", f"{TOKEN}.md"), "document", "file:///x", "", f"On {TOKEN}")
    )
    palace.remember(f"the token is {TOKEN}", PLACE, author=f"bot {TOKEN}", anchors=[f"a/{TOKEN}"])
    palace.remember("I say <private>nothing</private>", PLACE)
    assert places_of(TOKEN, tmp_path / "palace") == []
    assert palace.search(Query("github token guide")).hits


def test_the_id_of_words_confirms_no_guess(palace: Palace) -> None:
    key = Guard.of(palace.database).key
    filing = row(1, f"use {TOKEN}", name=lambda kept: kept.text)
    assert TOKEN not in redact_item(filing, key).id


def test_the_key_is_made_with_the_palace_and_stays(palace: Palace, palace_path: Path) -> None:
    with palace.database.snapshot() as connection:
        key = redaction_state.fingerprint_key(connection)
    assert len(key) == redaction_state.KEY_BYTES
    palace.close()
    with Palace.open(palace_path) as again:
        assert Guard.of(again.database).key == key


def test_the_palace_remembers_which_rules_its_items_were_seen_by(palace: Palace) -> None:
    for n, redacts in enumerate((False, True, True)):
        palace.database.redacts = redacts
        file_rows(palace, [row(n, "words")])
    with palace.database.snapshot() as connection:
        first, second = redaction_state.rules_used(connection)
    assert (first.rules, first.item) == (redaction_state.NO_RULES, 1)
    assert (second.rules > 0, second.item) == (True, 2)


def test_looking_again_finds_what_was_let_in_and_tells_no_secret(palace: Palace) -> None:
    palace.database.redacts = False
    (receipt,) = file_rows(palace, [row(1, "plain"), row(2, f"use {TOKEN}")])
    palace.database.redacts = True
    file_rows(palace, [row(3, f"and {TOKEN}")])
    with palace.database.snapshot() as connection:
        assert wants_look(connection)
        uid = items.read_item(connection, receipt.rows[1]).id
    seen: list[tuple[int, int]] = []
    leaks = list(relook(palace.database, lambda done, total: seen.append((done, total))))
    assert [(leak.item, leak.rule) for leak in leaks] == [(uid, "github-token")]
    assert TOKEN not in repr(leaks)
    assert seen[-1] == (3, 3)
    note_whole(palace.database)
    with palace.database.snapshot() as connection:
        assert not wants_look(connection)
