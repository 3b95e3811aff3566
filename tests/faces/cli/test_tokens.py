"""token, as it is typed."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from tests.faces.cli.command import Command

from palazzo.palace import Palace
from palazzo.security.secret_scanner import find_secrets
from palazzo.store import token_rows


def test_a_secret_is_shown_once_and_only_its_hash_is_kept(palazzo: Command, shop: Path) -> None:
    made = palazzo.json("token", "add", "laptop", "--scope", "write")
    assert re.fullmatch(r"palazzo_[\w-]{43}", made["secret"])
    assert (made["token"]["name"], made["token"]["scope"], made["token"]["revoked_at"]) == ("laptop", "write", None)
    assert made["secret"] not in palazzo("token", "list", "--all").out
    with Palace.open(shop, "read") as palace, palace.database.snapshot() as connection:
        ((kept,),) = connection.execute("SELECT hash FROM token")
    assert bytes(kept) == hashlib.sha256(made["secret"].encode()).digest()
    written = b"".join(path.read_bytes() for path in shop.parent.iterdir() if path.is_file())
    assert made["secret"].encode() not in written


def test_a_token_reads_unless_more_is_asked_for(palazzo: Command, home: Path) -> None:
    assert palazzo.json("token", "add", "ci")["token"]["scope"] == "read"
    assert palazzo("token", "add", "other", "--scope", "root").code == 2


def test_a_token_is_known_until_it_is_revoked(palazzo: Command, shop: Path) -> None:
    secret = palazzo.json("token", "add", "laptop")["secret"]

    def holder(said: str) -> str | None:
        with Palace.open(shop, "read") as palace, palace.database.snapshot() as connection:
            found = token_rows.holder(connection, said)
            return None if found is None else found.name

    assert holder(secret) == "laptop"
    assert [holder(said) for said in ("", "palazzo_", secret[:-1], secret + "A", secret.lower())] == [None] * 5
    revoked = palazzo.json("token", "revoke", "Laptop")
    assert revoked["was_good"]
    assert revoked["token"]["revoked_at"]
    assert holder(secret) is None
    assert not palazzo.json("token", "revoke", "laptop")["was_good"]
    assert palazzo("undo").code != 0 or holder(secret) is None


def test_a_name_is_free_again_once_its_token_is_revoked(palazzo: Command, home: Path) -> None:
    first = palazzo.json("token", "add", "laptop")["token"]["id"]
    again = palazzo("token", "add", "LAPTOP")
    assert (again.code, "already" in again.error) == (2, True)
    palazzo.json("token", "revoke", first[:13])
    second = palazzo.json("token", "add", "laptop")["token"]["id"]
    assert [one["id"] for one in palazzo.json("token", "list")["tokens"]] == [second]
    listed = palazzo.json("token", "list", "--all")
    assert ([one["id"] for one in listed["tokens"]], listed["revoked"]) == ([second, first], 1)
    assert palazzo.json("token", "revoke", "laptop")["token"]["id"] == second  # the good one of that name


def test_a_wrong_name_and_a_wrong_token_are_said(palazzo: Command, home: Path) -> None:
    assert palazzo("token", "revoke", "nobody").code == 1  # no palace yet, and none is made
    assert not (home / ".local" / "share" / "palazzo" / "palace.db").exists()
    for name in ("", "  ", "two\nlines", "x" * 101):
        assert palazzo("token", "add", name).code == 2
    palazzo.json("token", "add", "a")
    palazzo.json("token", "add", "b")
    missing = palazzo("token", "revoke", "nobody")
    assert (missing.code, "palazzo token list --all" in missing.error) == (2, True)
    assert "matches 2 ids" in palazzo("token", "revoke", "0").error  # ids of this century begin with 0
    assert palazzo("token", "revoke", "").code == 2


def test_what_people_see_of_tokens(palazzo: Command, home: Path) -> None:
    palazzo("remember", "A palace to look at.")
    assert "No token has been created" in palazzo("token", "list").out
    said, secret = palazzo("token", "add", "laptop", "--scope", "admin").out.splitlines()
    assert "laptop" in said
    assert "admin" in said
    assert secret.startswith("palazzo_")  # alone on its line, to be copied
    assert "Revoked" in palazzo("token", "revoke", "laptop").out
    assert "Already revoked" in palazzo("token", "revoke", "laptop").out
    assert "revoked" in palazzo("token", "list", "--all").out


def test_a_token_that_gets_into_a_transcript_is_redacted(palazzo: Command, home: Path) -> None:
    for n in range(4):
        secret = palazzo.json("token", "add", f"number {n}")["secret"]
        said = f"the server takes {secret} now"
        assert [said[one.start : one.end] for one in find_secrets(said)] == [secret]
    assert not find_secrets("palazzo_the_name_of_a_function_that_is_longer_than_names_are = 1")
