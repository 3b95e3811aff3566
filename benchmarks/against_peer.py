"""Palazzo beside MemPalace 3.11.0: the same corpus, the same weights, one run.

    python tools/build_model.py --variant fp32 --out DIR
    python benchmarks/against_peer.py DIR/minilm-l6-v2-fp32.onnx [--sessions 62] [--documents 40] [--venv DIR] [--json]

What to know of the peer (see `peer_mempalace.py`): it embeds inside its write, so that its two times are one; its
embedder runs in a server of ours, with the fp32 weights and two threads, whose memory is counted with it since
ours embeds in its own process; it leaves out what Read, Edit and Write answered and cuts what Bash printed, so
fewer words are embedded and kept: texts embedded and bytes kept stand beside every figure, and disk is compared
for each byte of text kept. The archive of the sources' own bytes, which the peer has none of, stands apart.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpus import Corpus, write_corpus
from benchmarks.ingest import SOURCE, Run, run_embed, run_mine, sizes
from benchmarks.measuring import MB, Row, report
from benchmarks.peer_mempalace import PeerFigures, measure_peer

from palazzo.archive.archive_reader import read_drawer
from palazzo.palace import Palace

SERVER = Path(__file__).with_name("openai_server.py")
QUERY = "why did we decide to keep it"
TIMES = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both and print a row for each figure."""
    parser = argparse.ArgumentParser(description="Palazzo beside MemPalace on the same corpus.")
    parser.add_argument("graph", type=Path, help="minilm-l6-v2-fp32.onnx")
    parser.add_argument("--sessions", type=int, default=62)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--venv", type=Path, default=Path("/tmp/peer-venv"))
    parser.add_argument("--timeout", type=float, default=3600)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="against-peer-") as scratch:
        root = Path(scratch)
        corpus = write_corpus(root / "corpus", given.sessions, given.documents)
        ours = measure_ours(root / "corpus", root / "palace" / "palace.db")
        with served(given.graph) as (url, pid):
            peer = measure_peer(
                root / "corpus",
                venv_directory=given.venv,
                embeddings_url=url,
                embedding_server_pid=pid,
                query=QUERY,
                timeout=given.timeout,
            )
    title = f"Beside MemPalace {peer.version}: {given.sessions} sessions, {given.documents} documents"
    report(title, rows(ours, peer, corpus), given.json)
    return 0


def measure_ours(corpus: Path, palace: Path) -> dict[str, float]:
    """Return our figures: seconds, MB, counts. Each step is a process of its own."""
    paths = (corpus / "projects", corpus / "docs")
    mined: Run = run_mine(palace, *paths)
    embedded: Run = run_embed(palace)
    again: Run = run_mine(palace, *paths)
    found = sizes(palace)
    return {
        "findable": mined.seconds,
        "embedded": mined.seconds + embedded.seconds,
        "mining peak": mined.said["peak_mb"],
        "peak": max(mined.said["peak_mb"], embedded.said["peak_mb"]),
        "again": again.seconds,
        "drawers": found["drawers"],
        "texts": found["texts"],
        "text": text_bytes(palace),
        "disk": found["file"],
        "packs": found["pages of packs"],
        "pack bodies": found["pack bodies"],
        "search": search_command(palace),
    }


def rows(ours: dict[str, float], peer: PeerFigures, corpus: Corpus) -> list[Row]:
    """Return the figures side by side, the ratio peer / ours, and the goal."""
    beside = ours["disk"] - ours["packs"]
    peak = (peer.peak_rss_with_server or peer.peak_rss) / MB
    table = [
        ("seconds until findable by keyword", ours["findable"], peer.seconds_to_findable, "20"),
        ("seconds until fully embedded", ours["embedded"], peer.seconds_to_embedded, "1.7"),
        ("peak MB, embedding included", ours["peak"], peak, "2"),
        ("seconds again with nothing new", ours["again"], peer.seconds_when_nothing_is_new, ""),
        ("search as a command, seconds", ours["search"], peer.search_command_seconds, ""),
        ("disk for each byte of text kept", beside / ours["text"], peer.disk_bytes / max(peer.text_bytes, 1), "2"),
        ("disk MB, archive apart", beside / MB, peer.disk_bytes / MB, ""),
        ("MB of text kept", ours["text"] / MB, peer.text_bytes / MB, ""),
        ("drawers", ours["drawers"], float(peer.drawers), ""),
        ("texts embedded", ours["texts"], float(peer.vectors), ""),
    ]
    shown: list[Row] = [
        {
            "what": what,
            "ours": round(own, 3),
            "peer": round(other, 3),
            "peer / ours": round(other / own, 2),
            "goal": goal,
        }
        for what, own, other, goal in table
    ]
    for row in shown[1:2]:
        rate, other = ours["texts"] / (ours["embedded"] - ours["findable"]), peer.vectors / peer.seconds_to_embedded
        row["texts/s, ours and peer"] = f"{rate:.1f}, {other:.1f}"
    archive = ours["pack bodies"] / (corpus.transcript_bytes + corpus.document_bytes)
    shown.append({"what": "archive bytes for each byte of source", "ours": round(archive, 3), "goal": "at most 0.25"})
    return shown


def text_bytes(palace: Path) -> float:
    """Return the UTF-8 bytes of all live drawers' texts."""
    with Palace.open(palace, "read") as opened, opened.database.snapshot() as connection:
        live = [int(row) for (row,) in connection.execute("SELECT id FROM drawer WHERE retired_at IS NULL")]
        return float(sum(len(read_drawer(connection, row).text.encode("utf-8", "replace")) for row in live))


def search_command(palace: Path) -> float:
    """Return the median seconds of `palazzo search` from start to exit, without a service."""
    command = [sys.executable, "-m", "palazzo.faces.cli", "--palace", str(palace), "search", QUERY]
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        subprocess.run(command, env=environment, capture_output=True, check=True, timeout=120)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


@contextmanager
def served(graph: Path) -> Iterator[tuple[str, int]]:
    """Serve the weights on loopback; yield the address and the process id."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, str(SERVER), str(graph), "--threads", "2"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
