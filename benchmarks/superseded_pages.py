"""Count what is called superseded in the pages and change logs of projects that no rule was made for.

    python benchmarks/superseded_pages.py ARCHIVE.tar.gz… [--show]

Get archives with `pip download --no-binary NAME --no-deps NAME`. Each is mined into a palace of its own, as a stranger
would do it: all Markdown, reStructuredText and plain text in it. Such pages describe one state of a project, so nearly
every label is false; `--show` prints each with the words that are said to have replaced it, to be judged by a person.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import Row, machine, table

from palazzo.archive.archive_reader import read_drawer
from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store import claim_rows, drawers

SUFFIXES = (".md", ".rst", ".txt")
_SHOWN = 600


def main(arguments: Sequence[str] | None = None) -> int:
    """Mine each archive, and print how many of its sections are called superseded."""
    parser = argparse.ArgumentParser(description="Count what is called superseded in strange projects.")
    parser.add_argument("archives", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    for archive in given.archives:
        with tempfile.TemporaryDirectory(prefix="palazzo-superseded-") as scratch:
            rows.append(measure(archive, Path(scratch), given.show))
            print(rows[-1], file=sys.stderr, flush=True)
    print("  ".join(f"{name}: {value}" for name, value in machine().items()))
    print(table(rows))
    return 0


def measure(archive: Path, scratch: Path, shows: bool) -> Row:
    """Return the row of a project."""
    with tarfile.open(archive) as opened:
        members = [member for member in opened.getmembers() if member.isfile() and member.name.endswith(SUFFIXES)]
        opened.extractall(scratch / "project", members, filter="data")
    with Palace.open(scratch / "palace.db") as palace:
        mine(palace.database, palace.clock, MineRequest((scratch / "project",), wing="project", policy="all"))
        palace.follow_claims()
        with palace.database.snapshot() as connection:
            live = [int(row) for (row,) in connection.execute("SELECT id FROM drawer WHERE retired_at IS NULL")]
            uids = dict(zip((uid.hex() for uid in drawers.uids_of(connection, live)), live, strict=True))
            successors = claim_rows.find_successors(connection, list(uids), palace.clock())
            if shows:
                for uid, successor in successors.items():
                    print(f"--- {archive.name}: {read_drawer(connection, uids[uid]).source.uri}")
                    print(read_drawer(connection, uids[uid]).text[:_SHOWN])
                    print(f">>> by {successor.value!r}")
                    print("\n".join(_texts_of_item(palace, successor.by)))
    return {"project": archive.name, "pages": len(members), "sections": len(uids), "superseded": len(successors)}


def _texts_of_item(palace: Palace, item: str) -> Iterator[str]:
    """Yield the source of an item, and its words where they are short."""
    with palace.database.snapshot() as connection:
        for (uri,) in connection.execute(
            "SELECT s.uri FROM item i JOIN source s ON s.id = i.source WHERE i.uid = ?", (bytes.fromhex(item),)
        ):
            yield str(uri)


if __name__ == "__main__":
    sys.exit(main())
