"""Labelled secrets: 60 kinds of secret, each to be found in 20 contexts. Committed before the rules.

Kinds are formats that other projects publish, restated here as prefix, alphabet and length; `source` names the rule
from which each was taken. No sample is written down: bodies are drawn from a seed when a test runs, so that nothing
here looks like a live key.

    gitleaks        config/gitleaks.toml of github.com/gitleaks/gitleaks at 009e025a, MIT
    detect-secrets  plugins of detect-secrets 1.5.0, Apache-2.0

A template's `{alnum:36}` is 36 characters of that alphabet; « » enclose the part that must not survive, or the whole
sample if they are absent. A structured kind has a form of its own and appears under a name that says nothing. A generic
kind has no form and appears under the words of its `name`. Half of the kinds are held out by the hash of their id:
rules are tuned only on the others.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

GL, DS = "gitleaks", "detect-secrets"
NEUTRAL = "sample value"

ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "ALNUM": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "hex": string.digits + "abcdef",
    "digit": string.digits,
    "base32": string.ascii_uppercase + "234567",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "_-",
    "typed": string.ascii_letters + string.digits + "!@^*+-_",
}


@dataclass(frozen=True)
class Kind:
    """One kind of secret: its template, where the template was published, and the name for a generic secret."""

    id: str
    template: str
    source: str
    name: str = NEUTRAL

    @property
    def has_fixed_form(self) -> bool:
        """Return whether its form alone identifies it."""
        return self.name == NEUTRAL and self.id != "high-entropy"

    @property
    def held_out(self) -> bool:
        """Return whether it is excluded from tuning."""
        return hashlib.blake2b(self.id.encode(), digest_size=1).digest()[0] % 2 == 1


KINDS = (
    Kind("aws-access-token", "AKIA{base32:16}", GL),
    Kind("gcp-api-key", "AIza{b64url:35}", GL),
    Kind("azure-ad-client-secret", "{alnum:3}8Q~{b64url:34}", GL),
    Kind("azure-storage-key", "AccountName=acme;AccountKey=«{b64:86}==»;EndpointSuffix=core.windows.net", DS),
    Kind("github-pat", "ghp_{alnum:36}", GL),
    Kind("github-fine-grained-pat", "github_pat_{alnum:22}_{alnum:59}", GL),
    Kind("github-oauth", "gho_{alnum:36}", GL),
    Kind("github-app-token", "ghs_{alnum:36}", GL),
    Kind("gitlab-pat", "glpat-{b64url:20}", GL),
    Kind("gitlab-rrt", "GR1348941{b64url:20}", GL),
    Kind("gitlab-ptt", "glptt-{hex:40}", GL),
    Kind("openai-api-key", "sk-{alnum:20}T3BlbkFJ{alnum:20}", GL),
    Kind("openai-project-key", "sk-proj-{b64url:74}T3BlbkFJ{b64url:74}", GL),
    Kind("anthropic-api-key", "sk-ant-api03-{b64url:93}AA", GL),
    Kind("huggingface-access-token", "hf_{alpha:34}", GL),
    Kind("slack-bot-token", "xoxb-{digit:12}-{digit:13}-{alnum:24}", GL),
    Kind("slack-user-token", "xoxp-{digit:12}-{digit:12}-{digit:12}-{hex:32}", GL),
    Kind("slack-app-token", "xapp-1-{ALNUM:11}-{digit:13}-{hex:64}", GL),
    Kind("slack-webhook-url", "https://hooks.slack.com/services/«T{ALNUM:8}/B{ALNUM:8}/{alnum:24}»", GL),
    Kind("stripe-access-token", "sk_live_{alnum:24}", GL),
    Kind("stripe-restricted-key", "rk_test_{alnum:32}", GL),
    Kind("twilio-api-key", "SK{hex:32}", GL),
    Kind("sendgrid-api-token", "SG.{b64url:22}.{b64url:43}", GL),
    Kind("npm-access-token", "npm_{alnum:36}", GL),
    Kind("pypi-upload-token", "pypi-AgEIcHlwaS5vcmc{b64url:120}", GL),
    Kind("digitalocean-pat", "dop_v1_{hex:64}", GL),
    Kind("cloudflare-origin-ca-key", "v1.0-{hex:24}-{hex:146}", GL),
    Kind("databricks-api-token", "dapi{hex:32}", GL),
    Kind("shopify-access-token", "shpat_{hex:32}", GL),
    Kind("square-access-token", "sq0atp-{b64url:22}", GL),
    Kind("telegram-bot-api-token", "{digit:9}:A{b64url:34}", GL),
    Kind("discord-bot-token", "M{alnum:23}.{b64url:6}.{b64url:27}", DS),
    Kind("mailgun-private-api-token", "key-{hex:32}", GL),
    Kind("mailchimp-access-key", "{hex:32}-us12", DS),
    Kind("new-relic-user-api-key", "NRAK-{ALNUM:27}", GL),
    Kind("sentry-user-token", "sntryu_{hex:64}", GL),
    Kind("linear-api-key", "lin_api_{alnum:40}", GL),
    Kind("notion-api-token", "ntn_{digit:11}{alnum:35}", GL),
    Kind("atlassian-api-token", "ATATT3{b64url:186}", GL),
    Kind("age-secret-key", "AGE-SECRET-KEY-1{bech32:58}", GL),
    Kind("vault-service-token", "hvs.{b64url:95}", GL),
    Kind("hashicorp-tf-api-token", "{alnum:14}.atlasv1.{b64url:64}", GL),
    Kind("jwt", "{jwt}", GL),
    Kind("private-key", "{pem:RSA PRIVATE KEY}", GL),
    Kind("private-key-openssh", "{pem:OPENSSH PRIVATE KEY}", GL),
    Kind("private-key-pgp", "{pem:PGP PRIVATE KEY BLOCK}", GL),
    Kind("basic-auth-url", "postgres://app:«{alnum:16}»@db.example.com:5432/app", DS),
    Kind("curl-auth-header", "Authorization: Bearer «{b64url:40}»", GL),
    Kind("database-password", "{typed:14}", GL, "db password"),
    Kind("generic-api-key", "{hex:32}", GL, "api key"),
    Kind("generic-client-secret", "{alnum:40}", GL, "client secret"),
    Kind("aws-secret-access-key", "{b64:40}", DS, "aws secret access key"),
    Kind("heroku-api-key", "{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}", GL, "heroku api key"),
    Kind("twilio-auth-token", "{hex:32}", GL, "twilio auth token"),
    Kind("datadog-access-token", "{lower:40}", GL, "datadog api key"),
    Kind("keyword-passwd", "{typed:10}", DS, "passwd"),
    Kind("keyword-private-key", "{b64:43}=", DS, "private key"),
    Kind("generic-access-token", "{b64url:64}", GL, "access token"),
    Kind("django-secret-key", "{typed:50}", GL, "secret key"),
    Kind("high-entropy", "{b64:48}", DS),
)

CONTEXTS = {
    "shell export": "export {ENV}={s}",
    "env file": '{ENV}="{s}"',
    "query": "GET https://api.example.com/v1/items?{snake}={s}&page=2 HTTP/1.1",
    "json": '{"id": 7, "{snake}": "{s}", "retries": 3}',
    "json in a string": '"{\\"{camel}\\": \\"{s}\\", \\"retries\\": 3}"',
    "yaml": "service:\n  {snake}: {s}\n  port: 8443\n",
    "yaml quoted": "  {camel}: '{s}'\n",
    "python": '    {snake} = "{s}"  # rotate me\n',
    "javascript": "const {camel} = '{s}';",
    "keyword argument": 'client = Client({snake}="{s}", timeout=3)',
    "header": 'curl -sS -H "X-{Kebab}: {s}" https://api.example.com/v1/items',
    "log line": "2026-11-21T20:39:10Z INFO http {snake}={s} status=200",
    "toml": '[service]\n{snake} = "{s}"\n',
    "xml": "<{camel}>{s}</{camel}>",
    "flag": "deploy --{kebab} {s} --verbose",
    "flag with equals sign": "deploy --{kebab}={s} --verbose",
    "diff": "-{ENV}=\n+{ENV}={s}\n",
    "dockerfile": "ENV {ENV} {s}\nRUN make",
    "code in prose": "The {words} is `{s}`, please do not share it.",
    "prose": "I set the {words} to {s} and it works now.",
}


@dataclass(frozen=True)
class Case:
    """A text and the range of it that must not survive redaction."""

    kind: Kind
    context: str
    text: str
    start: int
    end: int


def cases() -> Iterator[Case]:
    """Yield every kind in every context, each with its own sample."""
    for kind in KINDS:
        for context, frame in CONTEXTS.items():
            yield _case(kind, context, frame)


def _case(kind: Kind, context: str, frame: str) -> Case:
    draw = random.Random(f"palazzo S3 {kind.id} {context}")  # noqa: S311 - samples are to be the same each time
    prefix, _, rest = sample(kind.template, draw).rpartition("«")
    secret, _, suffix = rest.partition("»")
    if "\n" in secret and "prose" not in context:
        secret = json.dumps(secret)[1:-1]
    head, tail = _fill_frame(frame, kind.name).split("{s}")
    start = len(head) + len(prefix)
    return Case(kind, context, head + prefix + secret + suffix + tail, start, start + len(secret))


def sample(template: str, draw: random.Random) -> str:
    """Return a sample of the template's form."""

    def body(field: re.Match[str]) -> str:
        alphabet, _, size = field[1].partition(":")
        if alphabet == "jwt":
            return _jwt(draw)
        if alphabet == "pem":
            return _pem(size, draw)
        return "".join(draw.choice(ALPHABETS[alphabet]) for _ in range(int(size)))

    return re.sub(r"\{([^}]+)\}", body, template)


def _jwt(draw: random.Random) -> str:
    claims = {"sub": str(draw.randrange(10**9)), "iat": draw.randrange(10**9)}
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    parts.append(draw.randbytes(32))
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def _pem(label: str, draw: random.Random) -> str:
    body = base64.encodebytes(draw.randbytes(600)).decode()
    return "-----{} {}-----\n{}-----{} {}-----".format("BEGIN", label, body, "END", label)


def _fill_frame(frame: str, name: str) -> str:
    words = name.split()
    forms = {
        "{ENV}": "_".join(words).upper(),
        "{snake}": "_".join(words),
        "{camel}": words[0] + "".join(word.title() for word in words[1:]),
        "{kebab}": "-".join(words),
        "{Kebab}": "-".join(word.title() for word in words),
        "{words}": name,
    }
    for form, variant in forms.items():
        frame = frame.replace(form, variant)
    return frame
