"""Sealed segments: who has the key reads them, and nobody else."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from palazzo.errors import PalazzoError, UsageError, WrongKey
from palazzo.model import Micros
from palazzo.sync import encryption, segments
from palazzo.sync.encryption import Key
from palazzo.sync.segments import Series

pytest.importorskip("pyrage", reason="needs palazzo[sync]")

PALACE, DEVICE = "c" * 32, "a" * 32
PASSPHRASE = "correct horse battery staple"


def sealed_with(key: Key) -> segments.Segment:
    (one,) = segments.write([b"the heron"], Series(PALACE, DEVICE, None), lambda: Micros(5), key)
    return one


def test_a_sealed_segment_holds_no_word_and_opens_with_its_key() -> None:
    key = Key.new()
    one = sealed_with(key)
    assert b"heron" not in one.content
    assert one.content.startswith(b"age-encryption.org/v1")
    assert segments.read(one.content, one.name, DEVICE, PALACE, key).lines == (b"the heron",)


def test_another_key_is_refused_in_one_sentence() -> None:
    one = sealed_with(Key.new())
    with pytest.raises(WrongKey, match="sealed with another key"):
        segments.read(one.content, one.name, DEVICE, PALACE, Key.new())


def test_a_sealed_segment_without_a_key_and_an_open_one_with_a_key_are_refused() -> None:
    key = Key.new()
    one = sealed_with(key)
    with pytest.raises(PalazzoError, match="the passphrase or the key"):
        segments.read(one.content, one.name, DEVICE, PALACE)
    (bare,) = segments.write([b"the heron"], Series(PALACE, DEVICE, None), lambda: Micros(5))
    with pytest.raises(WrongKey):
        segments.read(bare.content, bare.name, DEVICE, PALACE, key)


def test_a_key_file_is_for_its_owner_alone_and_is_read_again(tmp_path: Path) -> None:
    key = Key.new()
    encryption.save(key, tmp_path / "key")
    assert encryption.load(tmp_path / "key").text == key.text
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_key_file_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        encryption.save(Key.new(), tmp_path / "key")
    assert (tmp_path / "key").read_text() == "mine"
    with pytest.raises(UsageError, match="cannot be written"):
        encryption.save(Key.new(), tmp_path / "no" / "key")


def test_what_is_no_key_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    key = Key.new()
    file = tmp_path / "key"
    for content in (
        b"",
        b"\xff\0",
        b"AGE-SECRET-KEY-1nonsense",
        f"{key.text}\n{Key.new().text}".encode(),
        b"x" * 10**6,
    ):
        file.write_bytes(content)
        with pytest.raises(WrongKey) as refused:
            encryption.load(file)
        assert "\n" not in str(refused.value)
        assert "nonsense" not in str(refused.value)  # a mistyped key is nearly a key
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises((UsageError, WrongKey)):
            encryption.load(path)


def test_a_key_is_not_shown_by_what_prints_it() -> None:
    key = Key.new()
    assert key.text not in repr(key)
    assert key.public.startswith("age1")


def test_a_passphrase_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(UsageError, match="too short"):
        encryption.close_with("heron", Key.new())


CLOSED = """-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBTaTdNTlhObSs4WjFtM3Zp
NThTZERnIDE5CmtIVnpTRkVWL290WU13blJFaFRWZldobUUvaHpmVlVLb2Q2THpz
MDg5VmMKLS0tIFBYVlBsWjlMWFAxNnFidG5lMnNKR3RscnhTWkJCNTdXN3hNREc0
MnFIa1UKGwafxAizimjIR6bw+J55w/LMA/MRXj13DJVc6nF437oUJ6/KlBM8DtzP
Y7SB4vskvuJcexXUVSmwZoOPUQEPdkGE0V5jTNIJX/vUUAN9zx0GUYiBM9GT3+2Z
2oLvVVCu0CG6MVmEAdNR6A==
-----END AGE ENCRYPTED FILE-----
"""


def test_a_wrong_passphrase_is_one_sentence() -> None:
    with pytest.raises(WrongKey, match="does not open this remote's key"):
        encryption.open_with("incorrect horse", CLOSED)


def test_a_damaged_key_is_one_sentence() -> None:
    for closed in (CLOSED[:100], "", "\udcff"):
        with pytest.raises(WrongKey, match="does not open this remote's key"):
            encryption.open_with(PASSPHRASE, closed)


@pytest.mark.slow
def test_a_key_that_a_passphrase_closed_opens_with_it_on_another_machine() -> None:
    key = Key.new()
    closed = encryption.close_with(PASSPHRASE, key)
    assert key.text not in closed
    assert encryption.open_with(PASSPHRASE, closed) == key
    assert encryption.open_with(PASSPHRASE, CLOSED).text.startswith("AGE-SECRET-KEY-1")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("age") is None, reason="the program age is not on PATH")
def test_age_itself_opens_a_segment_with_the_key_file(tmp_path: Path) -> None:
    key = Key.new()
    encryption.save(key, tmp_path / "key")
    one = sealed_with(key)
    (tmp_path / str(one.name)).write_bytes(one.content)
    line = ["age", "--decrypt", "--identity", str(tmp_path / "key"), str(tmp_path / str(one.name))]
    assert subprocess.run(line, capture_output=True, check=True).stdout


def test_without_the_library_the_sentence_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyrage", None)
    with pytest.raises(PalazzoError, match=r"pip install 'palazzo\[sync\]'"):
        Key.new()
