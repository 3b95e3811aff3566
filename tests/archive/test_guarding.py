"""Secrets and private spans are nowhere in a palace: not in its bytes, its packs, its index, its titles."""

from __future__ import annotations

import base64
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from tests.archive.conversations import PLACE, file_rows, file_version, said
from tests.guard.labelled_secrets import sample

from palazzo.archive.door import Filing
from palazzo.archive.guarding import Guard, redacted
from palazzo.derive.verify import verify
from palazzo.mining.mine import mine
from palazzo.mining.report import MineReport, MineRequest
from palazzo.model import Part, Source
from palazzo.palace import Palace
from palazzo.recall.query import Query
from palazzo.store import items, redaction
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
