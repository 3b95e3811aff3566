"""Benchmark corpora: Claude Code sessions and Markdown documents of any number, from real text.

Owns what a synthetic session looks like: the rows are copies of a captured 2.1.330 transcript
(`benchmarks/captured`) with new ids, times and contents; the contents are documentation strings,
comments, language reference and source of the running Python's standard library, and of any directory
given. It must not know who reads the corpus: neither Palazzo nor a peer.

The same seed, Python version and extra directories give the same bytes. A paragraph is used again only
when all have been used (`Corpus.passes` above 1): until then no two drawers embed the same prose, so no
side gains by remembering vectors of texts it has seen.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gzip
import hashlib
import json
import os
import random
import re
import sysconfig
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]
"""One line of a transcript, as parsed JSON."""

FIXTURES = Path(__file__).with_name("captured")
CAPTURED_CWD = "/home/dev/acme"
PROJECTS = ("/home/dev/acme", "/home/dev/ledger-api", "/home/dev/web-shop", "/home/dev/infra")
FIRST_DAY = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
PARAGRAPH = range(120, 2500)
"""Characters of a paragraph worth saying: shorter ones are labels, longer ones tables."""
SKIPPED = ("site-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo", "ensurepip", "__pycache__")
OPENING_ROWS = slice(3, 18)
"""Rows of the captured session between its first prompt and the first answer."""

PROMPTS = (
    "Why does `{name}` in {path} behave like that? Look before you change anything.",
    "Please review how {path} uses {topic} and tell me what you would simplify.",
    "The nightly job fails somewhere around `{name}`. Find out why.",
    "Write a short note on {topic} for the wiki, the way we really use it.",
    "Is `{name}` safe to call from two threads? Check {path}.",
    "We decided last week to keep {topic}. Remind me of the reasons, then continue.",
    "Add a test for `{name}` and run it.",
    "What would break if we replaced {topic} with something smaller?",
    "Refactor {path}: `{name}` is too long.",
    "I get a traceback from {topic} after the upgrade. What changed?",
)
LEADS = (
    "Here is what I found in {path}.",
    "`{name}` is the relevant part of {topic}.",
    "Root cause: {path} relies on `{name}`.",
    "Done. The change in {path} is small and the tests pass.",
    "Decision: we keep {topic} and call `{name}` in one place only.",
    "Two things matter about {topic}.",
)
STEPS = ("I'll look at the source first.", "Let me check the code.", "Running it.", "Reading {path}.")


@dataclass(frozen=True)
class Topic:
    """Text about one subject: a module, a chapter of the language reference, a file of prose."""

    name: str
    path: str
    passages: tuple[str, ...]
    names: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """What was written. Sizes in bytes; `digest` is SHA-256 over all files in path order."""

    root: str
    sessions: int
    documents: int
    rows: int
    transcript_bytes: int
    document_bytes: int
    passes: int
    digest: str


class Result(NamedTuple):
    """What a tool answered: as the model read it, and as the host recorded it."""

    shown: str
    recorded: object
    failed: bool = False


def write_corpus(
    root: Path,
    sessions: int,
    documents: int,
    seed: int = 1,
    *,
    fixtures: Path = FIXTURES,
    text: Sequence[Path] = (),
) -> Corpus:
    """Write `projects/<slug>/<session>.jsonl` and `docs/*.md` under `root`, and say what was written.

    `text` are directories of `.md`, `.rst` and `.txt` (also `.gz`) to draw from besides the standard
    library. Raises `FileNotFoundError` when `fixtures` holds no captured transcript, `ValueError` when
    `root` already holds files.
    """
    if root.exists() and any(root.iterdir()):
        raise ValueError(f"{root} is not empty: a corpus is written into a new directory")
    shelf = Shelf(read_topics(text), random.Random(seed))
    write_sessions(root / "projects", sessions, seed, shelf=shelf, fixtures=fixtures)
    write_documents(root / "docs", documents, seed, shelf=shelf)
    return _measure(root, shelf.passes)


def write_sessions(
    directory: Path,
    n: int,
    seed: int = 1,
    *,
    shelf: Shelf | None = None,
    fixtures: Path = FIXTURES,
) -> list[Path]:
    """Write `n` Claude Code sessions, oldest first, each dated (rows and file) within working hours."""
    shelf = shelf or Shelf(read_topics(), random.Random(seed))
    layout = read_layout(fixtures)
    paths = []
    for number in range(n):
        rng = random.Random(f"session {seed} {number}")
        cwd = rng.choice(PROJECTS)
        begin = FIRST_DAY + timedelta(days=number // 3, hours=3 * (number % 3), seconds=rng.randrange(3600))
        session = Session(layout, rng, cwd, begin)
        for _ in range(rng.randint(6, 14)):
            session.turn(shelf)
        path = directory / cwd.replace("/", "-") / f"{session.id}.jsonl"
        _write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in session.close()))
        os.utime(path, (session.now.timestamp(), session.now.timestamp()))
        paths.append(path)
    return paths


def write_documents(directory: Path, n: int, seed: int = 1, *, shelf: Shelf | None = None) -> list[Path]:
    """Write `n` Markdown documents of some 2 to 8 kB: headings, prose, lists and code."""
    shelf = shelf or Shelf(read_topics(), random.Random(seed))
    paths = []
    for number in range(n):
        rng = random.Random(f"document {seed} {number}")
        topic = shelf.pick()
        parts = [f"# {topic.name}: working notes"]
        for _ in range(rng.randint(2, 5)):
            parts.append(f"## {rng.choice(topic.names)}")
            parts += shelf.take(topic, rng.randint(1, 3))
            if topic.lines:
                parts.append("```python\n" + "\n".join(excerpt(topic, rng, 6, 20)[1]) + "\n```")
            parts.append("\n".join(f"- `{name}` ({topic.path})" for name in topic.names[: rng.randint(2, 5)]))
        path = directory / f"{number:04}-{re.sub(r'[^a-z0-9]+', '-', topic.name.lower()).strip('-')}.md"
        _write(path, "\n\n".join(parts) + "\n")
        paths.append(path)
    return paths


@dataclass
class Shelf:
    """Deals out paragraphs by topic, each once before any comes again."""

    topics: Sequence[Topic]
    rng: random.Random
    passes: int = 0
    left: dict[str, list[str]] = field(default_factory=dict)

    def pick(self) -> Topic:
        """Choose a topic that has paragraphs left, in proportion to how many."""
        weights = [len(self.left.get(topic.name, ())) for topic in self.topics]
        if not any(weights):
            self.passes += 1
            self.left = {t.name: self.rng.sample(t.passages, len(t.passages)) for t in self.topics}
            return self.pick()
        return self.rng.choices(self.topics, weights)[0]

    def take(self, topic: Topic, n: int) -> list[str]:
        """Take up to `n` paragraphs of `topic`; those of another topic follow when it has run out."""
        taken: list[str] = []
        while len(taken) < n:
            while not self.left.get(topic.name):
                topic = self.pick()
            taken.append(self.left[topic.name].pop())
        return taken


def read_topics(text: Sequence[Path] = ()) -> list[Topic]:
    """Read the standard library's modules and language reference, then the directories in `text`."""
    library = Path(sysconfig.get_path("stdlib"))
    modules = (path for path in sorted(library.rglob("*.py")) if _is_wanted(library, path))
    prose = (path for directory in text for path in sorted(directory.rglob("*")) if _is_prose(path))
    topics = [module_topic(library, path) for path in modules]
    topics += [_prose_topic(name, body) for name, body in _reference(library)]
    topics += [_prose_topic(path.stem, _read_text(path)) for path in prose]
    by_name = {topic.name: topic for topic in topics if topic.passages}
    return [by_name[name] for name in sorted(by_name)]


def _is_wanted(library: Path, path: Path) -> bool:
    return not any(part in SKIPPED for part in path.relative_to(library).parts[:-1])


def _is_prose(path: Path) -> bool:
    name = path.name.removesuffix(".gz").lower()
    return path.is_file() and not path.is_symlink() and name.endswith((".md", ".rst", ".txt"))


def module_topic(library: Path, path: Path) -> Topic:
    """Read what a module under `library` says of itself: docstrings, comments, names and source."""
    source = _read_text(path)
    relative = path.relative_to(library).as_posix()
    name = relative.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return Topic(name, relative, (), (), ())
    texts: list[str] = []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            texts.append(ast.get_docstring(node) or "")
            if not isinstance(node, ast.Module):
                names.append(node.name)
    texts += re.findall(r"(?m)(?:^[ ]*# .*\n){3,}", source)
    passages = _paragraphs(re.sub(r"(?m)^[ ]*# ?", "", text) for text in texts)
    names = list(dict.fromkeys(names)) or [name]
    return Topic(name, f"src/{relative}", passages, tuple(names), tuple(source.splitlines()))


def _prose_topic(name: str, body: str) -> Topic:
    names = tuple(dict.fromkeys(re.findall(r"[`\"]([A-Za-z_][\w.]{3,40})[`\"]", body))) or (name,)
    return Topic(name, f"docs/{name}.rst", _paragraphs([body]), names, ())


def _reference(library: Path) -> Iterator[tuple[str, str]]:
    """The language reference as `help()` prints it, one chapter per keyword."""
    path = library / "pydoc_data" / "topics.py"
    if path.exists():
        assigned = next(node for node in ast.parse(_read_text(path)).body if isinstance(node, ast.Assign))
        for chapter, body in sorted(ast.literal_eval(assigned.value).items()):
            yield f"reference {chapter}", body


def _paragraphs(texts: Iterable[str]) -> tuple[str, ...]:
    found = (paragraph.strip("\n") for text in texts for paragraph in re.split(r"\n\s*\n", text))
    return tuple(dict.fromkeys(paragraph for paragraph in found if len(paragraph) in PARAGRAPH))


def _read_text(path: Path) -> str:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return raw.decode("utf-8", "replace")


def excerpt(topic: Topic, rng: random.Random, least: int, most: int) -> tuple[int, list[str]]:
    """Return the number of the first line (from 1) and `least` to `most` lines of the topic's source."""
    begin = rng.randrange(max(1, len(topic.lines) - least))
    return begin + 1, list(topic.lines[begin : begin + rng.randint(least, most)])


@dataclass(frozen=True)
class Layout:
    """The rows of a captured session, by what they are."""

    opening: Sequence[Row]
    queued: Sequence[Row]
    prompt: Row
    answers: dict[str, Row]
    results: dict[str, Row]
    attachments: dict[str, Row]
    others: dict[str, Row]


def read_layout(fixtures: Path = FIXTURES) -> Layout:
    """Read the captured session. Raises `FileNotFoundError` when there is none under `fixtures`."""
    captured = sorted(fixtures.rglob("*.jsonl"))
    if not captured:
        raise FileNotFoundError(f"no captured session under {fixtures}: pass --fixtures")
    rows: list[Row] = [json.loads(line) for line in captured[0].read_text("utf-8").splitlines()]
    answers: dict[str, Row] = {}
    results: dict[str, Row] = {}
    tools: dict[str, str] = {}
    for row in rows:
        block = row["message"]["content"][0] if row["type"] in ("user", "assistant") else {}
        if row["type"] == "assistant":
            answers.setdefault(block["type"], row)
            tools[block.get("id", "")] = block.get("name", "")
        elif block.get("type") == "tool_result":
            tool = tools[block["tool_use_id"]]
            results.setdefault(f"{tool} failed" if block.get("is_error") else tool, row)
    return Layout(
        opening=rows[OPENING_ROWS],
        queued=rows[:2],
        prompt=rows[2],
        answers=answers,
        results=results,
        attachments={row["attachment"]["type"]: row for row in reversed(rows) if row["type"] == "attachment"},
        others={row["type"]: row for row in reversed(rows)},
    )


class Session:
    """One session being written: its clock, its chain of parents, its rows so far."""

    def __init__(self, layout: Layout, rng: random.Random, cwd: str, begin: datetime) -> None:
        self.layout, self.rng, self.cwd, self.now = layout, rng, cwd, begin
        self.id = self._uuid()
        self.rows: list[Row] = []
        self.parent: str | None = None
        self.prompt_id = ""
        self.request = ""
        self.turns = 0
        self.messages = 0
        self.tokens_left = 15_000_000
        self.digest = ""

    def turn(self, shelf: Shelf) -> None:
        """Add a prompt, zero to three rounds of tools, and the answer."""
        topic = shelf.pick()
        words = {"topic": topic.name, "path": topic.path, "name": self.rng.choice(topic.names)}
        prompt = self.rng.choice(PROMPTS).format(**words)
        if self.rng.random() < 0.25:
            prompt += "\n\nThe manual says:\n\n" + shelf.take(topic, 1)[0]
        self._ask(prompt)
        for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3))):
            blocks: list[Row] = [{"type": "text", "text": self.rng.choice(STEPS).format(**words)}]
            if self.rng.random() < 0.3:
                thought = f"The question is about {words['name']}; {words['path']} should tell."
                blocks.insert(0, {"type": "thinking", "thinking": thought, "signature": "c2ln"})
            calls = [self._call(topic) for _ in range(self.rng.choice((1, 1, 1, 2)))]
            rows = self._answer([*blocks, *(call for call, _ in calls)], "tool_use")
            self._results(calls, rows[-len(calls) :])
        said = [self.rng.choice(LEADS).format(**words), *shelf.take(topic, self.rng.randint(1, 5))]
        self._answer([{"type": "text", "text": "\n\n".join(said)}], "end_turn")
        self._link(self.layout.others["system"], toolUseID=self._uuid())
        self._loose("last-prompt", lastPrompt=prompt, leafUuid=self.parent)
        self._loose("atis-latch")
        self.now += timedelta(seconds=self.rng.randint(20, 600))

    def close(self) -> list[Row]:
        """Add the row the host writes on leaving, and return all rows."""
        self._loose("cost-state", startTime=int(self.now.timestamp() * 1000))
        return self.rows

    def _ask(self, text: str) -> None:
        for queued in self.layout.queued:
            self._add({**queued, "timestamp": self._tick()})
        self.turns += 1
        self.prompt_id = self._uuid()
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        position = {"promptIndex": 0, "turnIndex": self.turns}
        self._link(self.layout.prompt, promptId=self.prompt_id, message=message, turnPosition=position)
        if self.turns == 1:
            self._open(text)
        else:
            self._remind()
            reminder = {"type": "text", "text": f"<system-reminder>\n{self._tokens()}\n</system-reminder>"}
            self._request({"role": "user", "content": [reminder, {"type": "text", "text": text}]})

    def _open(self, prompt: str) -> None:
        """Copy what the host tells the model at the start: environment, tools, skills, system prompt."""
        for row in self.layout.opening:
            copied: Row = json.loads(json.dumps(row).replace(CAPTURED_CWD, self.cwd))
            if "uuid" in copied:
                self._link(copied)
            elif copied["type"] == "api-request-blob":
                copied["message"]["content"][-1]["text"] = prompt
                self.digest = copied["hash"] = _sha256(copied["message"])
                self._add(copied)
            elif copied["type"] == "api-request":
                self._count(copied, [self.digest])
            else:
                self._add({**copied, **({"timestamp": self._tick()} if "timestamp" in copied else {})})

    def _answer(self, blocks: list[Row], stop_reason: str) -> list[str]:
        """Add one model response, a row per content block and one message id for all; return the uuids."""
        self.now += timedelta(seconds=self.rng.randint(2, 20))
        name = f"msg_{self.rng.getrandbits(96):024x}"
        spent = sum(len(json.dumps(block)) for block in blocks) // 4
        self.digest = _sha256({"role": "assistant", "content": blocks})
        uuids = []
        for index, block in enumerate(blocks):
            row = copy.deepcopy(self.layout.answers[block["type"]])
            row["message"] |= {"id": name, "content": [block], "stop_reason": stop_reason}
            row["message"]["usage"]["output_tokens"] = spent
            row.pop("slug", None)
            uuids.append(self._link(row, apiBlockIndex=index, requestRef=self.request))
        self.tokens_left -= spent
        return uuids

    def _results(self, calls: list[tuple[Row, Result]], parents: list[str]) -> None:
        """Add one row per tool result, each the child of its call, then the request that carries them."""
        blocks = []
        for (call, result), parent in zip(calls, parents, strict=True):
            self.now += timedelta(milliseconds=self.rng.randint(40, 4000))
            known = self.layout.results
            row = copy.deepcopy(known[f"{call['name']} failed"] if result.failed else known[call["name"]])
            block = {**row["message"]["content"][0], "tool_use_id": call["id"], "content": result.shown}
            row["message"]["content"] = [block]
            blocks.append(copy.deepcopy(block))
            self.parent = parent
            row |= {"toolUseResult": result.recorded, "sourceToolAssistantUUID": parent}
            self._link(row, promptId=self.prompt_id)
        self._remind()
        blocks[-1]["content"] += f"\n\n<system-reminder>\n{self._tokens()}\n</system-reminder>"
        self._request({"role": "user", "content": blocks})

    def _call(self, topic: Topic) -> tuple[Row, Result]:
        kinds = [_run_tests, _log, _write_note]
        if topic.lines:
            kinds += [_search, _print_lines, _read, _edit]
        name, arguments, result = self.rng.choice(kinds)(topic, self.rng, self.cwd)
        block = {"type": "tool_use", "id": f"toolu_{self.rng.getrandbits(96):024x}"}
        return block | {"name": name, "input": arguments}, result

    def _request(self, message: Row) -> None:
        previous, self.digest = self.digest, _sha256(message)
        self._loose("api-request-blob", hash=self.digest, message=message)
        self._count(self.layout.others["api-request"] | {"base": self.request}, [previous, self.digest])

    def _count(self, row: Row, tail: list[str]) -> None:
        row = copy.deepcopy(row) | {"keep": self.messages, "tail": tail, "id": self._uuid()}
        row["timestamp"] = self._tick()
        row["cacheControl"][-1]["path"][1] = self.messages + len(tail) - 1
        row["requestDigest"] = _sha256(tail)
        self.messages += len(tail)
        self.request = row["id"]
        self._add(row)

    def _remind(self) -> None:
        reminder = copy.deepcopy(self.layout.attachments["total_tokens_reminder"])
        reminder["attachment"]["text"] = self._tokens()
        reminder["rendered"] = [{"content": f"<system-reminder>\n{self._tokens()}\n</system-reminder>"}]
        self._link(reminder)

    def _tokens(self) -> str:
        return f"<total_tokens>{self.tokens_left} tokens left</total_tokens>"

    def _link(self, template: Row, **changes: object) -> str:
        """Add a row that has a uuid, as the child of the one before; return the uuid."""
        row = copy.deepcopy(template) | changes
        row |= {"parentUuid": self.parent, "uuid": self._uuid(), "timestamp": self._tick(), "cwd": self.cwd}
        self.parent = uuid_ = str(row["uuid"])
        self._add(row)
        return uuid_

    def _loose(self, kind: str, **changes: object) -> None:
        self._add(copy.deepcopy(self.layout.others[kind]) | changes)

    def _add(self, row: Row) -> None:
        self.rows.append(row | {"sessionId": self.id})

    def _tick(self) -> str:
        self.now += timedelta(milliseconds=self.rng.randint(1, 90))
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))


Call = tuple[str, Row, Result]
"""A tool's name, its input and what it answered."""


def _bash(command: str, output: str, *, failed: bool = False) -> Call:
    arguments = {"command": command, "description": "Run a command"}
    if failed:
        shown = f"Exit code 1\n{output}"
        return "Bash", arguments, Result(shown, f"Error: {shown}", failed=True)
    flags = {"interrupted": False, "isImage": False, "noOutputExpected": False}
    return "Bash", arguments, Result(output, {"stdout": output, "stderr": "", **flags})


def _search(topic: Topic, rng: random.Random, cwd: str) -> Call:
    word = rng.choice(("def ", "raise ", "return ", "import ", "self."))
    found = [f"{number}:{line}" for number, line in enumerate(topic.lines, 1) if word in line]
    return _bash(f'grep -n "{word}" {topic.path}', "\n".join(found[:60]))


def _print_lines(topic: Topic, rng: random.Random, cwd: str) -> Call:
    begin, lines = excerpt(topic, rng, 10, 45)
    return _bash(f"sed -n '{begin},{begin + len(lines) - 1}p' {topic.path}", "\n".join(lines))


def _run_tests(topic: Topic, rng: random.Random, cwd: str) -> Call:
    file = f"tests/test_{topic.name.rsplit('.', 1)[-1].replace(' ', '_')}.py"
    chosen = rng.sample(topic.names, min(len(topic.names), rng.randint(3, 12)))
    failed = rng.random() < 0.3
    verdicts = [f"{file}::test_{name} PASSED" for name in chosen]
    if failed:
        verdicts[-1] = verdicts[-1].replace("PASSED", "FAILED")
        expected, got = rng.sample(range(900), 2)
        verdicts.append(f"E   AssertionError: {chosen[-1]}: expected {expected}, got {got}")
    verdicts.append(f"{len(chosen)} tests in {rng.random() * 9:.2f}s")
    return _bash(f"python -m pytest -v {file}", "\n".join(verdicts), failed=failed)


def _log(topic: Topic, rng: random.Random, cwd: str) -> Call:
    verbs = ("Handle", "Simplify", "Test", "Document", "Speed up", "Revert", "Rename")
    names = topic.names[:15]
    subjects = [f"{rng.getrandbits(28):07x} {rng.choice(verbs)} {name} in {topic.name}" for name in names]
    return _bash(f"git log --oneline -n 15 -- {topic.path}", "\n".join(subjects))


def _read(topic: Topic, rng: random.Random, cwd: str) -> Call:
    begin, lines = excerpt(topic, rng, 40, 160)
    path = f"{cwd}/{topic.path}"
    recorded = {
        "type": "text",
        "file": {
            "filePath": path,
            "content": "\n".join(lines),
            "numLines": len(lines),
            "startLine": begin,
            "totalLines": len(topic.lines),
        },
    }
    shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, begin))
    return "Read", {"file_path": path, "offset": begin, "limit": len(lines)}, Result(shown, recorded)


def _edit(topic: Topic, rng: random.Random, cwd: str) -> Call:
    begin, before = excerpt(topic, rng, 3, 12)
    after = [before[0], f"    # Checked: see {rng.choice(topic.names)}.", *before[1:]]
    path = f"{cwd}/{topic.path}"
    hunk = {"oldStart": begin, "oldLines": len(before), "newStart": begin, "newLines": len(after)}
    patch = [f" {before[0]}", f"+{after[1]}", *(f" {line}" for line in before[1:])]
    recorded = {
        "filePath": path,
        "oldString": "\n".join(before),
        "newString": "\n".join(after),
        "originalFile": "\n".join(topic.lines[max(0, begin - 100) : begin + 100]),
        "structuredPatch": [{**hunk, "lines": patch}],
        "userModified": False,
        "replaceAll": False,
    }
    arguments = {
        "replace_all": False,
        "file_path": path,
        "old_string": recorded["oldString"],
        "new_string": recorded["newString"],
    }
    note = "has been updated successfully. (file state is current in your context — no need to Read it back)"
    return "Edit", arguments, Result(f"The file {path} {note}", recorded)


def _write_note(topic: Topic, rng: random.Random, cwd: str) -> Call:
    path = f"{cwd}/notes/{topic.name.replace(' ', '-')}.md"
    names = rng.sample(topic.names, min(len(topic.names), 8))
    content = f"# {topic.name}\n\n" + "\n".join(f"- {name}: see {topic.path}" for name in names) + "\n"
    recorded: Row = {
        "type": "create",
        "filePath": path,
        "content": content,
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    note = "(file state is current in your context — no need to Read it back)"
    shown = f"File created successfully at: {path} {note}"
    return "Write", {"file_path": path, "content": content}, Result(shown, recorded)


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _write(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body, encoding="utf-8", newline="\n", errors="replace")


def _measure(root: Path, passes: int) -> Corpus:
    sessions, documents = sorted(root.glob("projects/*/*.jsonl")), sorted(root.glob("docs/*.md"))
    digest = hashlib.sha256()
    for path in sessions + documents:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return Corpus(
        root=str(root),
        sessions=len(sessions),
        documents=len(documents),
        rows=sum(path.read_bytes().count(b"\n") for path in sessions),
        transcript_bytes=sum(path.stat().st_size for path in sessions),
        document_bytes=sum(path.stat().st_size for path in documents),
        passes=passes,
        digest=digest.hexdigest(),
    )


def main() -> None:
    """Write a corpus from the command line and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=write_corpus.__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--sessions", type=int, default=62)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fixtures", type=Path, default=FIXTURES)
    parser.add_argument("--text", type=Path, action="append", default=[], help="a directory of prose")
    given = parser.parse_args()
    written = write_corpus(
        given.root, given.sessions, given.documents, given.seed, fixtures=given.fixtures, text=given.text
    )
    print(json.dumps(asdict(written), indent=2))


if __name__ == "__main__":
    main()
