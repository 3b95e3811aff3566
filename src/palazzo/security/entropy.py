"""Random strings without a name or a known format: keys that only their entropy reveals.

Random strings that are not secrets are recognised by their context: hashes and UUIDs (one case only), integrity fields
of lock files, host ids with a prefix (`toolu_…`), addresses, images and other long data in base64.
"""

from __future__ import annotations

from palazzo.security.placeholders import is_public_example
from palazzo.text.lazy_patterns import make_regex

SHORTEST, LONGEST = 24, 160
_TURN = make_regex(r"[a-z](?=[A-Z0-9+/_-])|[A-Z](?=[a-z0-9+/_-])|[0-9](?=[A-Za-z+/_-])")
_TURNS_IN_100 = 42
"""Neighbours of different character class: 60 in 100 in base64, 25 in camel-case identifiers with digits. Few of either
kind are between the two: benchmarks/guard.py prints the errors on both sides.
"""
_ID = make_regex(r"[a-z]{2,16}[_-](?:[a-z]{1,12}[_-])?")
_SECRET_PREFIX = make_regex(r"(?:\w*_)?(?:sk|rk|pat|key|apikey|api|token|secret|auth|live|prod|test|priv)[_-]")
_NO_SECRET = tuple(
    """
    sha1 sha224 sha256 sha384 sha512 sha md5 h1 blake2b blake2s integrity checksum digest etag hash id nonce version
    cursor fingerprint signature verification page_token pagetoken next_token nexttoken continuation_token continuationtoken
    code_challenge state accept sitekey site_key site-key encrypted secure publickey public_key public-key pubkey
    tenant kid x5c x5t x5t#s256 pin-sha256 cert certificate recipient address commit rev revision base64 known_hosts
    document folder folders challenge hmac serverkey vault:v1 vault:v2 vault:v3
    """.split()
)
_NAMED_ALIKE = ("etag: w", "-id-2", "tokenid", "public key", "server_key")
_OF_JWK = make_regex(r"[\"'][nxye][\"']:\s?[\"']\Z")
_KNOWN_HOST = make_regex(r"\|1\|(?:[\w+/]{20,40}=?\|)?\Z")
_MARKS = " \t\r\n\"'`=:>({[|,;-+/&?<*\\"
"""Characters that may stand before a random string without announcing a secret."""
_INTEGRITY_ITSELF = make_regex(
    r"sha(?:1|256|384|512)-|/{0,2}(?:ipfs/)?Qm[1-9A-HJ-NP-Za-km-z]{44}\Z|[xyz]pub|[13][1-9A-HJ-NP-Za-km-z]{25,33}\Z|pk_|phc_|RW[QRST][A-Za-z0-9+/]{53}\Z|/_next/|ME[QUY]C"
    r"|M(?!H[cQ]C|GH|C4C|II[A-Z]{2}[\w+/]?IBA)[CFIGH][A-Z](?=[A-Za-z0-9+/]{20})"
)
"""Prefixes of public values: hashes, content ids, wallet addresses, publishable keys, signatures, certificates and
public keys in DER (a private key in DER begins differently).
"""
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
    """Whether the unbroken run from `start` to `end` is a secret, by its randomness and its surroundings."""
    run = text[start:end]
    if _BASE32.fullmatch(run):
        return True
    return _is_disordered(run) and not _is_known(text, start, end, run)


def may_be_random(run: str) -> bool:
    """Whether `run` would count as a secret in some context because of its randomness."""
    return _BASE32.fullmatch(run) is not None or (_is_disordered(run) and not _is_named_id(run))


_BASE32 = make_regex(r"(?=[a-z]{0,30}[2-7])[a-z2-7]{52}")
"""A token of Azure DevOps. Nix writes hashes of the same length in another alphabet."""


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
    """Whether a run begins with a mark that it is an id or a hash."""
    return _INTEGRITY_ITSELF.match(run) is not None or (
        _ID.match(run) is not None and _SECRET_PREFIX.match(run) is None
    )


_CIPHER_PREFIX = make_regex(r"ENC[(\[][^\n]{0,36}\Z")


def _is_known(text: str, start: int, end: int, run: str) -> bool:
    if (
        _is_named_id(run)
        or _is_named_public(text, start)
        or is_public_example(run)
        or "authDomain" in text[end : end + 30]
    ):
        return True
    if _CIPHER_PREFIX.search(text, max(0, start - 40), start) or _is_in_armor(text, start):
        return True
    preceding_letter, following_letter = text[start - 1 : start], text[end : end + 1]
    if preceding_letter == "\\" or following_letter == "(":
        return True
    is_isolated = (not preceding_letter or preceding_letter in " \t\n\"'") and (
        not following_letter or following_letter in "\n\\\"'"
    )
    if is_isolated and size_of_line(text, start, end) - (end - start) <= 12 and end - start >= 56:
        return True  # a line of a longer base64 body
    address = text.rfind("://", max(0, start - 120), start)
    return address >= 0 and not any(map(str.isspace, text[address:start])) and "=" not in text[address:start]


def _is_named_public(text: str, start: int) -> bool:
    """Whether the text before a run names something that is public."""
    prefix = text[max(0, start - 48) : start]
    label = prefix[-24:].rstrip(_MARKS).lower()
    if (len(label) + 6 >= len(prefix[-24:]) and label.endswith(_NO_SECRET)) or label.endswith(_NAMED_ALIKE):
        return True
    return (prefix[-1:] in ('"', "'") and _OF_JWK.search(prefix) is not None) or (
        prefix[-1:] == "|" and _KNOWN_HOST.search(prefix) is not None
    )


def _is_in_armor(text: str, start: int) -> bool:
    """Whether a run is in a block with a label that is not a private key's."""
    begin = text.rfind("-----BEGIN ", max(0, start - 8192), start)
    return begin >= 0 and text.find("PRIVATE", begin, begin + 50) < 0 and text.find("-----END", begin, start) < 0


def size_of_line(text: str, start: int, end: int) -> int:
    """Return the length of the line that holds the run, measured at most 40 characters each way."""
    line_start = text.rfind("\n", max(0, start - 40), start)
    right = text.find("\n", end, end + 40)
    return (end + 40 if right < 0 and end + 40 <= len(text) else len(text) if right < 0 else right) - (
        max(0, start - 40) if line_start < 0 else line_start + 1
    )
