"""Project documents: what their bytes say, when, and under which title."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePath

import pytest

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Message, Row
from palazzo.sources.formats.document_kinds import LARGEST, is_code, is_document, refusal_by_head, refusal_by_name
from palazzo.sources.formats.document_rows import Documents

FEEDER = Documents("git:abc", Path("/home/dev/acme"))


def read(raw: bytes, name: str = "notes.md") -> tuple[Row, Message]:
    stream = BytesIO(raw)
    stream.name = name
    [row] = FEEDER.rows(stream)
    assert isinstance(row.content, Message)
    assert row.raw == raw
    return row, row.content


def day(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def test_a_version_of_a_file_is_one_document() -> None:
    row, said = read("# Plan\r\n\r\nÅäö 🙏\n".encode())
    assert (said.kind, said.role, said.text) == ("document", "author", "# Plan\r\n\r\nÅäö 🙏\n")
    assert [(part.kind, part.start, part.end) for part in said.parts] == [("text", 0, len(said.text))]
    assert row.title == "Plan"
    assert not said.meta


def test_it_is_known_by_project_and_path() -> None:
    assert FEEDER.identify(Path("/home/dev/acme/docs/a b.md"), b"").key == ("document", "git:abc", "docs/a b.md")


@pytest.mark.parametrize(
    ("raw", "text", "encoding"),
    [
        (b"\xef\xbb\xbfhej", "hej", "utf-8 with byte order mark"),
        ("hej å".encode("utf-16"), "hej å", "utf-16 with byte order mark"),
        (b"\xfe\xff" + "hej å".encode("utf-16-be"), "hej å", "utf-16 with byte order mark"),
        ("hej".encode("utf-32"), "hej", "utf-32 with byte order mark"),
        (b"\xff\xfe\x00\xd8", "\ud800", "utf-16 with byte order mark"),
        (b"\xff\xfeh\x00e", "h�", "utf-16 with byte order mark, damaged"),
        ("på “svenska”".encode("cp1252"), "på “svenska”", "cp1252"),
        (b"caf\xe9 \x81", "café \x81", "latin-1"),
        ("på ".encode() + b"\xff", "på \udcff", "utf-8, damaged"),
    ],
)
def test_other_encodings_are_read_and_named(raw: bytes, text: str, encoding: str) -> None:
    _, said = read(raw)
    assert (said.text, said.meta) == (text, {"encoding": encoding})


def test_binary_and_oversize_files_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="binary"):
        read(b"\x7fELF\x00\x00")
    with pytest.raises(SourceUnreadable, match="more than"):
        read(b"x" * (LARGEST + 1))


@pytest.mark.parametrize(
    ("text", "name", "date"),
    [
        ("---\ntitle: A\ndate: 2026-03-04\n---\nbody", "2020-01-01-a.md", "2026-03-04"),
        ('---\r\nDate: "2026-03-04"\r\n---\r\nbody', "a.md", "2026-03-04"),
        ("+++\ndate = 2026-03-04\n+++\nbody", "a.md", "2026-03-04"),
        ("---\ndate: last week\n---\nbody", "a.md", None),
        ("body", "notes/2026-03-04-standup.md", "2026-03-04"),
        ("body", "12026-03-04.md", None),
        ("body", "2026-13-45.md", None),
        ("body\n---\ndate: 2026-03-04\n---\n", "a.md", None),
    ],
)
def test_the_date_is_what_the_document_states(text: str, name: str, date: str | None) -> None:
    assert read(text.encode(), name)[1].created_at == (day(date) if date else None)


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        ("---\ntitle: 'Ports'\n---\n# Other\n", "a.md", "Ports"),
        ("intro\n\n## Ports ##\n", "a.md", "Ports"),
        ("```\n# not this\n```\n# This\n", "a.md", "This"),
        ("Ports\n=====\n\ntext\n", "a.rst", "Ports"),
        ("Ports\n=====\n", "a.md", "Ports"),
        ("no heading", "docs/a.md", "a.md"),
        ("# a comment\nport: 1\n", "deploy.yaml", "deploy.yaml"),
        ("# a comment\n", "src/a.py", "a.py"),
    ],
)
def test_the_title_is_what_a_reader_sees_first(text: str, name: str, title: str) -> None:
    assert read(text.encode(), name)[0].title == title


def test_a_file_on_disk_gives_its_name(tmp_path: Path) -> None:
    path = tmp_path / "2026-03-04.md"
    path.write_text("hello")
    with path.open("rb") as stream:
        [row] = FEEDER.rows(stream)
    assert row.title == "2026-03-04.md"
    assert isinstance(row.content, Message)
    assert row.content.created_at == day("2026-03-04")


@pytest.mark.parametrize(
    "name",
    [
        *("README", "a.md", "b.mdx", "c.rst", "d.txt", "e.yaml", "f.yml", "g.toml", "h.sh", "i.adoc", "LICENSE"),
        *("Dockerfile", "Dockerfile.dev", "Makefile", "LICENSE-MIT", "package.json", "CODEOWNERS", "CHANGELOG.md"),
        *("tsconfig.json", "tsconfig.build.json", "user.schema.json"),
    ],
)
def test_documents(name: str) -> None:
    assert refusal_by_name(PurePath(name), "docs") is None
    assert is_document(PurePath(name))


@pytest.mark.parametrize("name", ["a.py", "b.ts", "c.go", "d.rs", "e.java", "f.cpp", "g.sql", "h.css", "i.swift"])
def test_source_code_is_read_by_policy_all_alone(name: str) -> None:
    assert is_code(PurePath(name))
    assert refusal_by_name(PurePath(name), "all") is None
    assert "--mode all" in (refusal_by_name(PurePath(name), "docs") or "")
    assert refusal_by_name(PurePath(name), None) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("package-lock.json", "lock"),
        ("pnpm-lock.yaml", "lock"),
        ("Cargo.lock", "lock"),
        ("app.min.js", "minified"),
        ("api_pb2.py", "generated"),
        (".env", "secrets"),
        (".env.local", "secrets"),
        ("id_ed25519", "secrets"),
        ("server.pem", "secrets"),
    ],
)
def test_some_files_are_never_read(name: str, reason: str) -> None:
    for policy in ("docs", "all", None):
        assert reason in (refusal_by_name(PurePath(name), policy) or "")


def test_data_and_media_are_no_kind_that_is_read() -> None:
    for name in ("a.png", "b.csv", "c.parquet", "data.json", "d.zip", "e.jsonl"):
        assert refusal_by_name(PurePath(name), "all")
    assert refusal_by_name(PurePath(".env.example"), "all") == "not a supported kind of file"


def test_the_head_tells_minified_generated_and_binary() -> None:
    assert refusal_by_head(PurePath("a.js"), b"var a=1;" * 2000) == "minified"
    assert refusal_by_head(PurePath("a.go"), b"// Code generated by protoc. DO NOT EDIT.\npackage a\n") == "generated"
    assert refusal_by_head(PurePath("a.md"), b"\x00\x01") == "binary"
    assert refusal_by_head(PurePath("a.md"), "hej".encode("utf-16")) is None
    assert refusal_by_head(PurePath("a.md"), b"This file was generated by hand. " * 400) is None
