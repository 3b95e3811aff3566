"""What repeats is kept once: bytes of packs, and seconds, with the search for repeats and without it.

    python benchmarks/repeats.py [--small] [--json]

Five histories, each mined twice into fresh palaces by fresh processes, in turns: as Palazzo does it, and with no bytes
searched for repeats, which is how packs were before. A history is a list of directories that are mined one after the
other, as they would be met. "Packs" are all pages of the tables that packs need, so what landmarks and references cost
is in it. Seconds are the processor's, of mining alone.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpus import FIRST_DAY, Layout, Result, Session, Shelf, Topic, read_layout, read_topics, write_corpus
from benchmarks.measuring import MB, Row, median, report

ROOT = Path(__file__).resolve().parents[1]
MINE = """
import json, sys, time
from pathlib import Path
from palazzo.archive import pack_writer
from palazzo.sources.mining_run import mine
from palazzo.sources.mining_report import MineRequest
from palazzo.palace import Palace, system_clock
if sys.argv[1] == "without":
    pack_writer.LONGEST_SEARCHED = -1
with Palace.open(Path(sys.argv[2])) as palace:
    began = time.process_time()
    for each in sys.argv[3:]:
        mine(palace.database, system_clock, MineRequest((Path(each),)))
    spent = time.process_time() - began
    held = time.process_time()
    with palace.database.snapshot() as connection:
        from palazzo.store import items
        (count,) = next(connection.execute("SELECT count(*) FROM item"))
        rows = [row for (row,) in connection.execute("SELECT id FROM item WHERE pack IS NOT NULL")]
        for row in rows[:: max(1, len(rows) // 500)]:
            items.read_raw(connection, row)
    one = (time.process_time() - held) / max(1, len(rows[:: max(1, len(rows) // 500)]))
print(json.dumps({"seconds": spent, "items": count, "one": one}))
"""
PACK_TABLES = ("pack", "pack_reference", "landmark", "sqlite_autoindex_pack_1")
History = Sequence[Path]
"""Directories, in the order in which they are mined."""
Writer = Callable[[Path, int], History]
"""Writes a history of a size (1 is the usual one, in tenths) below a directory."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every history and print a row each."""
    parser = argparse.ArgumentParser(description="Measure what repeats cost.")
    parser.add_argument("--small", action="store_true", help="a tenth of each history")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=sorted(HISTORIES), action="append")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    rows = []
    for name in given.only or HISTORIES:
        with tempfile.TemporaryDirectory(prefix="palazzo-repeats-") as scratch:
            rows.append(measure(Path(scratch), name, 1 if given.small else 10, given.rounds))
    report("What repeats", rows, given.json)
    return 0


def measure(scratch: Path, name: str, tenths: int, rounds: int) -> Row:
    """Return a history's row."""
    label, write = HISTORIES[name]
    history = write(scratch / "history", tenths)
    source = sum(path.stat().st_size for each in history for path in each.rglob("*") if path.is_file())
    seconds: dict[str, list[float]] = {"with": [], "without": []}
    ones: dict[str, list[float]] = {"with": [], "without": []}
    kept: dict[str, dict[str, float]] = {}
    for n in range(rounds):
        for way in seconds:
            palace = scratch / f"{way}-{n}.db"
            said = run(way, palace, history)
            seconds[way].append(said["seconds"])
            ones[way].append(said["one"])
            kept[way] = sizes(palace)
            for path in scratch.glob(f"{palace.name}*"):
                path.unlink()
    before, after = kept["without"], kept["with"]
    return {
        "history": label,
        "source MB": round(source / MB, 2),
        "packs MB before": round(before["packs"] / MB, 2),
        "after": round(after["packs"] / MB, 2),
        "change %": round((after["packs"] / before["packs"] - 1) * 100, 1),
        "bodies per source byte": round(after["bodies"] / source, 3),
        "file MB before": round(before["file"] / MB, 2),
        "file after": round(after["file"] / MB, 2),
        "s before": round(median(seconds["without"]), 2),
        "s after": round(median(seconds["with"]), 2),
        "ms a row read before": round(median(ones["without"]) * 1000, 2),
        "row after": round(median(ones["with"]) * 1000, 2),
        "refs": int(after["references"]),
    }


def run(way: str, palace: Path, history: History) -> dict[str, float]:
    """Mine a history in a fresh process; return what it said of itself."""
    command = [sys.executable, "-c", MINE, way, str(palace), *map(str, history)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=1800)
    said: dict[str, float] = json.loads(done.stdout)
    return said


def sizes(palace: Path) -> dict[str, float]:
    """Return bytes of a palace: pages of packs with all that belongs to them, bodies alone, the file."""
    with contextlib.closing(apsw.Connection(str(palace), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        marks = ",".join("?" * len(PACK_TABLES))
        ((pages,),) = connection.execute(f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({marks})", PACK_TABLES)
        ((bodies,),) = connection.execute("SELECT sum(length(body) + coalesce(length(layout), 0)) FROM pack")
        ((references,),) = connection.execute("SELECT count(*) FROM pack_reference")
    return {
        "packs": float(pages), "bodies": float(bodies or 0), "file": float(palace.stat().st_size),
        "references": float(references),
    }  # fmt: skip


def little_repeats(directory: Path, tenths: int) -> History:
    """Sessions and documents of `corpus.py`."""
    write_corpus(directory, 6 * tenths, 4 * tenths)
    return [directory / "projects", directory / "docs"]


def captured(directory: Path, tenths: int) -> History:
    """What the hosts wrote that the tests read."""
    shutil.copytree(ROOT / "tests" / "fixtures", directory)
    return [directory]


def read_again_and_again(directory: Path, tenths: int) -> History:
    """Sessions in which an agent reads the same twenty files of 8 to 60 KB, with small edits between."""
    rng, layout, topics = random.Random(7), read_layout(), read_topics()
    shelf = Shelf(topics, random.Random(7))
    files = [topic for topic in topics if 8_000 <= sum(map(len, topic.lines)) <= 60_000]
    chosen = {topic.path: list(topic.lines) for topic in rng.sample(files, 20)}
    for number in range(6 * tenths):
        session = _reading(layout, rng, number, chosen, shelf)
        path = directory / "projects" / "-home-dev-acme" / f"{session.id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in session.close()), "utf-8")
    return [directory / "projects"]


def _reading(layout: Layout, rng: random.Random, number: int, files: Mapping[str, list[str]], shelf: Shelf) -> Session:
    begin = FIRST_DAY + timedelta(days=number)
    session = Session(layout, random.Random(f"reading {number}"), "/home/dev/acme", begin)
    for _ in range(4):
        session.turn(shelf)
        path = rng.choice(sorted(files))
        lines = files[path]
        body = "\n".join(lines)
        tool = {"type": "tool_use", "id": f"toolu_{rng.getrandbits(96):024x}", "name": "Read"}
        rows = session._answer([tool | {"input": {"file_path": path}}], "tool_use")
        shown = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, 1))
        recorded = {"type": "text", "file": {"filePath": path, "content": body, "numLines": len(lines)}}
        session._results([(tool, Result(shown, recorded))], rows)
        at = rng.randrange(len(lines))
        lines[at] = f"{lines[at]}  # seen in session {number}"
    return session


def compacted(directory: Path, tenths: int) -> History:
    """A Codex session with five compactions, each of which copies the history so far."""
    rng, shelf = random.Random(5), Shelf(read_topics(), random.Random(5))
    rows = [_codex("session_meta", {"id": str(uuid.UUID(int=5)), "cwd": "/home/dev/acme", "cli_version": "0.169.0"})]
    history: list[dict[str, Any]] = []
    for number in range(6):
        for _ in range(4 * tenths):
            topic = shelf.pick()
            for role, kind in (("user", "input_text"), ("assistant", "output_text")):
                text = "\n\n".join(shelf.take(topic, rng.randint(1, 4)))
                history.append({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
                rows.append(_codex("response_item", history[-1]))
        if number < 5:
            kept = copy.deepcopy(history)
            rows.append(_codex("compacted", {"message": f"Summary {number}.", "replacement_history": kept}))
    path = directory / "sessions" / "2026" / "01" / "05" / f"rollout-2026-01-05T08-00-00-{uuid.UUID(int=5)}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return [directory]


def _codex(kind: str, payload: Mapping[str, object]) -> dict[str, object]:
    return {"timestamp": "2026-01-05T08:00:00.000Z", "type": kind, "payload": payload}


def exported_thrice(directory: Path, tenths: int) -> History:
    """Exports of claude.ai, taken three times: each goes on with some conversations and adds a few."""
    rng, shelf = random.Random(3), Shelf(read_topics(), random.Random(3))
    conversations = [_conversation(rng, shelf) for _ in range(20 * tenths)]
    exports = []
    for number in range(3):
        path = directory / f"export-{number}" / "conversations.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(conversations), "utf-8")
        exports.append(path.parent)
        conversations += [_conversation(rng, shelf) for _ in range(tenths // 2)]
        for conversation in rng.sample(conversations, tenths):
            _exchange(conversation, rng, shelf)
    return exports


def _conversation(rng: random.Random, shelf: Shelf) -> dict[str, Any]:
    moment = "2026-01-05T08:00:00.000000+00:00"
    conversation: dict[str, Any] = {"uuid": _uuid(rng), "name": shelf.pick().name, "created_at": moment}
    conversation |= {"updated_at": moment, "account": {"uuid": "u1"}, "chat_messages": []}
    for _ in range(rng.randint(2, 8)):
        _exchange(conversation, rng, shelf)
    return conversation


def _exchange(conversation: dict[str, Any], rng: random.Random, shelf: Shelf) -> None:
    """A question with a pasted file, and the answer."""
    topic = shelf.pick()
    for sender in ("human", "assistant"):
        text = "\n\n".join(shelf.take(topic, rng.randint(1, 4)))
        message = {"uuid": _uuid(rng), "sender": sender, "text": text, "content": [{"type": "text", "text": text}]}
        pasted = sender == "human" and rng.random() < 0.2
        attached = [{"file_name": topic.path, "extracted_content": _some(topic)}] if pasted else []
        moment = conversation["created_at"]
        message |= {"created_at": moment, "updated_at": moment, "attachments": attached, "files": []}
        conversation["chat_messages"].append(message)


def _some(topic: Topic) -> str:
    return "\n".join(topic.lines[:400])


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


HISTORIES: Mapping[str, tuple[str, Writer]] = {
    "a": ("sessions and documents of the corpus", little_repeats),
    "b": ("captured fixtures", captured),
    "c": ("twenty files read again and again", read_again_and_again),
    "d": ("Codex, five compactions", compacted),
    "e": ("an export taken three times", exported_thrice),
}

if __name__ == "__main__":
    sys.exit(main())
