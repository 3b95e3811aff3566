"""A person's side of sign-on, against a provider that answers as a test wants: each refusal is one clear sentence."""

from __future__ import annotations

import base64
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from hashlib import sha256
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from tests.team.forged_provider import CLIENT, ForgedProvider, forging

from palazzo.team import identity_provider
from palazzo.team.client import sign_on
from palazzo.team.client.sign_on import SignOn, SignOnFailed, SignOnMethod, SignOnStep, Surroundings, find_method

NONCE = "n" * 64


@pytest.fixture
def provider() -> Iterator[ForgedProvider]:
    with forging() as started:
        yield started


class Person:
    """Who signs on: what was shown to them, how long they waited, and what their browser does with an address."""

    def __init__(self, provider: ForgedProvider, browse: Callable[[str], Any] | None = None) -> None:
        self.provider, self.browse = provider, browse
        self.steps: list[SignOnStep] = []
        self.waits: list[float] = []

    def sign_on(self, is_device_wanted: bool = False) -> str:
        method = SignOnMethod("http://127.0.0.1:1", self.provider.issuer, CLIENT, ("openid", "email"), True, False)
        world = Surroundings(self.steps.append, self._open, self.waits.append)
        connection: Any = None  # only a server with a client secret is asked
        attempt = SignOn(connection, method, identity_provider.discover(self.provider.issuer), world)
        return attempt.obtain_id_token(NONCE, is_device_wanted)

    def _open(self, address: str) -> bool:
        if self.browse is None:
            return False
        threading.Thread(target=self.browse, args=(address,)).start()
        return True


def go_back(address: str, **changes: str) -> int:
    """Send the browser back to the listener as the provider does, with changes; return the status of its page."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    answer = {"code": "the code", "state": query["state"], **changes}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{query['redirect_uri']}?{urlencode(answer)}", timeout=30) as response:
            assert b"the code" not in response.read()
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


# --- the browser -----------------------------------------------------------------------------------------------


def test_the_browser_brings_a_code_that_only_this_program_can_exchange(provider: ForgedProvider) -> None:
    provider.answer("/token", {"id_token": "the token"})
    addresses: list[str] = []
    statuses: list[int] = []

    def browse(address: str) -> None:
        addresses.append(address)
        wrong: list[dict[str, str]] = [{"state": "guessed"}, {"iss": "https://evil.example"}, {"code": ""}]
        statuses.extend(go_back(address, **changes) for changes in wrong)
        statuses.append(go_back(address, iss=provider.issuer))

    person = Person(provider, browse)
    assert person.sign_on() == "the token"
    assert statuses == [400, 400, 400, 200]
    asked = {name: values[0] for name, values in parse_qs(urlsplit(addresses[0]).query).items()}
    (form,) = [form for path, form in provider.requests if path == "/token"]
    challenge = base64.urlsafe_b64encode(sha256(form.pop("code_verifier").encode()).digest()).rstrip(b"=").decode()
    assert (asked["code_challenge"], asked["code_challenge_method"]) == (challenge, "S256")
    assert (asked["nonce"], asked["scope"], asked["response_type"]) == (NONCE, "openid email", "code")
    assert urlsplit(asked["redirect_uri"]).hostname == "127.0.0.1"
    assert form == {
        "client_id": CLIENT,
        "grant_type": "authorization_code",
        "code": "the code",
        "redirect_uri": asked["redirect_uri"],
    }
    assert [step.is_opened for step in person.steps] == [True]


@pytest.mark.parametrize(
    ("answer", "token", "sentence"),
    [
        ({"error": "access_denied", "code": ""}, {}, "refused at the identity provider"),
        ({"error": "\x1b[31mno", "code": ""}, {}, "gives no ID token"),
        ({}, {"error": "invalid_grant"}, "does not accept the code"),
        ({}, {"access_token": "x"}, "gives no ID token"),
    ],
)
def test_what_the_provider_refuses_is_one_sentence(
    provider: ForgedProvider, answer: dict[str, str], token: dict[str, str], sentence: str
) -> None:
    provider.answer("/token", token, status=400 if "error" in token else 200)
    with pytest.raises(SignOnFailed, match=sentence) as refusal:
        Person(provider, lambda address: go_back(address, **answer)).sign_on()
    assert "\x1b" not in str(refusal.value)


def test_nobody_signs_on_in_time(provider: ForgedProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_on, "BROWSER_SECONDS", 0.05)
    with pytest.raises(SignOnFailed, match="Nobody signed on within"):
        Person(provider, lambda address: None).sign_on()
    assert provider.count("/token") == 0


# --- the device flow -------------------------------------------------------------------------------------------

DEVICE = {"device_code": "d", "user_code": "ABCD-EFGH", "verification_uri": "https://login.example.org/device"}
PENDING, SLOW_DOWN = {"error": "authorization_pending"}, {"error": "slow_down"}


def test_without_a_browser_a_code_is_shown_and_the_provider_is_asked_at_its_pace(provider: ForgedProvider) -> None:
    provider.answer("/device", {**DEVICE, "user_code": "AB\x1b[31m-CD", "interval": 2})
    provider.answer("/token", PENDING, SLOW_DOWN, b"<busy>", {"id_token": "the token"})
    person = Person(provider)
    assert person.sign_on() == "the token"
    assert person.waits == [2, 2, 7, 14]  # slow_down adds five seconds; no answer doubles them
    (step,) = person.steps
    assert (step.address, "\x1b" in step.code) == (DEVICE["verification_uri"], False)
    assert dict(provider.requests)["/device"] == {"client_id": CLIENT, "scope": "openid email"}


@pytest.mark.parametrize(
    ("device", "token", "sentence"),
    [
        (DEVICE, {"error": "expired_token"}, "has expired"),
        (DEVICE, {"error": "access_denied"}, "refused at the identity provider"),
        (DEVICE, {"error": "\x1b[2J" + "x" * 9_000}, "gives no ID token"),
        ({**DEVICE, "expires_in": 12}, PENDING, "has expired"),
        ({**DEVICE, "verification_uri": "javascript:alert(1)"}, {}, "gives no ID token"),
        ({**DEVICE, "verification_uri": "http://login.example.org/\x1b[31m"}, {}, "gives no ID token"),
        ({"error": "unauthorized_client"}, {}, "does not let this team's client"),
        ({**DEVICE, "interval": -5, "expires_in": "soon"}, {"error": "expired_token"}, "has expired"),
    ],
)
def test_the_device_flow_ends_with_one_sentence(
    provider: ForgedProvider, device: dict[str, Any], token: dict[str, Any], sentence: str
) -> None:
    provider.answer("/device", device)
    provider.answer("/token", token, status=400)
    person = Person(provider)
    with pytest.raises(SignOnFailed, match=sentence) as refusal:
        person.sign_on(is_device_wanted=True)
    assert "\x1b" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert all(wait >= 1 for wait in person.waits)


# --- what the server says --------------------------------------------------------------------------------------

METHOD = {
    "url": "https://team.example.org",
    "issuer": "https://login.example.org",
    "client_id": CLIENT,
    "scopes": ["openid", "offline_access", "https://graph.example/all"],
    "has_device_flow": True,
    "is_forwarded": False,
}


def test_a_server_cannot_ask_for_more_than_who_somebody_is() -> None:
    method = find_method(SimpleNamespace(url=METHOD["url"], describe_sign_on=lambda: METHOD))  # type: ignore[arg-type]
    assert method is not None
    assert method.scopes == ("openid",)
    nobody = SimpleNamespace(url=METHOD["url"], describe_sign_on=dict)
    assert find_method(nobody) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"url": "https://other.example.org"}, "calls itself 'https://other.example.org'"),
        ({"issuer": "http://login.example.org"}, "not https"),
        ({"issuer": "http://127.0.0.1:8080"}, "not https"),
        ({"scopes": None}, "does not say clearly"),
    ],
)
def test_a_server_that_says_something_unsafe_is_refused(changes: dict[str, Any], sentence: str) -> None:
    server = SimpleNamespace(url=METHOD["url"], describe_sign_on=lambda: {**METHOD, **changes})
    with pytest.raises(SignOnFailed, match=sentence):
        find_method(server)  # type: ignore[arg-type]
