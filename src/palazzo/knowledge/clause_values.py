"""The value that a clause assigns to its subject: the kinds of values that sentences contain, and their tables.

Pure. The first kind that fits is used. A sentence that may contain several values yields none.
"""

from __future__ import annotations

import re

from palazzo.knowledge.clauses import EMPTY, Clause, bag, cut
from palazzo.knowledge.statement_values import STATE, Value
from palazzo.text.lazy_patterns import make_regex

_Q = r"[`'\"“(]?"
_PATH = (
    r"(?:[a-z][a-z0-9+]*://[^\s`'\",;)]+|[A-Za-z]:\\[^\s`'\",;]+|%\w+%[\\/][^\s`'\",;]*|~?/[\w.@*%+<>{}/-]*[\w*/]"
    r"|\.{1,2}/[\w.@*/-]+|(?:[\w.@*-]+/)+[\w.@*-]*|[\w-]+\.(?:toml|ya?ml|json|ini|cfg|conf|env|lock|sql|md|db|sqlite))"
)
_BEFORE_PATH = make_regex(
    rf"^(?:now |still |always |also )?(?:(?:stored|kept|located|found|written|placed|reachable|served|published|hosted"
    rf"|read|available|logged|loaded)\s+)?(?:(?:in|at|under|to|from|below|on|into)\s+)?(?:the (?:bucket|file|directory"
    rf"|folder|path|url|socket) )?{_Q}({_PATH})"
)
_BUCKET = make_regex(
    r"^(?:(?:stored|kept|held)\s)?(?:in|under) the (?:bucket|table|queue|topic|branch|volume) `([^`]+)`"
)
_NAMED_PATH = make_regex(rf"\b(?:at|in|from|under|to|url|address:)\s+{_Q}({_PATH})", re.IGNORECASE)
_PORT = make_regex(r"\b(?:port|puerto|porta|porto)\s+(\d{2,5})\b", re.IGNORECASE)
_BARE_PORT = make_regex(
    r"\bon\s+`?:?(?!(?:19|20)\d\d\b)(\d{4,5})\b(?![.:%/-]\d)|^(?:to|at)\s+:(\d{2,5})\b|^`?:(\d{2,5})\b"
)
_HOST_PORT = make_regex(
    r"(?<![\w/])(?:[a-z]{1,20}://)?(?:(?=[\w-]{0,63}[A-Za-z])[\w.-]{1,253}+|\d{1,3}(?:\.\d{1,3}){3}):(\d{2,5})\b"
)
_STATE = make_regex(
    "^(?:now |currently |still |always |again |back |finally |completely |permanently |globally |turned |switched "
    f"|set to |marked |jetzt |wieder |seit \\w+ |ab sofort |`)*({STATE})",
    re.IGNORECASE,
)
_VERSION = make_regex(
    r"(?:([\w+#./-]*[A-Za-z][\w+#./-]*)[`*]?\s+(?:is\s+|at\s+|on\s+)?(?:version\s+)?)?[`]?"
    r"((?:[<>=~^]+\s?v?\d+(?:\.\d+)*(?:,\s?[<>=~^]+\s?v?\d[\d.]*)?)|v?\d+\.\d+(?:\.\d+)*[\w.+-]*)"
    r"(?=[`\s,;.)]|$)(?!\s?(?:%|s\b|ms\b|[KMGT]i?B\b|seconds|minutes|hours|x\b|€|\$|million|points?))"
)
_PRODUCT_VERSION = make_regex(
    r"\b([A-Z][A-Za-z+#.]*[A-Za-z+#]|protocol|go|python|node|java|php|ruby)\s+v?(\d{1,3})\b(?![.,:/%-]?\d|\s?%)"
)
_QUANTITY = make_regex(
    r"^(?:(?:now|at most|at least|up to|limited to|set to|due after|due in|about|(?:a|an|the)?\s?[\w -]{2,40}? of|after"
    r"|exactly|no more than|raised to|every)\s+)*`?([$€£]?\d[\d,.]*(?:e-?\d+)?|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety)\b)[\s-]?((?:%|€|\$|°)?\s?"
    r"(?:[A-Za-zµ]+(?:\s+(?:per|an?|each)\s+[A-Za-z]+)?)?)(?=[`\s,;.)!]|$)"
)
_TIME = make_regex(
    r"(?<![\w:])((?:[01]?\d|2[0-3]):[0-5]\d)(?![\d:-])(?:\s+((?:UTC|GMT|CES?T|EST|PST|in)\b(?:\s[A-Z]\w+)?))?"
)
_REGION = make_regex(r"\b((?:eu|us|ap|sa|ca|me|af|europe|asia)-[a-z]+\d?-?\d?[a-z]?)\b")
_BIG = frozenset("JDK JRE PHP CUDA MSVC GCC TLS R IE".split())
_NAME = make_regex(
    r"^(?:now |called |named |still )*([`\"']?[A-Z@][\w.+#@/-]*(?:\s[A-Z0-9][\w.+#-]*){0,2}|`[^`\s]{1,40}`|[\w.+-]+)(?=[`\s;.)\"']|,\snot\b|$)"
)
_ONE_OF = frozenset(
    """branch owner lead maintainer licence license encoding timezone on-call manager runner database framework editor
    orm queue broker language bundler linter formatter registry provider host tracker contact reviewer captain region
    shell protocol storage cache backend""".split()
)
"""Nouns that have one value at a time."""
_NAME_MARKS = "`ABCDEFGHIJKLMNOPQRSTUVWXYZ@"
_COUNT_NOUNS = frozenset(
    """test tests error errors warning warnings file files line lines commit commits issue issues row rows failure
    failures case cases example examples match matches result results change changes step steps item items place places
    way ways thing things of passed failed times other others new more first second third module modules function
    functions call calls sentence sentences word words option options reason reasons part parts hit hits drawer drawers
    question questions label labels message messages session sessions commits pair pairs""".split()
)
"""Quantities that vary from moment to moment without a real change."""


def value_of(clause: Clause) -> Value | None:
    """Return the value that a clause gives to its subject, if any."""
    rest = cut(clause.rest)
    for find in (
        _state,
        _port,
        _path,
        _read_version,
        _time,
        _quantity,
        _region,
        _one_of,
        _read_name,
        _any_amount,
        _quality,
    ):
        value = find(clause, rest)
        if value is not None:
            return value
    return None


def value_within(text: str) -> Value | None:
    """Return the only value in a part of a sentence; None if there are several."""
    clause = Clause("", "has", text)
    values = [
        value
        for value in (
            _path_within(text),
            _port(clause, text),
            _read_version(clause, text),
            _amount(text),
            _region(clause, text),
            _time(clause, text),
            _one_of(clause, text),
        )
        if value is not None
    ]
    return values[0] if len(values) == 1 and len(_ANY_NUMBER.findall(text.replace(values[0].text, ""))) == 0 else None


def _path_within(text: str) -> Value | None:
    match = _NAMED_PATH.search(text)
    return Value("path", match[1].rstrip(".,")) if match else None


_ANY_NUMBER = make_regex(r"(?<![\w.-])\d[\d.,]*")
_AMOUNT = make_regex(
    r"(?<![\w./:-])([$€£]?\d[\d,.]{0,40}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety)\b)[\s-]?((?:%|€|[KMGT]i?B?\b|ms\b|s\b|seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?"
    r"|years?|characters|chars|bytes|retries|attempts|threads|workers|replicas|connections|requests|users|seats|items|approvals?|reviewers?|reviews?|copies|shards|partitions|nodes|GB|MB|KB|TB|px|columns|decimals|digits|passes|rounds|tokens|dimensions|cores|points)"
    r"(?:\s(?:per|an?|each)\s\w+)?)"
)


def _amount(text: str) -> Value | None:
    match = _AMOUNT.search(text)
    return Value("value", match[1].rstrip(".,"), match[2]) if match else None


def _state(clause: Clause, rest: str) -> Value | None:
    if clause.verb and clause.verb not in _STATE_VERBS:
        return None
    match = _STATE.match(rest)
    return Value("boolean", match[1]) if match and _ENDS.match(rest, match.end()) else None


def _quality(clause: Clause, rest: str) -> Value | None:
    match = _QUALITY.match(rest) if clause.verb in _STATE_VERBS else None
    return Value("boolean", match[1]) if match and _ENDS.match(rest, match.end()) else None


_QUALITY = make_regex(
    r"^(?:now |currently |still |always )*((?:not |no longer )?(?:[a-z]+-)?(?:[a-z]{2,}(?:ed|able|ible)|public|private|open"
    r"|closed|secure|manual|automatic|synchronous|asynchronous|read-only|writable|opt-in|opt-out|strict|lenient|mutable"
    r"|immutable|case-sensitive|case-insensitive|blocking|non-blocking|frozen|hidden|visible|free|mandatory))\b",
    re.IGNORECASE,
)


_ENDS = make_regex(
    r"`?(?:$|[,.;!)]|\s(?:for|in|everywhere|again|by default|as|since|until|across|now|at|on|there|within|here|anymore|any more|and|to|because|so|but|per|under|with|last|yesterday|today|this|these|seit|für|ab|depuis|pour)\b)"
)
"""Text that may follow a state, so that `on` is not a state in `on port 80`."""


def _port(clause: Clause, rest: str) -> Value | None:
    match = _PORT.search(rest) or (_BARE_PORT.search(rest) if clause.verb else None) or _HOST_PORT.search(rest)
    if match is None and "port" in clause.subject.casefold().split()[-1:]:
        match = re.match(r"(?:now )?`?(\d{2,5})\b", rest)
    return Value("port", match[1] or match[match.lastindex or 1]) if match else None


def is_place(clause: Clause) -> bool:
    """Return whether a clause says that its subject is at the path it names."""
    return any(pattern.match(cut(clause.rest)) for pattern in (_BEFORE_PATH, _BUCKET))


def is_name(clause: Clause, value: Value) -> bool:
    """Return whether a clause only names its subject."""
    head = clause.subject.casefold().split(" of ")[0].split(" for ")[0].split()
    plain = clause.rest.strip(" `'\"").startswith(value.text)
    return plain and (value.text[0] in _NAME_MARKS or (bool(head) and head[-1] in _ONE_OF)) and value.text[-2:] != "ed"


def is_figure(clause: Clause) -> bool:
    """Return whether a clause only gives a figure, a time or a region for its subject."""
    rest = cut(clause.rest)
    return any(pattern.match(rest) for pattern in (_QUANTITY, _AT_TIME)) or _REGION.search(rest) is not None


_AT_TIME = make_regex(r"^(?:(?:now|at|from)\s+)*\d{1,2}:\d{2}")


def is_region(text: str) -> bool:
    """Return whether a value is a cloud region."""
    return _REGION.fullmatch(text) is not None


def host_port(text: str) -> str | None:
    """Return the port of the first `host:port` in a text."""
    match = _HOST_PORT.search(text)
    return match[1] if match else None


def _path(clause: Clause, rest: str) -> Value | None:
    bucket = _BUCKET.match(rest)
    if bucket is not None:
        return Value("path", bucket[1])
    match = _BEFORE_PATH.match(rest) or _NAMED_PATH.search(rest)
    if match is None and re.search(r"(?:url|address|path)\b[^/]*$", rest.partition("://")[0][:80], re.IGNORECASE):
        match = re.search(rf"({_PATH})", rest)
    return Value("path", match[1].rstrip(".,")) if match and len(match[1]) > 2 else None


def _read_version(clause: Clause, rest: str) -> Value | None:
    if not _DIGIT_CUE.search(rest):
        return None
    match = _VERSION.search(rest) if _VERSION_CUE.search(rest) else None
    if match is not None and match[1] and match[1].casefold() not in _LINKS:
        return Value("version", match[2].rstrip("."), match[1])
    if match is not None and re.match(r"^(?:now |at |on |still )*[`v<>=~^\d]", rest) and match.start() <= 10:
        return Value("version", match[2].rstrip("."))
    if re.search(r"(?:version|api|protocol)$", clause.subject, re.IGNORECASE):
        major = re.match(r"(?:now )?`?(v?\d{1,3})\b(?![.,]\d)", rest)
        if major is not None:
            return Value("version", major[1])
    whole = _PRODUCT_VERSION.search(rest)
    return Value("version", whole[2], whole[1]) if whole and not (whole[1].isupper() and whole[1] not in _BIG) else None


_DIGIT_CUE = make_regex(r"\d")
_VERSION_CUE = make_regex(r"[<>=~^]\s?v?\d|\d\.\d")
"""A quick pre-check: the pattern is slow."""
_LINKS = frozenset("is are at on to of with and or from in by for version v the than least now still".split())


def _time(clause: Clause, rest: str) -> Value | None:
    match = _TIME.search(rest)
    return Value("value", match[1], match[2] or "") if match else None


def _quantity(clause: Clause, rest: str) -> Value | None:
    match = _QUANTITY.match(rest)
    if match is None:
        return None
    unit = " ".join(match[2].split())
    if unit.casefold().split(" ")[0] in _COUNT_NOUNS | (EMPTY - {"day", "days"}):
        return None
    if clause.verb in ("runs", "run", "has", "have", "is", "are", "gets", "get", "costs", "cost", "allows", "keeps",
                       "takes", "uses", "use", "stays", "expires", "defaults", "") or clause.verb.endswith("s"):  # fmt: skip
        return Value("value", match[1].rstrip(".,"), unit)
    return None


def _any_amount(clause: Clause, rest: str) -> Value | None:
    return _amount(rest)


_STATE_VERBS = (
    "is",
    "are",
    "ist",
    "sind",
    "est",
    "sont",
    "stays",
    "stay",
    "remains",
    "remain",
    "has been",
    "have been",
    "was",
    "were",
    "got",
)
_SCALES = {
    word: name
    for name, words in {
        "encoding": "utf-8 utf8 utf-16 latin-1 latin1 iso-8859-1 iso-8859-15 windows-1252 ascii cp1252",
        "line ending": "lf crlf",
        "currency": "eur usd gbp chf euros dollars pounds",
        "indent": "tabs spaces",
        "weekday": "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays "
        "fridays saturdays sundays",
        "licence": "mit apache-2.0 gpl gpl-3.0 gplv3 agpl agpl-3.0 agplv3 bsd bsd-3-clause mpl-2.0 lgpl bsl busl-1.1 "
        "isc",
        "hash": "md5 sha-1 sha1 sha-256 sha256 sha-512 sha512 blake2b blake3 argon2id argon2 bcrypt scrypt pbkdf2",
        "format": "json yaml xml csv toml parquet protobuf msgpack avro jsonl",
        "zone": "utc cet cest gmt est pst",
        "compression": "gzip zstd brotli lz4 snappy xz bzip2",
    }.items()
    for word in words.split()
}
"""Words that name one member of a set: one encoding, one day of the week."""
_ONE_WORD = make_regex(r"[A-Za-z][\w.+-]*\w")


def _one_of(clause: Clause, rest: str) -> Value | None:
    scale_words = [word for word in _ONE_WORD.findall(rest) if word.casefold() in _SCALES]
    return Value("name", scale_words[0], _SCALES[scale_words[0].casefold()]) if len(scale_words) == 1 else None


def _region(clause: Clause, rest: str) -> Value | None:
    match = _REGION.search(rest)
    return Value("value", match[1]) if match else None


def _read_name(clause: Clause, rest: str) -> Value | None:
    if clause.verb not in ("is", "are", ""):
        return None
    heads = bag(f"{clause.scope} {clause.subject}")
    match = _NAME.match(clause.rest)
    if (
        match is None
        or not (heads & _ONE_OF or (len(heads) > 1 and match[1][0] in _NAME_MARKS))
        or match[1].casefold() in EMPTY
        or match[1].casefold() in ON_OFF
    ):
        return None
    name = match[1].strip("`\"'.")
    return Value("name", name) if name else None  # the name may be a lone full stop


ON_OFF = frozenset(STATE.replace("\\b", "").strip("()?:").split("|"))
