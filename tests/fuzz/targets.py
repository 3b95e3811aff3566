"""The targets: for each parser that reads what others wrote, a function of bytes, and the inputs to begin with.

A target that needs something for all of its inputs (a palace, a server) is a context manager that yields the function.
"""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.file_targets import conversation_files, open_collections, read_document
from tests.fuzz.served_targets import serve_frames, serve_http, serve_viewer
from tests.sync.stores.samples import WRITERS

from palazzo.daemon.engine import operation_called
from palazzo.daemon.rpc_connection import _message
from palazzo.derived import integrity_checks
from palazzo.errors import UsageError
from palazzo.faces.hooks import hook_exchange
from palazzo.faces.mcp import jsonrpc_lines
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.selftest.steps import run_operation
from palazzo.hosts.host_registry import adapters
from palazzo.importers.store_readers import find_reader
from palazzo.operations import damage, registry
from palazzo.operations.context import Context
from palazzo.operations.serialisation import from_wire
from palazzo.palace import Palace, without_embedder
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS
from palazzo.store import page_kinds
from palazzo.store.page_file import PageFile, Tree
from palazzo.sync import export_check, record_lines, segments

CORPUS = Path(__file__).parent / "corpus"
FIXTURES = Path(__file__).parents[1] / "fixtures"
_HEAD = 20_000

Target = Callable[[bytes], object]


def corpus_of(name: str) -> list[bytes]:
    """Return the committed inputs of a target."""
    inputs = [path.read_bytes() for path in sorted(CORPUS.glob(f"{name}*"))]
    assert inputs, name
    return inputs


def transcripts() -> list[bytes]:
    return [path.read_bytes()[:_HEAD] for path in sorted(FIXTURES.rglob("*.jsonl"))]


def documents() -> list[bytes]:
    return [path.read_bytes() for path in sorted((FIXTURES / "documents").iterdir())]


def hook_payloads() -> list[bytes]:
    return [path.read_bytes() for path in sorted((FIXTURES / "hooks").rglob("*.json"))]


def read_transcript(data: bytes) -> object:
    """Read with every reader, also those that would not recognise it."""
    return [list(feeder.rows(BytesIO(data))) for feeder in TRANSCRIPTS]


def read_hook(data: bytes) -> object:
    def ask(request: HookRequest, cwd: str) -> HookResult:
        return HookResult()

    for host, adapter in adapters().items():
        for event in list(adapter.events)[:6]:
            answer = hook_exchange.answer(host, event, data, ask, lambda line: None)
            assert answer.endswith(b"\n")
    return None


def read_segment(data: bytes) -> object:
    name = segments.SegmentName(1, 1, segments.digest(data))
    return segments.read(data, name, "d" * 32, "p" * 32)


def read_head(data: bytes) -> object:
    return segments.load_head(data, "d" * 32)


def read_record(data: bytes) -> object:
    return record_lines.from_line(data)


def read_export(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "export.jsonl"
        path.write_bytes(data)
        return export_check.check(path)


def read_call(data: bytes) -> object:
    """Read a line of the service's clients, up to the request of its operation."""
    message = _message(data)
    try:
        operation = operation_called(message.get("operation"))
    except UsageError:
        operation = registry.operation("search")  # the request is read all the same
    return from_wire(operation.request, message.get("request", {}))


def read_pages(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "palace.db"
        path.write_bytes(data)
        with PageFile(path) as pages:
            return list(pages.rows(1, True, Tree()))


def read_frame(data: bytes) -> object:
    """Read a line of an MCP client, up to the message that the SDK gets or the error that the client gets."""
    return jsonrpc_lines._message(data)


@contextlib.contextmanager
def open_damaged_palaces() -> Iterator[Target]:
    """Copy a sound palace, overwrite parts of its pages, and search, list and verify it.

    The input says what is overwritten: a seed, and the bytes that come there.
    """
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        sound, path = directory / "sound.db", directory / "palace.db"
        variables = {"HOME": name, "PALAZZO_SERVICE": "off"}
        for n in range(12):
            run_operation(sound, variables, "remember", text=f"The gateway {n} listens.", wing="shop", tags=("kept",))
        run_operation(sound, variables, "kg_add", subject="gateway", predicate="listens on", object="8443", wing="shop")
        page_kinds.fold_log(sound)
        pages = sound.read_bytes()

        def read(data: bytes) -> object:
            chance = random.Random(data)
            content = bytearray(pages)
            for _ in range(chance.randrange(1, 4)):
                page = chance.randrange(len(pages) // page_kinds.PAGE) * page_kinds.PAGE
                start = page + chance.choice((0, chance.randrange(120), chance.randrange(page_kinds.PAGE)))
                length = min(len(data), chance.choice((1, 2, 8, 100)), len(content) - start)
                content[start : start + length] = data[:length]
            for suffix in ("", "-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            path.write_bytes(content)
            try:
                run_operation(path, variables, "search", query="gateway")
                with Palace.open(path, "read") as palace:
                    return [check.ok for check in integrity_checks.verify(palace.database, without_embedder)]
            except Exception as error:
                with Context(path, directory, variables) as context:
                    if (explained := damage.explain(context, error)) is not None:
                        raise explained from error
                raise

        yield read


@contextlib.contextmanager
def open_other_stores() -> Iterator[Target]:
    """Read stores of other memories in which a piece of one file was replaced by the input."""
    with tempfile.TemporaryDirectory() as name:
        stores = {}
        for store, write in WRITERS.items():
            directory = Path(name) / store
            directory.mkdir()
            path = write(directory)
            files = {file: file.read_bytes() for file in sorted(directory.rglob("*")) if file.is_file()}
            stores[store] = path, files

        def read(data: bytes) -> object:
            chance = random.Random(data)
            store = chance.choice(sorted(stores))
            path, files = stores[store]
            file, content = chance.choice(list(files.items()))
            start = chance.randrange(len(content))
            end = start + chance.choice((0, 1, 4, len(data)))
            file.write_bytes(content[:start] + data[: chance.choice((1, 8, 500))] + content[end:])
            try:
                return list(find_reader(store).read(path))
            finally:
                file.write_bytes(content)

        yield read


class FuzzTarget(NamedTuple):
    """A parser, the inputs to begin with, and the modules whose coverage is of interest."""

    open: Callable[[], AbstractContextManager[Target]]
    inputs: Callable[[], Sequence[bytes]]
    modules: tuple[str, ...]


def _plain(target: Target, inputs: Callable[[], Sequence[bytes]], *modules: str) -> FuzzTarget:
    return FuzzTarget(lambda: contextlib.nullcontext(target), inputs, modules)


TARGETS: dict[str, FuzzTarget] = {
    "transcript": _plain(read_transcript, transcripts, "hosts/*/transcript.py", "sources/formats/*.py"),
    "collection": FuzzTarget(open_collections, conversation_files, ("sources/formats/*.py",)),
    "document": _plain(
        read_document,
        documents,
        *("sources/formats/converted_notebooks.py", "sources/formats/converted_documents.py"),
    ),
    "hook": _plain(read_hook, hook_payloads, "faces/hooks/*.py", "hosts/*/hooks.py"),
    "segment": _plain(read_segment, lambda: corpus_of("segment"), "sync/segments.py", "sync/segment_frames.py"),
    "head": _plain(read_head, lambda: corpus_of("head"), "sync/segments.py"),
    "record": _plain(
        read_record,
        lambda: corpus_of("export")[0].splitlines(),
        *("sync/record_lines.py", "sync/field_codecs.py", "sync/records/*.py"),
    ),
    "export": _plain(
        read_export,
        lambda: corpus_of("export"),
        *("sync/export_check.py", "sync/carried_files.py", "sync/line_checksums.py"),
    ),
    "call": _plain(read_call, lambda: corpus_of("call"), "operations/serialisation.py", "daemon/rpc_connection.py"),
    "pages": _plain(read_pages, lambda: corpus_of("pages"), "store/page_file.py"),
    "frame": _plain(
        read_frame, lambda: corpus_of("mcp")[0].splitlines(), "faces/mcp/jsonrpc_lines.py", "faces/mcp/handshake.py"
    ),
    "mcp": FuzzTarget(serve_frames, lambda: corpus_of("mcp"), ("faces/mcp/*.py",)),
    "http": FuzzTarget(serve_http, lambda: corpus_of("http"), ("faces/mcp/http_*.py",)),
    "viewer": FuzzTarget(serve_viewer, lambda: corpus_of("viewer"), ("faces/web/*.py", "faces/web/pages/*.py")),
    "palace": FuzzTarget(
        open_damaged_palaces,
        lambda: [bytes(8), b"\xff" * 8, b"\x0d\x00\x00\x00\x01", *corpus_of("head")],
        ("store/*.py", "derived/integrity_checks.py"),
    ),
    "store": FuzzTarget(
        open_other_stores, lambda: [*corpus_of("head"), *corpus_of("call"), b"\x00\xff"], ("importers/*.py",)
    ),
}
