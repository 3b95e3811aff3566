"""Hostile text costs time in proportion to its length: 64 and 256 KB of each are compared within one run.

With `PALAZZO_RELIABILITY=1` it is 256 KB and 1 MB, which takes eight minutes of one core.

Quadratic work would be 16 times as long on four times as much, linear work is 4 times; the line is at 10.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.linear_time import assert_linear
from tests.reliability.sizes import FACTOR

from palazzo.knowledge import clause_values, clauses
from palazzo.security import file_writes
from palazzo.security.command_trust import judge_command
from palazzo.security.injected_text import said_spans
from palazzo.security.row_redactor import redact_row
from palazzo.security.shell_reader import LONGEST_COMMAND
from palazzo.sessions import digest_turns
from palazzo.text.text_mentions import mentions

pytestmark = pytest.mark.slow
LENGTH, SPARE = (250_000, 0.05) if FACTOR >= 1 else (62_500, 0.02)
"""Characters of the shorter text, and the seconds that may go by beside what is proportional."""
UNITS = {
    "one letter": "a",
    "equal signs": "=",
    "quotes": '"',
    "backslashes": "\\",
    "spaces": " ",
    "dashes": "-",
    "base64": "Qm9/",
    "base64 in lines": "Qm9vMTIz" * 9 + "\n",
    "random words": "aZ3kQ9xT1vB7nM5cR2wL8pY4 ",
    "nested tags": "<private>",
    "nested and closed": "<private></private ",
    "open tags": "<private ",
    "reminders": "<system-reminder>",
    "fences": "<palazzo-memory><",
    "passwords": "password",
    "passwords with quotes": 'password="',
    "tokens": "token_key_",
    "assignments": "secret=",
    "names": 'api_key: str = "',
    "addresses": "://a:",
    "credentials": "://a:b3c@h",
    "heads": "sk-",
    "heads with digits": "sk-1",
    "webhooks": "hooks.slack.com/services/T",
    "first lines": "-----BEGIN RSA PRIVATE KEY-----\n",
    "curl": "curl -u ",
    "bearers": "authorization: bearer ",
    "signatures": "&sig=AbC1",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.",
    "marks": "[redacted:a:12345678]",
    "dots": "SG.a1",
    "instructions": "# AGENTS.md instructions for x\n<INSTRUCTIONS>",
    "escapes": "\\u003c",
    "not ascii": "語a1",
    "escaped letters": "\\u0041\\u0062",
    "escaped slashes": "a\\/b",
    "base64 of text": "aGVsbG8gd29ybGQgdGV4dCBvayBh",
    "lines with a password": "password\n",
    "cells": "password,",
    "rows of SQL": "insert into a (password,",
    "lists of logins": "chpasswd\n a:b",
    "options": " -p",
    "logins": "curl -u a:b ",
    "commands": "mysql -pab ",
    "pipes": "echo a | ",
    "Kubernetes": "kind: secret\ndata:\n",
    "cookies": "cookie: sid=",
    "percent": "%41",
    "not seen": "a\u200b",
    "ends of keys": "QUJDREVG\n-----END PRIVATE KEY-----\n",
    "statements": "password a is ",
    "labels": "password for a b: ",
    "settings": "a = b\npassword = c\n",
    "sections": "[a]\npassword = c\n",
    "aligned columns": "a  password\nb  c\n",
    "scripts for expect": "spawn a\n",
    "arguments": "--password a,b;c",
    "at signs": "mongodb://a:b@",
    "brackets": "[",
    "parentheses": "(",
    "backticks": "`a",
    "tildes": "~",
    "figures": "1,",
    "words with dashes": "a-",
    "paths": "a/",
    "base64 of text in escaped lines": "aGVsbG8gd29ybGQgdGV4dCBvayBh" * 2 + "aGVsbG8gd29ybGQg" + "\\n",
}
SHELL_UNITS = {
    "substitutions": "$(",
    "backquotes": "`a ",
    "quoted substitutions": '"$(a ',
    "groups": "{ a; ",
    "subshells": "(",
    "here-documents": "a <<E\n$(",
    "short here-documents": "a <<E\nE\n",
    "arithmetic": "((",
    "expansions": "${a",
    "spread braces": "{a,b}",
    "steps": "a;",
    "git": "git clone -c a=b ",
    "options": "git -a -b c=d ",
    "copies": "cp a b\n",
    "tee": "tee -a x ",
    "loops": "for a in b; do ",
    "substitution of sed": "sed s/a/",
    "code": "python -c '(((",
    "functions": "f() { f; }; ",
    "assignments of variables": "a=$a$a;",
}
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "said_spans": said_spans,
    "mentions": lambda text: mentions(text, "user"),
    "host_port": clause_values.host_port,
    "value_within": clause_values.value_within,
    "bag": clauses.bag,
    "bag of a digest": digest_turns.bag,
    "redact_row": lambda text: redact_row(text.encode(), b"key"),
}
"""`redact_row` calls `find_secrets`, `private_spans` and `redact` with the whole text."""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_is_linear(name: str, unit: str) -> None:
    function, small = FUNCTIONS[name], UNITS[unit] * (LENGTH // len(UNITS[unit]))
    assert_linear(function, small, SPARE, f"{name} on {unit}")


@pytest.mark.parametrize("unit", SHELL_UNITS)
def test_time_of_a_command_is_linear(unit: str) -> None:
    def judge(text: str) -> None:
        judge_command(text)
        file_writes.names_mentioned(text)
        file_writes.names_in_program(text)
        file_writes.names_saved(text)

    small = SHELL_UNITS[unit] * (LONGEST_COMMAND // 4 // len(SHELL_UNITS[unit]))
    assert_linear(judge, small, 0.05, f"judging on {unit}")
