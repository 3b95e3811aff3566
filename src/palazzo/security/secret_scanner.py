"""Secret scanner for any text: keys by their format, values by their name, and random strings without either.

One pass over the text as ASCII bytes does nearly all the work. A table maps every character of an unbroken run to one
byte, so that a substring search finds runs of 20 or more. A few words (`token`, `://`) are searched for in lower case.
Regular expressions run only near these hits, and each of them is bounded.

Measured against detect-secrets 1.5.0 (Apache-2.0) with its default plugins: on the standard library's own code,
detect-secrets scans 0.06 MB/s and this module some 60; of the labelled secrets, detect-secrets finds three quarters and
this module all but seven (`benchmarks/guard.py --peer`). Its formats served as labels; its engine would have been most
of the work of `mine`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache

from palazzo.frozen_class import frozen
from palazzo.security import token_forms
from palazzo.security.disguised_text import base64_text, continues_base64, decode_escapes, may_be_base64_text
from palazzo.security.entropy import is_random, may_be_random
from palazzo.security.placeholders import is_public_example
from palazzo.security.secret_anchors import find_at_other_scripts, find_at_words
from palazzo.security.secret_phrases import RuleSpan
from palazzo.text.lazy_patterns import make_regex

RULES_VERSION = 2
"""Raised whenever the rules find more than before: the palace stores the version that its items were archived under."""
SHORTEST_RUN = 20
LONGEST_RUN = 4096
"""A longer run is data: no key is that long, and one base64 image would cost more than all the text around it."""

MARK = make_regex(r"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{8}\]|\[private\]")
"""What redaction inserts in place of a secret or a private span. Nothing inside it is detected again."""


@frozen
class SecretSpan:
    """The position of a secret in the text (code points, half-open), and the rule that found it."""

    start: int
    end: int
    rule: str


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the secrets in `text`, sorted, never overlapping. Any string is valid; time is linear in its length."""
    spans = find_spans(text)
    return [SecretSpan(*span) for span in merged(outside_marks(text, spans))] if spans else []


def find_spans(text: str, plain: bytes = b"", lower_bytes: bytes = b"") -> list[RuleSpan]:
    """Return the matches of each rule in `text`: unsorted, overlapping, also inside marks.

    `plain` is the text in ASCII, `lower_bytes` the same in lower case, if the caller has them.
    """
    plain = plain or text.encode("ascii", "replace")
    spans = _in_runs(text, plain) + find_at_words(text, lower_bytes or plain.lower()) + find_at_other_scripts(text)
    view = decode_escapes(text)
    if view is not None:
        plain = view.text.encode("ascii", "replace")
        decoded_spans = _in_runs(view.text, plain) + find_at_words(view.text, plain.lower())
        spans += [(*view.span(start, end), rule) for start, end, rule in decoded_spans]
    return spans


_RUN = b"x" * SHORTEST_RUN
_RUN_TABLE = bytes(
    ord("x") if chr(n).isascii() and (chr(n).isalnum() or chr(n) in "_-+/") else ord(" ") for n in range(256)
)


def _head_pattern() -> str:
    """Return a pattern for all heads, grouped by first character so that a wrong one costs only one comparison."""
    by_first: dict[str, list[str]] = {}
    for head in sorted(_FORMS, key=len, reverse=True):
        by_first.setdefault(head[0], []).append(re.escape(head[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in by_first.items())


_FORMS = {form.head: (form.rule, make_regex(re.escape(form.head) + form.body, re.ASCII)) for form in token_forms.FORMS}
_HEAD = make_regex(_head_pattern())
_HEAD_OF_WORD = make_regex(rf"(?<![A-Za-z0-9])(?:{_HEAD.pattern})")
_SEGMENTED_PATTERN = make_regex(
    "|".join(f"(?P<form_{n}>{pattern})" for n, (_, pattern) in enumerate(token_forms.SEGMENTED_FORMS)), re.ASCII
)
_LED_RULES = {f"form_{n}": rule for n, (rule, _) in enumerate(token_forms.SEGMENTED_FORMS)}
_LED_BEGINS = make_regex(r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))(?=[A-Za-z0-9])")
_DASH = ord("-")
_UUID = re.compile(rb"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_HASH_SIZES = frozenset([32, 40, 56, 64, 96, 128])
_DIGIT = make_regex(r"[0-9]")
_ESCAPES = {"\\": make_regex(r"[nrtbf0]|u[0-9a-fA-F]{4}"), "%": make_regex(r"[0-9a-fA-F]{2}")}
_ESCAPES["["] = _ESCAPES[";"] = make_regex(r"\d{1,3}m")
"""What may begin a run without belonging to it, by the character before it: the rest of an escape of strings, addresses
and terminals.
"""


def _in_runs(text: str, plain: bytes) -> list[RuleSpan]:
    runs = plain.translate(_RUN_TABLE)
    spans: list[RuleSpan] = []
    start = runs.find(_RUN)
    while start >= 0:
        if plain[start + 8] == plain[start + 13] == plain[start + 18] == _DASH and _UUID.fullmatch(
            plain, start, start + 36
        ):
            start = runs.find(_RUN, start + 36)  # most runs of a transcript
            continue
        end = runs.find(b" ", start + SHORTEST_RUN)
        if end < 0:
            end = len(runs)
        if not _is_known(text, start, end):
            spans += _in_run(text, start, end)
        start = runs.find(_RUN, end)
    return spans


def _is_telling(run: str) -> bool:
    """Whether a run is neither an identifier nor a hexadecimal hash."""
    is_hash = len(run) in _HASH_SIZES and run.islower() and run.isalnum()
    return not is_hash and (_DIGIT.search(run) is not None or "hf_" in run or "api_org_" in run)


_LONGEST_KNOWN = 100
_LED_BY = frozenset(".~:$")
"""Characters that end the first part of a key whose long part is a run."""


def _is_known(text: str, start: int, end: int) -> bool:
    """Whether a run is known to hold no secret, and the characters around it do not change that."""
    if end - start > _LONGEST_KNOWN:
        return end - start > LONGEST_RUN and not may_be_base64_text(text[start : start + SHORTEST_RUN * 2])
    prefix = text[start - 1 : start]
    if prefix in _LED_BY or (text[start] in "MNO" and text.startswith(".", end)):  # as DISCORD's is
        return False
    if prefix not in _ESCAPES:
        return _is_harmless(text[start:end])
    return prefix == "\\" and text[start] in "nrt" and _is_harmless(text[start + 1 : end])


@lru_cache(maxsize=16_384)
def _is_harmless(run: str) -> bool:
    """Whether a run holds no secret in any context: the ids and names that every row of a transcript repeats."""
    if not _is_telling(run):
        return True
    has_shape = any(hint in run for hint, distance, _, _ in _HEADLESS_FORMS if distance)
    return not (has_shape or _HEAD_OF_WORD.search(run) or may_be_random(run) or may_be_base64_text(run))


def _in_run(text: str, start: int, end: int) -> list[RuleSpan]:
    prefix = text[max(0, start - 1) : start]
    escape = _ESCAPES[prefix].match(text, start) if prefix in _ESCAPES else None
    at = escape.end() if escape else start
    if end - start > LONGEST_RUN:
        return _in_base64(text, at, end)
    segment_spans = _find_segmented_keys(text, start) if prefix in _LED_BY and _may_be_led(text, start, end) else []
    if text.startswith(":::", end) and end - start == _HALF_A_HASH:
        segment_spans.append((start, end, "password-hash"))  # as tools print Windows' hashes
    if prefix == "=" and text[max(0, start - 4) : start].lower() == "sig=" and end - start >= _SIGNATURE:
        return [(start, end + text.startswith("=", end), "signature")]
    if not segment_spans and not _is_telling(text[start:end]):
        return []
    spans = segment_spans + _find_headed_keys(text, at, end)
    if prefix == "." and text.startswith(_AFTER_HOST, start):
        spans += _webhook(text, start)
    if (
        prefix == "$"
        and (hash_match := _CRYPT_HASH.search(text, max(0, start - 60), end + 120))
        and hash_match.start() < start
    ):
        spans.append((*hash_match.span(), "password-hash"))
    for hint, distance, rule, pattern in _HEADLESS_FORMS:
        if text.find(hint, max(start, end - distance), end + 1) >= 0 and (shape := pattern.match(text, at)):
            spans.append((shape.start(), shape.end(), rule))
    if not spans and not continues_base64(text, at):
        spans = _in_base64(text, at, end)
    if not spans and is_random(text, at, end) and not _is_prose(text, at, end):
        padding = 2 if text.startswith("==", end) else text.startswith("=", end)
        spans.append((at, end + padding, "high-entropy"))
    return spans


def _in_base64(text: str, start: int, end: int) -> list[RuleSpan]:
    """Return a whole base64 run if it encodes a secret."""
    base64_part = base64_text(text, start, end)
    if base64_part is None:
        return []
    inner, end = base64_part
    end += 2 if text.startswith("==", end) else text.startswith("=", end)
    return [(start, end, rule) for _, _, rule in merged(find_spans(inner))[:1]]


def _is_prose(text: str, start: int, end: int) -> bool:
    """Whether a run encodes a sentence or an address in base64."""
    run = text[start:end]
    base64_part = base64_text(run, 0, len(run))
    return base64_part is not None and (
        base64_part[0].count(" ") > 1 or base64_part[0].startswith(("http://", "https://"))
    )


_HEADLESS_FORMS = (
    (".", 0, "discord-token", token_forms.DISCORD),
    ("-us", 5, "mailchimp-key", token_forms.MAILCHIMP),
    ("_mmk", 4, "maxmind-key", token_forms.MAXMIND),
)
"""Formats without a prefix: a substring, and its distance from the end of the first run."""


def _find_headed_keys(text: str, start: int, end: int) -> list[RuleSpan]:
    spans: list[RuleSpan] = []
    head = _HEAD.match(text, start, end) or _HEAD_OF_WORD.search(text, start, end)
    while head:
        rule, form = _FORMS[head.group()]
        whole = form.match(text, head.start())
        if whole and not is_public_example(whole.group()):
            spans.append((head.start(), whole.end(), rule))
        head = _HEAD_OF_WORD.search(text, whole.end() if whole else head.start() + 1, end)
    return spans


_HALF_A_HASH, _SIGNATURE = 32, 40
_AFTER_HOST = (
    "com/services/",
    "com/workflows/",
    "com/triggers/",
    "com/api/",
    "com/webhookb2/",
    "com/hooks/",
    "com/trigger/",
    "com/open-apis/",
)
_CRYPT_HASH = make_regex(
    r"\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
    r"|[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}|y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43})"
)
"""Password hashes as crypt(3) and htpasswd write them: short passwords can be guessed from them."""


def _webhook(text: str, start: int) -> list[RuleSpan]:
    match = token_forms.WEBHOOK.search(text, max(0, start - 40), start + 240)
    return [(*match.span(match.lastindex or 0), "webhook")] if match else []


def _may_be_led(text: str, start: int, end: int) -> bool:
    """Whether the text before a run may be the first part of a key."""
    prefix = text[max(0, start - 10) : start]
    if prefix[-1:] == ":":
        return prefix[-2:-1].isdigit() and (text[start] == "A" or end - start == _HALF_A_HASH)
    part = _LAST_PART.search(prefix)
    return (part is not None and not token_forms.LED_BY.isdisjoint((part[0], part[0][1:]))) or end - start == _AIRTABLE


_LAST_PART = make_regex(r"[A-Za-z0-9]{1,9}[.~]\Z")
_AIRTABLE = 64


def _find_segmented_keys(text: str, start: int) -> list[RuleSpan]:
    spans: list[RuleSpan] = []
    for begin in _LED_BEGINS.finditer(text, max(0, start - 40), start):
        match = _SEGMENTED_PATTERN.match(text, begin.start(), start + 1024)
        if match and match.end() > start:
            spans.append((*match.span(), _LED_RULES[match.lastgroup or ""]))
    return spans


_VAGUE = frozenset(["high-entropy", "password", "secret", "token", "key"])


def merged(spans: Iterable[RuleSpan]) -> list[RuleSpan]:
    """Merge overlapping spans, in order; a rule that knows the secret's form names the whole."""
    merged_spans: list[RuleSpan] = []
    for start, end, rule in sorted(spans):
        if merged_spans and start < merged_spans[-1][1]:
            first, last, name = merged_spans[-1]
            merged_spans[-1] = (first, max(last, end), rule if name in _VAGUE and rule not in _VAGUE else name)
        else:
            merged_spans.append((start, end, rule))
    return merged_spans


def outside_marks(text: str, spans: Iterable[RuleSpan]) -> list[RuleSpan]:
    """Return the parts of `spans` outside the marks in `text`; drop any match that begins inside a mark."""
    if "[redacted:" not in text and "[private]" not in text:
        return list(spans)
    marks = [mark.span() for mark in MARK.finditer(text)]
    outer_spans: list[RuleSpan] = []
    for start, end, rule in spans:
        n = bisect_right(marks, (start, len(text)))
        if n and start < marks[n - 1][1]:
            continue
        while n < len(marks) and marks[n][0] < end:
            if start < marks[n][0]:
                outer_spans.append((start, marks[n][0], rule))
            start = marks[n][1]
            n += 1
        if start < end:
            outer_spans.append((start, end, rule))
    return outer_spans
