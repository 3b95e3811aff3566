"""Compare Palazzo's keyword index with tantivy and bm25s: time, memory, one text more, and what each finds.

    python3.11 -m venv DIR; DIR/bin/pip install . tantivy bm25s PyStemmer
    python benchmarks/make_palace.py 10000
    DIR/bin/python benchmarks/keyword_engines.py [--palace 10000] [--locomo FILE] [--longmemeval FILE] [--json]

Time: every engine indexes the texts of a palace's live drawers, in a copy of the palace or in files of its own, and
answers questions of `search_latency.py` with the 50 best drawers. Each runs in a process of its own; all answer in
turns. "First" is a question that the process was not asked before, "again" the same one later. Memory is what a process
gains that opens an index and answers; NumPy, APSW and Palazzo are loaded before. "Alike" is the share of FTS5's ten
best that an engine has among its own ten best. One text more is a whole note for Palazzo (archive, drawer and index in
one transaction); bm25s cannot add to an index, and makes it anew from tokens that are kept in memory.

Results: the plain keyword list of each engine over the turns, and over the sessions, of public data sets, as `palazzo
bench` counts them beside its own baseline. Each engine has the settings of its documentation (bm25s: NumPy, not numba).
"Palazzo's tokens" are texts split and stemmed by Palazzo before an engine gets them, so that only index and ranking
differ.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import multiprocessing
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bootstrap import bootstrap_interval
from benchmarks.make_palace import MEASURED_WING, Library, palace_path
from benchmarks.measuring import CACHE, MB, Row, median, peak_mb, percentile, report, resident_mb
from benchmarks.search_latency import questions

from palazzo.bench.cases import Case
from palazzo.bench.haystack import Haystack, line, turn_token
from palazzo.bench.measures import measure
from palazzo.bench.retrieval import DEPTH
from palazzo.features.bench.bench import read_cases
from palazzo.index import keyword_candidates
from palazzo.index.lexicon import Lexicon
from palazzo.index.query import ParsedQuery, Query, understand
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import file_backup, keyword_columns, keyword_postings, keyword_table, place_rows
from palazzo.store.database import Connection
from palazzo.store.keyword_tokens import stems
from palazzo.store.plain_index import PlainIndex
from palazzo.text.word_forms import index_form, literals, match_expression, phrases, terms

QUESTIONS, ROUNDS, ADDITIONS = 30, 6, 5
WORD = "zqxvorplk"
"""A word that no text has, and that no stemmer changes."""
MEASURES = ("recall@5", "recall@10", "ndcg@10")
KEYWORD_TABLES = ("keyword_data", "keyword_idx", "keyword_docsize", "keyword_config", "keyword_content")
PATIENCE = 600.0


class Text(NamedTuple):
    """A text to index: its number, and the wing that it is in."""

    row: int
    body: str
    wing: str


class Index(Protocol):
    """A keyword index in a directory, or in memory where there is none."""

    def build(self, texts: Sequence[Text]) -> None:
        """Index the texts."""
        ...

    def open(self) -> None:
        """Open what was built."""
        ...

    def parse(self, question: str) -> Any:
        """Return the engine's own form of a question."""
        ...

    def search(self, parsed: Any, wing: str | None) -> list[int]:
        """Return the numbers of the best texts, best first."""
        ...

    def add(self, text: Text) -> None:
        """Index one text more; the next search finds it, also after the process ends."""
        ...

    def delete(self, text: Text) -> None:
        """Remove a text; no search finds it any more."""
        ...

    def refresh(self) -> None:
        """See what other processes have added."""
        ...

    def knows(self, word: str) -> bool:
        """Return whether the index still holds a word."""
        ...

    def size(self) -> int:
        """Return the bytes of the index on disk."""
        ...


# --- Palazzo -----------------------------------------------------------------------------------------------


class Fts5:
    """The keyword index of a palace, ranked by FTS5."""

    reloads = "at the next snapshot"

    def __init__(self, directory: Path) -> None:
        self._path = directory / "palace.db"
        self._filters: dict[str, list[str]] = {}

    def build(self, texts: Sequence[Text]) -> None:
        with Palace.open(self._path) as palace, palace.database.transaction() as connection:
            keyword_table.clear(connection)
            scopes = {text.row: keyword_table.scope_of(connection, text.row) for text in texts}
            rows = ((text.row, index_form(text.body), "", scopes[text.row]) for text in texts)
            keyword_table.index(connection, rows)

    def open(self) -> None:
        self._palace = Palace.open(self._path)

    def parse(self, question: str) -> ParsedQuery:
        return understand(Query(question))

    def search(self, parsed: ParsedQuery, wing: str | None) -> list[int]:
        with self._palace.database.snapshot() as connection:
            expression = match_expression(parsed.terms, parsed.phrases)
            matches = keyword_table.matches(connection, expression, self._scope(connection, wing), DEPTH)
        return [row for row, _ in matches]

    def add(self, text: Text) -> None:
        with self._palace.database.transaction() as connection:
            scope = keyword_table.scope_tokens(1, 1, "exchange")
            keyword_table.index(connection, [(text.row, index_form(text.body), "", scope)])

    def delete(self, text: Text) -> None:
        with self._palace.database.transaction() as connection:
            keyword_table.remove(connection, text.row)

    def refresh(self) -> None:
        """Do nothing: a snapshot sees what was committed before it."""

    def knows(self, word: str) -> bool:
        with self._palace.database.snapshot() as connection:
            return keyword_postings.live_document_frequency(connection, word) > 0

    def size(self) -> int:
        marks = ",".join("?" * len(KEYWORD_TABLES))
        with contextlib.closing(apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            ((size,),) = connection.execute(f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({marks})", KEYWORD_TABLES)
        return int(size)

    def _scope(self, connection: Connection, wing: str | None) -> list[str]:
        if wing is None:
            return []
        if wing not in self._filters:
            self._filters[wing] = [keyword_table.wing_filter(place_rows.stretches(connection, wing))]
        return self._filters[wing]


class Postings(Fts5):
    """The same index, ranked by Palazzo from postings in memory, as its searches are; a text is added as a note."""

    def open(self) -> None:
        super().open()
        self._lexicon = Lexicon()

    def search(self, parsed: ParsedQuery, wing: str | None) -> list[int]:
        with self._palace.database.snapshot() as connection:
            scope = self._scope(connection, wing)
            candidates = keyword_candidates.find(connection, parsed, scope, DEPTH, lexicon=self._lexicon)
        return [row for row, _ in candidates.row_scores]

    def add(self, text: Text) -> None:
        self._palace.remember(text.body, Place(text.wing, "notes"))


class PalazzoWords:
    """Palazzo's words and queries in a table of FTS5 in memory: for sets of texts that are no palace."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE f USING fts5(x, tokenize='porter unicode61 remove_diacritics 2')"
        )
        rows = ((n, index_form(text).encode("utf-8", "replace").decode()) for n, text in enumerate(texts, 1))
        self._connection.executemany("INSERT INTO f(rowid, x) VALUES(?, ?)", rows)

    def rank(self, question: str, limit: int) -> list[int]:
        """Return the numbers of the best texts, best first."""
        expression = match_expression(terms(question), phrases(question))
        rows = self._connection.execute(
            "SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT ?", (expression, limit)
        )
        return [int(str(row)) - 1 for (row,) in rows]


# --- tantivy -----------------------------------------------------------------------------------------------


class Tantivy:
    """An index of tantivy, with its English tokenizer and its query parser."""

    tokenizer = "en_stem"
    reloads = "after a reload"

    def __init__(self, directory: Path | None) -> None:
        self._directory = None if directory is None else directory / "tantivy"
        self._writer: Any = None

    def _make(self) -> None:
        self._module: Any = importlib.import_module("tantivy")
        builder = self._module.SchemaBuilder()
        builder.add_text_field("body", tokenizer_name=self.tokenizer)
        builder.add_text_field("wing", tokenizer_name="raw", index_option="basic")
        builder.add_unsigned_field("row", indexed=True, fast=True)
        self._schema = builder.build()
        if self._directory is None:
            self._index = self._module.Index(self._schema)
        else:
            self._directory.mkdir(exist_ok=True)
            self._index = self._module.Index(self._schema, str(self._directory))

    def build(self, texts: Sequence[Text]) -> None:
        self._make()
        writer = self._index.writer()
        for text in texts:
            writer.add_document(self._document(text))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def open(self) -> None:
        self._make()  # it opens the index that is there

    def parse(self, question: str) -> Any:
        return self._index.parse_query_lenient(question, ["body"])[0]

    def search(self, parsed: Any, wing: str | None) -> list[int]:
        query, occur = self._module.Query, self._module.Occur
        if wing is not None:
            in_wing = query.const_score_query(query.term_query(self._schema, "wing", wing), 0.0)
            parsed = query.boolean_query([(occur.Must, parsed), (occur.Must, in_wing)])
        searcher = self._index.searcher()
        hits = searcher.search(parsed, DEPTH, count=False).hits
        return [int(row) for row in searcher.fast_field_values("row", [address for _, address in hits])]

    def add(self, text: Text) -> None:
        self._open_writer().add_document(self._document(text))
        self._writer.commit()
        self._index.reload()

    def _open_writer(self) -> Any:
        if self._writer is None:
            self._writer = self._index.writer()
        return self._writer

    def close_writer(self) -> None:
        """Release the lock, as a command that ends does."""
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None

    def delete(self, text: Text) -> None:
        self._open_writer().delete_documents_by_query(self._module.Query.term_query(self._schema, "row", text.row))
        self._writer.commit()
        self._index.reload()

    def refresh(self) -> None:
        self._index.reload()

    def knows(self, word: str) -> bool:
        return bool(self._index.searcher().doc_freq("body", word))

    def size(self) -> int:
        return _size_of(self._directory)

    def _document(self, text: Text) -> Any:
        document = self._module.Document()
        document.add_text("body", self._indexed(text.body))
        document.add_text("wing", text.wing)
        document.add_unsigned("row", text.row)
        return document

    def _indexed(self, body: str) -> str:
        return body.encode("utf-8", "replace").decode()


class TantivyOnPalazzosTokens(Tantivy):
    """An index of tantivy whose texts and questions are tokens of Palazzo, phrases as phrases."""

    tokenizer = "palazzo"

    def _make(self) -> None:
        super()._make()
        analyzer = self._module.TextAnalyzerBuilder(self._module.Tokenizer.whitespace()).build()
        self._index.register_tokenizer(self.tokenizer, analyzer)

    def _indexed(self, body: str) -> str:
        return " ".join(stems(index_form(body)))

    def parse(self, question: str) -> Any:
        query, occur = self._module.Query, self._module.Occur
        strings = [stems(literal) for literal in literals(terms(question), phrases(question))]
        parts = [
            query.phrase_query(self._schema, "body", words)
            if len(words) > 1
            else query.term_query(self._schema, "body", words[0])
            for words in strings
            if words
        ]
        return query.boolean_query([(occur.Should, part) for part in parts])


# --- bm25s -------------------------------------------------------------------------------------------------


class Bm25s:
    """An index of bm25s as its quickstart makes it: its English stop words, and PyStemmer."""

    reloads = "after loading all again"

    def __init__(self, directory: Path | None) -> None:
        self._directory = None if directory is None else directory / "bm25s"
        self._words: list[list[str]] = []

    def build(self, texts: Sequence[Text]) -> None:
        self._load_modules()
        words = self._tokens([text.body for text in texts])
        self._index_words([text.row for text in texts], [text.wing for text in texts], words)
        if self._directory is not None:
            self._directory.with_suffix(".words").write_bytes(pickle.dumps(words))  # for `add`; not part of the index

    def open(self) -> None:
        self._load_modules()
        self.refresh()

    def parse(self, question: str) -> list[str]:
        return self._tokens([question])[0]

    def search(self, parsed: list[str], wing: str | None) -> list[int]:
        if not parsed:
            return []
        mask = None if wing is None else self._mask(wing)
        count = min(DEPTH, len(self._rows))
        places, scores = self._model.retrieve([parsed], k=count, show_progress=False, weight_mask=mask)
        return [self._rows[int(n)] for n, score in zip(places[0], scores[0], strict=True) if score > 0]

    def add(self, text: Text) -> None:
        if not self._words and self._directory is not None:
            self._words = pickle.loads(self._directory.with_suffix(".words").read_bytes())
        words = [*self._words, *self._tokens([text.body])]
        self._index_words([*self._rows, text.row], [*self._wings, text.wing], words)

    def delete(self, text: Text) -> None:
        rows, wings, words = list(self._rows), list(self._wings), list(self._words)
        n = rows.index(text.row)
        del rows[n], wings[n], words[n]
        self._index_words(rows, wings, words)

    def refresh(self) -> None:
        assert self._directory is not None
        self._model = self._module.BM25.load(str(self._directory))
        self._rows, self._wings = pickle.loads((self._directory / "rows").read_bytes())
        self._masks: dict[str, NDArray[np.float32]] = {}

    def knows(self, word: str) -> bool:
        return word in self._model.vocab_dict

    def size(self) -> int:
        return _size_of(self._directory)

    def _load_modules(self) -> None:
        self._module: Any = importlib.import_module("bm25s")
        self._stemmer: Any = importlib.import_module("Stemmer").Stemmer("english")

    def _index_words(self, rows: list[int], wings: list[str], words: list[list[str]]) -> None:
        self._rows, self._wings, self._words, self._masks = rows, wings, words, {}
        self._model = self._module.BM25()
        self._model.index(words, show_progress=False)
        if self._directory is not None:
            self._model.save(str(self._directory), show_progress=False)
            (self._directory / "rows").write_bytes(pickle.dumps((rows, wings)))

    def _mask(self, wing: str) -> NDArray[np.float32]:
        if wing not in self._masks:
            self._masks[wing] = np.array([each == wing for each in self._wings], dtype=np.float32)
        return self._masks[wing]

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        tokens: list[list[str]] = self._module.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokens


class Bm25sOnPalazzosTokens(Bm25s):
    """An index of bm25s whose texts and questions are tokens of Palazzo; it knows no phrases."""

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        return [stems(index_form(text)) for text in texts]

    def parse(self, question: str) -> list[str]:
        strings = literals(terms(question), phrases(question))
        return list(dict.fromkeys(stem for literal in strings for stem in stems(literal)))


def _size_of(directory: Path | None) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) if directory else 0


ENGINES: dict[str, type[Fts5] | type[Tantivy] | type[Bm25s]] = {
    "Palazzo, postings in memory": Postings,
    "FTS5 alone": Fts5,
    "tantivy, Palazzo's tokens": TantivyOnPalazzosTokens,
    "tantivy, en_stem": Tantivy,
    "bm25s, Palazzo's tokens": Bm25sOnPalazzosTokens,
    "bm25s, its own tokens": Bm25s,
}
SETTINGS: tuple[Row, ...] = (
    {
        "engine": "FTS5 and Palazzo",
        "tokens": "unicode61, and parts of camelCase",
        "stemming": "Porter",
        "stop words": "left out of questions",
        "k1": 1.2,
        "b": 0.75,
        "idf": "ln((N-n+½)/(n+½)), at least 10⁻⁶",
        "phrases": "yes",
    },
    {
        "engine": "tantivy, en_stem",
        "tokens": "letters and digits, to 40 bytes",
        "stemming": "Snowball English",
        "stop words": "searched for",
        "k1": 1.2,
        "b": 0.75,
        "idf": "ln(1+(N-n+½)/(n+½)); lengths in one byte",
        "phrases": "in quotation marks",
    },
    {
        "engine": "bm25s, its own tokens",
        "tokens": "words of 2 letters or more",
        "stemming": "Snowball English",
        "stop words": "its English ones, left out of texts",
        "k1": 1.5,
        "b": 0.75,
        "idf": "ln(1+(N-n+½)/(n+½)); scores in float32",
        "phrases": "no",
    },
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all engines, and print a table for each part."""
    parser = argparse.ArgumentParser(description="Palazzo's keyword index beside tantivy and bm25s.")
    parser.add_argument("--palace", default="10000", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--drawers", type=int, help="index only this many texts")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--locomo", type=Path, help="the data set's file, or a part of it")
    parser.add_argument("--longmemeval", type=Path, help="the same")
    parser.add_argument("--no-times", action="store_true", help="only what the engines find")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    report("Settings", SETTINGS, given.json)
    if not given.no_times:
        named = str(given.palace)
        palace = palace_path(given.directory, int(named)) if named.isdecimal() else Path(named)
        asked = list(questions(Library.read(given.directory), QUESTIONS, seed=5))
        with tempfile.TemporaryDirectory(prefix="palazzo-engines-") as scratch:
            for title, rows in measure_times(palace, Path(scratch), asked, given.drawers, given.rounds):
                report(title, rows, given.json)
    for name in ("locomo", "longmemeval"):
        if path := getattr(given, name):
            cases = read_cases(name, path)
            levels = [compare_results(cases, level) for level in ("session", "turn") if _has_answers(cases, level)]
            report(f"{name}: plain keyword lists, in percent with 95 % intervals", merge(levels, 0), given.json)
            report(f"{name}: less Palazzo's words, question by question, in points", merge(levels, 1), given.json)
    return 0


# --- time --------------------------------------------------------------------------------------------------


def measure_times(
    palace: Path, scratch: Path, asked: Sequence[str], limit: int | None, rounds: int
) -> Iterator[tuple[str, list[Row]]]:
    """Yield the title and the rows of each table."""
    first = scratch / "0"
    texts = copy_palace(palace, first, limit)
    kept = scratch / "texts"
    kept.write_bytes(pickle.dumps(texts))
    directories = {name: scratch / str(n) for n, name in enumerate(ENGINES)}
    for directory in directories.values():
        if directory != first:
            directory.mkdir()
            file_backup.copy(first / "palace.db", directory / "palace.db", lambda done, total: None, False)
    size = sum(len(text.body) for text in texts) / 1e6
    built = [{"engine": name, **_alone(name, directory, "build", kept)} for name, directory in directories.items()]
    yield f"Build the index of {len(texts):,} drawers, {size:.1f} million characters", built
    with contextlib.ExitStack() as stack:
        workers = {name: stack.enter_context(running(name, each)) for name, each in directories.items()}
        opened = {name: worker("open") for name, worker in workers.items()}
        yield f"{len(asked)} questions, everywhere", answer(workers, asked, None, rounds, opened)
        yield (
            f"{len(asked)} questions, in one wing of {len({text.wing for text in texts})}",
            answer(workers, asked, MEASURED_WING, rounds, {}),
        )
        added = [{"engine": name, **worker("add", texts[7].body, ADDITIONS)} for name, worker in workers.items()]
        yield "One text more, until it is found", added
        yield "What each allows", [allowances(name, workers[name], directories[name], texts[0]) for name in workers]


def copy_palace(palace: Path, directory: Path, limit: int | None) -> list[Text]:
    """Copy a palace into a directory, and return the texts of its live drawers; the first has one word more."""
    directory.mkdir(parents=True)
    file_backup.copy(palace, directory / "palace.db", lambda done, total: None, False)
    sql = (
        "SELECT d.id, w.name FROM drawer d JOIN room r ON r.id = d.room JOIN wing w ON w.id = r.wing"
        " WHERE retired_at IS NULL ORDER BY d.id LIMIT ?"
    )
    with Palace.open(directory / "palace.db") as copy, copy.database.snapshot() as connection:
        rows = [(int(row), str(wing)) for row, wing in connection.execute(sql, (limit or -1,))]
        texts = [Text(row, keyword_columns.words_of(connection, row), wing) for row, wing in rows]
    return [texts[0]._replace(body=f"{texts[0].body} {WORD}"), *texts[1:]]


Call = Callable[..., Any]


@contextlib.contextmanager
def running(name: str, directory: Path) -> Iterator[Call]:
    """Run an engine in a process of its own; yield the function that calls a method of its `Worker` there."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(name, directory, theirs))
    process.start()
    theirs.close()

    def call(method: str, *arguments: object) -> Any:
        ours.send((method, arguments))
        if not ours.poll(PATIENCE):
            raise TimeoutError(f"{name} took too long to {method}.")
        return ours.recv()

    try:
        yield call
    finally:
        with contextlib.suppress(BrokenPipeError):  # it ended with an error, which it printed
            ours.send(None)
        process.join(PATIENCE)


def _serve(name: str, directory: Path, pipe: Pipe) -> None:
    worker = Worker(ENGINES[name](directory))
    while (call := pipe.recv()) is not None:
        pipe.send(getattr(worker, call[0])(*call[1]))


def _alone(name: str, directory: Path, method: str, *arguments: object) -> Row:
    with running(name, directory) as call:
        row: Row = call(method, *arguments)
    return row


class Worker:
    """What an engine's own process does; figures are returned as cells."""

    def __init__(self, engine: Index) -> None:
        self._engine = engine
        self._parsed: dict[str, Any] = {}

    def build(self, texts_file: Path) -> Row:
        """Build the index."""
        texts: list[Text] = pickle.loads(texts_file.read_bytes())
        before = resident_mb()
        began, spent = time.perf_counter(), time.process_time()
        self._engine.build(texts)
        row: Row = {
            "s": round(time.perf_counter() - began, 2),
            "processor s": round(time.process_time() - spent, 2),
            "MB of memory at most": round(max(0.0, peak_mb() - before)),
            "MB on disk": round(self._engine.size() / MB, 2),
        }
        if isinstance(self._engine, TantivyOnPalazzosTokens | Bm25sOnPalazzosTokens):
            spent = time.process_time()
            for text in texts:
                stems(index_form(text.body))
            row["of it Palazzo's tokens"] = round(time.process_time() - spent, 2)
        return row

    def open(self) -> None:
        """Open the index; remember how large the process was before."""
        self._before = resident_mb()
        self._engine.open()

    def answer(self, asked: Sequence[str], wing: str | None) -> list[tuple[float, float, float, list[int]]]:
        """Answer each question: milliseconds and processor's, those of the parsing, and the hits."""
        answers = []
        for question in asked:
            spent = time.process_time()
            parsed = self._engine.parse(question)
            parsing = time.process_time() - spent
            began, spent = time.perf_counter(), time.process_time()
            hits = self._engine.search(parsed, wing)
            searching, took = time.process_time() - spent, time.perf_counter() - began
            answers.append((1000 * took, 1000 * searching, 1000 * parsing, hits))
        return answers

    def memory(self) -> float:
        """Return the MB that the process has gained since before it opened the index."""
        return resident_mb() - self._before

    def add(self, body: str, count: int) -> Row:
        """Add texts, one at a time, and find each."""
        taken, processor, next_search = [], [], []
        for n in range(count):
            word = f"{WORD}{n}"
            began, spent = time.perf_counter(), time.process_time()
            self._engine.add(Text(10_000_000 + n, f"{body} {word}", MEASURED_WING))
            taken.append(1000 * (time.perf_counter() - began))
            processor.append(1000 * (time.process_time() - spent))
            spent = time.process_time()
            if not self._engine.search(self._engine.parse(word), None):
                raise AssertionError(f"{word} is not found")
            next_search.append(1000 * (time.process_time() - spent))
        row: Row = {"ms": round(median(taken), 2), "processor ms": round(median(processor), 2)}
        row |= {"the first, processor ms": round(processor[0], 2), "next search": round(median(next_search), 2)}
        if isinstance(self._engine, Tantivy):
            self._engine.close_writer()
            began, spent = time.perf_counter(), time.process_time()
            self._engine.add(Text(10_000_000 + count, body, MEASURED_WING))
            self._engine.close_writer()
            row["with a writer of its own, ms"] = round(1000 * (time.perf_counter() - began), 2)
            row["processor ms of that"] = round(1000 * (time.process_time() - spent), 2)
        return row

    def finds(self, word: str) -> bool:
        """Return whether a search finds the word."""
        return bool(self._engine.search(self._engine.parse(word), None))

    def refresh_and_find(self, word: str) -> bool:
        """Return the same, after the engine has been told to look for changes."""
        self._engine.refresh()
        return self.finds(word)

    def add_word(self, row: int, word: str) -> str:
        """Add a text of one word; return what went wrong."""
        try:
            self._engine.add(Text(row, f"some text with {word}", MEASURED_WING))
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is the result
            return str(error)
        return ""

    def delete(self, text: Text, word: str) -> tuple[bool, bool]:
        """Delete a text; return whether a search finds its word, and whether the index holds it."""
        self._engine.delete(text)
        return self.finds(word), self._engine.knows(word)


def answer(
    workers: Mapping[str, Call], asked: Sequence[str], wing: str | None, rounds: int, opened: Mapping[str, object]
) -> list[Row]:
    """Ask all engines all questions, in turns; return a row for each."""
    answers: dict[str, list[list[tuple[float, float, float, list[int]]]]] = {name: [] for name in workers}
    for _ in range(rounds):
        for name, worker in workers.items():
            answers[name].append(worker("answer", asked, wing))
    expected = [set(hits[:10]) for *_, hits in answers["FTS5 alone"][0]]
    rows: list[Row] = []
    for name, worker in workers.items():
        first, *later = answers[name]
        again = [each for one in later for each in one]
        alike = [
            len(set(hits[:10]) & best) / len(best) for (*_, hits), best in zip(first, expected, strict=True) if best
        ]
        row: Row = {
            "engine": name,
            "first, processor ms p50": round(median([spent for _, spent, _, _ in first]), 2),
            "p95": round(percentile([spent for _, spent, _, _ in first], 0.95), 2),
            "again, processor ms p50": round(median([spent for _, spent, _, _ in again]), 2),
            "p95 ": round(percentile([spent for _, spent, _, _ in again], 0.95), 2),
            "again, ms p50": round(median([took for took, _, _, _ in again]), 2),
            "p95  ": round(percentile([took for took, _, _, _ in again], 0.95), 2),
            "parsing, p50": round(median([parsing for _, _, parsing, _ in again]), 2),
            "hits": round(sum(len(hits) for *_, hits in first) / len(first), 1),
            "alike, %": round(100 * sum(alike) / max(len(alike), 1), 1),
        }
        if name in opened:
            row["MB of memory gained"] = round(worker("memory"), 1)
        rows.append(row)
    return rows


def allowances(name: str, worker: Call, directory: Path, text: Text) -> Row:
    """Try what the product needs besides searches: delete the text, which has a word of its own, and write from two
    processes.
    """
    found, held = worker("delete", text, WORD)
    with running(name, directory) as other:
        other("open")
        worker("add_word", 20_000_001, f"{WORD}seen")
        at_once = other("finds", f"{WORD}seen")
        afterwards = at_once or other("refresh_and_find", f"{WORD}seen")
        error = other("add_word", 20_000_002, f"{WORD}second")
        worker("add_word", 20_000_003, f"{WORD}third")
        kept = error or other("refresh_and_find", f"{WORD}second")
    own = isinstance(ENGINES[name](directory), Fts5)
    refusal = f"the second is refused: {error.split('.')[0]}" if error else ""
    return {
        "engine": name,
        "in the archive's file and transactions": "yes" if own else "no",
        "a deleted text": "found" if found else "its word stays in the index" if held else "gone from the index",
        "another process sees a new text": "at once" if at_once else ENGINES[name].reloads if afterwards else "no",
        "two processes write": refusal or ("both texts are kept" if kept else "one text is lost"),
    }


# --- results -----------------------------------------------------------------------------------------------


class Ranker(Protocol):
    """A keyword index of a set of texts."""

    def rank(self, question: str, limit: int) -> list[int]:
        """Return the numbers of the best texts, best first."""
        ...


class OfEngine:
    """An engine's index of a set of texts, in memory."""

    def __init__(self, engine: Index, texts: Sequence[str]) -> None:
        self._engine = engine
        engine.build([Text(n, text, "") for n, text in enumerate(texts)])

    def rank(self, question: str, limit: int) -> list[int]:
        """Return the numbers of the best texts, best first."""
        return self._engine.search(self._engine.parse(question), None)[:limit]


RANKERS: dict[str, Callable[[Sequence[str]], Ranker]] = {
    "Palazzo's words, FTS5": PalazzoWords,
    "plain FTS5 (the baseline of `bench`)": PlainIndex,
    "tantivy, Palazzo's tokens": lambda texts: OfEngine(TantivyOnPalazzosTokens(None), texts),
    "tantivy, en_stem": lambda texts: OfEngine(Tantivy(None), texts),
    "bm25s, Palazzo's tokens": lambda texts: OfEngine(Bm25sOnPalazzosTokens(None), texts),
    "bm25s, its own tokens": lambda texts: OfEngine(Bm25s(None), texts),
}
Measures = dict[str, list[dict[str, float]]]
"""The measures of every question, by engine."""


def _has_answers(cases: Sequence[Case], level: str) -> bool:
    """Return whether a data set says which sessions, or which turns, answer its questions."""
    return any(
        question.sessions if level == "session" else question.turns for case in cases for question in case.questions
    )


def compare_results(cases: Sequence[Case], level: str) -> tuple[list[Row], list[Row]]:
    """Return what each engine finds at one level, and the differences to the first."""
    measures: Measures = {name: [] for name in RANKERS}
    for case in cases:
        _add_case(case, level, measures)
    first = measures[next(iter(RANKERS))]
    means: list[Row] = []
    differences: list[Row] = []
    for name, own in measures.items():
        mean: Row = {"engine": name, f"{level} questions": len(own)}
        difference: Row = {"engine": name}
        for each in MEASURES:
            values = [row[each] for row in own]
            less = [row[each] - other[each] for row, other in zip(own, first, strict=True)]
            mean[f"{level} {each}"] = _percent(values)
            difference[f"{level} {each}"] = "" if own is first else _points(less)
        means.append(mean)
        differences.append(difference)
    return means, differences


def _add_case(case: Case, level: str, measures: Measures) -> None:
    haystack = Haystack([case])
    texts = {
        "turn": lambda: [(turn_token(s.token, n), line(t)) for s in haystack.held for n, t in enumerate(s.talk.turns)],
        "session": lambda: [(s.token, "\n".join(map(line, s.talk.turns))) for s in haystack.held],
    }[level]()
    rankers = {name: make([text for _, text in texts]) for name, make in RANKERS.items()}
    for question in case.questions:
        sessions = haystack.wanted_sessions(case, question)
        wanted = sessions if level == "session" else haystack.wanted_turns(case, question)
        if not question.is_scored or not sessions or not wanted:
            continue
        for name, ranker in rankers.items():
            ranking = [texts[n][0] for n in ranker.rank(question.text, DEPTH)]
            measures[name].append(measure(ranking, wanted))


def _percent(values: Sequence[float]) -> str:
    return f"{100 * sum(values) / max(len(values), 1):.1f} ({bootstrap_interval(values)})"


def _points(values: Sequence[float]) -> str:
    """Return the mean difference and its interval; both need a decimal more than `bootstrap_interval` gives."""
    samples = np.random.default_rng(0).integers(0, len(values), (2_000, len(values)))
    low, high = np.percentile(100 * np.array(values)[samples].mean(axis=1), [2.5, 97.5])
    return f"{100 * sum(values) / len(values):+.1f} ({low:+.1f} to {high:+.1f})"


def merge(levels: Sequence[tuple[list[Row], list[Row]]], which: int) -> list[Row]:
    """Return the rows of all levels side by side."""
    columns = [level[which] for level in levels]
    return [{name: cell for row in rows for name, cell in row.items()} for rows in zip(*columns, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
