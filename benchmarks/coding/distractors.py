"""The palace that the coding suite hides its corpus in: sessions and documents about Python's standard library.

Owns how many of each there are and where the palace is kept between runs. Unlike `make_palace.py` it goes through
the real mining path and has real vectors, so recall may be measured in it.

    python benchmarks/coding/distractors.py 20000
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.measuring import CACHE

from benchmarks import corpus
from palazzo.bench.embedding_cache import CachingEmbedder
from palazzo.derived.cutter import Cutter
from palazzo.index.embedder import Embedder
from palazzo.index.embedder_choice import EmbedderKind, EmbedderSpec, open_embedder
from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine

SEED = 41
PER_SESSION, PER_DOCUMENT = 150, 6
"""Drawers asked for that bring one session (some 30 drawers), and one document (some 5): a fifth and four fifths."""
DAY = datetime(2026, 5, 22, 12, tzinfo=UTC).timestamp()
"""When documents were last written, the corpus' and these: after the last of its sessions."""
OnProgress = Callable[[int, int], None]


class Kept(CachingEmbedder):
    """Stays open when a palace that used it is closed: the run has several, one after another."""

    def close(self) -> None:
        """Nothing: it lasts as long as the process."""


def remembering(directory: Path = CACHE, kind: EmbedderKind = "bundled") -> Kept:
    """Return a model, with the vectors that earlier runs made."""
    return Kept(open_embedder(EmbedderSpec(kind, threads=2)), directory / "coding-vectors")


def distractors(count: int, embedder: Embedder, directory: Path = CACHE, on_progress: OnProgress | None = None) -> Path:
    """Return a palace of at least `count` drawers, all with vectors; it is made at the first call and then kept.

    An interrupted call is completed by the next. Another version of the cutter gets a palace of its own. Raises
    `ValueError` when the corpus gave too few drawers.
    """
    home = directory / f"coding-distractors-{count}-cut{Cutter().version}"
    palace_file, written, filed = home / "palace.db", home / "corpus", home / "filed"
    if not filed.exists():
        shutil.rmtree(home, ignore_errors=True)
        corpus.write_corpus(written, count // PER_SESSION, count // PER_DOCUMENT, SEED)
        for path in (written / "docs").iterdir():
            os.utime(path, (DAY, DAY))
        with Palace.open(palace_file) as palace:
            mine(palace.database, palace.clock, MineRequest((written / "projects", written / "docs")))
        filed.touch()
    with Palace.open(palace_file, embedder=lambda: embedder) as palace:
        with palace.database.snapshot() as connection:
            ((drawers,),) = connection.execute("SELECT count(*) FROM drawer WHERE retired_at IS NULL")
        if drawers < count:
            raise ValueError(f"The corpus gave {drawers:,} drawers, {count:,} are wanted: write more of it.")
        palace.embed_pending(on_progress)
    return palace_file


def main() -> None:
    """Make the palace, saying how far it is."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000

    def told(done: int, total: int) -> None:
        print(f"\r{done:,} of {total:,} vectors", end="", file=sys.stderr, flush=True)

    print(distractors(count, remembering(), on_progress=told))


if __name__ == "__main__":
    main()
