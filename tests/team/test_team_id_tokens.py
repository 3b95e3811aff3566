"""ID tokens: a good one is accepted, each forged one is refused with its own reason."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from tests.team.forged_provider import CLIENT, ForgedProvider, forging

from palazzo.errors import UsageError
from palazzo.team import identity_provider
from palazzo.team.identity_provider import ProviderUnusable
from palazzo.team.server import id_tokens
from palazzo.team.server.id_tokens import IdTokenRefused, IdTokenVerifier, ProviderKeys
from palazzo.team.server.sign_on_settings import load_settings

NONCE = "n" * 64


class Clock:
    """A clock that a test moves."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def provider() -> Iterator[ForgedProvider]:
    with forging() as started:
        started.add_key("first")
        yield started


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verify(provider: ForgedProvider, clock: Clock) -> Callable[..., dict[str, Any]]:
    verifier = IdTokenVerifier(ProviderKeys(provider.issuer, clock), provider.issuer, CLIENT)

    def run(token: str, may_lack_nonce: bool = False) -> dict[str, Any]:
        return dict(verifier.verify(token, NONCE, may_lack_nonce).claims)

    return run


Verify = Callable[..., dict[str, Any]]


def test_a_good_token_of_each_algorithm_is_accepted(provider: ForgedProvider, verify: Verify) -> None:
    for algorithm in id_tokens.ALGORITHMS:
        provider.add_key(algorithm, algorithm)
    for algorithm in id_tokens.ALGORITHMS:
        assert verify(provider.sign(provider.claims(NONCE), algorithm))["sub"] == "1"
    both = provider.claims(NONCE, aud=[CLIENT, "another"], azp=CLIENT)
    assert verify(provider.sign(both))["aud"] == [CLIENT, "another"]
    assert provider.count("/keys") == 1


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"iss": "https://evil.example"}, "another provider"),
    ({"aud": "another"}, "another program"),
    ({"aud": [CLIENT, "another"]}, "another program"),
    ({"azp": "another"}, "another program"),
    ({"exp": -120}, "expired"),
    ({"exp": None}, "missing"),
    ({"iat": None}, "missing"),
    ({"iat": 600, "exp": 900}, "future"),
    ({"iat": -3_600}, "too old"),
    ({"nonce": "m" * 64}, "not made for this server and device"),
    ({"nonce": None}, "not made for this server and device"),
    ({"nonce": ["n"]}, "not made for this server and device"),
    ({"sub": ""}, "names nobody"),
    ({"sub": None}, "missing"),
    ({"sub": "a\nb"}, "names nobody"),
]
"""What is wrong with a token; times are seconds from now."""


def test_a_token_with_a_wrong_claim_is_refused(provider: ForgedProvider, verify: Verify) -> None:
    for offsets, reason in CHANGES:
        now = int(time.time())
        changes = {name: now + value if isinstance(value, int) else value for name, value in offsets.items()}
        claims = {name: value for name, value in {**provider.claims(NONCE), **changes}.items() if value is not None}
        with pytest.raises(IdTokenRefused, match=reason):
            pytest.fail(f"{changes}: {verify(provider.sign(claims))}")


def test_without_a_nonce_it_is_accepted_from_the_device_flow_but_not_with_another(
    provider: ForgedProvider, verify: Verify
) -> None:
    assert verify(provider.sign(provider.claims()), may_lack_nonce=True)["sub"] == "1"
    with pytest.raises(IdTokenRefused, match="not made for this server"):
        verify(provider.sign(provider.claims("m" * 64)), may_lack_nonce=True)


def part(values: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).rstrip(b"=").decode()


def forged_tokens(provider: ForgedProvider) -> dict[str, str]:
    """Tokens with good claims that the provider has not signed."""
    claims = provider.claims(NONCE)
    good = provider.sign(claims)
    head, body, signature = good.split(".")
    public = (
        provider.keys["rsa"][1]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    with_secret = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{body}"
    mac = base64.urlsafe_b64encode(jwt.get_algorithm_by_name("HS256").sign(with_secret.encode(), public))
    return {
        "no signature": f"{part({'alg': 'none', 'kid': 'first'})}.{body}.",
        "the public key as a secret": f"{with_secret}.{mac.rstrip(b'=').decode()}",
        "another algorithm for the key": f"{part({'alg': 'RS256', 'kid': 'first'})}.{body}.{signature}",
        "other claims": f"{head}.{part({**claims, 'sub': '2'})}.{signature}",
        "an unknown extension": provider.sign(claims, "first", {"crit": ["b64"], "b64": False}),
        "an access token": provider.sign(claims, "first", {"typ": "at+jwt"}),
        "another key with its id": jwt.encode(claims, rsa.generate_private_key(65537, 2048), "RS256", {"kid": "rsa"}),
        "a key in its header": jwt.encode(
            claims, provider.keys["rsa"][1], "RS256", {"jwk": {"kty": "oct", "k": "AA"}, "kid": "first"}
        ),
        "too long": good + "A" * id_tokens.LARGEST_TOKEN,
        "not a token": "palazzo",
        "nothing": "",
        "nested": "[" * 10_000,
    }


def test_a_token_that_the_provider_did_not_sign_is_refused(provider: ForgedProvider, verify: Verify) -> None:
    provider.add_key("rsa", "RS256")
    for name, token in forged_tokens(provider).items():
        with pytest.raises(IdTokenRefused):
            pytest.fail(f"{name}: {verify(token)}")
    assert provider.count("/keys") == 1


def test_a_key_that_is_too_short_is_refused(provider: ForgedProvider, verify: Verify) -> None:
    short = rsa.generate_private_key(65537, 1024)
    provider.keys = {"first": ("RS256", short)}
    content = f"{part({'alg': 'RS256', 'kid': 'first'})}.{part(provider.claims(NONCE))}"
    signature = short.sign(content.encode(), padding.PKCS1v15(), hashes.SHA256())
    with pytest.raises(IdTokenRefused, match="too short"):
        verify(f"{content}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}")


def test_an_unknown_key_is_looked_for_once_and_a_new_one_is_found(
    provider: ForgedProvider, verify: Verify, clock: Clock
) -> None:
    old = provider.sign(provider.claims(NONCE))
    assert verify(old)
    provider.add_key("second")
    new = provider.sign(provider.claims(NONCE), "second")
    for _ in range(3):  # just fetched: a flood of unknown keys asks the provider for nothing
        with pytest.raises(IdTokenRefused, match="no such key"):
            verify(new)
    assert provider.count("/keys") == 1
    clock.now += id_tokens.REFETCH_PAUSE
    assert verify(new)
    assert provider.count("/keys") == 2
    del provider.keys["first"]
    clock.now += id_tokens.KEYS_LAST
    with pytest.raises(IdTokenRefused, match="no such key"):
        verify(old)
    assert provider.count("/keys") == 3


DISCOVERY = "/.well-known/openid-configuration"
BAD_ANSWERS: list[tuple[str, int, Any, str]] = [
    ("/keys", 200, b" " * 10_000_000, "more than 256 KiB"),
    (DISCOVERY, 200, b"<html>", "does not answer as an identity provider"),
    ("/keys", 200, b"[]", "does not answer as an identity provider"),
    (DISCOVERY, 500, {}, "does not answer as an identity provider"),
    (DISCOVERY, 302, {}, "redirects"),
    (DISCOVERY, 200, {"issuer": "https://evil.example\x1b[31m"}, "calls itself"),
    ("/keys", 200, {"keys": 1}, "does not show its keys"),
]


def test_a_bad_answer_of_the_provider_is_one_clear_sentence(
    provider: ForgedProvider, verify: Verify, clock: Clock
) -> None:
    token = provider.sign(provider.claims(NONCE))
    for path, status, body, reason in BAD_ANSWERS:
        provider.answers.clear()
        provider.requests.clear()
        provider.answer(path, body, status=status)
        for _ in range(2):
            with pytest.raises(ProviderUnusable, match=reason) as refusal:
                verify(token)
            assert "\x1b" not in str(refusal.value)
        assert provider.count(DISCOVERY) == 1  # the failure is remembered for a while
        clock.now += id_tokens.FAILURE_LASTS
    provider.answers.clear()
    assert verify(token)


def test_a_provider_that_never_ends_its_answer_is_given_up(
    provider: ForgedProvider, verify: Verify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity_provider, "SECONDS", 0.1)
    ended = []

    class Slow(bytes):
        pass

    original = provider.respond

    def respond(path: str) -> tuple[int, Any]:
        time.sleep(0.5)
        ended.append(path)
        return original(path)

    provider.respond = respond  # type: ignore[method-assign]
    with pytest.raises(ProviderUnusable, match="did not answer within"):
        verify(provider.sign(provider.claims(NONCE)))
    assert ended == []


def test_a_provider_that_is_away_is_one_clear_sentence() -> None:
    keys = ProviderKeys("http://127.0.0.1:9", Clock())
    with pytest.raises(ProviderUnusable, match="cannot be reached"):
        keys.provider()


GOOD = """issuer = "https://login.example.org"
client_id = "palazzo"
url = "https://palazzo.example.org/"
"""


def settings_file(directory: Path, text: str) -> Path:
    path = directory / "sign-on.toml"
    path.write_text(text)
    return path


def test_the_settings_have_safe_defaults(tmp_path: Path) -> None:
    settings = load_settings(settings_file(tmp_path, GOOD), "s3cret")
    assert (settings.person, settings.admits_new_people) == ("email", False)
    assert settings.url == "https://palazzo.example.org"
    assert "s3cret" not in repr(settings)
    local = 'issuer = "http://127.0.0.1:9"\nclient_id = "a"\nurl = "http://127.0.0.1:8379"\ndomains = ["@B.org"]\n'
    assert load_settings(settings_file(tmp_path, local), "").domains == ("b.org",)


WRONG_SETTINGS = [
    ("issuer = ", "cannot be read"),
    ('client_id = "palazzo"', "'issuer, url' is missing"),
    (GOOD + "isuer = 1", "no setting 'isuer'"),
    (GOOD.replace("https://login", "http://login"), "'issuer' must be an https address"),
    (GOOD.replace("https://login.example.org", "http://127.0.0.1:9"), "'issuer' must be an https address"),
    (GOOD.replace("https://palazzo", "http://palazzo"), "'url' must be"),
    (GOOD + 'person = "name"', "'person' must be"),
    (GOOD + "domains = []", "lists of text"),
    (GOOD + 'domains = "example.org"', "lists of text"),
    (GOOD + 'scopes = ["openid", "offline_access"]', "'scopes'"),
    (GOOD + "scopes = 5", "lists of text"),
    (GOOD + "days = 1000", "'days'"),
    (GOOD + 'device_flow = "no"', "true or false"),
    (GOOD + "admits_new_people = true", "needs 'domains' or 'groups'"),
    (GOOD + '[wings]\nshop = "king"', "a role for each name"),
]


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    for text, problem in WRONG_SETTINGS:
        with pytest.raises(UsageError, match=problem):
            pytest.fail(f"{text}: {load_settings(settings_file(tmp_path, text), '')}")
