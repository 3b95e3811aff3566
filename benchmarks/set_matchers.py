"""Measure whether one set-matching pass, by RE2 or Hyperscan, would speed up the guard's search for secrets.

    python3.11 -m venv DIR; DIR/bin/pip install . google-re2 hyperscan
    DIR/bin/pip download --no-deps --dest WHEELS google-re2 hyperscan
    DIR/bin/python benchmarks/set_matchers.py TRANSCRIPTS [--files N] [--rounds 3] [--wheels WHEELS] [--json]

Of every row that is archived, `secret_prescan.suspects` asks whether it needs a closer look. It joins a batch of rows,
searches for some words (`token`, `://`) with `re`, for unbroken runs by a substring, and tries rules only beside these.
TRANSCRIPTS are sessions of Claude Code. They are searched as the product passes them, in batches of rows, and as whole
files; labelled secrets (`palazzo.bench`) show whether a set misses what the rules find.

Six words count only beside certain characters, which `re` checks by looking ahead or behind. Neither RE2 nor Hyperscan
can; so the sets are compiled of the words alone, and of patterns that contain those characters. Hyperscan's `PREFILTER`
takes the patterns as they are and ignores what it cannot do. `missing` and `extra` compare the texts with a candidate
with those that the first row finds. Every speed is of processor time on one thread, the best of several rounds taken in
turns.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hyperscan  # type: ignore[import-not-found]
import re2  # type: ignore[import-not-found]

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import MB, Row, median, report

from palazzo.archive import ingest_guard
from palazzo.archive.ingest_guard import Guard
from palazzo.bench.labelled_secrets import cases
from palazzo.hosts.claude_code.transcript import FEEDERS
from palazzo.palace import Palace, system_clock
from palazzo.security import (
    command_passwords,
    disguised_text,
    password_assignments,
    password_lists,
    password_statements,
    private_spans,
    secret_anchors,
    secret_names,
    secret_phrases,
    secret_prescan,
    secret_scanner,
    setting_lines,
    token_forms,
)
from palazzo.security.private_spans import PRIVATE_TAG
from palazzo.security.secret_phrases import RuleSpan
from palazzo.security.secret_prescan import suspects
from palazzo.security.secret_scanner import find_secrets
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.sources.transcript_preparation import prepare_transcript

PACKAGES = {"google-re2": "re2", "hyperscan": "hyperscan"}
WORDS = tuple(word for words in secret_anchors._BY_LETTER.values() for word in words)
AS_WRITTEN = tuple((word, re.escape(word) + secret_anchors._FOLLOWED_BY.get(word, "")) for word in WORDS)
"""Each word, and its pattern with what `re` checks before and after it."""
WRITTEN_OUT: Mapping[str, Sequence[tuple[str, str]]] = {
    "token": (("token", r'token(?:[^s]|s[^"]|s?\z)'),),
    " -": ((" -", f" -{command_passwords.OPTION_LETTERS}"),),
    "pin": (("pin", r"(?:\A|[^a-z0-9])pin[ :=-]"),),
    "psk": (("psk", r"psk(?:[^a-z]|\z)"),),
    ":": ((":", r"(?:admin|root|/user):| p: "), (":5432:", ":5432:")),
    "@": (("@", r"(?:\A|[^\s\"'/@])@"),),
}
"""For words that count only beside certain characters: patterns that contain those, each with the string that begins
where the word does, which ends the match or nearly does.
"""
IN_CHARACTERS = tuple(
    (word, needle, pattern) for word in WORDS for needle, pattern in WRITTEN_OUT.get(word, ((word, re.escape(word)),))
)
"""(Word, needle, pattern) of every word, without assertions."""
RUN = r"[A-Za-z0-9_+/-]{20}"
ESCAPES = tuple(re.escape(mark) for marks, _ in disguised_text._ESCAPES for mark in marks)
OTHER_SCRIPTS = tuple(re.escape(word) for _, word in secret_phrases.OTHER_SCRIPTS)
BEFORE_ANY_RULE = (
    *(pattern for _, _, pattern in IN_CHARACTERS),
    RUN,
    *OTHER_SCRIPTS,
    *ESCAPES,
    re.escape(PRIVATE_TAG.decode()),
)
"""All that the guard searches a text for before it tries a rule, except invisible and full-width letters."""
KEY_FORMS = (
    *(re.escape(form.head) + form.body for form in token_forms.FORMS),
    *(pattern for _, pattern in token_forms.SEGMENTED_FORMS),
    *(pattern.pattern for pattern in (token_forms.DISCORD, token_forms.MAILCHIMP, token_forms.MAXMIND)),
)
"""Keys and tokens that have a form of their own."""
RULE_MODULES = (
    *(command_passwords, disguised_text, password_assignments, password_lists, password_statements, private_spans),
    *(secret_names, secret_phrases, secret_scanner, setting_lines, token_forms),
)
LONGEST_COMPILATION = 1
"""Seconds of processor time that Hyperscan may take to compile one pattern; some take minutes."""
_REFUSED = 3
Batch = Sequence[bytes]
Search = Callable[[bytes], int]
"""Searches one text, and returns how many hits it has, or how many of its patterns occur."""


@dataclass(frozen=True)
class Corpus:
    """Texts, in the batches in which they are searched, as they are and in ASCII and lower case."""

    name: str
    batches: Sequence[Batch]
    lower_batches: Sequence[Batch]
    lower_blobs: Sequence[bytes]

    @classmethod
    def of(cls, name: str, batches: Sequence[Batch]) -> Corpus:
        """Return the corpus of these batches."""
        lower = [[_in_lower_ascii(text) for text in batch] for batch in batches]
        return cls(name, batches, lower, [secret_prescan._SEPARATOR.join(batch) for batch in lower])

    @property
    def size(self) -> float:
        """Return the millions of bytes of all texts."""
        return sum(len(text) for batch in self.batches for text in batch) / 1e6

    @property
    def texts(self) -> list[bytes]:
        """Return all texts."""
        return [text for batch in self.batches for text in batch]

    @property
    def lower_texts(self) -> list[bytes]:
        """Return all texts, in ASCII and lower case."""
        return [text for batch in self.lower_batches for text in batch]


@dataclass(frozen=True)
class Matcher:
    """A way to search for a set of patterns: for every hit in a text, or until the first.

    Without places it only tells which patterns occur. `refused` is how many patterns it refused.
    """

    name: str
    every: Search
    first: Search
    refused: int = 0
    has_places: bool = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every part of the pass, and print a table each."""
    parser = argparse.ArgumentParser(description="Search for secrets with sets of patterns.")
    parser.add_argument("transcripts", type=Path, help="a directory with sessions of Claude Code")
    parser.add_argument("--files", type=int, help="read only this many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wheels", type=Path, help="where the wheels were downloaded to, for their sizes")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    paths = sorted(given.transcripts.rglob("*.jsonl"))[: given.files]
    report("Patterns that are refused", refusals(), given.json)
    report("Milliseconds until a set is ready", compilations(), given.json)
    report("The packages", packages(given.wheels), given.json)
    by_batch = Corpus.of("rows by batch", list(batches_of(paths)))
    whole = Corpus.of("whole files", [[path.read_bytes()] for path in paths])
    labelled = Corpus.of("labelled secrets", [[case.text.encode() for case in cases()]])
    title = f"The present pass, by step: {len(paths)} files, {len(by_batch.texts):,} rows, {by_batch.size:.1f} MB"
    report(title, [*steps(by_batch, given.rounds), *steps(whole, given.rounds)], given.json)
    matchers = word_matchers()
    for corpus, texts in ((by_batch, by_batch.lower_texts), (whole, []), (labelled, labelled.lower_texts)):
        rows = compare(corpus, matchers, texts, corpus.lower_blobs, given.rounds)
        report(f"The {len(WORDS)} words before a secret: {corpus.name}", rows, given.json)
    matchers = first_pass_matchers()
    for corpus in (by_batch, labelled):
        rows = compare(corpus, matchers, corpus.texts, [], given.rounds)
        report(f"All that is searched for before any rule, text by text: {corpus.name}", rows, given.json)
    for corpus in (by_batch, labelled):
        report(f"The whole pass: {corpus.name}", passes(corpus, given.rounds), given.json)
    report("What mining spends", [mining(given.transcripts, by_batch, given.rounds)], given.json)
    matchers = form_matchers()
    for corpus in (by_batch, labelled):
        rows = compare(corpus, matchers, corpus.texts, [], given.rounds)
        report(f"The {len(KEY_FORMS)} forms of keys, text by text: {corpus.name}", rows, given.json)
    return 0


def batches_of(paths: Sequence[Path]) -> Iterator[Batch]:
    """Yield what the product passes to `suspects` for these transcripts."""
    passed: list[Batch] = []

    def record(texts: Sequence[bytes]) -> set[int]:
        passed.append(list(texts))
        return set()

    with patch.object(ingest_guard, "suspects", record):
        for path in paths:
            with path.open("rb") as stream:
                for _ in prepare_transcript(FEEDERS[0], path, stream, None, (), Guard(b"benchmark")).batches:
                    yield from passed
                    passed.clear()


def fastest(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the seconds of processor time of each way's fastest round; the ways take turns."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, work in ways.items():
            began = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - began)
    return best


# --- the present pass --------------------------------------------------------------------------------------


def steps(corpus: Corpus, rounds: int) -> list[Row]:
    """Return the time of each step of `suspects`, and of the searches within them."""
    blobs = [secret_prescan._SEPARATOR.join(batch) for batch in corpus.batches]
    texts = [blob.decode("utf-8", "surrogateescape") for blob in blobs]
    plain = [text.encode("ascii", "replace") for text in texts]
    lower = [each.lower() for each in plain]
    ways: dict[str, Callable[[], object]] = {
        "whole pass": lambda: [suspects(batch) for batch in corpus.batches],
        "join, decode, lower": lambda: [_prepare(batch) for batch in corpus.batches],
        "words and their rules": lambda: [*map(secret_anchors.find_at_words, texts, lower)],
        "  the search for words alone": lambda: [*map(_every_word, lower)],
        "runs and their rules": lambda: [*map(secret_scanner._in_runs, texts, plain)],
        "  the search for runs alone": lambda: [*map(_runs, plain)],
        "words of other scripts": lambda: [*map(secret_anchors.find_at_other_scripts, texts)],
        "escapes": lambda: [*map(disguised_text.decode_escapes, texts)],
    }
    seconds = fastest(ways, rounds)
    whole = seconds["whole pass"]
    return [
        {
            "texts": corpus.name,
            "step": name,
            "ms": round(1000 * spent, 1),
            "% of the pass": round(100 * spent / whole, 1),
            "MB/s": round(corpus.size / spent, 1),
        }
        for name, spent in seconds.items()
    ]


def _prepare(batch: Batch) -> bytes:
    text = secret_prescan._SEPARATOR.join(batch).decode("utf-8", "surrogateescape")
    return text.encode("ascii", "replace").lower()


def _in_lower_ascii(text: bytes) -> bytes:
    return text.decode("utf-8", "surrogateescape").encode("ascii", "replace").lower()


def _every_word(lower: bytes) -> int:
    """Search for the words as the product does in a text of 1,024 bytes or more; return how many hits there are."""
    count = 0
    for letter, search, _ in secret_anchors._SEARCHES:
        hit = search(lower) if letter in lower else None
        while hit:
            count += 1
            hit = search(lower, hit.end())
    return count


def _every_word_at_once(lower: bytes) -> int:
    """Search as the product does in a shorter text."""
    count = 0
    hit = secret_anchors._SEARCH_FOR_ALL(lower)
    while hit:
        count += 1
        hit = secret_anchors._SEARCH_FOR_ALL(lower, hit.end())
    return count


def _any_word(lower: bytes) -> int:
    return any(letter in lower and search(lower) for letter, search, _ in secret_anchors._SEARCHES)


def _runs(plain: bytes) -> int:
    count, runs = 0, plain.translate(secret_scanner._RUN_TABLE)
    start = runs.find(secret_scanner._RUN)
    while start >= 0:
        count += 1
        end = runs.find(b" ", start + secret_scanner.SHORTEST_RUN)
        start = runs.find(secret_scanner._RUN, end) if end >= 0 else -1
    return count


# --- sets --------------------------------------------------------------------------------------------------


def re2_set(name: str, patterns: Sequence[str], caseless: bool = False) -> Matcher:
    """Return a search by RE2's Set."""
    options = _re2_options(caseless)
    matcher, refused = re2.Set.SearchSet(options), 0
    for pattern in patterns:
        try:
            matcher.Add(pattern.encode())
        except re2.error:
            refused += 1
    matcher.Compile()

    def search(text: bytes) -> int:
        return len(matcher.Match(text) or ())

    return Matcher(name, search, search, refused, has_places=False)


def _re2_options(caseless: bool) -> Any:
    options = re2.Options()
    options.encoding, options.log_errors, options.dot_nl = re2.Options.Encoding.LATIN1, False, True
    options.case_sensitive, options.max_mem = not caseless, 64 << 20
    return options


class Scanner:
    """A database of Hyperscan in block mode, without the patterns that it refuses."""

    def __init__(self, patterns: Sequence[str], prefilter: bool = False, caseless: bool = False) -> None:
        flags = hyperscan.HS_FLAG_DOTALL | (hyperscan.HS_FLAG_PREFILTER if prefilter else 0)
        flags |= hyperscan.HS_FLAG_CASELESS if caseless else 0
        taken = [pattern for pattern in patterns if hyperscan_verdict(pattern, prefilter) == "taken"]
        self.refused = len(patterns) - len(taken)
        self.database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self.database.compile(
            expressions=[pattern.encode() for pattern in taken],
            ids=list(range(len(taken))),
            elements=len(taken),
            flags=[flags] * len(taken),
        )

    def hits(self, text: bytes) -> list[tuple[int, int]]:
        """Return the pattern and the end of every hit."""
        hits: list[tuple[int, int]] = []
        self.database.scan(text, match_event_handler=lambda n, start, end, flags, context: hits.append((n, end)))
        return hits

    def count(self, text: bytes) -> int:
        """Return how many hits there are."""
        return len(self.hits(text))

    def has_hit(self, text: bytes) -> int:
        """Return whether there is a hit; the scan ends with the first."""
        try:
            self.database.scan(text, match_event_handler=lambda *hit: True)
        except hyperscan.ScanTerminated:
            return True
        return False

    def matcher(self, name: str) -> Matcher:
        """Return the search under a name."""
        return Matcher(name, self.count, self.has_hit, self.refused)


@cache
def hyperscan_verdict(pattern: str, prefilter: bool) -> str:
    """Return "taken", "refused" or "too long": what Hyperscan does with a pattern by itself."""
    process = multiprocessing.get_context("fork").Process(target=_compile_alone, args=(pattern, prefilter))
    process.start()
    process.join()
    return {0: "taken", _REFUSED: "refused"}.get(process.exitcode or 0, "too long")


def _compile_alone(pattern: str, prefilter: bool) -> None:
    flags = hyperscan.HS_FLAG_DOTALL | (hyperscan.HS_FLAG_PREFILTER if prefilter else 0)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + LONGEST_COMPILATION,) * 2)
    try:
        hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK).compile(expressions=[pattern.encode()], flags=flags)
    except hyperscan.error:
        os._exit(_REFUSED)
    os._exit(0)


def word_matchers() -> list[Matcher]:
    """Return the ways to search for the words; the first is the measure of the others."""
    written = [pattern for _, pattern in AS_WRITTEN]
    alone = [re.escape(word) for word in WORDS]
    characters = [pattern for _, _, pattern in IN_CHARACTERS]
    alternation = re2.compile("|".join(characters).encode(), _re2_options(False))
    return [
        Matcher(f"re, {len(secret_anchors._SEARCHES)} searches (the product's, long texts)", _every_word, _any_word),
        Matcher(
            "re, one search (the product's, short texts)",
            _every_word_at_once,
            lambda text: secret_anchors._SEARCH_FOR_ALL(text) is not None,
        ),
        re2_set("RE2 Set, as written", written),
        re2_set("RE2 Set, words alone", alone),
        re2_set("RE2 Set, with characters", characters),
        Matcher(
            "RE2, one alternation with characters",
            lambda text: sum(1 for _ in alternation.finditer(text)),
            lambda text: alternation.search(text) is not None,
        ),
        Scanner(written, prefilter=True).matcher("Hyperscan, as written, PREFILTER"),
        Scanner(alone).matcher("Hyperscan, words alone"),
        Scanner(characters).matcher("Hyperscan, with characters"),
    ]


def first_pass_matchers() -> list[Matcher]:
    """Return the ways to search for all that the guard searches for before it tries a rule."""
    return [
        Matcher("re and substrings", _any_candidate, _any_candidate),
        re2_set("RE2 Set", BEFORE_ANY_RULE, caseless=True),
        Scanner(BEFORE_ANY_RULE, caseless=True).matcher("Hyperscan"),
    ]


def _any_candidate(raw: bytes) -> int:
    """Return whether anything in a text leads to a rule."""
    text = raw.decode("utf-8", "surrogateescape")
    plain = raw if raw.isascii() else text.encode("ascii", "replace")
    lower = plain.lower()
    return bool(
        secret_scanner._RUN in plain.translate(secret_scanner._RUN_TABLE)
        or PRIVATE_TAG in lower
        or (secret_anchors._SEARCH_FOR_ALL(lower) if len(lower) < secret_anchors._SHORT_TEXT else _any_word(lower))
        or any(mark in text for marks, _ in disguised_text._ESCAPES for mark in marks)
        or (not text.isascii() and any(word in text for _, word in secret_phrases.OTHER_SCRIPTS))
    )


def form_matchers() -> list[Matcher]:
    """Return the ways to search for keys that have a form of their own."""
    return [
        Matcher("runs and their rules (the product's)", _in_runs, _in_runs),
        re2_set("RE2 Set", KEY_FORMS),
        Scanner(KEY_FORMS).matcher("Hyperscan"),
        Scanner(KEY_FORMS, prefilter=True).matcher("Hyperscan, PREFILTER"),
    ]


def _in_runs(raw: bytes) -> int:
    """Return how many keys with a form of their own the product finds in the runs of a text."""
    text = raw.decode("utf-8", "surrogateescape")
    spans = secret_scanner._in_runs(text, text.encode("ascii", "replace"))
    return sum(rule in _RULES_OF_FORMS for _, _, rule in spans)


_RULES_OF_FORMS = frozenset(
    [form.rule for form in token_forms.FORMS] + [rule for rule, _ in token_forms.SEGMENTED_FORMS]
) | {"discord-token", "mailchimp-key", "maxmind-key"}


def compare(
    corpus: Corpus, matchers: Sequence[Matcher], texts: Sequence[bytes], blobs: Sequence[bytes], rounds: int
) -> list[Row]:
    """Return each matcher's row: how fast it is, and which texts have a candidate, beside those of the first.

    `texts` are searched one by one until the first hit, `blobs` (joined texts) for every hit.
    """
    by_text = fastest({each.name: lambda e=each: [*map(e.first, texts)] for each in matchers}, rounds)  # type: ignore[misc]
    by_blob = fastest({each.name: lambda e=each: [*map(e.every, blobs)] for each in matchers}, rounds)  # type: ignore[misc]
    candidates = [{n for n, text in enumerate(texts) if each.first(text)} for each in matchers]
    rows: list[Row] = []
    for each, selected in zip(matchers, candidates, strict=True):
        row: Row = {"search": each.name, "refused": each.refused}
        if blobs:
            row["joined, MB/s"] = round(corpus.size / by_blob[each.name], 1)
            row["hits"] = sum(map(each.every, blobs)) if each.has_places else None
        if texts:
            row["one by one, MB/s"] = round(corpus.size / by_text[each.name], 1)
            row |= {"texts": len(texts), "with a candidate": len(selected)}
            row |= {"missing": len(candidates[0] - selected), "extra": len(selected - candidates[0])}
        rows.append(row)
    return rows


# --- the pass with another search --------------------------------------------------------------------------


def passes(corpus: Corpus, rounds: int) -> list[Row]:
    """Return the time of `suspects` as it is, with another search for the words, and behind a filter of texts."""
    scanner = Scanner(BEFORE_ANY_RULE, caseless=True)
    matcher = re2_set("RE2 Set", BEFORE_ANY_RULE, caseless=True)
    ways: dict[str, Callable[[Batch], set[int]]] = {
        "as it is": suspects,
        "words by Hyperscan": _searching(_hyperscan_words()),
        "words by RE2, one alternation": _searching(_re2_words()),
        "behind a filter by RE2 Set": lambda batch: _filtered(batch, matcher.first),
        "behind a filter by Hyperscan": lambda batch: _filtered(batch, scanner.has_hit),
    }
    found = {name: [way(batch) for batch in corpus.batches] for name, way in ways.items()}
    seconds = fastest({n: lambda w=way: [*map(w, corpus.batches)] for n, way in ways.items()}, rounds)  # type: ignore[misc]
    secret = [{n for n, text in enumerate(batch) if find_secrets(_decode(text))} for batch in corpus.batches]
    return [
        {
            "pass": name,
            "ms": round(1000 * seconds[name], 1),
            "MB/s": round(corpus.size / seconds[name], 1),
            "of the time as it is, %": round(100 * seconds[name] / seconds["as it is"], 1),
            "suspects": sum(map(len, found[name])),
            "other than as it is": sum(len(a ^ b) for a, b in zip(found[name], found["as it is"], strict=True)),
            "secrets missed": sum(len(a - b) for a, b in zip(secret, found[name], strict=True)),
        }
        for name in ways
    ]


FindAtWords = Callable[[str, bytes], list[RuleSpan]]


def _searching(find_at_words: FindAtWords) -> Callable[[Batch], set[int]]:
    def run(batch: Batch) -> set[int]:
        with patch.object(secret_scanner, "find_at_words", find_at_words):
            return suspects(batch)

    return run


def _hyperscan_words() -> FindAtWords:
    scanner = Scanner([pattern for _, _, pattern in IN_CHARACTERS])
    needles = [(word, needle.encode()) for word, needle, _ in IN_CHARACTERS]

    def find_at_words(text: str, lower: bytes) -> list[RuleSpan]:
        spans: list[RuleSpan] = []
        resume_at: dict[str, int] = {}
        for n, end in scanner.hits(lower):
            word, needle = needles[n]
            _look(text, word, lower.rfind(needle, 0, end), resume_at, spans)
        return spans

    return find_at_words


def _re2_words() -> FindAtWords:
    """Return a search by one alternation, each branch in a group: RE2 does not say otherwise which branch matched."""
    pattern = "|".join(f"({pattern})" for _, _, pattern in IN_CHARACTERS)
    alternation = re2.compile(pattern.encode(), _re2_options(False))
    needles = [(word, needle.encode()) for word, needle, _ in IN_CHARACTERS]

    def find_at_words(text: str, lower: bytes) -> list[RuleSpan]:
        spans: list[RuleSpan] = []
        resume_at: dict[str, int] = {}
        for hit in alternation.finditer(lower):
            word, needle = needles[hit.lastindex - 1]
            _look(text, word, lower.rfind(needle, 0, hit.end()), resume_at, spans)
        return spans

    return find_at_words


def _look(text: str, word: str, at: int, resume_at: dict[str, int], spans: list[RuleSpan]) -> None:
    """Examine the text around a hit, as `secret_anchors` does."""
    if at < resume_at.get(word, 0):
        return
    span = secret_anchors._LOOKS[word](text, at)
    if span:
        spans.append(span)
        resume_at[word] = span[1]
    if word in secret_anchors._LISTS:
        spans += secret_anchors._LISTS[word](text, at)


def _filtered(batch: Batch, search: Search) -> set[int]:
    """Return the suspects among the texts that a set lets through."""
    through = [n for n, text in enumerate(batch) if search(text)]
    return {through[n] for n in suspects([batch[n] for n in through])} if through else set()


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def mining(transcripts: Path, corpus: Corpus, rounds: int) -> Row:
    """Return the processor time of mining all the transcripts into a new palace, and how much of it the pass is."""
    with tempfile.TemporaryDirectory(prefix="palazzo-matchers-") as scratch:
        began = _processor_seconds()
        with Palace.open(Path(scratch) / "palace.db") as palace:
            mine(palace.database, system_clock, MineRequest((transcripts,), mode="convos"))
        whole = _processor_seconds() - began
    size = sum(path.stat().st_size for path in transcripts.rglob("*.jsonl")) / 1e6
    one_pass = fastest({"pass": lambda: [*map(suspects, corpus.batches)]}, rounds)["pass"] * size / corpus.size
    return {
        "MB": round(size, 1),
        "mining, s": round(whole, 2),
        "mining, MB/s": round(size / whole, 2),
        "of it the pass, s": round(one_pass, 2),
        "%": round(100 * one_pass / whole, 1),
    }


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


# --- what is refused, and what the packages cost -----------------------------------------------------------


def refusals() -> list[Row]:
    """Return how many patterns each refuses; `\\Z` is written as they do."""
    everything = {
        (pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()).replace(r"\Z", r"\z")
        for module in RULE_MODULES
        for pattern in vars(module).values()
        if hasattr(pattern, "finditer") and hasattr(pattern, "pattern")
    }
    sets: dict[str, Sequence[str]] = {
        "words, as written": [pattern for _, pattern in AS_WRITTEN],
        "words, with characters": [pattern for _, _, pattern in IN_CHARACTERS],
        "before any rule": BEFORE_ANY_RULE,
        "forms of keys": KEY_FORMS,
        "all regular expressions of the rules": sorted(everything),
    }
    rows: list[Row] = []
    for name, patterns in sets.items():
        verdicts = Counter(hyperscan_verdict(pattern, False) for pattern in patterns)
        by_prefilter = Counter(hyperscan_verdict(pattern, True) for pattern in patterns)
        rows.append(
            {
                "patterns": name,
                "number": len(patterns),
                "RE2 refuses": sum(map(_is_refused_by_re2, patterns)),
                "Hyperscan refuses": verdicts["refused"],
                f"over {LONGEST_COMPILATION} s": verdicts["too long"],
                "PREFILTER refuses": by_prefilter["refused"],
                f"then over {LONGEST_COMPILATION} s": by_prefilter["too long"],
            }
        )
    return rows


def _is_refused_by_re2(pattern: str) -> bool:
    try:
        re2.Set.SearchSet(_re2_options(False)).Add(pattern.encode())
    except re2.error:
        return True
    return False


def compilations() -> list[Row]:
    """Return how long the sets take to compile, and to load where they were kept compiled."""
    sets: dict[str, Sequence[str]] = {
        "words, with characters": [pattern for _, _, pattern in IN_CHARACTERS],
        "before any rule": BEFORE_ANY_RULE,
        "forms of keys": KEY_FORMS,
    }
    return [{"patterns": name, **_compilation(patterns)} for name, patterns in sets.items()]


def _compilation(patterns: Sequence[str]) -> Row:
    taken = [each for each in patterns if hyperscan_verdict(each, True) == "taken"]
    of_python = "|".join(pattern.replace(r"\z", r"\Z") for pattern in taken).encode()
    ways: dict[str, Callable[[], object]] = {
        "re, one search": lambda: _compile_anew(of_python),
        "RE2 Set": lambda: re2_set("", patterns).first(b"a text"),  # it makes its automaton as it needs it
        "Hyperscan, PREFILTER": lambda: _compile(taken),
    }
    seconds = fastest(ways, 3)
    kept = hyperscan.dumpb(_compile(taken))
    seconds["Hyperscan, loaded"] = fastest({"": lambda: hyperscan.loadb(kept, hyperscan.HS_MODE_BLOCK)}, 3)[""]
    row: Row = {f"{name}, ms": round(1000 * spent, 2) for name, spent in seconds.items()}
    return row | {"its database, KB": round(len(kept) / 1024)}


def _compile_anew(pattern: bytes) -> object:
    re.purge()
    return re.compile(pattern)


def _compile(patterns: Sequence[str]) -> Any:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern.encode() for pattern in patterns],
        ids=list(range(len(patterns))),
        elements=len(patterns),
        flags=[hyperscan.HS_FLAG_PREFILTER] * len(patterns),
    )
    return database


def packages(wheels: Path | None) -> list[Row]:
    """Return the size of each package and what its import costs a process that starts."""
    return [
        {
            "package": f"{name} {metadata.version(name)}",
            "wheel, MB": _wheel_size(wheels, name),
            "installed, MB": round(sum(_file_size(file) for file in metadata.files(name) or ()) / MB, 2),
            **_import_cost(module),
        }
        for name, module in PACKAGES.items()
    ]


def _wheel_size(wheels: Path | None, name: str) -> float | None:
    matches = list(wheels.glob(f"{name.replace('-', '_')}-*.whl")) if wheels else []
    return round(matches[0].stat().st_size / MB, 2) if matches else None


def _file_size(file: metadata.PackagePath) -> int:
    path = Path(str(file.locate()))
    return path.stat().st_size if path.exists() else 0


def _import_cost(module: str) -> Row:
    """Return the processor time of an import, and the memory that it takes, in processes of their own."""
    code = f"""
import re, time
from pathlib import Path
def resident():
    return int(next(l.split()[1] for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("VmRSS")))
before, began = resident(), time.process_time()
import {module}
print(1000 * (time.process_time() - began), (resident() - before) / 1024)
"""
    costs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(9)]
    values = [[float(each) for each in cost.stdout.split()] for cost in costs]
    return {
        "import, ms": round(median([spent for spent, _ in values]), 1),
        "import, MB": round(median([memory for _, memory in values]), 1),
    }


if __name__ == "__main__":
    sys.exit(main())
