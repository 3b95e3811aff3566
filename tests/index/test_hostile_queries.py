"""Queries that nobody meant: whatever is typed or pasted, there is an answer or one sentence."""

from __future__ import annotations

import random

import pytest
from tests.archive.conversations import PLACE, answered, called, file_rows, file_version, said
from tests.reliability.sizes import chances, scaled

from palazzo.errors import UsageError
from palazzo.index.query import Query
from palazzo.model import Micros
from palazzo.palace import Palace

PIECES = (
    *"\"'`*^:(){}[]<>+-.\\/|?$%&~#@!=,;_ \t\n\r\0\x1b\x7f",
    *("AND", "OR", "NOT", "NEAR", "NEAR(", "NEAR/2", "body:", "scope:w1x", "{body context}:", "rowid", "--", "/*"),
    *(r"\d+", "(?:", "[^a-z]{3,}", ".*", "(a+)+$", r"\b", "$^", "%s", "%n", "{0}", "${HOME}", "?1", ":name", "@x"),
    *("the", "of", "a", "is", "what", "zebra", "queue", "retry", "parseHTTPRequest", "snake_case", "src/a.py:12"),
    *("🙂", "👩‍👩‍👧", "🏳️‍🌈", "漢", "検索", "向量检索", "مرحبا", "שלום", "नमस्ते", "ไทย"),
    *("Σς", "ß", "İı", "é", "ﬁ", "검색", "''"),
    *("\u202e", "\u200d", "\ufeff", "\u0300", "\ud800", "\udfff", "\uffff", "\U0010ffff", "\U0001fae8", "１２３", "½"),
    *("2026-02-30", "last week", "0x1F", "1e400", "-1", "NaN", "null", "\x00\x00"),
)  # fmt: skip


def hostile(chance: random.Random) -> str:
    """A few pieces of all that has ever broken a search box, some of them very often."""
    pieces = chance.choices(PIECES, k=chance.choice((1, 2, 3, 5, 8, 20, 60)))
    if chance.random() < 0.02:
        pieces = [piece * chance.choice((2, 40, 3000)) for piece in pieces]
    return chance.choice(("", " ", "", "\n")).join(pieces)


@pytest.fixture
def stocked(palace: Palace) -> Palace:
    file_rows(
        palace,
        [
            said(0, "user", "why did the retry of the zebra queue double the invoices?"),
            said(1, "assistant", "Because of parseHTTPRequest in src/a.py:12:"),
            called(2, "Bash", "pytest -k snake_case", "c"),
            answered(3, "FAILED tests/test_queue.py::test_retry", "c"),
            said(4, "user", "検索エンジンを選びました 🙂"),
        ],
    )
    palace.remember("what is the zebra of مرحبا", PLACE)
    file_version(palace, "# Retry\n\nA retry waits twice as long each time.\n")
    palace.embed_pending()
    return palace


def ask(palace: Palace, text: str, chance: random.Random) -> None:
    query = Query(
        text,
        wing=chance.choice((None, None, "api", text)),
        kind=chance.choice((None, None, "tool", text)),
        branch=chance.choice((None, None, None, text)),
        since=chance.choice((None, None, Micros(0), Micros(2**62))),
        limit=chance.choice((1, 5, 10_000)),
        budget=chance.choice((1, 60, 2000)),
    )
    if text.strip():
        assert all(hit.drawer.text.startswith(hit.text) for hit in palace.search(query).hits)
    else:
        with pytest.raises(UsageError, match=r"^The query is empty: give words to search for\.$"):
            palace.search(query)


def test_two_hundred_hostile_queries(stocked: Palace) -> None:
    chance = random.Random(4)
    for _ in range(200):
        ask(stocked, hostile(chance), chance)


@pytest.mark.slow
def test_ten_thousand_hostile_queries(stocked: Palace) -> None:
    """500 in CI size."""
    chance = chances("hostile queries")
    for _ in range(scaled(10_000)):
        ask(stocked, hostile(chance), chance)


CJK = {
    "会議で検索エンジンの選定について話しました": ("検索", "選定", "会議", "エンジン", "検索エンジン", "話"),
    "我们决定使用向量检索而不是图索引": ("向量", "检索", "决定", "图", "为什么使用向量检索？"),
    "결제 서비스는 재시도를 세 번 합니다": ("결제", "재시도", "서비스"),
    "デプロイ先はAWSの東京リージョンです": ("東京", "デプロイ", "AWS", "リージョン"),
    "قررنا استخدام قاعدة البيانات بوستجرس": ("قاعدة", "بوستجرس"),
    "คิวลองส่งใหม่สี่ครั้งก่อนจะหยุด": ("ลองส่ง", "สี่ครั้ง"),
    "ລະບົບລອງໃໝ່ສີ່ຄັ້ງ": ("ລອງໃໝ່",),
    "ម៉ាស៊ីនមេព្យាយាមម្តងទៀតបួនដង": ("បួនដង",),
    "ဆာဗာသည်လေးကြိမ်ထပ်ကြိုးစားသည်": ("လေးကြိမ်",),
}


@pytest.mark.parametrize(
    ("text", "word"), [(text, word) for text, words in CJK.items() for word in words], ids=lambda value: ascii(value)
)
def test_a_word_inside_a_sentence_without_spaces_is_found_by_keyword(palace: Palace, text: str, word: str) -> None:
    for each in CJK:
        palace.remember(each, PLACE)
    answer = palace.search(Query(word))
    assert answer.index == "keyword-only"
    assert [hit.drawer.text for hit in answer.hits][:1] == [text]


@pytest.mark.parametrize("word", ["索検", "東検", "议会", "ดค"])
def test_characters_that_only_stand_apart_are_not_a_word(palace: Palace, word: str) -> None:
    for each in CJK:
        palace.remember(each, PLACE)
    assert palace.search(Query(word)).hits == []
