"""What every collection owes: `palazzo.sources.formats` says it, these tests hold it. What each reads is tested
beside this.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Collection
from palazzo.sources.formats.transcript_formats import COLLECTIONS, NAMED_FILE_COLLECTIONS, STATED_COLLECTIONS

from .collection_samples import few, head_of, read_or_refuse
from .opencode_samples import unpack, unpack_live, unpack_storage

each_collection = pytest.mark.parametrize(
    "collection",
    [*COLLECTIONS, *NAMED_FILE_COLLECTIONS, *STATED_COLLECTIONS],
    ids=lambda collection: type(collection).__name__,
)

NAMES = (
    "opencode.db",
    "conversations.json",
    "export.zip",
    "s1.json",
    ".aider.chat.history.md",
    "chat.txt",
    "2026-03-04.md",
)
heads = st.binary(max_size=200) | st.builds(
    lambda start, rest: start + rest,
    st.sampled_from(
        [b"PK\x03\x04", b"SQLite format 3\x00", b'[{"mapping":', b'{"sessionId":"s","history":[', b"User: "]
    ),
    st.binary(max_size=100),
)


@each_collection
@given(head=heads, name=st.sampled_from(NAMES))
def test_no_head_makes_recognising_fail(collection: Collection, head: bytes, name: str) -> None:
    for path in (Path("/home/dev/acme") / name, Path("/home/dev/ac\nme")):
        assert collection.recognises(path, head) in (True, False)


@each_collection
@few
@given(head=heads, name=st.sampled_from(NAMES))
def test_what_it_takes_for_its_own_it_reads_or_refuses_with_a_sentence(
    collection: Collection, head: bytes, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("x") / name
    path.write_bytes(head)
    read_or_refuse(collection, path)


@each_collection
def test_what_is_not_there_is_refused_with_a_sentence(collection: Collection, tmp_path: Path) -> None:
    assert not collection.recognises(tmp_path, b"")
    with pytest.raises(SourceUnreadable):
        list(collection.sessions(tmp_path / "gone"))


def test_each_source_is_claimed_by_one_collection(tmp_path: Path) -> None:
    for place in ("a", "b", "c"):
        (tmp_path / place).mkdir()
    sources = [unpack("1.18.33.db", tmp_path / "a"), unpack_live(tmp_path / "b"), unpack_storage(tmp_path / "c")]
    for path in sources:
        claims = [type(one).__name__ for one in COLLECTIONS if one.recognises(path, head_of(path))]
        assert claims == ["OpencodeStorage" if path.is_dir() else "Opencode"]


@each_collection
def test_it_says_what_it_is(collection: Collection) -> None:
    assert collection.kind
    assert collection.version >= 1
