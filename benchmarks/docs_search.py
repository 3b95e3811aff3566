"""Measure what a search finds in documentation: 30 questions on each of three foreign sets, 26 on our how-to pages.

    python benchmarks/docs_search.py [--sets django …] [--split dev|held-out|all] [--peer FP32.onnx] [--json]
    python benchmarks/docs_search.py --misses       # also each question that the first hit does not answer

The sets come from the source archives of packages (`docs_questions.json` pins version and digest); the questions were
written from their tables of contents, in a person's own words, before any search. All sets are wings of one palace. A
question is answered at k if one of the first k hits is in a file that it names. Beside Palazzo: bare FTS5 BM25 over
whole files and over passages of some 1,500 characters, and with `--peer` MemPalace 3.11.0, which embeds with the same
weights in fp32 (`tools/build_model.py --variant fp32 --out DIR`). Its miner does not read `.rst`, so it gets copies
that end in `.txt`. The set `nowhere` has words and codes that no set contains, and counts who says "nothing found", in
palaces of 1 to all drawers. Tune on `dev` only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.against_peer import served
from benchmarks.coding.distractors import OnProgress, remembering
from benchmarks.coding.questions import split
from benchmarks.coding_suite import Surroundings
from benchmarks.measuring import CACHE, Row, report, table
from benchmarks.peer_mempalace import COLLECTION, Peer, end_leftovers, install_peer, mine

from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.index.embedder import Embedder
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.sources import mining_run
from palazzo.sources.mining_report import MineRequest
from palazzo.store.plain_index import PlainIndex

QUESTIONS = Path(__file__).with_name("docs_questions.json")
OWN_PAGES = Path(__file__).resolve().parents[1] / "docs" / "how-to"
OWN, NOWHERE = "palazzo", "nowhere"
PASSAGE = 1_500
"""Characters from which a baseline's passage ends, at the next blank line."""
DEPTHS = (1, 3, 5)
SIZES = (1, 10, 50, 100, 300)
"""Drawers of the small palaces that are asked about what is nowhere."""
SUFFIXES = (".txt", ".rst", ".md")
PATIENCE = 3_600.0
ASK_PEER = f"""
import json, sys
from mempalace.searcher import search_memories
asked, palace = json.load(sys.stdin), sys.argv[1]
def files(answer): return [hit.get("source_path") or hit.get("source_file") or "" for hit in answer.get("results", [])]
print(json.dumps([files(search_memories(text, palace, wing=wing, n_results={DEPTHS[-1]})) for text, wing in asked]))
"""
"""Run by the peer's Python: prints the files of its hits for each question."""
Ask = Callable[[str, str | None], list[str]]
"""Returns the files, as SET/PATH, of the first hits for a question, in one wing or in all."""


@dataclass(frozen=True, slots=True)
class DocsQuestion:
    """A question about a set, and the files, as SET/PATH, that answer it."""

    name: str
    text: str
    files: frozenset[str]

    @property
    def half(self) -> str:
        """The half it belongs to: `dev` may be tuned on, `held-out` never."""
        return split(self.text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask all questions in each way and print the figures."""
    parser = argparse.ArgumentParser(description="Search in documentation.")
    sets = json.loads(QUESTIONS.read_text("utf-8"))
    parser.add_argument("--sets", nargs="+", choices=[name for name in sets if name != NOWHERE])
    parser.add_argument("--split", choices=("dev", "held-out", "all"), default="all")
    parser.add_argument("--peer", type=Path, metavar="FP32.onnx", help="ask MemPalace too, with these weights")
    parser.add_argument("--venv", type=Path, default=Path("/tmp/peer-venv"))
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    names = given.sets or [name for name in sets if name != NOWHERE]
    asked = [one for one in read_questions(sets) if one.name in {*names, NOWHERE} and given.split in ("all", one.half)]
    corpus = write_corpus({name: sets[name] for name in names})
    embedder = remembering()
    with tempfile.TemporaryDirectory(prefix="palazzo-docs-") as scratch:
        palace = file_corpus(Path(scratch), corpus, names, embedder)
        with Surroundings(palace, embedder) as context, _peer(given, Path(scratch), corpus, names) as peer:
            ways: dict[str, Ask] = {
                "Palazzo": lambda text, wing: ask_palazzo(context, corpus, text, wing),
                "BM25, passages": Baseline(corpus, names, PASSAGE).ask,
                "BM25, files": Baseline(corpus, names, None).ask,
            }
            answers = {way: collect(ask, asked) for way, ask in ways.items()}
            if peer is not None:
                answers["MemPalace"] = ask_peer(peer, asked)
            rows = figures(answers, asked, names)
            refusals = [
                refusal(context, "all", asked),
                *(refusal_in_small(Path(scratch), corpus, names[-1], size, embedder, asked) for size in SIZES),
            ]
    report(f"Documentation: {', '.join(names)} ({given.split})", rows, given.json)
    report("What stands nowhere", refusals, given.json)
    if given.misses:
        print(misses(answers["Palazzo"], asked))
    return 0


def read_questions(sets: Mapping[str, Mapping[str, list[dict[str, object]]]]) -> list[DocsQuestion]:
    """Return all questions."""
    return [
        DocsQuestion(name, str(row["question"]), frozenset(f"{name}/{file}" for file in row["files"]))  # type: ignore[attr-defined]
        for name, content in sets.items()
        for row in content["questions"]
    ]


def write_corpus(sets: Mapping[str, Mapping[str, str]]) -> Path:
    """Return the directory with the pages of each set, one directory each; what is missing is fetched and checked."""
    corpus = CACHE / "documentation"
    for name, content in sets.items():
        if name == OWN:
            shutil.rmtree(corpus / name, ignore_errors=True)
            shutil.copytree(OWN_PAGES, corpus / name)
        elif not (corpus / name).is_dir():
            _fetch(content["requirement"], content["sha256"], corpus / name)
    return corpus


def _fetch(requirement: str, digest: str, target: Path) -> None:
    """Put the pages of a package's source archive into `target`. Raises `ValueError` for other bytes."""
    with tempfile.TemporaryDirectory(prefix="palazzo-docs-") as scratch:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", scratch]
        source_of = requirement.partition("==")[0]  # of this package alone: what builds it may come as wheels
        subprocess.run([*pip, "--no-binary", source_of, requirement], check=True, timeout=900)
        (archive,) = Path(scratch).glob("*.tar.gz")
        if hashlib.sha256(archive.read_bytes()).hexdigest() != digest:
            raise ValueError(f"{archive.name} is not the archive that the questions were written for.")
        with tarfile.open(archive) as opened:
            opened.extractall(scratch, filter="data")
        (root,) = (path for path in Path(scratch).iterdir() if path.is_dir())
        for path in pages(root / "docs"):
            copy = target / path.relative_to(root / "docs")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def pages(directory: Path) -> list[Path]:
    """Return the pages below a directory, in order."""
    return sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def file_corpus(scratch: Path, corpus: Path, names: Sequence[str], embedder: Embedder) -> Path:
    """Return a palace with a wing for each set, with vectors."""
    palace_file = scratch / "palace.db"
    for name in names:
        file_pages(palace_file, [corpus / name], name, embedder, _told)
    return palace_file


def file_pages(
    palace_file: Path, paths: Sequence[Path], wing: str, embedder: Embedder, on_progress: OnProgress | None = None
) -> int:
    """File pages into a palace, with vectors; return how many drawers it has."""
    with Palace.open(palace_file, embedder=lambda: embedder) as palace:
        mining_run.mine(palace.database, palace.clock, MineRequest(tuple(paths), wing=wing, policy="all"))
        palace.embed_pending(on_progress)
        with palace.database.snapshot() as connection:
            ((drawers,),) = connection.execute("SELECT count(*) FROM drawer WHERE retired_at IS NULL")
    return int(drawers)


def _told(done: int, total: int) -> None:
    print(f"\r{done:,} of {total:,} vectors", end="", file=sys.stderr, flush=True)


def ask_palazzo(context: Context, corpus: Path, text: str, wing: str | None) -> list[str]:
    """Return the files of our hits; an empty list is a refusal."""
    hits = search(context, SearchRequest(text, wing=wing, limit=DEPTHS[-1])).hits
    return [hit.source.uri.rpartition(f"{corpus}/")[2] for hit in hits]


class Baseline:
    """Bare FTS5 over files or passages, an index for each wing and one for all."""

    def __init__(self, corpus: Path, names: Sequence[str], passage: int | None) -> None:
        self._of: dict[str | None, tuple[PlainIndex, list[str]]] = {}
        all_pairs: list[tuple[str, str]] = []
        for name in names:
            pairs = [
                (str(path.relative_to(corpus)), part)
                for path in pages(corpus / name)
                for part in passages(path.read_text("utf-8", "replace"), passage)
            ]
            self._of[name] = PlainIndex([part for _, part in pairs]), [file for file, _ in pairs]
            all_pairs += pairs
        self._of[None] = PlainIndex([part for _, part in all_pairs]), [file for file, _ in all_pairs]

    def ask(self, text: str, wing: str | None) -> list[str]:
        """Return the files of the first hits."""
        index, files = self._of[wing if wing in self._of else None]
        return [files[n] for n in index.rank(text, DEPTHS[-1])]


def passages(text: str, size: int | None) -> Iterator[str]:
    if size is None:
        yield text
        return
    part = ""
    for paragraph in text.split("\n\n"):
        part += paragraph + "\n\n"
        if len(part) >= size:
            yield part
            part = ""
    if part.strip():
        yield part


@contextmanager
def _peer(given: argparse.Namespace, scratch: Path, corpus: Path, names: Sequence[str]) -> Iterator[Peer | None]:
    """Fill MemPalace with the same pages, if it is asked for; its embedding server runs meanwhile."""
    with served(given.peer) if given.peer else nullcontext() as server:
        if server is None:
            yield None
            return
        peer = Peer(install_peer(given.venv), scratch / "peer", server[0])
        peer.home.mkdir()
        copies = scratch / "copies"
        try:
            for name in names:
                for path in pages(corpus / name):
                    copy = copies / path.relative_to(corpus)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, f"{copy}.txt" if path.suffix == ".rst" else copy)
                mine(peer, copies / name, "projects", time.monotonic() + PATIENCE, name)
            yield peer
        finally:
            end_leftovers(peer)


def ask_peer(peer: Peer, asked: Sequence[DocsQuestion]) -> dict[tuple[str, str], list[str]]:
    """Return the files of the peer's hits by question and scope."""
    both = [(one.text, wing) for one in asked for wing in (_wing(one), None)]
    run = subprocess.run(
        [str(peer.python), "-c", ASK_PEER, str(peer.palace)],
        env=peer.environment,
        input=json.dumps(both),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    if run.returncode:
        raise RuntimeError(f"MemPalace could not be asked ({COLLECTION}):\n{run.stderr[-2000:]}")
    copies = f"{peer.home.parent / 'copies'}{os.sep}"
    found = [
        [file.rpartition(copies)[2].replace(".rst.txt", ".rst") for file in files] for files in _last_json(run.stdout)
    ]
    return {(text, "all" if wing is None else "wing"): files for (text, wing), files in zip(both, found, strict=True)}


def _last_json(text: str) -> list[list[str]]:
    lines: list[list[str]] = json.loads(text.strip().splitlines()[-1])
    return lines


def _wing(one: DocsQuestion) -> str | None:
    return None if one.name == NOWHERE else one.name


def collect(ask: Ask, asked: Sequence[DocsQuestion]) -> dict[tuple[str, str], list[str]]:
    """Ask each question in its wing and in all; return the files by question and scope."""
    found = {}
    for one in asked:
        found[one.text, "wing"] = ask(one.text, _wing(one))
        found[one.text, "all"] = ask(one.text, None)
    return found


def figures(
    answers: Mapping[str, Mapping[tuple[str, str], list[str]]], asked: Sequence[DocsQuestion], names: Sequence[str]
) -> list[Row]:
    """Return a row for each set and way: how many questions the first 1, 3 and 5 hits answer, in each scope."""
    rows: list[Row] = []
    for name in names:
        own = [one for one in asked if one.name == name]
        for way, found in answers.items():
            row: Row = {"set": name, "way": way, "questions": len(own)}
            for scope in ("wing", "all"):
                files = [(found[one.text, scope], one.files) for one in own]
                for depth in DEPTHS:
                    row[f"{scope} hit@{depth}"] = sum(bool(right & set(hits[:depth])) for hits, right in files)
                row[f"{scope}, nothing found"] = sum(not hits for hits, _ in files)
            rows.append(row)
    return rows


def refusal(context: Context, size: str, asked: Sequence[DocsQuestion]) -> Row:
    """Return for how many of the questions about what is nowhere nothing is found, and the other questions."""
    nowhere = [one for one in asked if one.name == NOWHERE]
    hits = {one.text: len(search(context, SearchRequest(one.text)).hits) for one in nowhere}
    found = sum(count == 0 for count in hits.values())
    others = "; ".join(text for text, count in hits.items() if count)
    return {"drawers": size, "questions": len(hits), "nothing found": found, "answered": others}


def refusal_in_small(
    scratch: Path, corpus: Path, name: str, size: int, embedder: Embedder, asked: Sequence[DocsQuestion]
) -> Row:
    """Return the same for a palace of some `size` drawers."""
    palace_file, drawers = scratch / f"small-{size}.db", 0
    for path in sorted(pages(corpus / name), key=lambda page: page.stat().st_size):
        drawers = file_pages(palace_file, [path], name, embedder)
        if drawers >= size:
            break
    with Surroundings(palace_file, embedder) as context:
        return refusal(context, f"{drawers:,}", asked)


def misses(found: Mapping[tuple[str, str], list[str]], asked: Sequence[DocsQuestion]) -> str:
    """Return a line for each question that the first hit in its wing does not answer; of the held-out half none."""
    rows: list[Row] = []
    for one in asked:
        hits = found[one.text, "wing"]
        if one.name == NOWHERE or one.half != "dev" or set(hits[:1]) & one.files:
            continue
        place = next((n for n, file in enumerate(hits, 1) if file in one.files), None)
        rows.append({"set": one.name, "question": one.text, "first hit": hits[0] if hits else "nothing", "at": place})
    return table(rows)


if __name__ == "__main__":
    sys.exit(main())
