"""Random strings without a name or a form: keys that only their disorder gives away.

What is random but no secret is let through by its surroundings: hashes and UUIDs (one case only), integrity
fields of lock files, host ids with a prefix (`toolu_…`), addresses, images and other long data in base64.
"""

from __future__ import annotations

import re

from palazzo.security.stand_ins import is_public_example

SHORTEST, LONGEST = 24, 160
_TURN = re.compile(r"[a-z](?=[A-Z0-9+/_-])|[A-Z](?=[a-z0-9+/_-])|[0-9](?=[A-Za-z+/_-])")
_TURNS_IN_100 = 42
"""Neighbours of different class: 60 in 100 in base64, 25 in identifiers with humps and digits. Between the
two lie few of either: benchmarks/guard.py prints what this costs on both sides."""
_ID = re.compile(r"[a-z]{2,16}[_-](?:[a-z]{1,12}[_-])?")
_SECRET_PREFIX = re.compile(r"(?:\w*_)?(?:sk|rk|pat|key|apikey|api|token|secret|auth|live|prod|test|priv)[_-]")
_NO_SECRET = re.compile(
    r"(?:sha(?:1|224|256|384|512)|md5|h1|blake2[bs]|integrity|checksum|digest|etag|hash|id|nonce|version|cursor"
    r"|fingerprint|signature|(?:page|next|continuation)_?token|code_challenge|state|accept|site_?key|encrypted|secure|pub(?:lic)?_?key|client_?id|tenant|kid|x5[ct](?:#s256)?|[\"'][nxye][\"']|pin-sha256|cert(?:ificate)?"
    r"|recipient|address|commit|rev(?:ision)?|base64,|known_hosts|\|1\||upload_?id|document|folders?|challenge|hmac|sha)\W{0,6}\Z",
    re.IGNORECASE,
)
"""What may stand before a random string that tells nobody anything."""
_INTEGRITY_ITSELF = re.compile(
    r"sha(?:1|256|384|512)-|Qm[1-9A-HJ-NP-Za-km-z]{44}\Z|[xyz]pub|[13][1-9A-HJ-NP-Za-km-z]{25,33}\Z|pk_|phc_|ME[QUY]C"
    r"|M(?!H[cQ]C|GH|C4C|II[A-Z]{2}[\w+/]?IBA)[CFIGH][A-Z](?=[A-Za-z0-9+/]{20})"
)
"""How begin what everybody may know: hashes, ids of contents, addresses of wallets, publishable keys, signatures,
certificates and public keys in DER (a private key in DER begins otherwise)."""
_BASE64_HEADS = (
    "iVBORw0KGgo",
    "/9j/",
    "R0lGOD",
    "UklGR",
    "JVBERi0",
    "PHN2Zy",
    "d09G",
    "H4sI",
    "UEsDB",
    "AAAA",
    "eyJ",
    "AGFzb",
)


def is_random(text: str, start: int, end: int) -> bool:
    """Whether the unbroken run from `start` to `end` is a secret by its disorder and by where it stands."""
    run = text[start:end]
    return _is_disordered(run) and not _is_known(text, start, end, run)


def may_be_random(run: str) -> bool:
    """Whether there is a place where `run` would be a secret by its disorder."""
    return _is_disordered(run) and not _is_named_id(run)


def _is_disordered(run: str) -> bool:
    size = len(run)
    if not SHORTEST <= size <= LONGEST:
        return False
    if run.islower() or run.isupper() or run.startswith(_BASE64_HEADS):
        return False
    if len(set(run)) * 5 < min(size, 40) * 2:
        return False
    if len(_TURN.findall(run)) * 100 < (size - 1) * _TURNS_IN_100:
        return False
    kinds = [sum(low <= c <= high for c in run) for low, high in ("az", "AZ", "09")]
    return min(kinds) >= 2


def _is_named_id(run: str) -> bool:
    """Whether a run begins by saying that it is an id or a hash."""
    return _INTEGRITY_ITSELF.match(run) is not None or (
        _ID.match(run) is not None and _SECRET_PREFIX.match(run) is None
    )


def _is_known(text: str, start: int, end: int, run: str) -> bool:
    if _is_named_id(run) or _NO_SECRET.search(text, max(0, start - 24), start) or is_public_example(run):
        return True
    if text.rfind("ENC[", max(0, start - 40), start) >= 0 or _is_in_armor(text, start):
        return True
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == "\\" or after == "(":
        return True
    alone = (not before or before in " \t\n\"'") and (not after or after in "\n\\\"'")
    if alone and size_of_line(text, start, end) - (end - start) <= 12 and end - start >= 56:
        return True  # a line of a longer base64 body
    address = text.rfind("://", max(0, start - 120), start)
    return address >= 0 and not any(map(str.isspace, text[address:start])) and "=" not in text[address:start]


def _is_in_armor(text: str, start: int) -> bool:
    """Whether a run is in a block that says what it is, and that is no private key."""
    begin = text.rfind("-----BEGIN ", max(0, start - 8192), start)
    return begin >= 0 and text.find("PRIVATE", begin, begin + 50) < 0 and text.find("-----END", begin, start) < 0


def size_of_line(text: str, start: int, end: int) -> int:
    """Return the length of the line that holds the run, looked at no further than 40 characters each way."""
    left = text.rfind("\n", max(0, start - 40), start)
    right = text.find("\n", end, end + 40)
    return (end + 40 if right < 0 and end + 40 <= len(text) else len(text) if right < 0 else right) - (
        max(0, start - 40) if left < 0 else left + 1
    )
