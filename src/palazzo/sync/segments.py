"""Segments: the records that a device publishes to others, in files that are only ever added.

    devices/<device>/head                               JSON: how far the device has come (`Head`)
    devices/<device>/<epoch>-<n>-<hash of the bytes>.seg

A segment is compressed (zstd). It is followed by the device's card (`sync/device_cards`) with its signature, and a
keyed hash that proves that a device of the palace wrote it (`sync/authenticity`). The whole may be encrypted
(`sync/encryption`). Its first line is JSON and identifies this segment and the one before it (`Header`); lines of
records follow, which this module does not interpret. The name holds the hash of the file's bytes, and the header that
of the segment before: the head therefore determines every byte before it. A new *epoch* sends everything again, from
number 1, so that the text that an erase removed from the older epoch can be deleted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any, Protocol, Self, TypeVar

import zstandard

from palazzo.errors import SegmentRefused, SegmentUnreadable
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.sync import segment_frames
from palazzo.sync.device_cards import Card, Signer

VERSION = 1
FULL = 2 * 1024 * 1024
"""Bytes of lines after which a segment is full; a longer line gets its own segment."""
LONGEST_LINE = 256 * 1024 * 1024
"""Maximum bytes of a line, as read by `record_lines`. `fits` checks this; longer lines are not sent."""
LARGEST = LONGEST_LINE + 1024 * 1024
"""Maximum bytes of a segment, both decrypted and encrypted: a segment that claims more is not read."""
LARGEST_HEAD = 64 * 1024
_LEVEL = 3
_WINDOW = 128 * 1024 * 1024
_MOST = 10**12
"""No epoch, number or device clock (in microseconds: the year 33,658) reaches a million times this value."""

REMEDY = "If this persists, 'palazzo sync init ADDRESS --again' and a push on that device upload everything again."

_NAME = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})-([0-9a-f]{40})\.seg")
_DEVICE = re.compile(r"[0-9a-f]{32}")
_HASH = re.compile(r"[0-9a-f]{40}")


class Cipher(Protocol):
    """Encrypts bytes for the holders of the key. `open` raises WrongKey."""

    def seal(self, content: bytes) -> bytes:
        """Return `content`, encrypted."""
        ...

    def open(self, ciphertext: bytes) -> bytes:
        """Return the decrypted content."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class SegmentName:
    """Identifies a segment of a device: its epoch, its number there (from 1), and its bytes' hash (40 hex digits)."""

    epoch: int
    n: int
    hash: str

    def __str__(self) -> str:
        return f"{self.epoch}-{self.n}-{self.hash}.seg"

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """Parse a file's name; None for any other file, such as a half-written one or a conflict copy."""
        match = _NAME.fullmatch(name)
        return cls(int(match[1]), int(match[2]), match[3]) if match else None


@frozen
class Header:
    """The first line of a segment. `previous` is the hash of the preceding segment in its epoch, "" for the first."""

    palace: str
    device: str
    epoch: int
    n: int
    previous: str
    clock: Micros
    version: int = VERSION


@frozen
class Segment:
    """A segment as stored on a remote."""

    header: Header
    name: SegmentName
    content: bytes


@frozen
class SegmentContent:
    """A segment that was read: lines without their newline.

    `card` is the device's card, proven by the signature of the key in it; None if the segment is not signed.
    """

    header: Header
    name: SegmentName
    lines: tuple[bytes, ...]
    card: Card | None = None


@frozen
class Head:
    """The position of a device: its last segment, and when that was written, by the device's clock.

    `called` is the device's display name in plain text: leave it empty where segments are encrypted.
    """

    device: str
    epoch: int
    n: int
    hash: str
    at: Micros
    called: str = ""
    version: int = VERSION

    @property
    def name(self) -> SegmentName:
        """The last segment."""
        return SegmentName(self.epoch, self.n, self.hash)

    @classmethod
    def of(cls, segment: Segment, device_name: str = "") -> Self:
        """Return the head of a device that has this last segment."""
        header = segment.header
        display_name = "".join(letter for letter in device_name if letter.isprintable())[:100]
        return cls(header.device, header.epoch, header.n, segment.name.hash, header.clock, display_name)


@frozen
class Series:
    """The device whose segments are written, and where they continue.

    They continue after `last`, or, without it, with the first segment of a new epoch.
    """

    palace: str
    device: str
    last: SegmentName | None
    epoch: int = 1

    @classmethod
    def continue_from(cls, palace: str, device: str, head: Head | None, *, is_new_epoch: bool = False) -> Self:
        """Return the position after a device's `head`; `is_new_epoch` begins the next epoch."""
        if head is None:
            return cls(palace, device, None)
        return cls(palace, device, None, head.epoch + 1) if is_new_epoch else cls(palace, device, head.name, head.epoch)


def digest(content: bytes) -> str:
    """Return the hash that identifies a segment."""
    return blake2b(content, digest_size=20).hexdigest()


def fits(line: bytes) -> bool:
    """Return whether a text is a single line that is short enough for a segment."""
    return len(line) <= LONGEST_LINE and b"\n" not in line


def write(
    lines: Iterable[bytes],
    series: Series,
    clock: Callable[[], Micros],
    cipher: Cipher | None = None,
    key: bytes = b"",
    signer: Signer | None = None,
    at_least_one: bool = False,
) -> Iterator[Segment]:
    """Yield the segments that contain `lines` (without newlines), each as soon as it is full.

    With the palace's `key` each ends with a proof, and with a `signer` it is signed. A new epoch has at least one
    segment, even if there are no lines. Raises ValueError for a line that no reader would accept.
    """
    last = series.last
    packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    for batch in _fill_segments(lines, at_least_one=at_least_one or last is None):
        epoch, n = (last.epoch, last.n + 1) if last else (series.epoch, 1)
        header = Header(series.palace, series.device, epoch, n, last.hash if last else "", clock())
        content = packer.compress(b"\n".join([_dump(header), *batch]) + b"\n")
        if signer is not None:
            content += segment_frames.signed_card(content, signer)
        if key:
            content += segment_frames.proof_frame(content, key)
        if cipher is not None:
            content = cipher.seal(content)
        last = SegmentName(epoch, n, digest(content))
        yield Segment(header, last, content)


def read(
    content: bytes,
    name: SegmentName,
    device: str,
    palace: str,
    cipher: Cipher | None = None,
    key: bytes = b"",
    largest: int = LARGEST,
) -> SegmentContent:
    """Open a segment. Raises SegmentUnreadable if it does not match its name, WrongKey if it cannot be decrypted.

    So is one with more than `largest` bytes of lines, and with the palace's `key` one that has no valid proof that a
    device of the palace wrote it.
    """
    if digest(content) != name.hash:
        raise SegmentUnreadable(
            f"Segment {name.epoch}-{name.n} of device {device[:8]} is damaged or incomplete; wait until it is "
            f"copied, and pull again. {REMEDY}"
        )
    frames = content if cipher is None else cipher.open(content)
    if key and not segment_frames.has_proof(frames, key):
        raise SegmentRefused(
            f"Segment {name.epoch}-{name.n} of device {device[:8]} does not prove that a device of this palace wrote "
            "it; nothing of it was pulled. If an older Palazzo wrote it, update that device and run 'palazzo sync "
            "init ADDRESS --again' there, then 'palazzo sync push'."
        )
    card = segment_frames.read_card(frames, f"Segment {name.epoch}-{name.n} of device {device[:8]}")
    header_line, *lines = _decompress_segment(frames, name, device, largest).removesuffix(b"\n").split(b"\n")
    header = _load(header_line, Header, f"segment {name.epoch}-{name.n} of device {device[:8]}")
    if (header.device, header.epoch, header.n) != (device, name.epoch, name.n):
        raise SegmentUnreadable(
            f"Segment {name.epoch}-{name.n} of device {device[:8]} was created as another segment and put in its "
            "place; nothing of it was pulled."
        )
    if header.palace != palace:
        raise SegmentUnreadable(
            f"Device {device[:8]} there belongs to another palace ({header.palace[:8]}, while this is {palace[:8]}); "
            "use a separate remote for each palace."
        )
    return SegmentContent(header, name, tuple(lines), card)


def dump_head(head: Head) -> bytes:
    """Return the content of the file `head`."""
    return _dump(head) + b"\n"


def load_head(content: bytes, device: str) -> Head:
    """Read the file `head` in the directory of `device`; raises SegmentUnreadable if it is not valid."""
    label = f"the head of device {device[:8]}"
    if len(content) > LARGEST_HEAD:
        raise SegmentUnreadable(f"{label.capitalize()} is damaged: it is too long. That device's next push fixes it.")
    head = _load(content, Head, label)
    if head.device != device:
        raise SegmentUnreadable(f"{label.capitalize()} belongs to another device ({head.device[:8]}); it was ignored.")
    return head


def is_device(name: str) -> bool:
    """Return whether a directory's name is a device ID."""
    return _DEVICE.fullmatch(name) is not None


def _fill_segments(lines: Iterable[bytes], *, at_least_one: bool) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for line in lines:
        if not fits(line):
            raise ValueError("a line of a segment is too long, or is more than one")
        if batch and size + len(line) > FULL:
            yield batch
            batch, size, at_least_one = [], 0, False
        batch.append(line)
        size += len(line) + 1
    if batch or at_least_one:
        yield batch


def _decompress_segment(payload: bytes, name: SegmentName, device: str, largest: int) -> bytes:
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(payload) as reader:
            content = reader.read(largest + 1)
    except (zstandard.ZstdError, MemoryError):
        content = b""
    if len(content) > largest:
        raise SegmentUnreadable(
            f"Segment {name.epoch}-{name.n} of device {device[:8]} is larger than any that Palazzo writes "
            f"({largest // 1024 // 1024} MiB); nothing of it was pulled."
        )
    if not content.endswith(b"\n"):
        raise SegmentUnreadable(
            f"Segment {name.epoch}-{name.n} of device {device[:8]} is not a readable segment; if it is sealed, give "
            "'palazzo sync init' the passphrase or the key."
        )
    return content


HeaderOrHead = TypeVar("HeaderOrHead", Header, Head)


def _dump(record: Header | Head) -> bytes:
    content = {"palazzo": "segment" if isinstance(record, Header) else "head", **asdict(record)}
    return json.dumps(content, separators=(",", ":")).encode()


def _load(line: bytes, kind: type[HeaderOrHead], label: str) -> HeaderOrHead:
    """Read a header or a head strictly; otherwise raises SegmentUnreadable that names `label`."""
    error = SegmentUnreadable(
        f"{label[0].upper()}{label[1:]} is damaged; that device's next push of new data may fix it."
    )
    try:
        content = json.loads(line) if len(line) <= LARGEST_HEAD else None
    except (ValueError, RecursionError):
        raise error from None
    word = "segment" if kind is Header else "head"
    if not isinstance(content, dict) or content.pop("palazzo", None) != word:
        raise error
    version = content.get("version")
    if isinstance(version, int) and version > VERSION:
        raise SegmentUnreadable(f"{label[0].upper()}{label[1:]} was written by a newer Palazzo; update this one.")
    if set(content) != {field.name for field in fields(kind)} or not _fits(content):
        raise error
    return kind(**content)


def _fits(content: dict[str, Any]) -> bool:
    """Return whether the values have the required types and sizes."""
    texts = [content[name] for name in ("palace", "previous", "hash", "called", "device") if name in content]
    counts = [content[name] for name in ("epoch", "n")]
    at = content.get("clock", content.get("at"))
    return (
        all(isinstance(text, str) and len(text) <= 200 and text.isprintable() for text in texts)
        and all(type(count) is int and 0 < count < _MOST for count in counts)
        and type(at) is int
        and abs(at) < _MOST * 1_000_000
        and type(content["version"]) is int
        and content["version"] == VERSION
        and is_device(content["device"])
        and all(_HASH.fullmatch(content[name]) for name in ("hash",) if name in content)
        and ("previous" not in content or not content["previous"] or _HASH.fullmatch(content["previous"]) is not None)
    )
