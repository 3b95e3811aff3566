"""The frames after the compressed lines of a segment: the signed card of its device, and the palace's proof.

    lines (zstd) | card, signature, their size | keyed hash of everything before

Both are skippable frames of zstd: an older Palazzo ignores them.
"""

from __future__ import annotations

from palazzo.errors import SegmentRefused
from palazzo.security.device_keys import SIGNATURE_BYTES, is_signed
from palazzo.sync.authenticity import MAC_BYTES, Proof
from palazzo.sync.device_cards import LARGEST_CARD, Card, Signer

_PROOF_FRAME = b"\x50\x2a\x4d\x18" + MAC_BYTES.to_bytes(4, "little")
"""The header of a skippable zstd frame that contains the proof: an older Palazzo reads the rest."""


def proof_frame(frames: bytes, key: bytes) -> bytes:
    """Return the frame that proves that a holder of the palace's key wrote these frames."""
    return _PROOF_FRAME + _proof(frames, key).mac


def _proof(frames: bytes, key: bytes) -> Proof:
    proof = Proof(key, b"segment")
    proof.add(frames)
    return proof


def has_proof(frames: bytes, key: bytes) -> bool:
    """Return whether the last frame proves that a holder of the palace's key wrote the frames before it."""
    size = len(_PROOF_FRAME) + MAC_BYTES
    content, frame = frames[:-size], frames[-size:]
    return frame.startswith(_PROOF_FRAME) and _proof(content, key).proves(frame.removeprefix(_PROOF_FRAME))


_CARD_FRAME = b"\x51\x2a\x4d\x18"
"""The first bytes of another skippable frame: a card, the signature, and the number of bytes of both (4)."""
_SIZE = 4


def signed_card(content: bytes, signer: Signer) -> bytes:
    """Return the signed frame that identifies the writer of `content`."""
    card = signer.card.dump()
    body = card + signer.key.sign(b"segment", content + card)
    body += len(body).to_bytes(_SIZE, "little")
    return _CARD_FRAME + len(body).to_bytes(_SIZE, "little") + body


def read_card(frames: bytes, subject: str) -> Card | None:
    """Return the card at the end of a segment, if any. Raises SegmentRefused if its key did not sign it."""
    size = len(_PROOF_FRAME) + MAC_BYTES
    whole = frames[:-size] if frames[-size:].startswith(_PROOF_FRAME) else frames
    length = int.from_bytes(whole[-_SIZE:], "little")
    start = len(whole) - _SIZE - length
    content, frame = whole[: max(start - 2 * _SIZE, 0)], whole[max(start - 2 * _SIZE, 0) :]
    begin = _CARD_FRAME + (length + _SIZE).to_bytes(_SIZE, "little")
    if not SIGNATURE_BYTES < length <= LARGEST_CARD or not frame.startswith(begin):
        return None
    card, signature = whole[start : start + length - SIGNATURE_BYTES], whole[-_SIZE - SIGNATURE_BYTES : -_SIZE]
    try:
        decoded_card = Card.load(card)
    except ValueError:
        raise SegmentRefused(
            f"{subject} does not name its writer in a form that this Palazzo can read; nothing of it was pulled. "
            "Update Palazzo here."
        ) from None
    if not is_signed(decoded_card.public, signature, b"segment", content + card):
        raise SegmentRefused(
            f"{subject} is not signed by the key that it names, so someone has changed it; nothing of it was pulled. "
            "Run 'palazzo sync init ADDRESS --again' and 'palazzo sync push' on that device."
        )
    return decoded_card
