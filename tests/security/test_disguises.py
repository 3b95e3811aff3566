"""A secret that is spelled otherwise is as good as one in the clear, and goes whole."""

from __future__ import annotations

import base64
import json
import random
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.bench.labelled_secrets import cases, sample
from palazzo.security.disguised_text import decode_escapes
from palazzo.security.redactor import redact
from palazzo.security.row_redactor import redact_row
from palazzo.security.secret_prescan import suspects
from palazzo.security.secret_scanner import find_secrets

TOKEN = sample("ghp_{alnum:36}", random.Random(5))
CONFIG = "# one line of a file of settings\n" * 6 + f"export DEPLOY_TOKEN={TOKEN}\nmore = 1\n"
KEY = b"key"


def escaped(text: str, form: str) -> str:
    return "".join(form.format(ord(letter)) for letter in text)


@pytest.mark.parametrize("form", ["\\u{:04x}", "\\\\u{:04X}", "\\x{:02x}"])
@pytest.mark.parametrize("letters", [slice(None), slice(2, 3), slice(10, 14)])
def test_letters_as_escapes(form: str, letters: slice) -> None:
    hidden = (
        TOKEN[: letters.start or 0] + escaped(TOKEN[letters], form) + (TOKEN[letters.stop :] if letters.stop else "")
    )
    done = redact(f"it is {hidden}, then", KEY)
    assert done.text.startswith("it is [redacted:github-token:")
    assert done.text.endswith("], then")


def test_a_row_whose_writer_escapes_what_need_not_be() -> None:
    secret = "wJalrXUtnF" + "/K7MDENG/bPxRfiCYzzQ+9kLm3Ab"
    row = json.dumps({"type": "user", "content": f"aws_secret_key = {secret} it is"})
    for spelled in (row.replace("/", "\\/"), row.replace("+", "\\u002B").replace("/", "\\u002f")):
        done = redact_row(spelled.encode(), KEY)
        assert done.rules.total() == 1
        assert json.loads(done.raw)["content"].endswith("] it is")


@given(st.text(st.sampled_from("ab/\\ux0047é\n")))
def test_spans_of_unescaped_text_are_spans_of_the_original(text: str) -> None:
    view = decode_escapes(text)
    if view is None:
        return
    at = 0
    for n, letter in enumerate(view.text):
        start, end = view.span(n, n + 1)
        assert start == at < end
        assert text[start:end] == letter or text[start:end].startswith("\\")
        at = end
    assert at == len(text)


@pytest.mark.parametrize("width", [None, 60, 64, 76])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n"])
def test_text_in_base64_goes_whole(width: int | None, line_end: str) -> None:
    body = base64.b64encode(CONFIG.encode()).decode()
    lines = textwrap.wrap(body, width) if width else [body]
    done = redact(f"$ base64 .env{line_end}{line_end.join(lines)}{line_end}$ ", KEY)
    assert done.rules.total() == 1
    assert not any(line in done.text for line in lines)


def test_a_large_file_in_base64() -> None:
    body = base64.b64encode(b"some words of a long file\n" * 2000 + CONFIG.encode()).decode()
    assert redact(body, KEY).text.startswith("[redacted:github-token:")


def test_base64_without_a_secret_stays() -> None:
    for plain in (b"a page of text that anybody may read. " * 9, bytes(range(256)) * 8, b"\x89PNG\r\n" + bytes(900)):
        body = base64.b64encode(plain).decode()
        assert find_secrets(body) == []


def test_together_all_are_suspect_that_are_alone() -> None:
    texts = [case.text.encode() for case in cases()]
    alone = {n for n, text in enumerate(texts) if find_secrets(text.decode())}
    assert alone <= suspects(texts)
    shuffled = random.Random(2).sample(texts, len(texts))
    assert {n for n, text in enumerate(shuffled) if find_secrets(text.decode())} <= suspects(shuffled)


def test_what_stands_before_in_another_text_is_not_taken_for_its_own() -> None:
    """`hash:` at the end of one row must not excuse what the next begins with."""
    secret = sample("{b64:40}", random.Random(8))
    texts = [f"{before}".encode() for before in ("the hash", "sha256:", "id", "page_", "https://a.b/", "see {")]
    for before in texts:
        assert suspects([before, secret.encode(), before]) >= ({1} if find_secrets(secret) else set())
    assert find_secrets(secret)


@given(
    st.lists(st.binary(max_size=40) | st.sampled_from([TOKEN.encode(), b"<private>", b"password=", b"\n"]), max_size=9)
)
def test_any_bytes_may_be_looked_at(texts: list[bytes]) -> None:
    assert suspects(texts) <= set(range(len(texts)))
    for n, text in enumerate(texts):
        if TOKEN.encode() in text:
            assert n in suspects(texts)
