"""A palace that the real MemPalace made comes over whole: counts, texts and times, and it is found."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.reliability.sizes import FACTOR
from tests.sync.mempalace_peer import MemPalace, Tools, mempalace

from palazzo.importers.store_import import Migration, MigrationOptions, migrate
from palazzo.importers.store_readers import detect_reader
from palazzo.index.query import Query
from palazzo.model import Micros
from palazzo.palace import Palace, system_clock

pytestmark = pytest.mark.slow
SHARE = min(1.0, 5 * FACTOR)
"""A quarter at CI size, and all from PALAZZO_RELIABILITY=0.2 on: MemPalace embeds each drawer."""
DRAWERS = round(5_000 * SHARE)
"""At least: rows of its collection."""
FILES, NOTES, DIARY, FACTS = round(260 * SHARE), round(400 * SHARE), 40, 120
NAMES_OF_SECRETS = {"pass", "password", "passphrase", "secret", "secrets", "token", "tokens", "key", "keys", "login"}
"""Left out: the word behind such a one at the beginning of a line may be redacted."""
WORDS = [
    word
    for word in (Path(__file__).parents[2] / "docs" / "architecture.md").read_text("utf-8").split()
    if word.isalnum() and word.lower() not in NAMES_OF_SECRETS
]


@pytest.fixture
def local_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It writes times by the machine's clock, as these tests read them."""
    import time

    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def prose(chance: random.Random, words: int) -> str:
    """Sentences in lines and paragraphs, some of them indented."""
    lines, line = [], ""
    for _ in range(words):
        line += f"{chance.choice(WORDS)} "
        if chance.random() < 0.12:
            lines.append(f"{'    ' * chance.randrange(3)}{line.strip()}.")
            line = ""
            if chance.random() < 0.3:
                lines.append("")
    return "\n".join([*lines, f"{line.strip()}."]).strip()


def write_project(root: Path, chance: random.Random) -> dict[str, str]:
    """Files of a project; returns their texts by name."""
    texts = {}
    for n in range(FILES):
        folder = root / ("docs", "src", "notes")[n % 3]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"page-{n}.md"
        texts[str(path)] = f"# Page {n}\n\n{prose(chance, 1_900)}"
        path.write_text(f"\n{texts[str(path)]}\n\n")
    (root / "mempalace.yaml").write_text("wing: shop\nrooms:\n- name: docs\n- name: src\n- name: notes\n")
    return texts


def file_by_tools(tools: Tools, chance: random.Random) -> dict[str, str]:
    """Notes, short and long; returns their texts by the ids that they were given."""
    texts = {}
    for n in range(NOTES):
        text = f"Decision {n}: {prose(chance, 400 if n % 40 == 0 else 25)}"
        filed = tools("add_drawer", wing=("Shop API", "ops")[n % 2], room=f"Room {n % 7}", content=text, added_by="kim")
        texts[filed["drawer_id"]] = text
    changed, gone = [*texts][:2]
    tools("update_drawer", drawer_id=changed, content="Said better than before.")
    texts[changed] = "Said better than before."
    tools("delete_drawer", drawer_id=gone)
    del texts[gone]
    return texts


def file_more(tools: Tools) -> None:
    """Diaries, facts that hold and that have ended, and tunnels."""
    for n in range(DIARY):
        tools(
            "diary_write",
            agent_name=("Claude", "Reviewer Bot")[n % 2],
            entry=f"Day {n}. " + "It went on. " * (n * 4),
            topic=f"topic {n % 3}",
        )
    for n in range(FACTS):
        tools("kg_add", subject=f"service {n}", predicate="runs on", object=f"host-{n % 9}", valid_from="2025-01-02")
        if n % 4 == 0:
            tools(
                "kg_invalidate", subject=f"service {n}", predicate="runs on", object=f"host-{n % 9}", ended="2025-03-01"
            )
    tools("kg_add", subject="service 1", predicate="owned by", object="Kim", valid_from="2025-02-03T04:05:06Z")
    tools(
        "create_tunnel",
        source_wing="Shop API",
        source_room="Room 0",
        target_wing="ops",
        target_room="Room 1",
        label="both bill",
    )


def told_by(tools: Tools) -> dict[str, Any]:
    """All drawers as MemPalace itself tells them, by id."""
    found: dict[str, Any] = {}
    while page := tools("list_drawers", limit=100, offset=len(found))["drawers"]:
        found.update({one["drawer_id"]: one["metadata"] for one in page})
    return found


@pytest.mark.usefixtures("local_time")
def test_a_palace_of_thousands_of_drawers_comes_over_whole(tmp_path: Path, palace: Palace) -> None:
    chance = random.Random(11)
    with mempalace(tmp_path / "home") as peer:
        files = write_project(tmp_path / "shop", chance)
        peer.run("mine", str(tmp_path / "shop"), "--mode", "projects")
        with peer.serving() as tools:
            filed = file_by_tools(tools, chance)
            file_more(tools)
            rows = tools("status")["total_drawers"]
            told = told_by(tools)
            stats = tools("kg_stats")
        assert rows >= DRAWERS
        done = take(palace, peer)
        again = take(palace, peer)
    assert counts(done) == {
        "notes": (len(files) + len(filed), 0),
        "diary entries": (DIARY, 0),
        "facts": (stats["triples"], 0),
        "tunnels": (1, 0),
    }
    assert counts(again) == {what: (0, new) for what, (new, _) in counts(done).items()}

    notes = brought(palace)
    assert {key: notes[key][0] for key in filed} == filed
    assert {origin: text for text, _, origin in notes.values() if origin} == files
    zone = ZoneInfo("Asia/Kolkata")
    for key, (_, at, _) in notes.items():
        filed_at = datetime.fromisoformat(told[key]["filed_at"]).replace(tzinfo=zone)
        assert at == round(filed_at.timestamp() * 1_000_000)
    with palace.database.snapshot() as connection:
        ended = next(connection.execute("SELECT count(*) FROM fact_version WHERE valid_to IS NOT NULL"))[0]
    assert (stats["current_facts"], stats["expired_facts"]) == (FACTS + 1 - ended, ended)

    palace.embed_pending()
    for key in [*filed][:: len(filed) // 20]:
        words = filed[key][:120]
        assert filed[key] in {hit.drawer.text for hit in palace.search(Query(words, limit=5)).hits}, words


def test_a_mined_conversation_comes_over_turn_by_turn(tmp_path: Path, palace: Palace) -> None:
    chance = random.Random(2)
    talks = {}
    (tmp_path / "talks").mkdir()
    for n in range(4):
        turns = [f"> Question {n}.{k}?\n{prose(chance, chance.choice([10, 60, 400, 900]))}" for k in range(9)]
        path = tmp_path / "talks" / f"talk-{n}.md"
        talks[str(path)] = turns
        path.write_text("\n\n".join(turns) + "\n")
    with mempalace(tmp_path / "home") as peer:
        peer.run("mine", str(tmp_path / "talks"), "--mode", "convos", "--wing", "talks")
        take(palace, peer)
    found: dict[str, list[str]] = {}
    for text, _, origin in brought(palace).values():
        found.setdefault(origin, []).append(text)
    assert {origin: sorted(texts) for origin, texts in found.items()} == {
        origin: sorted(turns) for origin, turns in talks.items()
    }


def take(palace: Palace, peer: MemPalace) -> Migration:
    reader = detect_reader(peer.config)
    assert reader is not None
    return migrate(palace.database, reader, peer.config, system_clock, MigrationOptions())


def counts(done: Migration) -> dict[str, tuple[int, int]]:
    assert not any(one.changed or one.merged for one in done.counts)
    return {one.kind: (one.new, one.existing) for one in done.counts}


def brought(palace: Palace) -> dict[str, tuple[str, Micros, str]]:
    """All notes and entries by what MemPalace calls them: text, time, the file that they came from."""
    from palazzo.store.items import decode_text

    with palace.database.snapshot() as connection:
        rows = list(connection.execute("SELECT text, text_codec, created_at, meta FROM item"))
    found = {}
    for text, codec, at, meta in rows:
        told = json.loads(meta)
        found[told["brought"]["id"]] = (decode_text(text, codec), Micros(at), told.get("origin", ""))
    return found
