"""Sessions are given back as their hosts wrote them, byte for byte."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.host_samples import FIXTURES, sessions_of
from tests.sources.opencode_samples import unpack, unpack_storage

from palazzo.archive import transcript_restore
from palazzo.archive.transcript_restore import SessionFile
from palazzo.errors import AmbiguousId
from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.operations.context import Context
from palazzo.operations.registry import operation

INVENTED_KEY = b"sk-test-EXAMPLE0123456789abcdef0123456789"
MARK = b"[redacted:"
KEPT_IN_FILES = "ses_e002f6907ffeyGVbzsHhFL3Mbo"
HOSTS = ("claude-code", "codex", "copilot", "gemini", "pi")
TRANSCRIPTS = [
    path for host in HOSTS for path in sessions_of(host) if path.name not in ("hooks.jsonl", "stream-json.jsonl")
]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    variables = {"HOME": str(tmp_path / "home"), "PALAZZO_SERVICE": "off", "PALAZZO_REDACT": "false"}
    with Context(palace=tmp_path / "palace.db", cwd=tmp_path, variables=variables) as context:
        yield context


def mine(context: Context, *paths: Path) -> None:
    verb = operation("mine")
    result = verb.run(context, verb.request(tuple(paths)))
    assert not result.failed


def files(context: Context) -> dict[str, SessionFile]:
    """Every file of every session that is archived, by name."""
    with context.reading().database.snapshot() as connection:
        sessions = [session for (session,) in connection.execute("SELECT DISTINCT session_id FROM source")]
        found = [
            file
            for session in sessions
            for file in transcript_restore.files_of_session(
                connection, session, transcript_restore.SessionName(session)
            )
        ]
    return {file.name: file for file in found}


def read(context: Context, given: str) -> bytes:
    with context.reading().database.snapshot() as connection:
        return transcript_restore.one_file(connection, given).read(connection)


def show_raw(context: Context, given: str) -> bytes:
    verb = operation("show")
    raw = verb.run(context, verb.request(given, raw=True)).raw
    assert isinstance(raw, bytes)
    return raw


def row(uuid: str, text: str, parent: str = "") -> bytes:
    said = {"role": "user", "content": text}
    fields = {"uuid": uuid, "sessionId": "5e551017-0000-4000-8000-000000000000", "parentUuid": parent or None}
    stamp = {"timestamp": "2026-11-21T20:39:00.629Z", "cwd": "/home/dev/acme", "isSidechain": False}
    return json.dumps({"type": "user", "message": said, **fields, **stamp}).encode() + b"\n"


def same_but_for_marks(given: object, wanted: object) -> bool:
    """Whether two values are equal, where what stands in place of a mark may be anything."""
    if isinstance(given, dict) and isinstance(wanted, dict):
        return len(given) == len(wanted) and all(map(same_but_for_marks, given.values(), wanted.values()))
    if isinstance(given, list) and isinstance(wanted, list):
        return len(given) == len(wanted) and all(map(same_but_for_marks, given, wanted))
    if isinstance(given, str) and MARK.decode() in given:
        pieces = re.split(r"\[redacted:[^\]]*\]", given)
        return re.fullmatch(".+".join(map(re.escape, pieces)), str(wanted), re.DOTALL) is not None
    return given == wanted


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "5e551017-0000-4000-8000-000000000000.jsonl"


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_transcript_comes_back_byte_for_byte(context: Context, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine(context, path)
    (file,) = files(context).values()
    assert show_raw(context, file.source.session_id) == path.read_bytes()
    assert file.whole


def test_all_transcripts_of_a_machine_come_back_from_one_palace(context: Context, tmp_path: Path) -> None:
    with zipfile.ZipFile(FIXTURES / "more-transcripts.zip") as archive:
        archive.extractall(tmp_path / "more")
    paths = {path.name: path for path in [*TRANSCRIPTS, *(tmp_path / "more").rglob("*.jsonl")]}
    mine(context, *paths.values())
    found = files(context)
    assert set(found) == set(paths)
    with context.reading().database.snapshot() as connection:
        for name, path in paths.items():
            assert found[name].read(connection) == path.read_bytes(), path


def test_with_redaction_on_it_comes_back_but_for_the_marks(context: Context) -> None:
    context.variables = {**context.variables, "PALAZZO_REDACT": "true"}
    mine(context, *TRANSCRIPTS)
    found = files(context)
    with context.reading().database.snapshot() as connection:
        for path in TRANSCRIPTS:
            rows, wanted = found[path.name].read(connection).splitlines(), path.read_bytes().splitlines()
            assert INVENTED_KEY not in b"".join(rows)
            assert len(rows) == len(wanted)
            for given, row in zip(rows, wanted, strict=True):
                if given != row:
                    assert MARK in given
                    assert same_but_for_marks(json.loads(given), json.loads(row))


def test_a_forked_session_has_the_rows_that_it_took_over(context: Context, tmp_path: Path) -> None:
    shared = b"".join(row(f"u{n}", f"word {n}") for n in range(9))
    first, second = (
        tmp_path / f"{'a' * 8}-0000-4000-8000-{'0' * 12}.jsonl",
        tmp_path / f"{'b' * 8}-0000-4000-8000-{'0' * 12}.jsonl",
    )
    first.write_bytes(shared + row("u10", "went on here"))
    second.write_bytes(shared + row("u11", "and there") + row("u1", "word 1") + row("u1", "another word 1"))
    mine(context, first, second)
    assert read(context, first.stem) == first.read_bytes()
    assert read(context, second.stem) == second.read_bytes()


@pytest.mark.parametrize(
    "after",
    [
        [row("u1", "one"), row("u2", "TWO"), row("u3", "three")],  # another row of the same length
        [row("u1", "one"), row("u2", "two, at some length"), row("u3", "three")],  # the rest has moved
        [row("u2", "two"), row("u3", "three")],
        [row("u1", "one"), row("u2", "two")],
        [row("u1", "one")],
        [row("u9", "nine"), row("u1", "one"), row("u2", "two"), row("u3", "three"), row("u4", "four")],
        [b"\n", row("u1", "one"), b"[1]\n", row("u3", "three"), row("u2", "two")],
    ],
)
def test_of_a_rewritten_file_the_latest_version_comes_back(
    context: Context, transcript: Path, after: list[bytes]
) -> None:
    before = [row("u1", "one"), row("u2", "two"), row("u3", "three")]
    transcript.write_bytes(b"".join(before))
    mine(context, transcript)
    transcript.write_bytes(b"".join(after))
    mine(context, transcript)
    assert read(context, transcript.stem) == b"".join(after)
    with transcript.open("ab") as file:
        file.write(row("u20", "and it goes on"))
    mine(context, transcript)
    assert read(context, transcript.stem) == transcript.read_bytes()


def test_a_line_that_is_still_being_written_is_no_part_of_it(context: Context, transcript: Path) -> None:
    transcript.write_bytes(row("u1", "one") + row("u2", "two")[:40])
    mine(context, transcript)
    assert read(context, transcript.stem) == row("u1", "one")
    transcript.write_bytes(row("u1", "one") + row("u2", "two"))
    mine(context, transcript)
    assert read(context, transcript.stem) == transcript.read_bytes()


def test_a_copy_that_fell_behind_is_not_another_version(context: Context, transcript: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / transcript.name
    copy.parent.mkdir()
    copy.write_bytes(row("u1", "one"))
    transcript.write_bytes(row("u1", "one") + row("u2", "two"))
    mine(context, transcript)
    mine(context, copy)
    assert read(context, transcript.stem) == transcript.read_bytes()


def test_two_files_of_one_session_are_told_apart_by_their_names(context: Context) -> None:
    paths = sessions_of("gemini")
    mine(context, *paths)
    with pytest.raises(AmbiguousId) as caught:
        show_raw(context, "12a4bcd7")
    assert len(caught.value.candidates) == len(paths)
    for label in caught.value.candidates:
        name = label.partition("#")[2]
        assert show_raw(context, label) == next(path for path in paths if path.name == name).read_bytes()


def test_an_id_that_two_hosts_use_is_told_apart_by_the_host(context: Context, tmp_path: Path) -> None:
    session = "5e551017-0000-4000-8000-000000000000"
    claude, codex = tmp_path / f"{session}.jsonl", tmp_path / f"rollout-2026-11-21T21-00-54-{session}.jsonl"
    claude.write_bytes(row("u1", "one"))
    meta = {"timestamp": "2026-11-21T21:00:54Z", "type": "session_meta", "payload": {"id": session, "cwd": "/w"}}
    codex.write_bytes(json.dumps(meta).encode() + b"\n")
    mine(context, claude, codex)
    with pytest.raises(AmbiguousId, match="codex:"):
        read(context, session)
    assert read(context, f"codex:{session}") == codex.read_bytes()
    assert read(context, "claude-code:5e55") == claude.read_bytes()


def test_a_session_is_meant_though_its_subagents_begin_alike(context: Context) -> None:
    folder = FIXTURES / "claude-code" / "2.1.330"
    mine(context, *folder.rglob("*.jsonl"))
    (session,) = folder.glob("*.jsonl")
    assert show_raw(context, session.stem[:6]) == session.read_bytes()


def test_a_session_of_a_database_comes_back_as_its_records(context: Context, tmp_path: Path) -> None:
    database = unpack("1.18.33.db", tmp_path)
    mine(context, database)
    for session in Opencode().sessions(database):
        wanted = b"".join(row.raw + b"\n" for row in session.rows())
        assert read(context, session.identity.session_id) == wanted
        assert all(isinstance(json.loads(line), dict) for line in wanted.splitlines())


def test_a_session_kept_in_files_comes_back_with_their_bytes(context: Context, tmp_path: Path) -> None:
    storage = unpack_storage(tmp_path)
    mine(context, storage)
    said = read(context, KEPT_IN_FILES)
    parts = [f"part/{message.stem}" for message in (storage / "message" / KEPT_IN_FILES).iterdir()]
    for pattern in (f"session/*/{KEPT_IN_FILES}.json", f"message/{KEPT_IN_FILES}/*", *(f"{one}/*" for one in parts)):
        assert list(storage.glob(pattern))
        assert all(file.read_bytes() in said for file in storage.glob(pattern))
