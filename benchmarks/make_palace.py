"""Make a palace of N drawers from real text, through the archive's own ingest and cutter.

    python benchmarks/make_palace.py 100000 [--out DIR] [--wings 24] [--seed 1] [--json]

Sessions of questions and answers, and documents, are put together from paragraphs of documentation
(`corpus.py`: the standard library, and the packages beside the running Python), so that words follow a natural
distribution; each exchange and section joins other paragraphs and names a commit, a ticket and a line of its
own. Vectors are synthetic (`synthetic.py`): such a palace measures time, memory and disk, never recall.

The palace is kept in DIR (default: $PALAZZO_BENCHMARKS or /tmp/palazzo-benchmarks) and an interrupted run goes
on where it stopped. Unlike in the product, filing waits for no disk (`synchronous=OFF`) and takes the write
lock for a second at a time: nobody else is there, and a million drawers are wanted before tomorrow.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.measuring import CACHE, MB, Row, report
from benchmarks.synthetic import SyntheticVectors

from benchmarks import corpus
from palazzo.archive import identity, ingest
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.index import passage_embedding
from palazzo.model import Micros, Part, Place, Role, Source
from palazzo.palace import Palace
from palazzo.store import change_log, drawers, source_rows, vector_rows
from palazzo.store.database import Connection

MEASURED_WING = "measured"
"""The wing that searches within one wing ask in: a fifth of the palace, at most 20,000 drawers."""
MEASURED_DRAWERS, MEASURED_SHARE = 20_000, 0.2
ROOMS = ("auth", "build", "api", "storage", "search", "deploy", "tests", "docs")
SOURCES_AT_ONCE = 150
VECTORS_AT_ONCE = 500_000
FIRST_DAY = 1_735_700_000_000_000
PROMPT = "{lead} Is `{name}` still what we want? See PR {ticket} and commit {commit}, around line {line}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the palace, or say how large the one that is there is."""
    parser = argparse.ArgumentParser(description="Make a palace of N drawers from real text.")
    parser.add_argument("drawers", type=int)
    parser.add_argument("--out", type=Path, default=CACHE)
    parser.add_argument("--wings", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    row = make(given.out, given.drawers, given.wings, given.seed)
    report("A palace from real text, with synthetic vectors", [row], given.json)
    return 0


def palace_path(directory: Path, count: int, wings: int = 24, seed: int = 1) -> Path:
    """Return where the palace of that many drawers is kept."""
    return directory / f"palace-{count}-{wings}-{seed}" / "palace.db"


def make(directory: Path, count: int, wings: int = 24, seed: int = 1) -> Row:
    """File sessions until the palace has `count` drawers and give every passage its vector."""
    path = palace_path(directory, count, wings, seed)
    began = time.perf_counter()
    embedder = SyntheticVectors()
    with Palace.open(path, embedder=lambda: embedder) as palace:
        with palace.database.outside_transaction() as raw:
            _hurry(raw)
        before, filed = _file_sources(palace, Library.read(directory), count, wings, seed)
        filing = time.perf_counter() - began
        made = _record_vectors(palace, embedder)
        with palace.database.outside_transaction() as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    whole = time.perf_counter() - began
    return {
        "palace": str(path),
        "drawers": filed,
        "new": filed - before,
        "vectors": made,
        "drawers/s": round((filed - before) / max(filing, 1e-9)),
        "seconds": round(whole, 1),
        "MB on disk": round(path.stat().st_size / MB, 1),
    }


def _hurry(raw: apsw.Connection) -> None:
    raw.execute("PRAGMA synchronous=OFF")
    raw.execute("PRAGMA cache_size=-1000000")
    raw.execute("PRAGMA wal_autocheckpoint=100000").fetchall()


# --- text ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Library:
    """Paragraphs by topic, and the names that belong to each."""

    topics: list[tuple[list[str], list[str]]]
    weights: list[int]

    @classmethod
    def read(cls, directory: Path) -> Library:
        """Read the paragraphs; the first reading takes half a minute and is kept in `directory`."""
        kept = directory / f"paragraphs-{sys.version_info.major}.{sys.version_info.minor}.json"
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(_read_paragraphs()), "utf-8")
        topics = [(passages, names) for passages, names in json.loads(kept.read_text("utf-8"))]
        return cls(topics, [len(passages) for passages, _ in topics])

    def exchange(self, rng: random.Random) -> tuple[str, str]:
        """Return a question and an answer about one topic, with an aside from another."""
        (passages, names), (others, _) = rng.choices(self.topics, self.weights, k=2)
        name = rng.choice(names)
        question = PROMPT.format(
            lead=rng.choice(passages).split(". ")[0][:200],
            name=name,
            ticket=rng.randrange(10_000, 100_000),
            commit=f"{rng.getrandbits(28):07x}",
            line=rng.randrange(1, 3000),
        )
        said = rng.sample(passages, min(len(passages), rng.choice((1, 1, 2, 2, 3))))
        if rng.random() < 0.4:
            said.append(rng.choice(others))
        return question, "\n\n".join(said)


def _read_paragraphs() -> list[tuple[list[str], list[str]]]:
    packages = Path(sysconfig.get_path("purelib"))
    modules = (path for path in sorted(packages.rglob("*.py")) if not _is_test(packages, path))
    topics = [*corpus.read_topics(), *(corpus.module_topic(packages, path) for path in modules)]
    return [(list(topic.passages), list(topic.names)) for topic in topics if topic.passages]


def _is_test(root: Path, path: Path) -> bool:
    return any("test" in part for part in path.relative_to(root).parts)


# --- filing ----------------------------------------------------------------------------------------------


def _file_sources(palace: Palace, library: Library, count: int, wings: int, seed: int) -> tuple[int, int]:
    """File sources until there are `count` drawers; return how many there were before and are now."""
    with palace.database.snapshot() as connection:
        before = drawers.count_drawers(connection)
        number = int(next(connection.execute("SELECT count(*) FROM source"))[0])
    guard = Guard.of(palace.database)
    now, began = before, time.perf_counter()
    while now < count:
        batch = [_make(library, n, count, wings, seed) for n in range(number, number + SOURCES_AT_ONCE)]
        with palace.database.transaction() as connection:
            for made in batch:
                _file(connection, made, guard)
        number += len(batch)
        with palace.database.snapshot() as connection:
            now = _newest_drawer(connection)
        rate = (now - before) / (time.perf_counter() - began)
        print(f"\r{now:,} of {count:,} drawers, {rate:,.0f}/s ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return before, now


def _file(connection: Connection, made: Made, guard: Guard) -> None:
    now = made.filings[-1].created_at
    receipt = ingest.file(connection, made.source, made.place, ingest.prepare(made.filings, guard), now)
    if made.filings[0].kind == "document":
        source_rows.file_revision(connection, source_rows.file_source(connection, made.source), receipt.rows[0], now)


def _newest_drawer(connection: Connection) -> int:
    """The newest row id: nothing is retired here, so it is the count."""
    return int(next(connection.execute("SELECT coalesce(max(id), 0) FROM drawer"))[0])


@dataclass(frozen=True)
class Made:
    """One source to file: a session of questions and answers, or a document."""

    source: Source
    place: Place
    filings: list[NewItem]


def _make(library: Library, number: int, count: int, wings: int, seed: int) -> Made:
    """Return source `number`: sessions and documents in turns, so that four drawers in ten are sections."""
    rng = random.Random(f"{seed} {number}")
    place = Place(_wing(rng, count, wings), rng.choice(ROOMS))
    at = Micros(FIRST_DAY + number * 400_000_000)
    return (_document if number % 2 else _session)(library, rng, place, f"{seed}/{number}", at)


def _session(library: Library, rng: random.Random, place: Place, name: str, at: Micros) -> Made:
    session_id = f"session-{name.replace('/', '-')}"  # what follows a stroke is a sub-agent of the session before it
    source = Source(("bench", name), "bench", f"bench:{name}", session_id, f"Session {name}")
    texts = [text for _ in range(rng.randint(4, 24)) for text in library.exchange(rng)]
    filings = []
    for n, text in enumerate(texts):
        role: Role = "assistant" if n % 2 else "user"
        row = json.dumps({"type": role, "message": {"role": role, "content": text}, "timestamp": at + n}) + "\n"
        filings.append(
            NewItem(
                id=identity.positioned_id(source.key, "", n, text),
                text=text,
                kind="message",
                role=role,
                raw=row.encode("utf-8", "surrogatepass"),
                parts=(Part("text", 0, len(text)),),
                ordinal=n,
                created_at=Micros(at + n),
                trust="agent" if n % 2 else "user",
            )
        )
    return Made(source, place, filings)


def _document(library: Library, rng: random.Random, place: Place, name: str, at: Micros) -> Made:
    source = Source(("bench", f"docs/{name}.md"), "document", f"bench:docs/{name}.md", "", f"Notes {name}")
    sections = [library.exchange(rng) for _ in range(rng.randint(5, 16))]
    text = f"# Notes {name}\n\n" + "\n\n".join(f"## {asked[:60]}\n\n{said}" for asked, said in sections) + "\n"
    filing = NewItem(
        id=identity.version_id(source.key, text),
        text=text,
        kind="document",
        role="author",
        raw=text.encode("utf-8", "surrogatepass"),
        created_at=at,
        trust="repo",
    )
    return Made(source, place, [filing])


def _wing(rng: random.Random, count: int, wings: int) -> str:
    """Draw a wing: the measured one has its share, the others halve slowly (as 1 / rank)."""
    if rng.random() < min(MEASURED_SHARE, MEASURED_DRAWERS / count):
        return MEASURED_WING
    ranks = range(1, wings)
    return f"wing-{rng.choices(ranks, [1 / rank for rank in ranks])[0]:02}"


def _record_vectors(palace: Palace, embedder: SyntheticVectors) -> int:
    """Give every passage that waits its vector, in the order of the hashes, which is that of the table."""
    with palace.database.transaction() as connection:
        row = passage_embedding.adopt(connection, embedder)
    made = 0
    for hashes in _pending_hashes(palace):
        with palace.database.transaction() as connection:
            vector_rows.insert_vectors(connection, row, passage_embedding.quantise(hashes, embedder.of_hashes(hashes)))
        made += len(hashes)
        print(f"\r{made:,} vectors ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    with palace.database.transaction() as connection:
        waiting = [int(passage) for (passage,) in connection.execute("SELECT passage FROM pending")]
        vector_rows.settle(connection, waiting)
        change_log.append(connection, "vector+", waiting)
    return made


def _pending_hashes(palace: Palace) -> Iterator[list[bytes]]:
    last = b""
    while True:
        with palace.database.snapshot() as connection:
            rows = connection.execute(
                "SELECT DISTINCT hash FROM passage WHERE hash > ? AND id IN (SELECT passage FROM pending)"
                " ORDER BY hash LIMIT ?",
                (last, VECTORS_AT_ONCE),
            )
            hashes = [bytes(found) for (found,) in rows]
        if not hashes:
            return
        yield hashes
        last = hashes[-1]


if __name__ == "__main__":
    sys.exit(main())
