"""Put the same files and questions to several memories, and print one Markdown table of what they find.

    python benchmarks/peer_suite.py [--locomo LOCOMO.json] [--pages django celery scrapy palazzo] [--distractors 0]
        [--mempalace VENV] [--deja PROGRAM] [--basic-memory VENV] [--questions N] [--corpora coding locomo pages]

Corpora (`peer_corpora.py`): the sessions of the coding suite, LoCoMo as transcripts, sets of documentation. Memories:
Palazzo, a plain FTS5 and vector index (`peer_search.py`), and those that are named: MemPalace 3.11.0 (installed into
VENV if it is not there), deja-vu (`peer_deja_vu.py`) and basic-memory (`peer_basic_memory.py`). Each is filled and
asked in the way that its documentation recommends to agents, over everything that it holds, for five hits, and each
embeds with the model that Palazzo ships. Only questions that may be tuned on are asked.

`source` counts a question as answered if the first hit, or one of five, is from a session or page that answers it.
`words` also wants that the hit shows the words that answer. `characters` is the median length of the five hits
together: who shows more finds more words. Intervals are 95 %, over 2,000 samples of the questions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bootstrap import bootstrap_interval
from benchmarks.coding.distractors import remembering
from benchmarks.measuring import Row, machine, median
from benchmarks.peer_basic_memory import ask_basic_memory
from benchmarks.peer_corpora import LabelledCorpus, write_coding, write_locomo, write_pages
from benchmarks.peer_deja_vu import ask_deja
from benchmarks.peer_search import Answers, ask_mempalace, ask_palazzo, ask_plain, served_embedder

CORPORA = ("coding", "locomo", "pages")
DOCUMENTATION = ("django", "celery", "scrapy", "palazzo")
LOCOMO = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev.json"
SEED = 1
COLUMNS = ("corpus", "memory", "questions", "source first", "source in 5", "words first", "words in 5", "characters")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill and ask each memory, and print the table."""
    parser = _arguments()
    given = parser.parse_args(arguments)
    embedder = remembering()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="palazzo-peers-") as scratch, served_embedder(embedder) as url:
        ways: dict[str, Callable[[LabelledCorpus, Path], Answers | None]] = {
            "Palazzo": lambda corpus, own: ask_palazzo(corpus, own, embedder),
            "FTS5 and vectors": lambda corpus, own: ask_plain(corpus, own, embedder),
        }
        if given.mempalace:
            ways["MemPalace 3.11.0"] = lambda corpus, own: ask_mempalace(corpus, own, given.mempalace, url)
        if given.deja:
            ways["deja-vu"] = lambda corpus, own: ask_deja(corpus, own, given.deja, url)
        if given.basic_memory:
            ways["basic-memory"] = lambda corpus, own: ask_basic_memory(corpus, own, given.basic_memory, url)
        for name in given.corpora:
            corpus = _write(name, Path(scratch) / name / "corpus", given)
            for way, ask in ways.items():
                own = Path(scratch) / name / way
                own.mkdir(parents=True)
                answers = ask(corpus, own)
                if answers is not None:
                    rows.append(figures(corpus, way, answers))
                    print(json.dumps(rows[-1], ensure_ascii=False), file=sys.stderr, flush=True)
    print("  ".join(f"{name}: {value}" for name, value in machine().items()))
    print(markdown(rows))
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare what several memories find in the same files.")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA)
    parser.add_argument("--locomo", type=Path, default=LOCOMO)
    parser.add_argument("--pages", nargs="+", default=DOCUMENTATION, help="sets of `docs_questions.json`")
    parser.add_argument("--distractors", type=int, default=0, help="drawers of unrelated sessions and pages")
    parser.add_argument("--questions", type=int, help="at most so many of each corpus, drawn by chance")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--mempalace", type=Path, metavar="VENV")
    parser.add_argument("--deja", type=Path, metavar="PROGRAM")
    parser.add_argument("--basic-memory", type=Path, metavar="VENV")
    return parser


def _write(name: str, directory: Path, given: argparse.Namespace) -> LabelledCorpus:
    if name == "coding":
        return write_coding(directory, given.distractors, given.questions, given.seed)
    if name == "locomo":
        return write_locomo(directory, given.locomo, given.questions, given.seed)
    return write_pages(directory, given.pages, given.questions, given.seed)


def figures(corpus: LabelledCorpus, memory: str, answers: Answers) -> Row:
    """Return the row of a memory: shares of questions in percent, with intervals, and the length of what it shows."""
    pairs = list(zip(corpus.questions, answers, strict=True))
    row: Row = {"corpus": corpus.name, "memory": memory, "questions": len(pairs)}
    for name, depth in (("first", 1), ("in 5", 5)):
        row[f"source {name}"] = _share([any(map(question.is_from, hits[:depth])) for question, hits in pairs])
        if any(question.words for question in corpus.questions):
            row[f"words {name}"] = _share([any(map(question.is_shown, hits[:depth])) for question, hits in pairs])
    row["characters"] = round(median([sum(len(hit.text) for hit in hits) for hits in answers]))
    return row


def _share(outcomes: Sequence[bool]) -> str:
    values = [float(outcome) for outcome in outcomes]
    return f"{100 * sum(values) / max(len(values), 1):.1f} ({bootstrap_interval(values)})"


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a table in Markdown; a row may lack some columns."""
    lines = [COLUMNS, tuple("---" for _ in COLUMNS)]
    lines += [tuple(_cell(row.get(column)) for column in COLUMNS) for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    sys.exit(main())
