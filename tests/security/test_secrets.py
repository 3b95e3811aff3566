"""What is found in any text, what is let alone, and the labelled sets."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from benchmarks.secret_forms import read_forms
from hypothesis import given, settings
from hypothesis import strategies as st

from palazzo.bench.labelled_secrets import KINDS, Case, cases, sample
from palazzo.bench.ordinary_lines import excerpts
from palazzo.security.redactor import redact
from palazzo.security.secret_scanner import find_secrets

KEY_IN_THE_FIXTURES = "sk-" + "test-EXAMPLE0123456789abcdef0123456789"


def found(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_secrets(text)]


def share_right(kind: str, label_set: str, held_out: bool) -> float:
    """Apart, so that a failure shows no text that is held out."""
    forms = [form for form in read_forms(label_set) if form.kind == kind and form.is_held_out is held_out]
    right = sum(form.is_right([(edit.start, edit.end) for edit in redact(form.text, b"key").edits]) for form in forms)
    return right / len(forms)


def covered(case: Case) -> bool:
    return any(span.start <= case.start and case.end <= span.end for span in find_secrets(case.text))


@pytest.mark.parametrize("held_out", [False, True], ids=["tuned on", "held out"])
@pytest.mark.parametrize(("structured", "goal"), [(True, 0.99), (False, 0.95)], ids=["structured", "generic"])
def test_secrets_are_found(structured: bool, goal: float, held_out: bool) -> None:
    labelled = [case for case in cases() if (case.kind.has_fixed_form, case.kind.held_out) == (structured, held_out)]
    missed = [(case.kind.id, case.context) for case in labelled if not covered(case)]
    assert len(missed) <= (1 - goal) * len(labelled), missed


@pytest.mark.parametrize(("kind", "least"), [("structured", 0.93), ("generic", 0.74), ("none", 0.92)])
@pytest.mark.parametrize("held_out", [False, True], ids=["tuned on", "held out"])
def test_short_texts_of_sessions(kind: str, least: float, held_out: bool) -> None:
    share = share_right(kind, "forms", held_out)
    assert share >= least


@pytest.mark.parametrize(("kind", "least"), [("structured", 0.97), ("generic", 0.9), ("none", 0.99)])
@pytest.mark.parametrize("half", [False, True])
def test_short_texts_that_the_rules_are_tuned_on(kind: str, least: float, half: bool) -> None:
    share = share_right(kind, "fresh", half)
    assert share >= least


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("mysql -u root -pKieselstein shop", "Kieselstein"),
        ("sshpass -p 'passwort-neu' ssh deploy@10.0.9.3", "passwort-neu"),
        ("docker login -u builder -p Sparrow_Gate_77", "Sparrow_Gate_77"),
        ("htpasswd -b users.txt bob Sparrow77", "Sparrow77"),
        ("requirepass krokusse", "krokusse"),
        ("$ cat ~/.pgpass\ndb1:5432:shop:app:Sparrow_77", "Sparrow_77"),
        ('<add key="SmtpPassword" value="jkdfhgkjhs" />', "jkdfhgkjhs"),
        ("Server=db1;User Id=sa;Password=dkfjghdk;Encrypt=true", "dkfjghdk"),
        ("mongosh mongodb://root:p@ss/w0rdLake@mongo:27017/admin", "p@ss/w0rdLake"),
        ("the admin password is Winter2026!", "Winter2026!"),
        ("das Admin-Passwort lautet Winter2026!", "Winter2026!"),
        ("La contraseña del usuario root es Verano2026#sol.", "Verano2026#sol"),
        ("la password di root è Estate2023!", "Estate2023!"),
        ("пароль от админки: Zima2026!sneg", "Zima2026!sneg"),
        ("pass\u200bword=Ab3\u200bdEf9gH", "Ab3\u200bdEf9gH"),
    ],
)
def test_passwords_of_commands_settings_and_sentences_are_found(text: str, secret: str) -> None:
    assert any(secret in secret_text for secret_text in found(text))


def test_the_end_of_a_private_key_is_found_without_its_beginning() -> None:
    _, *body, last = sample_of("private-key").strip().split("\n")
    assert found("\n".join([*body[3:], last])) == ["\n".join(body[3:]) + "\n"]


def test_little_more_than_the_secret_is_taken() -> None:
    wide = Counter(
        case.kind.id
        for case in cases()
        for span in find_secrets(case.text)
        if span.start < case.start - 12 or span.end > case.end + 2
    )
    assert sum(wide.values()) <= 12, wide


@pytest.mark.slow
@pytest.mark.parametrize("held_out", [False, True], ids=["tuned on", "held out"])
def test_ordinary_lines_are_let_alone(held_out: bool) -> None:
    marked = lines = 0
    for excerpt in excerpts(20_000):
        if excerpt.held_out is held_out:
            lines += excerpt.text.count("\n") + 1
            marked += sum(excerpt.text.count("\n", span.start, span.end) + 1 for span in find_secrets(excerpt.text))
    assert marked <= 0.005 * lines


def test_the_key_of_the_recorded_sessions_is_found() -> None:
    text = f"T07 Here is the staging key: {KEY_IN_THE_FIXTURES}."
    assert found(text) == [KEY_IN_THE_FIXTURES]
    assert [span.rule for span in find_secrets(text)] == ["openai-key"]


@pytest.mark.parametrize(
    "text",
    [
        'password = os.environ["DB_PASSWORD"]',
        "password: ${DB_PASSWORD}",
        "token = get_token(client_id2)",
        "login(username=username, password=password)",
        'api_key = "your-api-key-here-1234"',
        "API_KEY=<your key 12345>",
        'TOKEN_TYPE = "access_token2"',
        "secret_key = settings.SECRET_KEY2",
        '"usage": {"input_tokens": 20480, "output_tokens": 512}',
        "max_tokens=4096",
        'next_page_token = "CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA2a3I"',
        "my_password = request.json_body['hey1']",
        "$password = $input1;",
        'apiKey: fs.readFileSync("foo1"),',
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"integrity": "sha512-'
        + "Qm9vMTIzNDU2Nzg5MGFiY2RlZkdISUpLTE1OT1BxcnN0dXZ3eHl6QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY"
        + '"',
        "id 01890a5d-ac96-774b-bcce-b302099a8057",
        "toolu_01XFDUDYJgAACzvnptvVoYEL",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        "src/palazzo/archive/V2Beta3/HTTPServer2Handler.test.ts",
        "postgres://user:password@localhost:5432/app",
        "postgres://postgres:postgres@localhost:5432/app",
        "echo 'VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4=' | base64 -d",
        "SSBsaWtlIGNhdHMgYW5kIGRvZ3M=",
        "https://example.com:8443/path@2x.png",
        "-----BEGIN PRIVATE KEY-----",
        "if (pass > 2) { bypass = compass1; }",
        "PWD=/home/dev/acme2",
        "[redacted:github-token:1a2b3c4d]",
        "password=[redacted:password:1a2b3c4d]",
        'token: "[redacted:token:1a2b3c4d]"',
        "PASSWORD=[private]",
        "from trust read entry short.\n    salted first trust is.\n        pass from.\n\nunit answer change.",
    ],
)
def test_what_is_no_secret_is_let_alone(text: str) -> None:
    assert found(text) == []


def test_a_key_is_found_after_the_escapes_of_strings_addresses_and_terminals() -> None:
    key = sample_of("github-pat")
    for before in ("\\n", "\\t", "\\u001b[32m", "%3D", "\x1b[32m", "\x1b[1;31m", "=", "(", ">", "é"):
        assert found(f"x {before}{key}") == [key], before


def test_a_key_within_a_longer_word_is_no_key() -> None:
    assert found(f"x{sample_of('aws-access-token')}") == []


def test_a_private_key_without_its_last_line_goes_to_the_end_of_its_body() -> None:
    head, *body, _ = sample_of("private-key").split("\n")
    assert found("\n".join([head, *body, "", "That was the key."])) == ["\n".join([head, *body])]


def test_what_is_marked_is_never_part_of_a_span() -> None:
    key = sample_of("github-pat")
    text = f'password = "{key}[redacted:jwt:12345678]{key}"'
    assert found(text) == [key, key]


@given(
    st.text(st.characters(codec=None))
    | st.lists(
        st.sampled_from(
            [
                "password",
                "=",
                '"',
                "[private]",
                "A1b2C3d4",
                "://",
                "@",
                ":",
                "\0",
                "\ud800",
                "sk-",
                "-----BEGIN RSA PRIVATE KEY-----",
                "[redacted:a:12345678]",
                "\n",
                "token",
                "a1B2" * 8,
            ]
        )
    ).map("".join)
)
@settings(max_examples=300, deadline=None)
def test_any_text_has_spans_in_order(text: str) -> None:
    at = 0
    for span in find_secrets(text):
        assert at <= span.start < span.end <= len(text)
        at = span.end


def sample_of(kind: str) -> str:
    return sample(next(k.template for k in KINDS if k.id == kind), random.Random(1))
