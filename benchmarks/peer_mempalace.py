"""The peer of the ingest benchmark: MemPalace 3.11.0, driven as its own documentation says, and measured.

Owns how the peer is installed, fed and asked, and what its answers and files mean. It must not know
Palazzo: `measure_peer` is called beside our own measurement by whoever compares.

What makes the comparison fair:

- the peer gets the same fp32 weights through its own `openai-compat` setting, from a server on loopback
  (`benchmarks/openai_server.py`); batches of 64 texts, one request at a time, are its own choice;
- transcripts go through `mine --mode convos`, documents through `mine --mode projects`, each once into a
  fresh palace; `projects` over transcripts would file raw JSON, which nobody wants of it;
- a scratch home and a bare environment: no user settings, no daemon, no hub, no telemetry, no downloads;
- seconds come from the peer's own progress lines, read unbuffered. Its database is never opened while it
  runs: it keeps a rollback journal, so that a reader would hold up its commits.

The peer embeds inside the write (one Chroma upsert per file of up to 1,000 drawers): text becomes findable
by keyword and by meaning in the same instant. Its two columns are therefore equal, and the first file's
time says when anything at all was findable.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
import uuid
import venv
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

VERSION = "3.11.0"
COLLECTION = "mempalace_drawers"
FILED = "  + ["
"""How the peer begins the line that says a file's drawers are committed."""
COUNT = """
import sys, chromadb
rows = chromadb.PersistentClient(sys.argv[1]).get_collection(sys.argv[2], embedding_function=None)
found = rows.get(include=["documents", "embeddings"])
print(len(found["ids"]), len(found["embeddings"]), sum(len(text.encode()) for text in found["documents"]))
"""
"""Run by the peer's Python: prints drawers, vectors and bytes of text."""
SAMPLE_SECONDS = 0.05
MARK = "PALAZZO_BENCHMARK_RUN"
"""Set in the peer's environment, so that processes it detaches are counted and ended too."""


class PeerError(RuntimeError):
    """The peer failed or ran out of time; carries the end of what it printed."""


@dataclass(frozen=True)
class MinedFigures:
    """One `mempalace mine`. Seconds count from process start."""

    mode: str
    files: int
    seconds_to_first: float
    """Until the first file was findable, by keyword and by meaning."""
    seconds_to_embedded: float
    """Until the last file was findable and embedded."""
    seconds_to_exit: float
    """Until the process ended: `seconds_to_embedded`, the peer's entity links and its integrity check."""


@dataclass(frozen=True)
class PeerFigures:
    """What the peer needed for a corpus. Seconds, bytes, counts.

    Memory is the greatest sum of resident sets over the peer's processes at one instant. With
    `embedding_server_pid` given, `peak_rss_with_server` adds the server at each instant: that sum is what
    stands beside a product that embeds in its own process; `peak_rss` stands beside one whose embedder is
    left out as well.
    """

    version: str
    mined: Sequence[MinedFigures]
    drawers: int
    vectors: int
    text_bytes: int
    """UTF-8 bytes of the drawers' texts: what the peer keeps of the corpus."""
    disk_bytes: int
    disk: dict[str, int]
    """The same by part: `sqlite`, `vectors`, `other`."""
    peak_rss: int
    peak_rss_with_server: int | None
    seconds_to_findable: float
    seconds_to_embedded: float
    seconds_to_exit: float
    seconds_when_nothing_is_new: float
    search_command_seconds: float
    """Median of five `mempalace search` from start to exit."""
    hook_seconds: dict[str, float]
    """`mempalace hook run` by hook: medians of five, the stop that saves once."""
    corpus_bytes: int


@dataclass(frozen=True)
class Peer:
    """A MemPalace installation and the scratch directory its palace lives in."""

    python: Path
    home: Path
    embeddings_url: str
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def palace(self) -> Path:
        """The directory of the palace: the database and the vector index."""
        return self.home / "config" / "palace"

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of the peer. It reads no other settings than these."""
        return {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "HOME": str(self.home),
            "MEMPALACE_CONFIG_DIR": str(self.home / "config"),
            "MEMPALACE_EMBEDDING_MODEL": "openai-compat",
            "MEMPALACE_EMBEDDING_API_URL": self.embeddings_url,
            "MEMPALACE_EMBEDDING_API_MODEL": "all-MiniLM-L6-v2",
            "MEMPALACE_WRITE_ROUTING": "direct",
            "ANONYMIZED_TELEMETRY": "False",
            "ORT_DISABLE_TELEMETRY": "1",
            "HF_HUB_OFFLINE": "1",
            MARK: self.run,
        }

    def command(self, *arguments: str) -> list[str]:
        """The argument vector of one call of the peer's command line."""
        return [str(self.python), "-m", "mempalace", *arguments]


def measure_peer(
    corpus: Path,
    *,
    venv_directory: Path,
    embeddings_url: str,
    embedding_server_pid: int | None = None,
    home: Path | None = None,
    query: str = "why did we decide to keep it",
    timeout: float = 1800,
) -> PeerFigures:
    """Feed `corpus` (`projects/` of transcripts, `docs/` of documents) to a new palace and measure it.

    `embeddings_url` is the base URL of an OpenAI-compatible server, such as `http://127.0.0.1:8765`. The
    installation in `venv_directory` is made when absent (about 500 MB). The palace lives in `home`, a new
    directory that is kept, or in a temporary one. `timeout`, in seconds, bounds the whole. Raises `PeerError`
    when the peer fails or does not finish in time.
    """
    if not any((corpus / part).is_dir() for part in ("projects", "docs")):
        raise ValueError(f"{corpus} holds neither projects/ nor docs/: write it with benchmarks/corpus.py")
    python = install_peer(venv_directory)
    deadline = time.monotonic() + timeout
    with tempfile.TemporaryDirectory(prefix="peer-") as scratch:
        peer = Peer(python, home or Path(scratch), embeddings_url)
        peer.home.mkdir(parents=True, exist_ok=True)
        try:
            return _measure(peer, corpus, query, embedding_server_pid, deadline)
        finally:
            end_leftovers(peer)


def install_peer(directory: Path) -> Path:
    """Return the Python of a virtual environment that holds the peer, made when absent."""
    python = directory / "bin" / "python"
    if not python.exists():
        venv.create(directory, with_pip=True, symlinks=True)
    asked = [str(python), "-c", "import importlib.metadata as m; print(m.version('mempalace'))"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    if found.stdout.strip() != VERSION:
        pip = [str(python), "-m", "pip", "install", "--quiet", f"mempalace=={VERSION}"]
        subprocess.run(pip, check=True, timeout=900)
    return python


def _measure(peer: Peer, corpus: Path, query: str, server: int | None, deadline: float) -> PeerFigures:
    transcripts, documents = corpus / "projects", corpus / "docs"
    mined = []
    with watched_memory(peer, server) as peak:
        if transcripts.is_dir():
            mined.append(mine(peer, transcripts, "convos", deadline))
        if documents.is_dir():
            mined.append(mine(peer, documents, "projects", deadline))
    disk = _disk(peer.palace)
    drawers, vectors, text_bytes = read_palace(peer)
    nothing_new = sum(
        mine(peer, source, mode, deadline).seconds_to_exit
        for source, mode in ((transcripts, "convos"), (documents, "projects"))
        if source.is_dir()
    )
    return PeerFigures(
        version=VERSION,
        mined=mined,
        drawers=drawers,
        vectors=vectors,
        text_bytes=text_bytes,
        disk_bytes=sum(disk.values()),
        disk=disk,
        peak_rss=peak.alone,
        peak_rss_with_server=peak.with_server if server is not None else None,
        seconds_to_findable=_until_last(mined),
        seconds_to_embedded=_until_last(mined),
        seconds_to_exit=sum(figures.seconds_to_exit for figures in mined),
        seconds_when_nothing_is_new=nothing_new,
        search_command_seconds=statistics.median(timed(peer, ("search", query), "", deadline) for _ in range(5)),
        hook_seconds=_hooks(peer, transcripts, deadline),
        corpus_bytes=sum(path.stat().st_size for path in corpus.rglob("*") if path.is_file()),
    )


def _until_last(mined: Sequence[MinedFigures]) -> float:
    """Seconds until everything was embedded: the runs before the last one count to their exit."""
    return sum(figures.seconds_to_exit for figures in mined[:-1]) + (mined[-1].seconds_to_embedded if mined else 0)


def mine(peer: Peer, source: Path, mode: str, deadline: float, wing: str = "bench") -> MinedFigures:
    """Run one `mine` to its end, noting when each file's drawers were committed."""
    arguments = peer.command("mine", str(source), "--mode", mode, "--wing", wing)
    begin = time.monotonic()
    filed: list[float] = []
    said: list[str] = []
    with subprocess.Popen(
        arguments,
        env=peer.environment,
        cwd=peer.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        late = threading.Timer(max(0.0, deadline - begin), process.kill)
        late.start()
        for line in process.stdout or ():
            said.append(line)
            if line.startswith(FILED):
                filed.append(time.monotonic() - begin)
        status = process.wait()
        late.cancel()
    took = time.monotonic() - begin
    if status != 0:
        raise PeerError(f"mempalace mine --mode {mode} ended with {status}:\n{''.join(said[-20:])}")
    return MinedFigures(mode, len(filed), min(filed, default=took), max(filed, default=took), took)


def read_palace(peer: Peer) -> tuple[int, int, int]:
    """Count the drawers, those that have a vector, and the UTF-8 bytes of their texts.

    Asks Chroma itself, in the peer's environment: vectors move from a queue in SQLite to the index files
    at moments of its own. Raises `PeerError` when the keyword index holds fewer rows than there are drawers.
    """
    asked = subprocess.run(
        [str(peer.python), "-c", COUNT, str(peer.palace), COLLECTION],
        env=peer.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    drawers, vectors, text_bytes = (int(number) for number in asked.stdout.split())
    with closing(sqlite3.connect(f"file:{peer.palace / 'chroma.sqlite3'}?mode=ro", uri=True)) as database:
        (indexed,) = database.execute("SELECT count(*) FROM embedding_fulltext_search").fetchone()
    if indexed < drawers:
        raise PeerError(f"{drawers} drawers, but {indexed} rows in the peer's keyword index")
    return drawers, vectors, text_bytes


def _disk(palace: Path) -> dict[str, int]:
    sizes = {"sqlite": 0, "vectors": 0, "other": 0}
    for path in palace.parent.rglob("*"):
        if path.is_file():
            part = {".sqlite3": "sqlite", ".bin": "vectors", ".pickle": "vectors"}.get(path.suffix, "other")
            sizes[part] += path.stat().st_size
    return sizes


def _hooks(peer: Peer, transcripts: Path, deadline: float) -> dict[str, float]:
    """Time the hooks Claude Code calls most, on a copy of the largest transcript, which is new to the peer.

    A stop saves when 15 or more messages came since the last save (tool results count as messages): a
    diary entry at once, and a detached `mine` that files the transcript again, as it does for one that grew.
    """
    largest = max(transcripts.rglob("*.jsonl"), key=lambda path: path.stat().st_size, default=None)
    if largest is None:
        return {}
    transcript = peer.home / ".claude" / "projects" / largest.parent.name / largest.name
    transcript.parent.mkdir(parents=True)
    shutil.copy(largest, transcript)
    payload = json.dumps({"session_id": transcript.stem, "transcript_path": str(transcript)})

    def call(hook: str) -> float:
        return timed(peer, ("hook", "run", "--hook", hook, "--harness", "claude-code"), payload, deadline)

    seconds = {"session-start": statistics.median(call("session-start") for _ in range(5))}
    begin = time.monotonic()
    seconds["stop that saves"] = call("stop")
    while processes_of(peer) and time.monotonic() < deadline:
        time.sleep(SAMPLE_SECONDS)
    seconds["stop that saves, with what it detached"] = time.monotonic() - begin
    seconds["stop that saves nothing"] = statistics.median(call("stop") for _ in range(5))
    return seconds


def timed(peer: Peer, arguments: Sequence[str], given: str, deadline: float) -> float:
    """Return the seconds of one call of the command line from start to exit; PeerError when it fails."""
    begin = time.monotonic()
    done = subprocess.run(
        peer.command(*arguments),
        env=peer.environment,
        cwd=peer.home,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=max(1.0, deadline - begin),
    )
    if done.returncode != 0:
        raise PeerError(f"mempalace {arguments[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return time.monotonic() - begin


@dataclass
class PeakMemory:
    """Greatest sums of resident bytes seen so far."""

    alone: int = 0
    with_server: int = 0


@contextmanager
def watched_memory(peer: Peer, server: int | None) -> Iterator[PeakMemory]:
    """Sample the resident sets of the peer's processes, and of the server, every 50 ms (Linux only)."""
    peak = PeakMemory()
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(SAMPLE_SECONDS):
            alone = sum(resident_bytes(pid) for pid in processes_of(peer))
            peak.alone = max(peak.alone, alone)
            if server is not None:
                peak.with_server = max(peak.with_server, alone + resident_bytes(server))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        stop.set()
        sampler.join()


def processes_of(peer: Peer) -> list[int]:
    """The living processes that carry this run's mark in their environment, detached ones included."""
    mark = f"{MARK}={peer.run}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # ended meanwhile, or another user's
    return found


def resident_bytes(pid: int) -> int:
    """Resident set of a process in bytes; 0 when it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def end_leftovers(peer: Peer) -> None:
    """End what the peer detached and left running."""
    for pid in processes_of(peer):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def main() -> None:
    """Measure the peer on a corpus and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=measure_peer.__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--embeddings-url", required=True)
    parser.add_argument("--embedding-server-pid", type=int)
    parser.add_argument("--home", type=Path, help="keep the peer's palace in this new directory")
    parser.add_argument("--timeout", type=float, default=1800)
    given = parser.parse_args()
    figures = measure_peer(
        given.corpus,
        venv_directory=given.venv,
        embeddings_url=given.embeddings_url,
        embedding_server_pid=given.embedding_server_pid,
        home=given.home,
        timeout=given.timeout,
    )
    print(json.dumps(asdict(figures), indent=2))


if __name__ == "__main__":
    main()
